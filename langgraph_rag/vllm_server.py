"""Address, key and limits for vLLM and other OpenAI-compatible servers, from the environment."""

import os
from typing import Any
from urllib.parse import urlsplit

_URL, _TIMEOUT = "http://localhost:8000/v1", "120"


def vllm_server(*addresses: str) -> dict[str, Any]:
    """Return address, key and limits as arguments of OpenAI's client.

    Args:
        addresses: environment variables with the address; the first one that is set is used.

    Raises:
        ValueError: when VLLM_TIMEOUT is not a positive number.
    """
    return {
        "base_url": next(filter(None, map(os.environ.get, addresses)), _URL),
        "api_key": os.environ.get("VLLM_API_KEY", "").strip() or "none",
        "timeout": _timeout(),
        "max_retries": 3,
    }


def address_of(url: str) -> str:
    """Return the address of a server without credentials; empty if it cannot be told from them."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        return ""  # in "user:password@host" the user name is parsed as the scheme
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def _timeout() -> float:
    given = os.environ.get("VLLM_TIMEOUT", _TIMEOUT)
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise ValueError(f"VLLM_TIMEOUT: expected the seconds to wait for the server, such as 300, got {given!r}")
    return seconds
