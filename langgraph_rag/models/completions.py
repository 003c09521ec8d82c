"""What an OpenAI-compatible server sends in place of a completion, and where it put the reply."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import partial
from http import HTTPStatus
from typing import Any

from langgraph_rag.concurrency.scopes import having

_SHOWN = 200  # characters of what is no completion
_LONGEST_REPLY = 2**23  # bytes, with all that a server may tell of each token
_LONGEST_STREAM = 2**25  # bytes; around each token stands what around a whole reply stands once
_LAST = re.compile(rb'\[DONE\]|"finish_reason": ?"')  # what is said at the end of a stream
_LONGEST_LAST = 20  # bytes, which may be divided between two parts
_begun: ContextVar[asyncio.Event | None] = ContextVar("langgraph_rag_begun", default=None)


def noting_streams() -> AbstractContextManager[asyncio.Event]:
    """Yield an event that is set once a stream has begun inside."""
    return having(_begun, asyncio.Event())


async def checked_response(response: Any, *, stream: bool) -> Any:
    """Return a response, or "bad gateway" in place of one with status 200 that is no completion.

    So it is asked for again with back-off, as often as after any other failure of the server, and what came is told.
    It is read to its end, unless a `stream` was asked for and came.
    """
    if stream and response.status_code == HTTPStatus.OK and _is_stream(response):
        if begun := _begun.get():
            begun.set()
        response.aiter_bytes = partial(_checked_stream, response, response.aiter_bytes)
        return response
    patience = _patience(response)
    try:
        async with asyncio.timeout(patience):
            if _is_short(response):
                await response.aread()
            elif (content := await _read(response)) is not None:
                response = _with_content(response, content)
            else:
                return _no_completion(response, f"more than {_LONGEST_REPLY:,} bytes")
    except TimeoutError:
        return _no_completion(response, f"no end of it within {patience:g} seconds")
    if response.status_code != HTTPStatus.OK or not _is_of_chat(response):
        return response
    if response.text.lstrip().startswith("data:"):  # a stream under another name
        return response
    if not (completion := _completion(response.content)):
        return _no_completion(response, repr(response.text[:_SHOWN]))
    return _instead(response, HTTPStatus.OK, completion) if _mended(completion) else response


def _is_short(response: Any) -> bool:
    """Tell whether a response says itself that it is no longer than a reply may be."""
    length = response.headers.get("Content-Length", "")
    return "Content-Encoding" not in response.headers and length.isdecimal() and int(length) <= _LONGEST_REPLY


async def _checked_stream(
    response: Any, parts: Callable[..., AsyncIterator[bytes]], *sizes: int
) -> AsyncIterator[bytes]:
    """Yield the parts of a stream that goes on, comes to an end, and says that this is the end.

    A server that dies may close a stream as if all had been sent.
    """
    patience, heard, read, ended, before = _patience(response), time.monotonic(), 0, not _is_of_chat(response), b""
    async for part in parts(*sizes):
        read += len(part)
        if read > _LONGEST_STREAM:
            raise ConnectionError(f"the stream has no end: more than {_LONGEST_STREAM:,} bytes came")
        if b"data:" in part:
            heard = time.monotonic()
        elif patience is not None and time.monotonic() - heard > patience:  # comments alone keep it open
            raise TimeoutError(f"the stream stands still: nothing of the reply came within {patience:g} seconds")
        ended, before = ended or _LAST.search(before + part) is not None, part[-_LONGEST_LAST:]
        yield part
    if read and not ended:
        raise ConnectionError("the stream broke off: it ended with neither a finish_reason nor [DONE]")


async def _read(response: Any) -> bytes | None:
    """Return what a response holds, or nothing: one that is longer than any reply may be without end."""
    content = bytearray()
    async for part in response.aiter_bytes():
        content += part
        if len(content) > _LONGEST_REPLY:
            await response.aclose()
            return None
    return bytes(content)


def _with_content(response: Any, content: bytes) -> Any:
    coded = {"content-encoding", "content-length", "transfer-encoding"}
    headers = {name: value for name, value in response.headers.items() if name not in coded}
    return type(response)(response.status_code, headers=headers, content=content, request=response.request)


def _patience(response: Any) -> float | None:
    """Return the seconds that a client waits for what comes next."""
    seconds: float | None = response.request.extensions.get("timeout", {}).get("read")
    return seconds


def _is_of_chat(response: Any) -> bool:
    return bool(response.request.url.path.endswith("/chat/completions"))


def _no_completion(response: Any, got: str) -> Any:
    came = f"status {response.status_code} without a completion: expected a JSON object with choices, got {got}"
    return _instead(response, HTTPStatus.BAD_GATEWAY, {"error": {"message": came}})


def _instead(response: Any, status: HTTPStatus, body: dict[str, Any]) -> Any:
    return type(response)(status, json=body, request=response.request)


def _is_stream(response: Any) -> bool:
    return str(response.headers.get("Content-Type", "")).startswith("text/event-stream")


def _completion(content: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return None
    choices = found.get("choices") if isinstance(found, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict) or not isinstance(message.get("content"), str | list | None):
        return None
    completion: dict[str, Any] = found
    return completion


def _mended(completion: dict[str, Any]) -> bool:
    """Add what a client cannot do without, and tell whether that was missing."""
    message = completion["choices"][0]["message"]
    nameless = not isinstance(message.get("role"), str)
    if nameless:
        message["role"] = "assistant"
    uncounted = not isinstance(completion.get("usage"), dict | None)
    if uncounted:
        del completion["usage"]
    return _content_restored(completion) or nameless or uncounted


def _content_restored(completion: dict[str, Any]) -> bool:
    """Make a finished reply that came as reasoning the content, and tell whether there was one.

    A server that parses reasoning waits for its end, and where it was switched off takes the whole reply for it.
    """
    choice = completion["choices"][0]
    message = choice["message"]
    reply = message.get("reasoning_content") or message.get("reasoning")
    missing = not message.get("content") and not message.get("tool_calls") and choice.get("finish_reason") == "stop"
    if not missing or not isinstance(reply, str):
        return False
    message["content"] = reply
    return True
