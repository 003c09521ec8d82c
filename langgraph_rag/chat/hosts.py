"""Protects the page from other websites.

A website could point its own name to this server (DNS rebinding) and read the page, or show the page in a frame.
"""

import re
from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class KnownHosts:
    """Refuses requests and websockets if their Host is not a known name or an IP address, or their Origin differs.

    DNS rebinding cannot use IP addresses. No other page may show this one in a frame.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        self._app, self._names = app, {known for name in names if (known := _name(name))}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests that are not refused."""
        asked = scope["type"] in ("http", "websocket")
        headers = Headers(scope=scope) if asked else Headers()
        name = _name(headers.get("host", ""))
        known = not asked or name in self._names or _is_address(name)
        origin = _origin(headers["origin"]) if "origin" in headers else name
        own = origin in {name, *self._names}

        async def unframed(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Frame-Options"] = "DENY"
            await send(message)

        app = self._app if known and own else _refusal(origin if known else name)
        await app(scope, receive, unframed)


def _refusal(name: str) -> ASGIApp:
    return PlainTextResponse(
        f"This page is not known by the name {name!r}: expected localhost, an IP address, or a name that it was "
        f"started with. Whoever runs `langgraph-rag chat` can add --allow-host {name}.\n",
        status_code=403,
    )


def _name(host: str) -> str:
    """Return a Host without its port and the brackets of IPv6."""
    return re.sub(r":\d*$", "", host).strip("[]").lower()


def _origin(given: str) -> str:
    """Return the host of an Origin; empty if it has none, as `null`, or cannot be parsed."""
    try:
        return _name(urlsplit(given).netloc)
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
