"""Serves the page of each knowledge base, for any number of tabs, in one process, and protects it from other websites.

A website could point its own name to this server (DNS rebinding) and read the page, or show the page in a frame.
"""

import gc
import socket
import webbrowser
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from ipaddress import ip_address
from urllib.parse import urlsplit

import typer
import uvicorn
from fastapi import FastAPI
from nicegui import ui
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from langgraph_rag.chat.page import ICON, ChatPage
from langgraph_rag.chat.shared import Shared
from langgraph_rag.errors import AddressError

_PORTS = {"http": 80, "https": 443}


class KnownHosts:
    """Refuses requests and websockets if their Host is not a known name or an IP address, or their Origin differs.

    DNS rebinding cannot use IP addresses. Another port is another origin. No other page may show this one in a frame.

    Args:
        app: the application.
        names: the names of this computer.
        public: the names that browsers know, if a proxy passes on requests under another one.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str], public: Iterable[str]) -> None:
        self._app, self._public = app, _names(public)
        self._known = self._public | _names(names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests that are not refused."""
        headers = Headers(scope=scope) if scope["type"] in ("http", "websocket") else None
        refused = None if headers is None else self._refused(headers.get("host", ""), headers.get("origin"))

        async def unframed(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Frame-Options"] = "DENY"
            await send(message)

        app = self._app if refused is None else PlainTextResponse(refused, status_code=403)
        await app(scope, receive, unframed)

    def _refused(self, host: str, origin: str | None) -> str | None:
        """Return why a request is refused; None if it may pass."""
        name, _ = _place(f"http://{host}")
        if name not in self._known and not _is_address(name):
            return (
                f"This page is not known by the name {name!r}: expected localhost, an IP address, or a name that it "
                f"was started with. Whoever runs `langgraph-rag chat` can add --allow-host {name}.\n"
            )
        if origin is None:
            return None
        sender, _ = sent = _place(origin)
        if sender in self._public or (sender and sent == _place(f"{urlsplit(origin).scheme}://{host}")):
            return None
        return (
            f"This page is at {host!r} and takes nothing from pages at {origin!r}. If that is its own address before a "
            "proxy, whoever runs `langgraph-rag chat` can name that host by --allow-host.\n"
        )


def _names(given: Iterable[str]) -> set[str]:
    return {name for host in given if (name := _place(f"http://{host}")[0])}


def _place(url: str) -> tuple[str, int]:
    """Return the name and the port of an address; the name is empty if there is none, or it cannot be parsed."""
    try:
        parts = urlsplit(url)
        return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return "", 0


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


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
