"""Connections of OpenAI-compatible models that work on every event loop.

A connection works only on the event loop that opened it, and LangChain shares one connection pool between all models
of a process. But `invoke` and `ainvoke`, and two calls of `asyncio.run`, run on different loops.
"""

import asyncio
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from langgraph_rag.models.bindings import AnyModel, models_in, with_models
from langgraph_rag.models.completions import checked_response
from langgraph_rag.vllm_server import address_of

_WAIT_FOR_LOSES_CANCELLATIONS = sys.version_info < (3, 12)  # asyncio's, if the result has just arrived
_AT_ONCE = 4  # requests of one pool, which looks at all its connections twice in each
_clients: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # by the model's own client
_copies: dict[int, tuple[dict[str, Any], Any]] = {}  # by a model's id: its attributes, and the copy made of them


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
                return await checked_response(response, stream=stream)

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
