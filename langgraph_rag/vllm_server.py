"""Address, key and limits for vLLM and other OpenAI-compatible servers, from the environment."""

import math
import os
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

_URL, _TIMEOUT = "http://localhost:8000/v1", "120"


def vllm_server(*addresses: str) -> dict[str, Any]:
    """Return address, key and limits as arguments of OpenAI's client.

    Args:
        addresses: environment variables with the address; the first one that is set is used.

    Raises:
        ValueError: when the address does not begin with http:// or https://, or VLLM_TIMEOUT is not a positive number.
    """
    return {
        "base_url": _base_url(addresses),
        "api_key": os.environ.get("VLLM_API_KEY", "").strip() or "none",
        "timeout": _timeout(),
        "max_retries": 3,
    }


def _base_url(variables: Iterable[str]) -> str:
    given = {name: url for name in variables if (url := os.environ.get(name, "").strip())}
    name, url = next(iter(given.items()), ("", _URL))
    if not url.startswith(("http://", "https://")):  # not shown, as it may contain a key
        raise ValueError(f"{name}: expected an address that begins with http:// or https://, such as {_URL}")
    return url


def address_of(url: str) -> str:
    """Return the address of a server without credentials; empty if it cannot be told from them."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        return ""  # in "user:password@host" the user name is parsed as the scheme
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def _timeout() -> float:
    given = os.environ.get("VLLM_TIMEOUT") or _TIMEOUT
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise ValueError(f"VLLM_TIMEOUT: expected the seconds to wait for the server, such as 300, got {given!r}")
    return seconds
