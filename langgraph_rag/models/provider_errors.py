"""What the errors of model providers mean, whichever provider's package they come from."""

import re
from collections.abc import Iterable
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelTimeoutError,
)
from langchain_core.runnables import Runnable
from pydantic import SecretStr

from langgraph_rag.errors import ModelAccessError, ModelCallError, RequestRefusedError

_OVERFLOW = re.compile(
    r"maximum (context|model|prompt) length|context[ _](length|size|window|limit)|(prompt|input)s? (is |are )?too long"
    r"|input token count|number of input tokens|range of input length|(input|prompt) length\b.{,30}\bexceeds"
    r"|input length limit|inputs\W+must have less"
    r"|max_new_tokens\W+must be|max_seq_len|max_model_len|too many tokens(?!,? (per|please wait))|request too large"
    r"|reduce (the length of the|your) (message|prompt|input)",
    re.IGNORECASE,
)
_REPLY = re.compile(r"output tokens|(in|for) the completion|max_(new_|completion_)?tokens", re.IGNORECASE)
_REPLY_TOO_LONG = re.compile(r"max_(completion_)?tokens\W+is too large", re.IGNORECASE)  # whatever the prompt
_SCHEMA = re.compile(
    r"response.?(format|schema)|json.?schema|output_(config|format)|guided|structured.outputs?|\bgrammar\b",
    re.IGNORECASE,
)
_MISSED = "json_validate_failed"  # Groq's code
_SYSTEM = re.compile(  # of chat templates first, then of OpenAI and Google
    r"system (role|message|prompt)s? (is |are )?not supported|roles must alternate|only user\W+(and )?assistant"
    r"|not support\W+system|developer instruction is not enabled",
    re.IGNORECASE,
)
_TEMPLATE_OPTIONS = "chat_template_kwargs"
_STREAM = re.compile(r"\bstream", re.IGNORECASE)  # not "upstream"
_NO_STREAM = "No generations found in stream"  # LangChain's words for a reply that came whole
_REFUSED = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
_NOT_COMPILED = re.compile(r"\bgrammar\b|\bcompile\b", re.IGNORECASE)  # some take that for their own fault
_NOT_SUPPORTED = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.NOT_IMPLEMENTED}
_BUSY = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}
_STATUS_OF = {
    ModelAPIError: HTTPStatus.INTERNAL_SERVER_ERROR,
    ModelAuthenticationError: HTTPStatus.UNAUTHORIZED,
    ModelConnectionError: HTTPStatus.SERVICE_UNAVAILABLE,
    ModelInvalidRequestError: HTTPStatus.BAD_REQUEST,
    ModelNotFoundError: HTTPStatus.NOT_FOUND,
    ModelPermissionDeniedError: HTTPStatus.FORBIDDEN,
    ModelRateLimitError: HTTPStatus.TOO_MANY_REQUESTS,
    ModelTimeoutError: HTTPStatus.REQUEST_TIMEOUT,
}
_TRANSPORT = {  # the classes of HTTP clients for lost connections and time-outs that are none of Python's own
    ("aiohttp", "ClientConnectionError"),
    ("httpx", "TransportError"),
    ("httpx2", "TransportError"),  # in the place of httpx in some clients
    ("requests", "ConnectionError"),
    ("requests", "Timeout"),
}
_BARE_STATUS = {("httpx", "HTTPStatusError"), ("httpx2", "HTTPStatusError")}
_SHOWN = 200  # characters of a cause
_AUTHORIZATION = re.compile(r"\b(?:basic|bearer) (?=\S*[\d=+/])[\w.~+/=-]{8,}", re.IGNORECASE)
_SHORTEST_KEY = 8  # characters; what is shorter stands in for a key, as "none" does


def is_too_long(error: Exception) -> bool:
    """Tell whether a prompt, or prompt and reply together, were longer than the model can take."""
    status = _status(error)
    if isinstance(error, ContextOverflowError) or status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return True
    # limits of a rate are told in much the same words
    return status != HTTPStatus.TOO_MANY_REQUESTS and _OVERFLOW.search(_said(error)) is not None


def leaves_no_room(error: Exception) -> bool:
    """Tell whether a request was refused because of the reply that it left room for, at least in part."""
    said = _said(error)
    return _REPLY_TOO_LONG.search(said) is not None or is_too_long(error) and _REPLY.search(said) is not None


