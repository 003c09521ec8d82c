"""Protects the page from other websites.

A website could point its own name to this server (DNS rebinding) and read the page, or show the page in a frame.
"""

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
