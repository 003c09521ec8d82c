"""Sends prompts to models: leaves out what a server does not support, and retries after transient failures."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langgraph.errors import GraphBubbleUp

from langgraph_rag.concurrency.threads import in_new_thread
from langgraph_rag.error_texts import error_text
from langgraph_rag.errors import ModelCallError, RagError
from langgraph_rag.metering import current_meter, estimated_tokens
from langgraph_rag.models.bindings import ChatModel, model_name, models_in
from langgraph_rag.models.capabilities import (
    Unsupported,
    failing_by_schema,
    no_schema,
    no_streams,
    no_system_messages,
    no_template_options,
    schema_options,
    shorter_reply,
    without_template_options,
)
from langgraph_rag.models.completions import noting_streams
from langgraph_rag.models.connections import named_server, on_any_loop
from langgraph_rag.models.provider_errors import (
    is_bare_status,
    is_too_long,
    kind_of,
    leaves_no_room,
    may_pass,
    may_refuse_schema,
    misses_schema,
    refuses_schema,
    refuses_streaming,
    refuses_system,
    refuses_template_options,
)
from langgraph_rag.models.retries import pauses, retries_by_itself
from langgraph_rag.models.streaming import AnswerStream, StreamedUsage, kept_internal, listening
from langgraph_rag.prompts.prompt import Prompt, Reply


@dataclass(frozen=True)
class _Request:
    """A request to a model, with the options of the call; the answer is streamed to `shown`."""

    llm: ChatModel
    messages: list[BaseMessage]
    options: dict[str, Any]
    shown: AnswerStream | None


class TooLongError(Exception):
    """A prompt, or a prompt and its reply together, are too long for the model; callers are shown the error `cause`."""

    def __init__(self, cause: RagError) -> None:
        self.cause = cause


async def send(
    llm: ChatModel, prompt: Prompt[Reply], messages: list[BaseMessage], shown: AnswerStream | None
) -> BaseMessage:
    """Send the messages of a prompt to a model and return its reply; the answer is streamed to `shown`.

    Raises:
        TooLongError: when the prompt is too long for the model.
        ModelCallError: when the model cannot be called.
        RequestRefusedError: when the model refuses this request.
    """
    try:
        return await _with_room(_Request(llm, messages, {}, shown), prompt)
    except (RagError, GraphBubbleUp):  # the second where a model asks a person before it answers
        raise
    except Exception as error:
        told = error_text(error, models_in(llm))
        failed = kind_of(error)(f"{model_name(llm)} could not be asked: {told}{named_server(llm)}")
        failed.__cause__ = error
        if is_too_long(error):
            raise TooLongError(failed) from error
        raise failed from error


async def _with_room(request: _Request, prompt: Prompt[Reply]) -> BaseMessage:
    """Ask for a shorter reply if the prompt and the longest possible reply do not fit into the context."""
    try:
        return await _with_schema(request, prompt)
    except Exception as error:
        shorter = shorter_reply(request.llm)
        if not shorter or not leaves_no_room(error):
            raise
    return await _with_schema(replace(request, options=shorter), prompt)


async def _with_schema(request: _Request, prompt: Prompt[Reply]) -> BaseMessage:
    """Ask for JSON by schema; ask without a schema if the server may have refused it or the reply did not follow it.

    From the first success without it on, a server that refused it is no longer asked for it. If it spoke only of an
    internal error, that takes a second one with no success by schema in between.
    """
    schema = schema_options(request.llm, prompt.name, _schema(prompt.reply))
    try:
        message = await _with_features(replace(request, options={**schema, **request.options}))
    except Exception as error:
        missed = misses_schema(error)
        if not schema or not (missed or may_refuse_schema(error)):
            raise
        sure = not missed and (refuses_schema(error) or request.llm in failing_by_schema)
    else:
        failing_by_schema.discard(request.llm)
        return message
    message = await _with_features(request)
    if sure:
        no_schema.add(request.llm)
    elif not missed:
        failing_by_schema.add(request.llm)
    return message


def _without_system_message(request: _Request) -> _Request:
    instructions, question, *rest = request.messages
    merged = question.model_copy(update={"content": f"{instructions.text}\n\n{question.text}"})
    return replace(request, messages=[merged, *rest])


def _without_template_options(request: _Request) -> _Request:
    return replace(request, options=without_template_options(request.llm, request.options))


def _without_stream(request: _Request) -> _Request:
    return replace(request, options={**request.options, "stream": False})


_Feature = tuple[Unsupported, Callable[[Exception], bool], Callable[[_Request], _Request]]
_FEATURES: tuple[_Feature, ...] = (
    (no_system_messages, refuses_system, _without_system_message),
    (no_template_options, refuses_template_options, _without_template_options),
    (no_streams, refuses_streaming, _without_stream),
)


async def _with_features(request: _Request, features: Sequence[_Feature] = _FEATURES) -> BaseMessage:
    """Send a request; do without each feature that the model refuses, from the first success without it on."""
    if not features:
        return await _with_retries(request)
    (unsupported, refuses, without), *others = features
    if request.llm not in unsupported:
        try:
            return await _with_features(request, others)
        except Exception as error:
            if not refuses(error) or without(request) == request:
                raise
    message = await _with_features(without(request), others)
    unsupported.add(request.llm)
    return message


async def _with_retries(request: _Request) -> BaseMessage:
    """Send again after a transient failure or a broken stream, unless the model's own client does so."""
    llm = request.llm
    for pause in pauses(llm):
        with noting_streams() as begun:
            try:
                return await _invoke(request)
            except Exception as error:
                again = begun.is_set() or may_pass(error) and (is_bare_status(error) or not retries_by_itself(llm))
                if not again or isinstance(error, RagError | GraphBubbleUp) or is_too_long(error):
                    raise
        if begun.is_set():  # the prompt was read
            current_meter().usage["estimated_tokens"] += estimated_tokens(request.messages)
        await asyncio.sleep(pause)
    return await _invoke(request)


async def _invoke(request: _Request) -> BaseMessage:
    llm, messages, usage = request.llm, request.messages, StreamedUsage()
    with kept_internal(listening(request.shown, usage)) as internal:
        if _is_synchronous(llm):
            message = await in_new_thread(partial(llm.invoke, messages, config=internal, **request.options))
        else:
            message = await on_any_loop(llm).ainvoke(messages, config=internal, **request.options)
    if not isinstance(message, BaseMessage):
        kind = type(message).__name__
        raise ModelCallError(f"{model_name(llm)} replied with a {kind} in place of a message: is it a chat model?")
    usage.correct(message)
    return message


def _is_synchronous(llm: ChatModel) -> bool:
    """Return whether none of the models that may be called has coroutines of its own."""
    return not any(
        getattr(type(model), name, None) is not getattr(BaseChatModel, name)
        for model in models_in(llm)
        for name in ("_agenerate", "_astream")
    )


@cache
def _schema(reply: type[Reply]) -> dict[str, Any]:
    return reply.model_json_schema()