def kind_of(error: Exception) -> type[ModelCallError]:
    """Return the class of ours that a provider's error belongs to."""
    status = _status(error)
    if is_too_long(error) or status in _REFUSED:
        return RequestRefusedError
    denied = status is not None and 400 <= status < 500 and status not in _BUSY
    return ModelAccessError if denied else ModelCallError


def refuses_schema(error: Exception) -> bool:
    """Tell whether a request seems to have been refused for its JSON schema."""
    status, said = _status(error), _said(error)
    refused = status in _NOT_SUPPORTED or status == HTTPStatus.INTERNAL_SERVER_ERROR and _NOT_COMPILED.search(said)
    return bool(refused) and not is_too_long(error) and _SCHEMA.search(said) is not None


def misses_schema(error: Exception) -> bool:
    """Tell whether a reply did not follow its JSON schema: an accident, which says nothing about the next one."""
    return _MISSED in _said(error)


def refuses_system(error: Exception) -> bool:
    """Tell whether a request was refused because the model takes no message of the role "system"."""
    return _SYSTEM.search(_said(error)) is not None


def refuses_template_options(error: Exception) -> bool:
    """Tell whether a request was refused for the options of the chat template."""
    return _status(error) in _NOT_SUPPORTED and _TEMPLATE_OPTIONS in _said(error)


def refuses_streaming(error: Exception) -> bool:
    """Tell whether a request was refused because its reply was to be streamed, or the reply came as none."""
    refused = _status(error) in _NOT_SUPPORTED and not is_too_long(error) and _STREAM.search(_said(error))
    return bool(refused) or _NO_STREAM in str(error)


def may_pass(error: BaseException) -> bool:
    """Tell whether the same request may succeed a moment later: no connection, a time-out, a server in trouble."""
    status = _status(error)
    if status is not None:
        return status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if isinstance(error, ConnectionError | TimeoutError) or _is_of(_TRANSPORT, error):
        return True
    reasons = (error.__cause__, getattr(error, "reason", None))  # the latter is urllib's
    return any(may_pass(reason) for reason in reasons if isinstance(reason, BaseException))


def is_bare_status(error: BaseException) -> bool:
    """Tell whether an error is an HTTP client's own for a status: clients that ask again after one raise their own."""
    return _is_of(_BARE_STATUS, error)


def error_text(error: BaseException, models: Iterable[Runnable[Any, Any]]) -> str:
    """Return an error in words, with those of its first cause where it has others ("Connection error." has).

    The models' keys are left out: some servers repeat those that they refuse.
    """
    first = error
    while first.__cause__:
        first = first.__cause__
    text = f"{type(error).__name__}: {_in_words(error)}"
    if str(first) not in text:
        text += f" ({str(first)[:_SHOWN]})"
    return _without_keys(text, models)


def _without_keys(text: str, models: Iterable[Runnable[Any, Any]]) -> str:
    for value in (value for model in models for value in vars(model).values()):
        if isinstance(value, SecretStr) and len(value) >= _SHORTEST_KEY:
            text = text.replace(value.get_secret_value(), "(key)")
    return _AUTHORIZATION.sub("(key)", text)


def _said(error: BaseException) -> str:
    """Return what an error says, and all that the server replied, of which OpenAI's client says the message only."""
    return f"{error} {getattr(error, 'body', None) or ''}"


def _in_words(error: BaseException) -> str:
    """Return what an error says, or, where that is nothing but a status, what the server replied."""
    text, body = str(error), getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    return text if not body or message and str(message) in text else f"{text} - {str(body)[:_SHOWN]}"


def _is_of(classes: set[tuple[str, str]], error: BaseException) -> bool:
    return any((kind.__module__.partition(".")[0], kind.__name__) in classes for kind in type(error).__mro__)


def _status(error: BaseException) -> int | None:
    """Return the HTTP status of a provider's error: its own, its response's or its cause's, or that of its class."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):  # botocore's
        response = SimpleNamespace(code=response.get("ResponseMetadata", {}).get("HTTPStatusCode"))
    for holder in (error, response, error.__cause__):
        for name in ("status_code", "code"):
            if isinstance(status := getattr(holder, name, None), int):
                return status
    return next((status for kind, status in _STATUS_OF.items() if isinstance(error, kind)), None)
