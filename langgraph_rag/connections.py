"""Connections of OpenAI-compatible models that work on every event loop.

`invoke` and `ainvoke` run on different loops, and so do two calls of `asyncio.run`; a connection works only on the loop
that opened it, and LangChain shares one pool of connections between all models of a process.
"""

import asyncio
import json
import logging
import random
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any

from langchain_core.language_models import BaseChatModel

_SHOWN = 200  # characters of what is no completion
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0  # seconds, as OpenAI's client waits
_log = logging.getLogger(__name__)
_clients: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # by the client that each stands in for
_without_schema: weakref.WeakSet[Any] = weakref.WeakSet()  # clients of servers that refused it
_begun: ContextVar[asyncio.Event | None] = ContextVar("langgraph_rag_begun", default=None)


def is_openai(llm: BaseChatModel) -> bool:
    """Tell whether a model speaks to an OpenAI-compatible server, without importing what nobody uses."""
    openai = sys.modules.get("langchain_openai")
    return openai is not None and isinstance(llm, openai.ChatOpenAI)


def address(llm: BaseChatModel) -> str:
    """Return where the server of an OpenAI-compatible model is, without path or credentials; empty for other models."""
    if not is_openai(llm):
        return ""
    url = llm.root_async_client.base_url  # type: ignore[attr-defined]
    return f"{url.scheme}://{url.host}" + (f":{url.port}" if url.port else "")


def on_any_loop(llm: BaseChatModel) -> BaseChatModel:
    """Return the model, or a copy of it as it is now, with connections of its own for each event loop.

    A model whose connections its owner chose (a client or a proxy) is left as it is.
    """
    if not is_openai(llm) or getattr(llm, "http_async_client", None) or getattr(llm, "openai_proxy", None):
        return llm
    own = llm.root_async_client  # type: ignore[attr-defined]
    if own not in _clients:
        _clients[own] = own.with_options(http_client=_client_per_loop())
    client = _clients[own]
    return llm.model_copy(update={"root_async_client": client, "async_client": client.chat.completions})


def within_request(llm: BaseChatModel, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the options that add fields to each request as they are.

    Given a `response_format` by its name, OpenAI's client walks through the whole schema at each call, which takes a
    seventh of the call's processor time, and withholds replies that were cut off. Fields that the model has stand.
    """
    if llm.use_responses_api:  # type: ignore[attr-defined]  # which has another place for them
        return fields
    return {"extra_body": {**fields, **(llm.extra_body or {})}}  # type: ignore[attr-defined]


def has_refused_schema(llm: BaseChatModel) -> bool:
    """Tell whether a model's server is known to refuse requests for JSON by schema."""
    return is_openai(llm) and llm.root_async_client in _without_schema  # type: ignore[attr-defined]


def note_refused_schema(llm: BaseChatModel) -> None:
    """Note that the server of an OpenAI-compatible model refuses requests for JSON by schema, and log it once."""
    if not has_refused_schema(llm):
        _without_schema.add(llm.root_async_client)  # type: ignore[attr-defined]
        _log.warning("%s refuses response_format: its replies are no longer asked for by JSON schema", address(llm))


@contextmanager
def noting_streams() -> Iterator[asyncio.Event]:
    """Yield an event that is set once a stream has begun inside."""
    begun = asyncio.Event()
    token = _begun.set(begun)
    try:
        yield begun
    finally:
        _begun.reset(token)


def pauses(llm: BaseChatModel) -> Iterator[float]:
    """Yield the seconds to wait before each further request, as the client of an OpenAI-compatible model does.

    Other models are not asked again.
    """
    if is_openai(llm):
        for retry in range(llm.root_async_client.max_retries):  # type: ignore[attr-defined]
            yield min(_FIRST_PAUSE * 2**retry, _LONGEST_PAUSE) * random.uniform(0.75, 1)


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
    return isinstance(found, dict) and isinstance(found.get("choices"), list) and bool(found["choices"])
