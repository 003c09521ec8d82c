"""`ask`: one question to a model, typed, repaired, within the question's budget."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langgraph_rag.concurrency.gate import Gate
from langgraph_rag.concurrency.once import made_once
from langgraph_rag.concurrency.scopes import having
from langgraph_rag.context import context
from langgraph_rag.errors import BudgetReachedError, ModelOutputError, RequestRefusedError
from langgraph_rag.metering import current_meter, estimated_tokens, stop
from langgraph_rag.models.bindings import ChatModel, model_name
from langgraph_rag.models.connections import named_server
from langgraph_rag.models.replies import (
    MAX_REPLY_CHARS,
    is_whole,
    read_part,
    read_reply,
    repair_request,
    was_cut_off,
    withheld,
)
from langgraph_rag.models.response_cache import kept_if_usable
from langgraph_rag.models.sending import TooLongError, send
from langgraph_rag.models.streaming import AnswerStream
from langgraph_rag.naming import counted
from langgraph_rag.prompts.answering import Answer, styled
from langgraph_rag.prompts.prompt import Prompt, Reply

MAX_REPAIRS = 2
MAX_SHORTENED = 3
_log = logging.getLogger(__name__)
_under_way: ContextVar[bool] = ContextVar("langgraph_rag_call_under_way", default=False)


async def ask(llm: ChatModel, prompt: Prompt[Reply], /, **values: Any) -> Reply:
    """Ask a model one prompt and return its typed reply.

    A reply that cannot be read is answered with what was wrong, at most twice. A prompt that is too long for the model,
    or whose reply was, loses the last half of its list of passages or candidates, at most three times; so does one for
    the answer that is too long for the tokens left. Where the question's budget is spent, the reply is the one that the
    prompt has for that case, and the usage says which limit it was. The question goes on with the same one where a
    reply that it can do without cannot be read.

    Raises:
        ModelCallError: when the model could not be asked at all.
        RequestRefusedError: when it could, but not this.
        ModelOutputError: when no reply could be read.
        BudgetReachedError: when the budget is spent and the prompt has no reply for that.
    """
    try:
        async with kept_if_usable():
            return await _ask(llm, prompt, values, MAX_SHORTENED)
    except BudgetReachedError as reached:
        stop(reached.limit)
        if prompt.reply.unasked is None:
            raise
        return prompt.reply.model_validate(prompt.reply.unasked)
    except ModelOutputError as error:
        if not prompt.reply.dispensable:
            raise
        _log.warning("the question goes on without this reply: %s", error)
        return prompt.reply.model_validate(prompt.reply.unasked)


async def _ask(llm: ChatModel, prompt: Prompt[Reply], values: Mapping[str, Any], again: int) -> Reply:
    """Ask with a shorter prompt, and count what is left out of it, where the model finds it too long.

    So it is where the tokens that are left do not suffice for the answer from all of it.
    """
    try:
        return await _converse(llm, prompt, values)
    except TooLongError as error:
        shorter = prompt.shortened(values) if again else None
        if shorter is None:
            raise error.cause from error.cause.__cause__
    except BudgetReachedError as reached:
        concludes = issubclass(prompt.reply, Answer) and reached.limit == "max_tokens"
        shorter = prompt.shortened(values) if again and concludes else None
        if shorter is None:
            raise
        stop(reached.limit)
    left_out = len(values[prompt.shortens]) - len(shorter[prompt.shortens])
    current_meter().usage["left_out"] += left_out
    reply = await _ask(llm, prompt, shorter, again - 1)
    reply.leave_out(left_out)
    return reply


async def _converse(llm: ChatModel, prompt: Prompt[Reply], values: Mapping[str, Any]) -> Reply:
    """Ask, and answer a reply that cannot be read with what is wrong with it."""
    messages, shown = prompt.render(**values), None
    if issubclass(prompt.reply, Answer):
        messages, shown = styled(messages, context().answer_style), AnswerStream()
    for attempt in range(1 + MAX_REPAIRS):
        message = await _call(llm, prompt, messages, shown)
        current_meter().usage["repairs"] += attempt > 0
        text = message.text.encode(errors="replace").decode()  # half characters could not be sent back
        try:
            reply = read_reply(text, prompt.reply, whole=is_whole(message))
        except ValueError as error:
            problem = str(error)
        else:
            if shown and isinstance(reply, Answer):
                shown.finish(reply.answer)
            return reply
        if shown:
            shown.restart()
        if was_cut_off(message):
            if prompt.reply.useful_in_part and (part := read_part(text, prompt.reply)):
                return part
            problem = f"it was cut off for its length and {problem}"
            if prompt.shortened(values):
                raise TooLongError(_output_error(llm, prompt, attempt, problem, message))
            text = "(cut off)"  # a model that sees how it began to repeat itself does so again
        messages = [*messages, AIMessage(text[:MAX_REPLY_CHARS] or "(empty)"), HumanMessage(repair_request(problem))]
    raise _output_error(llm, prompt, attempt, problem, message)


def _output_error(
    llm: ChatModel, prompt: Prompt[Reply], attempt: int, problem: str, message: BaseMessage
) -> ModelOutputError:
    seen = "; ".join([problem, *withheld(message), f"the last reply starts: {message.text[:200]!r}"])
    return ModelOutputError(
        f"prompt {prompt.name!r}: {model_name(llm)} gave no usable reply in {counted(1 + attempt, 'attempt')}; "
        f"expected a JSON object with {', '.join(prompt.reply.model_fields)}; {seen}"
    )


async def _call(
    llm: ChatModel, prompt: Prompt[Reply], messages: list[BaseMessage], shown: AnswerStream | None
) -> BaseMessage:
    """Make one call within the question's budget and the limit of calls under way, and count what it cost."""
    limits, gate = context(), _gate(os.getpid())
    with current_meter().call(limits, estimated_tokens(messages), concluding=shown is not None) as call:
        call.waiting = True
        try:
            async with (
                asyncio.timeout(call.seconds_left) as time_limit,
                _place(gate, limits.max_concurrency),
            ):
                call.waiting = False
                message = await send(llm, prompt, messages, shown)
        except TimeoutError:
            if not time_limit.expired():
                raise
            why = f"no reply had come{named_server(llm)}"
            if call.waiting:
                full = gate.is_full(limits.max_concurrency)
                why = f"max_concurrency={limits.max_concurrency} others were under way" if full else "it had just begun"
            told = "a call of %s was given up at the question's deadline_s=%s: %s"
            _log.warning(told, model_name(llm), limits.deadline_s, why)
            raise BudgetReachedError("deadline_s", limits.deadline_s or 0) from None
        except (RequestRefusedError, TooLongError):
            call.estimated_tokens = 0  # nobody read it
            raise
        call.estimated_tokens = estimated_tokens([*messages, message])
        usage = getattr(message, "usage_metadata", None)  # some models reply with messages that have none
        call.cost = usage if usage and _counted(usage) else None
    return message


def _counted(usage: Mapping[str, Any]) -> bool:
    """Tell whether a server counted tokens: some say 0, and of what LangChain's cache kept there is but a cost."""
    return usage.get("input_tokens", 0) > 0 and (usage.get("output_tokens") or 0) >= 0


@asynccontextmanager
async def _place(gate: Gate, limit: int) -> AsyncIterator[None]:
    """Be one of the calls under way; what a model asks by way of this package itself is part of the call to it."""
    if _under_way.get():
        yield
        return
    async with gate.place(limit):
        with having(_under_way, True):
            yield


@made_once
def _gate(process: int) -> Gate:
    """Return the gate of a process: a fork would copy the places that are taken in it."""
    return Gate()
