"""`ask`: the only place that calls a model."""

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langgraph_rag.background import in_own_thread, made_once
from langgraph_rag.bindings import models_in, unbound
from langgraph_rag.capabilities import schema_options, schema_refusals, system_refusals
from langgraph_rag.connections import address, is_openai, noting_streams, on_any_loop, pauses
from langgraph_rag.context import context
from langgraph_rag.errors import BudgetReachedError, ModelOutputError, RagError, RequestRefusedError
from langgraph_rag.gate import Gate
from langgraph_rag.metering import CHARS_PER_TOKEN, current_meter, stop
from langgraph_rag.naming import counted
from langgraph_rag.prompts.answering import Answer
from langgraph_rag.prompts.prompt import Prompt, Reply
from langgraph_rag.provider_errors import described, is_too_long, kind_of, may_pass, refuses_schema, refuses_system
from langgraph_rag.replies import MAX_REPLY_CHARS, read_reply, repair_request, was_cut_off
from langgraph_rag.response_cache import kept_if_usable
from langgraph_rag.streaming import AnswerStream, kept_internal, listening

MAX_REPAIRS = 2
MAX_SHORTENED = 3
_log = logging.getLogger(__name__)


class _TooLongError(Exception):
    """A prompt, or prompt and reply together, are longer than the model can take; `cause` says so to the caller."""

    def __init__(self, cause: RagError) -> None:
        self.cause = cause


# --- asking ----------------------------------------------------------------------------------------------------------
async def ask(llm: BaseChatModel, prompt: Prompt[Reply], **values: Any) -> Reply:
    """Ask a model one prompt and return its typed reply.

    A reply that cannot be read is answered with what was wrong, at most twice. A prompt that is too long for the model
    loses the last half of its list of passages or candidates, at most three times. Where the question's budget is
    spent, the reply is the one that the prompt has for that case, and the usage says which limit it was.

    Raises:
        ModelCallError: when the model could not be asked at all.
        RequestRefusedError: when it could, but not this.
        ModelOutputError: when no reply could be read.
        BudgetReachedError: when the budget is spent and the prompt has no reply for that.
    """
    try:
        with kept_if_usable():
            return await _ask(llm, prompt, values, MAX_SHORTENED)
    except BudgetReachedError as reached:
        stop(reached.limit)
        if prompt.reply.unasked is None:
            raise
        return prompt.reply.model_validate(prompt.reply.unasked)


async def _ask(llm: BaseChatModel, prompt: Prompt[Reply], values: Mapping[str, Any], again: int) -> Reply:
    """Ask with a shorter prompt, and count what is left out of it, where the model finds it too long."""
    try:
        return await _converse(llm, prompt, values)
    except _TooLongError as error:
        shorter = prompt.shortened(values) if again else None
        if shorter is None:
            raise error.cause from error.cause.__cause__
    current_meter().usage["left_out"] += len(values[prompt.shortens]) - len(shorter[prompt.shortens])
    return await _ask(llm, prompt, shorter, again - 1)


async def _converse(llm: BaseChatModel, prompt: Prompt[Reply], values: Mapping[str, Any]) -> Reply:
    """Ask, and answer a reply that cannot be read with what is wrong with it."""
    messages = prompt.render(**values)
    shown = AnswerStream() if issubclass(prompt.reply, Answer) else None
    for attempt in range(1 + MAX_REPAIRS):
        message = await _call(llm, prompt, messages, shown)
        current_meter().usage["repairs"] += attempt > 0
        text = message.text.encode(errors="replace").decode()  # half characters could not be sent back
        try:
            reply = read_reply(text, prompt.reply)
        except ValueError as error:
            problem = str(error)
        else:
            if shown and isinstance(reply, Answer):
                shown.finish(reply.answer)
            return reply
        if shown:
            shown.begin_anew()
        if was_cut_off(message):
            problem = f"it was cut off for its length and {problem}"
            raise _TooLongError(_output_error(llm, prompt, attempt, problem, text))
        messages = [*messages, AIMessage(text[:MAX_REPLY_CHARS] or "(empty)"), HumanMessage(repair_request(problem))]
    raise _output_error(llm, prompt, attempt, problem, text)


def _output_error(llm: BaseChatModel, prompt: Prompt[Reply], attempt: int, problem: str, text: str) -> ModelOutputError:
    return ModelOutputError(
        f"prompt {prompt.name!r}: {model_name(llm)} gave no usable reply in {counted(1 + attempt, 'attempt')}; "
        f"expected a JSON object with {', '.join(prompt.reply.model_fields)}; {problem}; "
        f"the last reply starts: {text[:200]!r}"
    )


