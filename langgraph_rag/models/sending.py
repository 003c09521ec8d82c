"""Sends prompts to models: by JSON schema, without what a server does not support, again after transient failures."""

import asyncio
import logging
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langgraph.errors import GraphBubbleUp

from langgraph_rag.concurrency.threads import in_new_thread
from langgraph_rag.error_texts import error_text
from langgraph_rag.errors import ModelCallError, RagError
from langgraph_rag.metering import current_meter, estimated_tokens
from langgraph_rag.models.bindings import AnyModel, ChatModel, bound_options, model_name, models_in, unbound
from langgraph_rag.models.connections import address, is_openai, named_server, noting_streams, on_any_loop
from langgraph_rag.models.provider_errors import (
    NO_STREAM,
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
from langgraph_rag.models.replies import ended_empty
from langgraph_rag.models.streaming import AnswerStream, StreamedUsage, kept_internal, listening
from langgraph_rag.prompts.prompt import Prompt, Reply

_log = logging.getLogger(__name__)
_SHORT_REPLY = 512  # tokens; nearly all replies are shorter
_RETRIES = 2  # as many as OpenAI's client makes
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0  # seconds, as OpenAI's client waits


class TooLongError(Exception):
    """A prompt, or a prompt and its reply together, are too long for the model; callers are shown the error `cause`."""

    def __init__(self, cause: RagError) -> None:
        self.cause = cause


class _Unsupported:
    """The models in this process that do not support a feature; `warning`, if any, is logged once for each."""

    def __init__(self, warning: str = "") -> None:
        self._warning = warning
        self._models: WeakValueDictionary[int, Any] = WeakValueDictionary()

    def __contains__(self, llm: AnyModel) -> bool:
        return id(_one_model(llm)) in self._models

    def add(self, llm: AnyModel) -> None:
        """Note that a model, or its server, does not support the feature."""
        if llm not in self:
            model = _one_model(llm)
            self._models[id(model)] = model
            if self._warning:
                _log.warning(self._warning, address(llm) or type(model).__name__)

    def discard(self, llm: AnyModel) -> None:
        """Note that it supports the feature after all."""
        self._models.pop(id(_one_model(llm)), None)


_no_schema = _Unsupported("%s refuses response_format: its replies are no longer asked for by JSON schema")
_failing_by_schema = _Unsupported()
"""Those that failed, for whatever reason, when last asked by schema, and replied without it."""
_no_streams = _Unsupported("%s does not stream: its replies are no longer asked for piece by piece")
_no_template_options = _Unsupported("%s refuses chat_template_kwargs: its chat template is no longer told anything")
_no_system_messages = _Unsupported("%s refuses system messages: instructions now stand in the user's")


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
        return await _adapted(llm, prompt, messages, shown)
    except (RagError, GraphBubbleUp):  # the second where a model asks a person before it answers
        raise
    except Exception as error:
        told = error_text(error, models_in(llm))
        failed = kind_of(error)(f"{model_name(llm)} could not be asked: {told}{named_server(llm)}")
        failed.__cause__ = error
        if is_too_long(error):
            raise TooLongError(failed) from error
        raise failed from error


class _Request(NamedTuple):
    llm: ChatModel
    messages: list[BaseMessage]
    options: dict[str, Any]


class _Feature(NamedTuple):
    """What a request may do without, where models that refuse it are noted, and whether an error is such a refusal."""

    name: str
    unsupported: _Unsupported | None
    refused: Callable[[Exception], bool]


_FEATURES = (
    _Feature("stream", _no_streams, refuses_streaming),
    _Feature("template", _no_template_options, refuses_template_options),
    _Feature("system", _no_system_messages, refuses_system),
    _Feature("length", None, leaves_no_room),  # of a reply as long as the model allows
    _Feature("schema", None, lambda error: misses_schema(error) or may_refuse_schema(error)),
)


async def _adapted(
    llm: ChatModel, prompt: Prompt[Reply], messages: list[BaseMessage], shown: AnswerStream | None
) -> BaseMessage:
    """Send a request, and after a refusal once more without what may have been refused.

    From the first success without a feature on, the model is no longer asked for it. A server that spoke only of an
    internal error is asked by schema until a second one, with no success by schema in between.
    """
    without = {one.name for one in _FEATURES if one.unsupported is not None and llm in one.unsupported}
    doubtful: _Unsupported | None = None
    while True:
        request = _request(llm, prompt, messages, without)
        try:
            message = await _with_retries(request, shown)
            break
        except (RagError, GraphBubbleUp):
            raise
        except Exception as error:
            refused = (one.name for one in _FEATURES if one.name not in without and one.refused(error))
            name = next((one for one in refused if _request(llm, prompt, messages, {*without, one}) != request), None)
            if name is None:
                raise
            without.add(name)
            doubtful = _doubtful(llm, error) if name == "schema" else doubtful
    if "schema" not in without:
        _failing_by_schema.discard(llm)
    for unsupported in (doubtful, *(one.unsupported for one in _FEATURES if one.name in without)):
        if unsupported is not None:
            unsupported.add(llm)
    return message


def _doubtful(llm: ChatModel, error: Exception) -> _Unsupported | None:
    """Return where to note a model that gives a reply only without a schema, after this error with it."""
    if misses_schema(error):
        return None
    return _no_schema if refuses_schema(error) or llm in _failing_by_schema else _failing_by_schema


def _request(llm: ChatModel, prompt: Prompt[Reply], messages: list[BaseMessage], without: set[str]) -> _Request:
    """Return a request without some features."""
    options = {} if "schema" in without else _schema_options(llm, prompt.name, _schema(prompt.reply))
    if "length" in without:
        options = {**options, **_shorter_reply(llm)}
    if "template" in without:
        options = _without_template_options(llm, options)
    if "stream" in without:
        options = {**options, "stream": False}
    if "system" in without:
        messages = without_system(messages)
    return _Request(llm, messages, options)


def without_system(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return messages with the instructions of the first in the second, for models that take no system message."""
    instructions, question, *rest = messages
    return [question.model_copy(update={"content": f"{instructions.text}\n\n{question.text}"}), *rest]


async def _with_retries(request: _Request, shown: AnswerStream | None) -> BaseMessage:
    """Send again after a transient failure or a broken stream, unless the model's own client does so."""
    llm = request.llm
    for pause in pauses(llm):
        with noting_streams() as begun:
            try:
                return await _invoke(request, shown)
            except Exception as error:
                again = begun.is_set() or may_pass(error) and (is_bare_status(error) or not _retries_by_itself(llm))
                if not again or isinstance(error, RagError | GraphBubbleUp) or is_too_long(error):
                    raise
        if begun.is_set():  # the prompt was read
            current_meter().usage["estimated_tokens"] += estimated_tokens(request.messages)
        await asyncio.sleep(pause)
    return await _invoke(request, shown)


async def _invoke(request: _Request, shown: AnswerStream | None) -> BaseMessage:
    llm, messages, usage = request.llm, request.messages, StreamedUsage()
    with kept_internal(listening(shown, usage)) as internal:
        if _is_synchronous(llm):
            message = await in_new_thread(partial(llm.invoke, messages, config=internal, **request.options))
        else:
            message = await on_any_loop(llm).ainvoke(messages, config=internal, **request.options)
    if not isinstance(message, BaseMessage):
        kind = type(message).__name__
        raise ModelCallError(f"{model_name(llm)} replied with a {kind} in place of a message: is it a chat model?")
    if usage.streamed and ended_empty(message):
        raise ValueError(f"{NO_STREAM}: its server may have taken the whole reply for reasoning")
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


def _schema_options(llm: AnyModel, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the options that ask a model for JSON by schema; none if it does not support schemas.

    Models on OpenAI's client are assumed to support them, others if their LangChain profile says so. A model with
    fallbacks is asked without a schema, because each fallback may support something else. A `response_format` that is
    bound to the model, and an `extra_body` that it has, take precedence.

    The schema goes into `extra_body`. As `response_format`, OpenAI's client would process the whole schema in each
    call, which takes a seventh of the call's processor time, and would withhold replies that were cut off.
    """
    model, bound = _one_model(llm), bound_options(llm)
    able = is_openai(model) or isinstance(model, BaseChatModel) and (model.profile or {}).get("structured_output")
    if not able or llm in _no_schema or "response_format" in bound:
        return {}
    form = {"response_format": {"type": "json_schema", "json_schema": {"name": name, "schema": schema}}}
    if not is_openai(model) or model.use_responses_api:  # which has another place for it
        return form
    return {"extra_body": {**form, **(bound.get("extra_body", model.extra_body) or {})}}


def _shorter_reply(llm: AnyModel) -> dict[str, Any]:
    """Return the options that ask a model on OpenAI's client for a shorter reply; none if replies are short already."""
    model, bound = _one_model(llm), bound_options(llm)
    if not is_openai(model) or (bound.get("max_tokens", model.max_tokens) or 0) <= _SHORT_REPLY:
        return {}
    return {"max_tokens": _SHORT_REPLY}


def _without_template_options(llm: AnyModel, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a call that leave out those of the chat template, also if the model has them bound."""
    model = _one_model(llm)
    if not is_openai(model):
        return options
    body = {"extra_body": model.extra_body, **bound_options(llm), **options}["extra_body"] or {}
    others = {name: value for name, value in body.items() if name != "chat_template_kwargs"}
    return options if others == body else {**options, "extra_body": others}


def _one_model(llm: AnyModel) -> Any:
    """Return the model inside the wrappers; with fallbacks, the whole."""
    first, *others = models_in(llm)
    return llm if others else first


def pauses(llm: AnyModel) -> Iterator[float]:
    """Yield the seconds to wait before each retry, as OpenAI's client does; none if a wrapper of the model retries."""
    for retry in range(_retries(unbound(llm))):
        yield min(_FIRST_PAUSE * 2**retry, _LONGEST_PAUSE) * random.uniform(0.75, 1)


def _retries_by_itself(llm: AnyModel) -> bool:
    """Return whether a model's client retries by itself, as those with `max_retries` do.

    OpenAI's client does not retry after a broken stream, and Mistral's not after an HTTP status.
    """
    return hasattr(unbound(llm), "max_retries")


def _retries(model: Any) -> int:
    if is_openai(model):
        return int(model.root_async_client.max_retries)
    if not isinstance(model, BaseChatModel):
        return 0
    own = getattr(model, "max_retries", None)
    return own if isinstance(own, int) else _RETRIES
