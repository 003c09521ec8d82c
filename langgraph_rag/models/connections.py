"""Connections of OpenAI-compatible models that work on every event loop.

A connection works only on the event loop that opened it, and LangChain shares one connection pool between all models
of a process. But `invoke` and `ainvoke`, and two calls of `asyncio.run`, run on different loops.
"""

import asyncio
import sys
import weakref
from typing import Any

from langgraph_rag.models.bindings import AnyModel, models_in, with_models
from langgraph_rag.models.completions import checked_response
from langgraph_rag.vllm_server import address_of

_WAIT_FOR_LOSES_CANCELLATIONS = sys.version_info < (3, 12)  # asyncio's, if the result has just arrived
_clients: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # by the model's own client


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
    """Return a copy of a model with separate connections for each event loop.

    A model with a client or a proxy of its own keeps it.
    """
    return with_models(llm, _connected_per_loop)


def _connected_per_loop(model: Any) -> Any:
    if not is_openai(model):
        return model
    changes: dict[str, Any] = {}
    if not (model.http_async_client or model.openai_proxy):
        client = _replacement(model.root_async_client)
        changes |= {"root_async_client": client, "async_client": client.chat.completions}
    if _WAIT_FOR_LOSES_CANCELLATIONS:  # LangChain awaits each chunk with `wait_for` if it has a timeout
        changes["stream_chunk_timeout"] = None
    return model.model_copy(update=changes) if changes else model


def _replacement(own: Any) -> Any:
    """Return a client like a model's own, with separate connections for each event loop."""
    if own not in _clients:
        _clients[own] = own.with_options(http_client=_http_client_per_loop())
    return _clients[own]


def _http_client_per_loop() -> Any:
    from openai import DefaultAsyncHttpxClient

    clients: dict[asyncio.AbstractEventLoop, Any] = {}

    class ClientPerLoop(DefaultAsyncHttpxClient):
        async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
            loop = asyncio.get_running_loop()
            if loop not in clients:
                for ended in [other for other in list(clients) if other.is_closed()]:
                    clients.pop(ended, None)
                clients[loop] = DefaultAsyncHttpxClient()
            response = await clients[loop].send(request, stream=True, **options)  # else it would be read to its end
            return await checked_response(response, stream=stream)

    return ClientPerLoop()
