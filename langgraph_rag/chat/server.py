"""Serves the page of each knowledge base, for any number of tabs, in one process."""

import gc
import socket
import webbrowser
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

import typer
import uvicorn
from fastapi import FastAPI
from nicegui import ui

from langgraph_rag.chat.hosts import KnownHosts
from langgraph_rag.chat.page import ICON, ChatPage
from langgraph_rag.chat.shared import Shared
from langgraph_rag.errors import AddressError

TITLE = "langgraph_rag"
_KEPT_FOR = 120.0  # seconds that a tab may be disconnected before its state is deleted


def serve_pages(several: Sequence[Shared], *, host: str, port: int, show: bool, allow_hosts: Sequence[str]) -> None:
    """Serve a page for each knowledge base until interrupted; see `langgraph_rag.chat.serve`."""
    listening = listen(host, port)
    address = f"http://{_reachable(host)}:{listening.getsockname()[1]}"

    @asynccontextmanager
    async def announced(_: FastAPI) -> AsyncIterator[None]:
        named = ", ".join(str(shared.kb.path) for shared in several)
        typer.echo(f"The page of {named} is at {address} (Ctrl+C stops it).")
        if show:
            webbrowser.open(address)
        yield

    app = FastAPI(lifespan=announced, openapi_url=None)
    app.add_middleware(KnownHosts, names=["localhost", host], public=allow_hosts)
    names = {path: shared.kb.path.resolve().name for path, shared in zip(_paths(several), several, strict=True)}
    for path, shared in zip(names, several, strict=True):
        ui.page(path, title=f"{names[path]} · {TITLE}", reconnect_timeout=_KEPT_FOR)(
            partial(_build, shared, names, path)
        )
    ui.run_with(app, title=TITLE, favicon=ICON, dark=None, language="en-US", tailwind=False, show_welcome_message=False)
    gc.freeze()  # NiceGUI searches all other objects for the server; some of these import megabytes on access
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2))
    server.run(sockets=[listening])


def _paths(several: Sequence[Shared]) -> list[str]:
    """Return the paths of the pages: that of the first is the root."""
    return ["/", *(f"/{number}" for number in range(2, len(several) + 1))]


def _build(shared: Shared, names: Mapping[str, str], path: str) -> None:
    ui.context.client.on_connect(shared.warm_up)  # while a question is typed
    ChatPage(shared, names, path).build()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address.

    Raises:
        AddressError: when that is not possible.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()
    except (OSError, OverflowError, TypeError, ValueError) as error:
        listening.close()
        raise AddressError(f"{host}:{port} cannot be listened on: {error}; choose another with --port") from error
    return listening


def _reachable(host: str) -> str:
    if host in ("0.0.0.0", "::", ""):
        return "localhost"
    return f"[{host}]" if ":" in host else host
