"""Connections to OpenAI-compatible servers: one pool for each event loop, and responses checked before they are read.

A connection works only on the event loop that opened it, and LangChain shares one connection pool between all models
of a process. But `invoke` and `ainvoke`, and two calls of `asyncio.run`, run on different loops. Responses may be no
completion, or have no end.
"""

import asyncio
import json
import re
import sys
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

from langgraph_rag.concurrency.context_variables import override
from langgraph_rag.errors import ModelCallError
from langgraph_rag.models.bindings import AnyModel, models_in, with_models
from langgraph_rag.vllm_server import address_of

_WAIT_FOR_LOSES_CANCELLATIONS = sys.version_info < (3, 12)  # asyncio's, if the result has just arrived
_AT_ONCE = 4  # requests of one pool, which looks at all its connections twice in each
_clients: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # by the model's own client
_copies: dict[int, tuple[dict[str, Any], Any]] = {}  # by a model's id: its attributes, and the copy made of them

_SHOWN = 200  # characters of a response that is not a completion
_LONGEST_REPLY = 2**23  # bytes, including details of each token
_LONGEST_STREAM = 2**25  # bytes; each token has an envelope of its own
_LAST = re.compile(rb'\[DONE\]|"finish_reason": ?"')  # at the end of a stream
_OBJECT = re.compile(r"\s*(?:```\w*\s*)?\{")  # at the beginning of a reply; drafts of one follow other text
_LONGEST_LAST = 20  # bytes; they may be split between two chunks
_begun: ContextVar[asyncio.Event | None] = ContextVar("langgraph_rag_begun", default=None)


def is_openai(llm: AnyModel) -> bool:
    """Return whether a model uses OpenAI's client, without importing the client if nothing else has imported it.

    LangChain's models of other providers with the same protocol (Azure, DeepSeek, xAI ...) use it, too.
    """
    openai = sys.modules.get("langchain_openai.chat_models.base")
    return openai is not None and isinstance(llm, openai.BaseChatOpenAI) and llm.root_async_client is not None


def address(llm: AnyModel) -> str:
    """Return the address of a model's server, or of its first fallback's, without credentials; empty if unknown."""
    model: Any = models_in(llm)[0]
    if not is_openai(model):
        return ""
    return address_of(str(model.root_async_client.base_url))


def named_server(llm: AnyModel) -> str:
    """Return the server of a model in words for error messages, so that a wrong address is visible."""
    server = address(llm)
    return f" (server: {server})" if server else ""


def on_any_loop(llm: AnyModel) -> AnyModel:
    """Return a copy of a model with separate connections for each event loop; the same one until the model is changed.

    A model with a client or a proxy of its own keeps it.
    """
    return with_models(llm, _connected_per_loop)


def _connected_per_loop(model: Any) -> Any:
    if not is_openai(model):
        return model
    attributes, copy = _copies.get(id(model), ({}, None))
    if attributes != vars(model):
        if copy is None:
            weakref.finalize(model, _copies.pop, id(model), None)
        copy = _connected(model)
        _copies[id(model)] = dict(vars(model)), copy
    return copy


def _connected(model: Any) -> Any:
    changes: dict[str, Any] = {}
    if not (model.http_async_client or model.openai_proxy):
        client = _replacement(model.root_async_client)
        changes |= {"root_async_client": client, "async_client": client.chat.completions}
    if _WAIT_FOR_LOSES_CANCELLATIONS:  # LangChain awaits each chunk with `wait_for` if it has a timeout
        changes["stream_chunk_timeout"] = None
    return model.model_copy(update=changes)


def _replacement(own: Any) -> Any:
    """Return a client like a model's own, with separate connections for each event loop."""
    if own not in _clients:
        _clients[own] = own.with_options(http_client=_http_client_per_loop())
    return _clients[own]


def _http_client_per_loop() -> Any:
    from openai import DefaultAsyncHttpxClient

    library = sys.modules[DefaultAsyncHttpxClient.__base__.__module__.partition(".")[0]]  # httpx, or its successor
    certificates = library.create_ssl_context()  # reading them takes longer than many requests
    loops: dict[asyncio.AbstractEventLoop, list[_Pool]] = {}

    class ClientPerLoop(DefaultAsyncHttpxClient):
        async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
            loop = asyncio.get_running_loop()
            if loop not in loops:
                for ended in [other for other in list(loops) if other.is_closed()]:
                    loops.pop(ended, None)
                loops[loop] = []
            with _free(loops[loop], partial(DefaultAsyncHttpxClient, verify=certificates)) as client:
                response = await client.send(request, stream=True, **options)  # else it would be read to its end
                return await _checked_response(response, stream=stream)

    return ClientPerLoop(verify=certificates)


@dataclass
class _Pool:
    """A pool of connections and the number of requests that it has."""

    client: Any
    requests: int = 0


@contextmanager
def _free(pools: list[_Pool], new: Callable[[], Any]) -> Iterator[Any]:
    """Yield the first client that has not many requests yet; a new one if there is none."""
    pool = next((pool for pool in pools if pool.requests < _AT_ONCE), None)
    if pool is None:
        pool = _Pool(new())
        pools.append(pool)
    pool.requests += 1
    try:
        yield pool.client
    finally:
        pool.requests -= 1


def noting_streams() -> AbstractContextManager[asyncio.Event]:
    """Yield an event that is set as soon as a stream begins inside the block."""
    return override(_begun, asyncio.Event())