async def _call(
    llm: BaseChatModel, prompt: Prompt[Reply], messages: list[BaseMessage], shown: AnswerStream | None
) -> BaseMessage:
    """Make one call within the question's budget and the limit of calls under way, and count what it cost."""
    limits = context()
    with current_meter().call(limits, _estimated_tokens(messages), concluding=shown is not None) as call:
        call.waiting = True
        try:
            async with (
                asyncio.timeout(call.seconds_left) as time_limit,
                _gate(os.getpid()).place(limits.max_concurrency),
            ):
                call.waiting = False
                message = await _reply(llm, prompt, messages, shown)
        except TimeoutError:
            if not time_limit.expired():
                raise
            full = f"max_concurrency={limits.max_concurrency} others were under way"
            why = full if call.waiting else f"no reply had come{_whose(llm)}"
            told = "a call of %s was given up at the question's deadline_s=%s: %s"
            _log.warning(told, model_name(llm), limits.deadline_s, why)
            raise BudgetReachedError("deadline_s", limits.deadline_s or 0) from None
        except (RequestRefusedError, _TooLongError):
            call.estimated_tokens = 0  # nobody read it
            raise
        call.estimated_tokens = _estimated_tokens([*messages, message])
        usage = getattr(message, "usage_metadata", None)  # some models reply with messages that have none
        call.cost = usage if usage and usage["input_tokens"] else None  # some servers count nothing
    return message


@made_once
def _gate(process: int) -> Gate:
    """Return the gate of a process: a fork would copy the places that are taken in it."""
    return Gate()


def _estimated_tokens(messages: Sequence[BaseMessage]) -> int:
    return sum(len(message.text) for message in messages) // CHARS_PER_TOKEN


async def _reply(
    llm: BaseChatModel, prompt: Prompt[Reply], messages: list[BaseMessage], shown: AnswerStream | None
) -> BaseMessage:
    try:
        return await _by_schema(llm, prompt, messages, shown)
    except RagError:
        raise
    except Exception as error:
        told = described(error, models_in(llm))
        failed = kind_of(error)(f"{model_name(llm)} could not be asked: {told}{_whose(llm)}")
        failed.__cause__ = error
        if is_too_long(error):
            raise _TooLongError(failed) from error
        raise failed from error


async def _by_schema(
    llm: BaseChatModel, prompt: Prompt[Reply], messages: list[BaseMessage], shown: AnswerStream | None
) -> BaseMessage:
    """Ask for JSON by schema, and without it where the server refuses that."""
    options = schema_options(llm, prompt.name, _schema(prompt.reply))
    try:
        return await _instructed(llm, messages, options, shown)
    except Exception as error:
        if not options or not refuses_schema(error):
            raise
    message = await _instructed(llm, messages, {}, shown)
    schema_refusals.add(llm)
    return message


async def _instructed(
    llm: BaseChatModel, messages: list[BaseMessage], options: dict[str, Any], shown: AnswerStream | None
) -> BaseMessage:
    """Send the instructions as the system's message, or in the user's where the chat template knows no system."""
    if llm not in system_refusals:
        try:
            return await _persistently(llm, messages, options, shown)
        except Exception as error:
            if not refuses_system(error):
                raise
    message = await _persistently(llm, _said_by_user(messages), options, shown)
    system_refusals.add(llm)
    return message


def _said_by_user(messages: list[BaseMessage]) -> list[BaseMessage]:
    instructions, request, *rest = messages
    return [request.model_copy(update={"content": f"{instructions.text}\n\n{request.text}"}), *rest]


async def _persistently(
    llm: BaseChatModel, messages: list[BaseMessage], options: dict[str, Any], shown: AnswerStream | None
) -> BaseMessage:
    """Ask again where the model's client does not: after a failure that may pass, or once a stream breaks off."""
    for pause in pauses(llm):
        with noting_streams() as begun:
            try:
                return await _invoke(llm, messages, options, shown)
            except Exception as error:
                again = begun.is_set() or may_pass(error) and not is_openai(unbound(llm))
                if not again or isinstance(error, RagError) or is_too_long(error):
                    raise
        if begun.is_set():  # the prompt was read
            current_meter().usage["estimated_tokens"] += _estimated_tokens(messages)
        if shown:
            shown.begin_anew()
        await asyncio.sleep(pause)
    return await _invoke(llm, messages, options, shown)


async def _invoke(
    llm: BaseChatModel, messages: list[BaseMessage], options: dict[str, Any], shown: AnswerStream | None
) -> BaseMessage:
    with kept_internal(listening(shown)) as internal:
        if _is_synchronous(llm):
            return await in_own_thread(partial(llm.invoke, messages, config=internal, **options))
        message: BaseMessage = await on_any_loop(llm).ainvoke(messages, config=internal, **options)
    return message


def _is_synchronous(llm: BaseChatModel) -> bool:
    """Tell whether none of the models that may be asked has coroutines of its own."""
    return not any(
        getattr(type(model), name, None) is not getattr(BaseChatModel, name)
        for model in models_in(llm)
        for name in ("_agenerate", "_astream")
    )


def _whose(llm: BaseChatModel) -> str:
    """Name the server of a served model, so that a wrong address shows."""
    server = address(llm)
    return f" (server: {server})" if server else ""


@cache
def _schema(reply: type[Reply]) -> dict[str, Any]:
    return reply.model_json_schema()


def model_name(llm: BaseChatModel) -> str:
    """Return the name a model goes by."""
    first = models_in(llm)[0]
    return str(getattr(first, "model_name", None) or getattr(first, "model", None) or type(first).__name__)
