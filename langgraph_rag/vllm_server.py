"""Where vLLM, or another server that speaks as OpenAI's does, is: what the environment says, for OpenAI's clients."""

import os
from typing import Any

_URL, _TIMEOUT = "http://localhost:8000/v1", "120"


def vllm_server(*addresses: str) -> dict[str, Any]:
    """Return address, key and limits of a client.

    Args:
        addresses: environment variables, of which the first that is set holds the address.

    Raises:
        ValueError: when VLLM_TIMEOUT is no number of seconds.
    """
    return {
        "base_url": next(filter(None, map(os.environ.get, addresses)), _URL),
        "api_key": os.environ.get("VLLM_API_KEY") or "none",
        "timeout": _timeout(),
        "max_retries": 3,
    }


def _timeout() -> float:
    given = os.environ.get("VLLM_TIMEOUT", _TIMEOUT)
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise ValueError(f"VLLM_TIMEOUT: expected the seconds to wait for the server, such as 300, got {given!r}")
    return seconds
