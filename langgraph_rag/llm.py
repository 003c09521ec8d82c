"""`ask` sends a prompt to a model and returns a typed reply: with repairs, within the budget of the question."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langgraph_rag.concurrency.context_variables import override
from langgraph_rag.concurrency.tasks import Gate
from langgraph_rag.concurrency.threads import thread_safe_cache
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
from langgraph_rag.models.response_cache import forgotten_if_unusable
from langgraph_rag.models.sending import TooLongError, send
from langgraph_rag.models.streaming import AnswerStream
from langgraph_rag.naming import counted
from langgraph_rag.prompts.answering import Answer, styled
from langgraph_rag.prompts.prompt import Prompt, PromptReply, Reply
from langgraph_rag.records import Usage

MAX_REPAIRS = 2
MAX_SHORTENED = 3
_log = logging.getLogger(__name__)
_in_call: ContextVar[bool] = ContextVar("langgraph_rag_in_call", default=False)


@dataclass(frozen=True)
class Asked:
    """A prompt as it was sent first, with all that the model wrote and what was read of it.

    `values` and `messages` are those after a too long list was shortened. `replies` are the texts as written, the last
    one after repairs; `reply` is None if none of them could be used. `usage` is that of the node, which goes on to
    count what it drops of the reply.
    """

    prompt: Prompt[Any]
    values: Mapping[str, Any]
    messages: list[BaseMessage]
    replies: list[str]
    reply: PromptReply | None
    usage: Usage


recorder: ContextVar[Callable[[Asked], None] | None] = ContextVar("langgraph_rag_recorder", default=None)
"""Told of each prompt whose reply was read or given up; inside the node that asked."""


async def ask(llm: ChatModel, prompt: Prompt[Reply], /, **values: Any) -> Reply:
    """Send a prompt to a model and return its typed reply.

    - A reply that cannot be parsed is sent back with an explanation of the problem, at most twice.
    - If the prompt or its reply is too long for the model, half of the prompt's list (`Prompt.shortens`) is left out,
      at most three times: of passages and candidates the last, of outlines and conversations the oldest. The same
      happens if the prompt for the answer exceeds the tokens that are left.
    - If the budget of the question is spent, the prompt's default reply is returned, and the usage names the limit.
    - If a reply that the method can do without cannot be parsed, the default reply is returned as well.

    Raises:
        ModelCallError: when the model cannot be called.
        RequestRefusedError: when the model refuses this prompt.
        ModelOutputError: when no reply can be parsed.
        BudgetReachedError: when the budget is spent and the prompt has no default reply.
    """
    try:
        async with forgotten_if_unusable():
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
    """Shorten the prompt and ask again if it is too long for the model, or for the tokens left for the answer."""
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
    current_meter().usage["left_out"] += left_out or 1  # a part of one item
    reply = await _ask(llm, prompt, shorter, again - 1)
    reply.leave_out(left_out)
    return reply


async def _converse(llm: ChatModel, prompt: Prompt[Reply], values: Mapping[str, Any]) -> Reply:
    """Ask, and ask for a repair if the reply cannot be parsed."""
    messages, shown, written = prompt.render(**values), None, list[str]()
    if issubclass(prompt.reply, Answer):
        messages, shown = styled(messages, context().answer_style), AnswerStream()
    first = messages
    for attempt in range(1 + MAX_REPAIRS):
        message = await _call(llm, prompt, messages, shown)
        current_meter().usage["repairs"] += attempt > 0
        text = message.text.encode(errors="replace").decode()  # a lone surrogate could not be sent back
        written.append(text)
        try:
            reply = read_reply(text, prompt.reply, whole=is_whole(message))
        except ValueError as error:
            problem = str(error)
        else:
            if shown and isinstance(reply, Answer):
                shown.finish(reply.answer)
            _tell(prompt, values, first, written, reply)
            return reply
        if shown:
            shown.restart()
        if was_cut_off(message):
            if prompt.reply.useful_in_part and (part := read_part(text, prompt.reply)):
                _tell(prompt, values, first, written, part)
                return part
            problem = f"it was cut off for its length and {problem}"
            if prompt.shortened(values):
                raise TooLongError(_output_error(llm, prompt, attempt, problem, message))
            text = "(cut off)"  # a model that is shown how it repeated itself repeats itself again
        messages = [*messages, AIMessage(text[:MAX_REPLY_CHARS] or "(empty)"), HumanMessage(repair_request(problem))]
    _tell(prompt, values, first, written, None)
    raise _output_error(llm, prompt, attempt, problem, message)


def _tell(
    prompt: Prompt[Any],
    values: Mapping[str, Any],
    messages: list[BaseMessage],
    replies: list[str],
    reply: PromptReply | None,
) -> None:
    if tell := recorder.get():
        tell(Asked(prompt, values, messages, replies, reply, current_meter().usage))


def _output_error(
    llm: ChatModel, prompt: Prompt[Reply], attempt: int, problem: str, message: BaseMessage
) -> ModelOutputError:
    more = ["let it write more tokens"] if was_cut_off(message) else []
    seen = "; ".join([problem, *more, *withheld(message), f"the last reply starts: {message.text[:200]!r}"])
    return ModelOutputError(
        f"prompt {prompt.name!r}: {model_name(llm)} gave no usable reply in {counted(1 + attempt, 'attempt')}; "
        f"expected a JSON object with {', '.join(prompt.reply.model_fields)}; {seen}"
    )


async def _call(
    llm: ChatModel, prompt: Prompt[Reply], messages: list[BaseMessage], shown: AnswerStream | None
) -> BaseMessage:
    """Call the model within the budget and the limit of concurrent calls, and count what the call costs."""
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
            call.estimated_tokens = 0  # the model did not read the prompt
            raise
        call.estimated_tokens = estimated_tokens([*messages, message])
        usage = getattr(message, "usage_metadata", None)  # messages of some models lack the attribute
        call.cost = usage if usage and _counted(usage) else None
    return message


def _counted(usage: Mapping[str, Any]) -> bool:
    """Return whether a server counted tokens: some report 0 or no numbers, and LangChain's cache keeps only a cost."""
    read, written = usage.get("input_tokens"), usage.get("output_tokens") or 0
    return isinstance(read, int) and isinstance(written, int) and read > 0 and written >= 0


@asynccontextmanager
async def _place(gate: Gate, limit: int) -> AsyncIterator[None]:
    """Count as one of the concurrent calls; a call that a model makes through this package is part of its own call."""
    if _in_call.get():
        yield
        return
    async with gate.place(limit):
        with override(_in_call, True):
            yield


@thread_safe_cache
def _gate(process: int) -> Gate:
    """Return the gate of a process: a forked process would otherwise inherit the places taken in its parent."""
    return Gate()
