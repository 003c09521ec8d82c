"""Classifies the errors of model providers, from any provider's package."""

import re
from http import HTTPStatus
from types import SimpleNamespace

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

from langgraph_rag.errors import ModelAccessError, ModelCallError, RequestRefusedError

_OVERFLOW = re.compile(
    r"maximum (supported )?(context|model|prompt|sequence) length|context[ _]?(length|size|window|limit)"
    r"|(prompt|input|string)s? (is |are )?too long"
    r"|\b(prompt|input|request)s?\b.{,30}\bexceed(s|ed)?\b(?!.{,40}\b(rate|quota)\b).{,40}\b(tokens?|length)\b"
    r"|input token count|number of input tokens|range of input length"
    r"|input length limit|inputs\W+must have less|sum of prompt length|max_(completion_)?tokens must be at least 1"
    r"|max_new_tokens\W+must be|max_seq_len|max_model_len|too many tokens(?!,? (per|please wait))|request too large"
    r"|reduce (the length of the|your) (message|prompt|input)",
    re.IGNORECASE,
)
_REPLY = re.compile(r"output tokens|(in|for) the completion|max_(new_|completion_)?tokens", re.IGNORECASE)
_REPLY_TOO_LONG = re.compile(  # for any prompt
    r"max_(completion_)?tokens\W+is too large|range of max_tokens|invalid max_tokens value", re.IGNORECASE
)
_NO_MODEL = re.compile(  # some servers report this as a bad request
    r"invalid model( name|:)|not a valid model|no models? (is |are )?loaded"
    r"|model\b.{0,80}\b((does )?not exist|not found|is not (available|supported)(?! (for|in|when|with)\b))",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"\bapi.?key\b", re.IGNORECASE)  # and this, as Gemini and xAI do
_CRASHED = re.compile(  # of LM Studio
    r"model (has |was )?(crashed|unloaded)|failed to load model|channel error", re.IGNORECASE
)
_SCHEMA = re.compile(
    r"response.?(format|schema)|json.?schema|output_(config|format)|guided|structured.outputs?|\bgrammar\b",
    re.IGNORECASE,
)
_PARAMETERS = re.compile(r"requested param|support\w* .{0,40}parameters", re.IGNORECASE)  # of OpenRouter and LiteLLM
_MISSED = re.compile(r"json_validate_failed|tool_use_failed|output_parse_failed")  # Groq's codes
_CONTENT = re.compile(r"content[ _-]?(filter|management|policy)|usage polic|safety system|moderation", re.IGNORECASE)
_SYSTEM = re.compile(  # of chat templates first, then of OpenAI and Google
    r"system (role|message|prompt)s? (is |are )?not supported|roles must alternate|only user\W+(and )?assistant"
    r"|not support\W+system|developer instruction is not enabled",
    re.IGNORECASE,
)
_TEMPLATE_OPTIONS = "chat_template_kwargs"
_STREAM = re.compile(r"\bstream", re.IGNORECASE)  # not "upstream"
NO_STREAM = "No generations found in stream"  # LangChain's error for a reply that was not streamed
_REFUSED = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
_GENERATION_FAILED = HTTPStatus.FAILED_DEPENDENCY  # of TGI, whose other errors have the usual codes
_NO_CAPACITY = 498  # of Groq
_NOT_SUPPORTED = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.NOT_IMPLEMENTED}
_OF_CLIENTS = (ValueError, TypeError, LookupError, NotImplementedError)  # for what they do not send
_BUSY = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS, _NO_CAPACITY}
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
_TRANSPORT = {  # lost connections and time-outs of HTTP clients that do not derive from Python's own
    ("aiohttp", "ClientConnectionError"),
    ("httpx", "TransportError"),
    ("httpx2", "TransportError"),  # some clients use it instead of httpx
    ("requests", "ConnectionError"),
    ("requests", "Timeout"),
}
_BARE_STATUS = {("httpx", "HTTPStatusError"), ("httpx2", "HTTPStatusError")}


def is_too_long(error: Exception) -> bool:
    """Return whether a prompt, or a prompt and its reply together, are too long for the model."""
    status = _status(error)
    if isinstance(error, ContextOverflowError) or status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return True
    # messages about rate limits are similar
    return status != HTTPStatus.TOO_MANY_REQUESTS and _OVERFLOW.search(_said(error)) is not None


def leaves_no_room(error: Exception) -> bool:
    """Return whether a request was refused because of its maximum reply length, at least in part."""
    said = _said(error)
    return _REPLY_TOO_LONG.search(said) is not None or is_too_long(error) and _REPLY.search(said) is not None


