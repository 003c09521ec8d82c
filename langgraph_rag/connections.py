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

    Models that have `max_retries` ask again themselves, and so does what is around some: those are not asked again
    here, except that OpenAI's client does nothing about a stream that breaks off.
    """
    model: Any = unbound(llm)
    for retry in range(_retries(model)):
        yield min(_FIRST_PAUSE * 2**retry, _LONGEST_PAUSE) * random.uniform(0.75, 1)


def _retries(model: Any) -> int:
    if is_openai(model):
        return int(model.root_async_client.max_retries)
    return _RETRIES if isinstance(model, BaseChatModel) and not hasattr(model, "max_retries") else 0


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
    await response.aread()
    if _is_completion(response.text):
        return response
    came = f"status 200 without a completion: expected a JSON object with choices, got {response.text[:_SHOWN]!r}"
    return type(response)(HTTPStatus.BAD_GATEWAY, json={"error": {"message": came}}, request=response.request)


def _is_stream(response: Any) -> bool:
    return str(response.headers.get("Content-Type", "")).startswith("text/event-stream")


def _is_completion(text: str) -> bool:
    if text.lstrip().startswith("data:"):  # a stream under another name
        return True
    try:
        found = json.loads(text)
    except ValueError:
        return False
    choices = found.get("choices") if isinstance(found, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and isinstance(first.get("message"), dict)
