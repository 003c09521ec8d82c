"""What the errors of model providers mean, whichever provider's package they come from."""

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from langchain_core.exceptions import ContextOverflowError
from langchain_core.runnables import Runnable
from pydantic import SecretStr

from langgraph_rag.errors import ModelAccessError, ModelCallError, RequestRefusedError

_OVERFLOW = re.compile(r"maximum (context|model) length|context (length|size|window)", re.IGNORECASE)
_SCHEMA = re.compile(
    r"response.?(format|schema)|json.?schema|output_(config|format)|guided|structured.outputs?", re.IGNORECASE
)
_REFUSED = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
_NOT_SUPPORTED = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.NOT_IMPLEMENTED}
_BUSY = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}
_SHOWN = 200  # characters of a cause
_SHORTEST_KEY = 8  # characters; what is shorter stands in for a key, as "none" does


def is_too_long(error: Exception) -> bool:
    """Tell whether a prompt, or prompt and reply together, were longer than the model can take."""
    return isinstance(error, ContextOverflowError) or _OVERFLOW.search(str(error)) is not None


def kind_of(error: Exception) -> type[ModelCallError]:
    """Return the class of ours that a provider's error belongs to."""
    status = _status(error)
    if is_too_long(error) or status in _REFUSED:
        return RequestRefusedError
    denied = status is not None and 400 <= status < 500 and status not in _BUSY
    return ModelAccessError if denied else ModelCallError


def refuses_schema(error: Exception) -> bool:
    """Tell whether a request seems to have been refused for its JSON schema."""
    return _status(error) in _NOT_SUPPORTED and not is_too_long(error) and _SCHEMA.search(str(error)) is not None


def may_pass(error: BaseException) -> bool:
    """Tell whether the same request may succeed a moment later: no connection, a time-out, a server in trouble."""
    status = _status(error)
    if status is not None:
        return status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    lost = isinstance(error, ConnectionError | TimeoutError) or _is_transport_error(error)
    return lost or error.__cause__ is not None and may_pass(error.__cause__)


def described(error: BaseException, models: Iterable[Runnable[Any, Any]]) -> str:
    """Return an error in words, with those of its first cause where it has others ("Connection error." has).

    The models' keys are left out: some servers repeat those that they refuse.
    """
    first = error
    while first.__cause__:
        first = first.__cause__
    text = f"{type(error).__name__}: {error}"
    if str(first) not in text:
        text += f" ({str(first)[:_SHOWN]})"
    return _without_keys(text, models)


def _without_keys(text: str, models: Iterable[Runnable[Any, Any]]) -> str:
    for value in (value for model in models for value in vars(model).values()):
        if isinstance(value, SecretStr) and len(value) >= _SHORTEST_KEY:
            text = text.replace(value.get_secret_value(), "(key)")
    return text


def _is_transport_error(error: BaseException) -> bool:
    """Tell whether an error is of httpx, or of httpx2, which takes its place in some clients."""
    return any(
        kind.__name__ == "TransportError" and kind.__module__.startswith("httpx") for kind in type(error).__mro__
    )


def _status(error: BaseException) -> int | None:
    """Return the HTTP status that a provider's error carries, by itself, in its response or in what it was made of."""
    for holder in (error, getattr(error, "response", None), error.__cause__):
        for name in ("status_code", "code"):
            if isinstance(status := getattr(holder, name, None), int):
                return status
    return None
