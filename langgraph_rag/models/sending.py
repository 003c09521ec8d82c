"""How a prompt reaches a model: in a form that its server takes, and again after a failure that may pass."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache, partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from langgraph_rag.concurrency.background import in_own_thread
from langgraph_rag.errors import ModelCallError, RagError
from langgraph_rag.metering import current_meter, estimated_tokens
from langgraph_rag.models.bindings import ChatModel, model_name, models_in
from langgraph_rag.models.capabilities import (
    Refusals,
    schema_options,
    schema_refusals,
    shorter_reply,
    stream_refusals,
    system_refusals,
    template_refusals,
    without_template_options,
)
from langgraph_rag.models.completions import noting_streams
from langgraph_rag.models.connections import named_server, on_any_loop
from langgraph_rag.models.provider_errors import (
    error_text,
    is_bare_status,
    is_too_long,
    kind_of,
    leaves_no_room,
    may_pass,
    misses_schema,
    refuses_schema,
    refuses_streaming,
    refuses_system,
    refuses_template_options,
)
from langgraph_rag.models.retries import asks_again, pauses
from langgraph_rag.models.streaming import AnswerStream, kept_internal, listening
from langgraph_rag.prompts.prompt import Prompt, Reply


class TooLongError(Exception):
    """A prompt, or prompt and reply together, are longer than the model can take; `cause` says so to the caller."""

    def __init__(self, cause: RagError) -> None:
        self.cause = cause


async def send(
    llm: ChatModel, prompt: Prompt[Reply], messages: list[BaseMessage], shown: AnswerStream | None
) -> BaseMessage:
    """Send the messages of a prompt to a model and return its reply; `shown` is where the answer is streamed to.

    Raises:
        TooLongError: when the model finds the prompt too long.
        ModelCallError: when the model could not be asked at all.
        RequestRefusedError: when it could, but not this.
    """
    try:
        return await _within_context(llm, prompt, messages, shown)
    except RagError:
        raise
    except Exception as error:
        told = error_text(error, models_in(llm))
        failed = kind_of(error)(f"{model_name(llm)} could not be asked: {told}{named_server(llm)}")
        failed.__cause__ = error
        if is_too_long(error):
            raise TooLongError(failed) from error
        raise failed from error


async def _within_context(
    llm: ChatModel, prompt: Prompt[Reply], messages: list[BaseMessage], shown: AnswerStream | None
) -> BaseMessage:
    """Ask for a shorter reply where the prompt and as long a one as the model may give exceed the context."""
    try:
        return await _by_schema(llm, prompt, messages, {}, shown)
    except Exception as error:
        shorter = shorter_reply(llm)
        if not shorter or not leaves_no_room(error):
            raise
    return await _by_schema(llm, prompt, messages, shorter, shown)


async def _by_schema(
    llm: ChatModel,
    prompt: Prompt[Reply],
    messages: list[BaseMessage],
    limit: dict[str, Any],
    shown: AnswerStream | None,
) -> BaseMessage:
    """Ask for JSON by schema, and without it where the server refuses that or the reply missed it."""
    schema = schema_options(llm, prompt.name, _schema(prompt.reply))
    try:
        return await _instructed(llm, messages, {**schema, **limit}, shown)
    except Exception as error:
        missed = misses_schema(error)
        if not schema or not (missed or refuses_schema(error)):
            raise
    message = await _instructed(llm, messages, limit, shown)
    if not missed:
        schema_refusals.add(llm)
    return message


async def _instructed(
    llm: ChatModel, messages: list[BaseMessage], options: dict[str, Any], shown: AnswerStream | None
) -> BaseMessage:
    """Send the instructions as the system's message, or in the user's where the chat template knows no system."""
    return await _unless_refused(
        llm,
        (system_refusals, refuses_system),
        lambda: _templated(llm, messages, options, shown),
        lambda: _templated(llm, _said_by_user(messages), options, shown),
    )


def _said_by_user(messages: list[BaseMessage]) -> list[BaseMessage]:
    instructions, request, *rest = messages
    return [request.model_copy(update={"content": f"{instructions.text}\n\n{request.text}"}), *rest]


async def _templated(
    llm: ChatModel, messages: list[BaseMessage], options: dict[str, Any], shown: AnswerStream | None
) -> BaseMessage:
    """Send the options of the chat template, and none where the server refuses them."""
    fewer = without_template_options(llm, options)
    return await _unless_refused(
        llm,
        (template_refusals, lambda error: fewer != options and refuses_template_options(error)),
        lambda: _streamed(llm, messages, options, shown),
        lambda: _streamed(llm, messages, fewer, shown),
    )


async def _streamed(
    llm: ChatModel, messages: list[BaseMessage], options: dict[str, Any], shown: AnswerStream | None
) -> BaseMessage:
    """Have the reply streamed where somebody listens, and as a whole where the server does not stream."""
    return await _unless_refused(
        llm,
        (stream_refusals, refuses_streaming),
        lambda: _persistently(llm, messages, options, shown),
        lambda: _persistently(llm, messages, {**options, "stream": False}, shown),
    )


async def _unless_refused(
    llm: ChatModel,
    refusal: tuple[Refusals, Callable[[Exception], bool]],
    ask: Callable[[], Awaitable[BaseMessage]],
    ask_otherwise: Callable[[], Awaitable[BaseMessage]],
) -> BaseMessage:
    """Ask in one way until the model refuses it, and in another from then on; noted once the other way succeeds."""
    refusals, refused = refusal
    if llm not in refusals:
        try:
            return await ask()
        except Exception as error:
            if not refused(error):
                raise
    message = await ask_otherwise()
    refusals.add(llm)
    return message


async def _persistently(
    llm: ChatModel, messages: list[BaseMessage], options: dict[str, Any], shown: AnswerStream | None
) -> BaseMessage:
    """Ask again where the model's client does not: after a failure that may pass, or once a stream breaks off."""
    for pause in pauses(llm):
        with noting_streams() as begun:
            try:
                return await _invoke(llm, messages, options, shown)
            except Exception as error:
                again = begun.is_set() or may_pass(error) and (is_bare_status(error) or not asks_again(llm))
                if not again or isinstance(error, RagError) or is_too_long(error):
                    raise
        if begun.is_set():  # the prompt was read
            current_meter().usage["estimated_tokens"] += estimated_tokens(messages)
        if shown:
            shown.begin_anew()
        await asyncio.sleep(pause)
    return await _invoke(llm, messages, options, shown)


async def _invoke(
    llm: ChatModel, messages: list[BaseMessage], options: dict[str, Any], shown: AnswerStream | None
) -> BaseMessage:
    with kept_internal(listening(shown)) as internal:
        if _is_synchronous(llm):
            message = await in_own_thread(partial(llm.invoke, messages, config=internal, **options))
        else:
            message = await on_any_loop(llm).ainvoke(messages, config=internal, **options)
    if not isinstance(message, BaseMessage):
        kind = type(message).__name__
        raise ModelCallError(f"{model_name(llm)} replied with a {kind} in place of a message: is it a chat model?")
    return message


def _is_synchronous(llm: ChatModel) -> bool:
    """Tell whether none of the models that may be asked has coroutines of its own."""
    return not any(
        getattr(type(model), name, None) is not getattr(BaseChatModel, name)
        for model in models_in(llm)
        for name in ("_agenerate", "_astream")
    )


@cache
def _schema(reply: type[Reply]) -> dict[str, Any]:
    return reply.model_json_schema()
