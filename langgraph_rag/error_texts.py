"""The texts of errors of providers of models and embedders, without keys."""

import re
from collections.abc import Iterable

from pydantic import SecretStr

_SHOWN = 200  # characters of a cause
_AUTHORIZATION = re.compile(r"\b(?:basic|bearer) (?=\S*[\d=+/])[\w.~+/=-]{8,}", re.IGNORECASE)
_SHORTEST_KEY = 8  # characters; shorter values are placeholders such as "none"


def error_text(error: BaseException, holders: Iterable[object]) -> str:
    """Return the text of an error, with that of its root cause if the text does not contain it.

    API keys are removed, those of the holders (models) and others.
    """
    first = error
    while first.__cause__:
        first = first.__cause__
    text = f"{type(error).__name__}: {_in_words(error)}"
    if str(first) not in text:
        text += f" ({str(first)[:_SHOWN]})"
    return without_keys(text, holders)


def without_keys(text: str, holders: Iterable[object]) -> str:
    """Return a text without the API keys of models or embedders: some servers repeat the keys that they refuse."""
    for value in (value for holder in holders for value in getattr(holder, "__dict__", {}).values()):
        if isinstance(value, SecretStr):
            text = _without_key(text, value.get_secret_value())
    return _AUTHORIZATION.sub("(key)", text)


def _without_key(text: str, key: str) -> str:
    if len(key.strip()) < _SHORTEST_KEY:
        return text
    for written in (key, repr(key)[1:-1], key.strip()):  # HTTP clients escape line ends, and servers remove them
        text = text.replace(written, "(key)")
    return text


def _in_words(error: BaseException) -> str:
    """Return the text of an error, with the body of the response if the text does not contain its message."""
    text, body = str(error), getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    return text if not body or message and str(message) in text else f"{text} - {str(body)[:_SHOWN]}"