def kind_of(error: Exception) -> type[ModelCallError]:
    """Return the error class of this package for a provider's error."""
    status = _status(error)
    if status in _REFUSED and _denies(_said(error)):
        return ModelAccessError
    if is_too_long(error) or status in _REFUSED:
        return RequestRefusedError
    denied = status is not None and 400 <= status < 500 and status not in _BUSY
    return ModelAccessError if denied else ModelCallError


def may_refuse_schema(error: Exception) -> bool:
    """Return whether a request may have been refused because of its JSON schema; the same request without it tells.

    Servers say so in many words, some as an internal error, and gateways as a model that nobody has or something
    forbidden; clients refuse schemas, too, without a status. Words for something else ("stream") are in doubt, too,
    once it is left out in vain.
    """
    said, status = _said(error), _status(error)
    if is_too_long(error):
        return False
    if status is not None and 403 <= status < 500 and status not in _BUSY | _NOT_SUPPORTED:
        return (_SCHEMA.search(said) or _PARAMETERS.search(said)) is not None
    refused = status in _NOT_SUPPORTED | {HTTPStatus.INTERNAL_SERVER_ERROR}
    if not (refused or status is None and isinstance(error, _OF_CLIENTS)):
        return False
    if _SCHEMA.search(said):
        return True
    return not (_denies(said) or _CONTENT.search(said) or refuses_template_options(error))


def refuses_schema(error: Exception) -> bool:
    """Return whether such an error is one of the request: an internal error that names no schema may be another."""
    return _status(error) != HTTPStatus.INTERNAL_SERVER_ERROR or _SCHEMA.search(_said(error)) is not None


def misses_schema(error: Exception) -> bool:
    """Return whether a reply did not follow its JSON schema; the next one may."""
    return _MISSED.search(_said(error)) is not None


def refuses_system(error: Exception) -> bool:
    """Return whether a request was refused because the model does not support system messages."""
    return _SYSTEM.search(_said(error)) is not None


def refuses_template_options(error: Exception) -> bool:
    """Return whether a request was refused because of options for the chat template."""
    return _status(error) in _NOT_SUPPORTED and _TEMPLATE_OPTIONS in _said(error)


def refuses_streaming(error: Exception) -> bool:
    """Return whether a request was refused because it asked for a stream, or the reply was not streamed."""
    refused = _status(error) in _NOT_SUPPORTED and not is_too_long(error) and _STREAM.search(_said(error))
    return bool(refused) or NO_STREAM in str(error)


def may_pass(error: BaseException) -> bool:
    """Return whether a retry may succeed: after a lost connection, a time-out or a server error."""
    status = _status(error)
    if status is not None:
        return status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if isinstance(error, ConnectionError | TimeoutError) or _is_of(_TRANSPORT, error):
        return True
    reasons = (error.__cause__, getattr(error, "reason", None))  # the latter is urllib's
    return any(may_pass(reason) for reason in reasons if isinstance(reason, BaseException))


def is_bare_status(error: BaseException) -> bool:
    """Return whether an error is the plain status error of an HTTP client; clients that retry raise their own."""
    return _is_of(_BARE_STATUS, error)


def _denies(said: str) -> bool:
    return (_NO_MODEL.search(said) or _NO_KEY.search(said)) is not None


def _said(error: BaseException) -> str:
    """Return the text of an error and the body of the response; OpenAI's error has only the message of it."""
    return f"{error} {getattr(error, 'body', None) or ''}"


def _is_of(classes: set[tuple[str, str]], error: BaseException) -> bool:
    return any((kind.__module__.partition(".")[0], kind.__name__) in classes for kind in type(error).__mro__)


def _status(error: BaseException) -> int | None:
    """Return the HTTP status of a provider's error: from the error, its response, its cause, or its class.

    Some servers blame the request for their own failure.
    """
    status = _told_status(error)
    failed = status == _GENERATION_FAILED or status == HTTPStatus.BAD_REQUEST and _CRASHED.search(_said(error))
    return HTTPStatus.INTERNAL_SERVER_ERROR if failed else status


def _told_status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    if isinstance(response, dict):  # botocore's
        response = SimpleNamespace(code=response.get("ResponseMetadata", {}).get("HTTPStatusCode"))
    for holder in (error, response, error.__cause__):
        for name in ("status_code", "code"):
            if isinstance(status := getattr(holder, name, None), int):
                return status
    return next((status for kind, status in _STATUS_OF.items() if isinstance(error, kind)), None)
