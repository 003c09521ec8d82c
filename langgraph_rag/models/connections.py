"""Connections of OpenAI-compatible models that work on every event loop.

`invoke` and `ainvoke` run on different loops, and so do two calls of `asyncio.run`; a connection works only on the loop
that opened it, and LangChain shares one pool of connections between all models of a process.
"""

import asyncio
import sys
import weakref
from typing import Any

from langgraph_rag.models.bindings import AnyModel, models_in, with_models
from langgraph_rag.models.completions import checked_response

_WAIT_FOR_LOSES_CANCELLATIONS = sys.version_info < (3, 12)  # that of asyncio, where what it waits for has just come
_clients: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # by the client that each stands in for


def is_openai(llm: AnyModel) -> bool:
    """Tell whether a model is asked by OpenAI's client, without importing what nobody uses.

    LangChain's models of other providers that speak as OpenAI's servers do (Azure, DeepSeek, xAI ...) are, too.
    """
    openai = sys.modules.get("langchain_openai.chat_models.base")
    return openai is not None and isinstance(llm, openai.BaseChatOpenAI) and llm.root_async_client is not None


def address(llm: AnyModel) -> str:
    """Return where the server that is asked first is, without credentials; empty if that cannot be told."""
    model: Any = models_in(llm)[0]
    if not is_openai(model):
        return ""
    url = model.root_async_client.base_url
    if url.scheme not in ("http", "https"):
        return ""  # of "user:password@host" the name is taken for the scheme
    return f"{url.scheme}://{url.host}" + (f":{url.port}" if url.port else "") + str(url.path).rstrip("/")


def named_server(llm: AnyModel) -> str:
    """Name the server of a served model behind an error message, so that a wrong address shows."""
    server = address(llm)
    return f" (server: {server})" if server else ""


def on_any_loop(llm: AnyModel) -> AnyModel:
    """Return the model, or a copy of it as it is now, with connections of its own for each event loop.

    A model whose connections its owner chose (a client or a proxy) keeps them.
    """
    return with_models(llm, _connected_per_loop)


def _connected_per_loop(model: Any) -> Any:
    if not is_openai(model):
        return model
    changes = {} if model.http_async_client or model.openai_proxy else _clients_per_loop(model.root_async_client)
    if _WAIT_FOR_LOSES_CANCELLATIONS:  # LangChain awaits each piece of a stream with it, if it is to bound them
        changes["stream_chunk_timeout"] = None
    return model.model_copy(update=changes) if changes else model


def _clients_per_loop(own: Any) -> dict[str, Any]:
    if own not in _clients:
        _clients[own] = own.with_options(http_client=_client_per_loop())
    client = _clients[own]
    return {"root_async_client": client, "async_client": client.chat.completions}


def _client_per_loop() -> Any:
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
