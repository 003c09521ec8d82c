"""Connections of OpenAI-compatible models that work on every event loop.

`invoke` and `ainvoke` run on different loops, and so do two calls of `asyncio.run`; a connection works only on the loop
that opened it, and LangChain shares one pool of connections between all models of a process.
"""

import asyncio
import json
import random
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any

from langchain_core.language_models import BaseChatModel

from langgraph_rag.bindings import AnyModel, models_in, unbound, with_models

_SHOWN = 200  # characters of what is no completion
_LONGEST_REPLY = 2**23  # bytes, with all that a server may tell of each token
_RETRIES = 2  # as many as OpenAI's client makes
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0  # seconds, as OpenAI's client waits
_clients: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # by the client that each stands in for
_begun: ContextVar[asyncio.Event | None] = ContextVar("langgraph_rag_begun", default=None)


def is_openai(llm: AnyModel) -> bool:
    """Tell whether a model is asked by OpenAI's client, without importing what nobody uses.

    LangChain's models of other providers that speak as OpenAI's servers do (Azure, DeepSeek, xAI ...) are, too.
    """
    openai = sys.modules.get("langchain_openai.chat_models.base")
    return openai is not None and isinstance(llm, openai.BaseChatOpenAI) and llm.root_async_client is not None


def address(llm: AnyModel) -> str:
    """Return where the server that is asked first is, without credentials; empty if it is not OpenAI's kind."""
    model: Any = models_in(llm)[0]
    if not is_openai(model):
        return ""
    url = model.root_async_client.base_url
    return f"{url.scheme}://{url.host}" + (f":{url.port}" if url.port else "") + str(url.path).rstrip("/")


def named_server(llm: AnyModel) -> str:
    """Name the server of a served model behind an error message, so that a wrong address shows."""
    server = address(llm)
    return f" (server: {server})" if server else ""


def on_any_loop(llm: AnyModel) -> AnyModel:
    """Return the model, or a copy of it as it is now, with connections of its own for each event loop.

    A model whose connections its owner chose (a client or a proxy) is left as it is.
    """
    return with_models(llm, _connected_per_loop)


def _connected_per_loop(model: Any) -> Any:
    if not is_openai(model) or model.http_async_client or model.openai_proxy:
        return model
    own = model.root_async_client
    if own not in _clients:
        _clients[own] = own.with_options(http_client=_client_per_loop())
    client = _clients[own]
    return model.model_copy(update={"root_async_client": client, "async_client": client.chat.completions})


@contextmanager
def noting_streams() -> Iterator[asyncio.Event]:
    """Yield an event that is set once a stream has begun inside."""
    begun = asyncio.Event()
    token = _begun.set(begun)
    try:
        yield begun
    finally:
        _begun.reset(token)


def pauses(llm: AnyModel) -> Iterator[float]:
    """Yield the seconds to wait before each further request, as OpenAI's client does.

    What is around some models asks again itself: those are not asked again here.
    """
    for retry in range(_retries(unbound(llm))):
        yield min(_FIRST_PAUSE * 2**retry, _LONGEST_PAUSE) * random.uniform(0.75, 1)


def asks_again(llm: AnyModel) -> bool:
    """Tell whether a model's client asks again itself, as the clients of those that have `max_retries` do.

    OpenAI's does nothing about a stream that breaks off, and Mistral's nothing about a status.
    """
    return hasattr(unbound(llm), "max_retries")


def _retries(model: Any) -> int:
    if is_openai(model):
        return int(model.root_async_client.max_retries)
    if not isinstance(model, BaseChatModel):
        return 0
    own = getattr(model, "max_retries", None)
    return own if isinstance(own, int) else _RETRIES


def _client_per_loop() -> Any:
    from openai import DefaultAsyncHttpxClient

    clients: dict[asyncio.AbstractEventLoop, Any] = {}

    class ClientPerLoop(DefaultAsyncHttpxClient):
        async def send(self, request: Any, **options: Any) -> Any:
            loop = asyncio.get_running_loop()
            if loop not in clients:
                for ended in [other for other in list(clients) if other.is_closed()]:
                    clients.pop(ended, None)
                clients[loop] = DefaultAsyncHttpxClient()
            return await _checked(await clients[loop].send(request, **options))

    return ClientPerLoop()


async def _checked(response: Any) -> Any:
    """Return a response, or "bad gateway" in place of one with status 200 that is no completion.

    So it is asked for again with back-off, as often as after any other failure of the server, and what came is told.
    """
    asked_for_one = response.request.url.path.endswith("/chat/completions")
    if response.status_code == HTTPStatus.OK and _is_stream(response):
        if begun := _begun.get():
            begun.set()
        return response
    if response.status_code != HTTPStatus.OK or not asked_for_one:
        return response
    content = await _read(response)
    if content is None:
        return _no_completion(response, f"more than {_LONGEST_REPLY:,} bytes")
    response = _with_content(response, content)
    if response.text.lstrip().startswith("data:"):  # a stream under another name
        return response
    if not (completion := _completion(response.text)):
        return _no_completion(response, repr(response.text[:_SHOWN]))
    return _instead(response, HTTPStatus.OK, completion) if _content_restored(completion) else response


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


def _no_completion(response: Any, got: str) -> Any:
    came = f"status 200 without a completion: expected a JSON object with choices, got {got}"
    return _instead(response, HTTPStatus.BAD_GATEWAY, {"error": {"message": came}})


def _instead(response: Any, status: HTTPStatus, body: dict[str, Any]) -> Any:
    return type(response)(status, json=body, request=response.request)


def _is_stream(response: Any) -> bool:
    return str(response.headers.get("Content-Type", "")).startswith("text/event-stream")


def _completion(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    choices = found.get("choices") if isinstance(found, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    usable = isinstance(message, dict) and isinstance(message.get("content"), str | list | None)
    return found if usable else None


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
