"""What the errors of model providers mean, whichever provider's package they come from."""

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from httpx import TransportError
from langchain_core.exceptions import ContextOverflowError
from langchain_core.runnables import Runnable
from pydantic import SecretStr

_OVERFLOW = re.compile(r"maximum (context|model) length|context (length|size|window)", re.IGNORECASE)
_SCHEMA = re.compile(
    r"response.?(format|schema)|json.?schema|output_(config|format)|guided|structured.outputs?", re.IGNORECASE
)
_REFUSED = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
_NOT_SUPPORTED = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.NOT_IMPLEMENTED}
_BUSY = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}
_SHORTEST_KEY = 8  # characters; what is shorter stands in for a key, as "none" does


def is_too_long(error: Exception) -> bool:
    """Tell whether a prompt, or prompt and reply together, were longer than the model can take."""
    return isinstance(error, ContextOverflowError) or _OVERFLOW.search(str(error)) is not None


def is_refused(error: Exception) -> bool:
    """Tell whether a request was refused for what it holds."""
    return is_too_long(error) or _status(error) in _REFUSED


def refuses_schema(error: Exception) -> bool:
    """Tell whether a request seems to have been refused for its JSON schema."""
    return _status(error) in _NOT_SUPPORTED and not is_too_long(error) and _SCHEMA.search(str(error)) is not None


def may_pass(error: BaseException) -> bool:
    """Tell whether the same request may succeed a moment later: no connection, a time-out, a server in trouble."""
    status = _status(error)
    if status is not None:
        return status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    lost = isinstance(error, ConnectionError | TimeoutError | TransportError)
    return lost or error.__cause__ is not None and may_pass(error.__cause__)


def without_keys(text: str, models: Iterable[Runnable[Any, Any]]) -> str:
    """Return a text without the models' keys in it: some servers repeat those that they refuse."""
    for value in (value for model in models for value in vars(model).values()):
        if isinstance(value, SecretStr) and len(value) >= _SHORTEST_KEY:
            text = text.replace(value.get_secret_value(), "(key)")
    return text


def _status(error: BaseException) -> int | None:
    """Return the HTTP status that a provider's error carries, by itself, in its response or in what it was made of."""
    for holder in (error, getattr(error, "response", None), error.__cause__):
        for name in ("status_code", "code"):
            if isinstance(status := getattr(holder, name, None), int):
                return status
    return None