async def _checked_response(response: Any, *, stream: bool) -> Any:
    """Return a response, or "bad gateway" instead of one with status 200 that is not a completion.

    The client then retries with back-off, as after any other failure of the server, and reports what it received. The
    response is read to its end, unless a `stream` was requested and received.
    """
    if stream and response.status_code == HTTPStatus.OK and _is_stream(response):
        if begun := _begun.get():
            begun.set()
        response.aiter_bytes = partial(_checked_stream, response, response.aiter_bytes)
        return response
    timeout = _read_timeout(response)
    try:
        async with asyncio.timeout(timeout):
            if _is_short(response):
                await response.aread()
            elif (content := await _read(response)) is not None:
                response = _with_content(response, content)
            else:
                return _no_completion(response, f"more than {_LONGEST_REPLY:,} bytes")
    except TimeoutError:
        return _no_completion(response, f"no end of it within {timeout:g} seconds")
    if not response.is_success or not _is_of_chat(response):
        return response
    if response.text.lstrip().startswith("data:"):  # a stream with another content type
        return response
    found = _object(response.content)
    if error := _error_in(found):
        return _no_completion(response, repr(json.dumps({"error": error})[:_SHOWN]), _status_in(error))
    if not _is_completion(found):
        return _no_completion(response, repr(response.text[:_SHOWN]))
    return _instead(response, HTTPStatus.OK, found) if _mended(found) else response


def _is_short(response: Any) -> bool:
    """Return whether the length in the headers is within the limit for replies."""
    length = response.headers.get("Content-Length", "")
    return "Content-Encoding" not in response.headers and length.isdecimal() and int(length) <= _LONGEST_REPLY


async def _checked_stream(
    response: Any, parts: Callable[..., AsyncIterator[bytes]], *sizes: int
) -> AsyncIterator[bytes]:
    """Yield the chunks of a stream; fail if it stalls, has no end, or ends without a marker of the end.

    A server that dies may close a stream as if it were complete.
    """
    timeout, heard, read, ended, before = _read_timeout(response), time.monotonic(), 0, not _is_of_chat(response), b""
    async for part in parts(*sizes):
        read += len(part)
        if read > _LONGEST_STREAM:
            raise ModelCallError(  # which is not retried: the next one would have no end either
                f"the stream of {response.request.url.host} has no end: more than {_LONGEST_STREAM:,} bytes came"
            )
        if b"data:" in part:
            heard = time.monotonic()
        elif timeout is not None and time.monotonic() - heard > timeout:  # comments alone keep it open
            raise TimeoutError(f"the stream stands still: nothing of the reply came within {timeout:g} seconds")
        ended, before = ended or _LAST.search(before + part) is not None, part[-_LONGEST_LAST:]
        yield part
    if read and not ended:
        raise ConnectionError("the stream broke off: it ended with neither a finish_reason nor [DONE]")


async def _read(response: Any) -> bytes | None:
    """Return the content of a response; None if it is too long, as it may have no end."""
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


def _read_timeout(response: Any) -> float | None:
    """Return the read timeout of the client in seconds."""
    seconds: float | None = response.request.extensions.get("timeout", {}).get("read")
    return seconds


def _is_of_chat(response: Any) -> bool:
    return bool(response.request.url.path.endswith("/chat/completions"))


def _no_completion(response: Any, got: str, status: int = HTTPStatus.BAD_GATEWAY) -> Any:
    came = f"status {response.status_code} without a completion: expected a JSON object with choices, got {got}"
    return _instead(response, status, {"error": {"message": came}})


def _object(content: bytes) -> dict[str, Any]:
    """Return the JSON object of a response; an empty one if it has none."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _first_choice(found: dict[str, Any]) -> dict[str, Any]:
    choices = found.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _error_in(found: dict[str, Any]) -> object:
    """Return the error in a response, or in its first choice, as gateways pass them on; None if there is none."""
    return found.get("error") or _first_choice(found).get("error")


def _status_in(error: object) -> int:
    """Return the status that an error names; by default "bad gateway"."""
    code = error.get("code") if isinstance(error, dict) else None
    code = int(code) if isinstance(code, str) and code.isdecimal() else code
    if isinstance(code, int) and code in {*HTTPStatus} and code >= HTTPStatus.BAD_REQUEST:
        return code
    return HTTPStatus.BAD_GATEWAY


def _instead(response: Any, status: int, body: dict[str, Any]) -> Any:
    return type(response)(status, json=body, request=response.request)


def _is_stream(response: Any) -> bool:
    return str(response.headers.get("Content-Type", "")).startswith("text/event-stream")


def _is_completion(found: dict[str, Any]) -> bool:
    message = _first_choice(found).get("message")
    return isinstance(message, dict) and isinstance(message.get("content"), str | list | None)


def _mended(completion: dict[str, Any]) -> bool:
    """Add the fields that clients require, and return whether one was missing."""
    message = completion["choices"][0]["message"]
    nameless = not isinstance(message.get("role"), str)
    if nameless:
        message["role"] = "assistant"
    uncounted = not isinstance(completion.get("usage"), dict | None)
    if uncounted:
        del completion["usage"]
    return _content_restored(completion) or nameless or uncounted


def _content_restored(completion: dict[str, Any]) -> bool:
    """Move a finished reply from the reasoning to the content, and return whether there was one.

    A server that parses reasoning looks for the end of it. If reasoning is switched off, it takes the whole reply for
    reasoning.
    """
    choice = completion["choices"][0]
    message = choice["message"]
    reply = message.get("reasoning_content") or message.get("reasoning")
    content = message.get("content")
    missing = not (content.strip() if isinstance(content, str) else content) and not message.get("tool_calls")
    if not missing or choice.get("finish_reason") != "stop" or not isinstance(reply, str) or not _OBJECT.match(reply):
        return False
    message["content"] = reply
    return True
