"""How often a request is sent again, and after which pauses."""

import random
from collections.abc import Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel

from langgraph_rag.models.bindings import AnyModel, unbound
from langgraph_rag.models.connections import is_openai

_RETRIES = 2  # as many as OpenAI's client makes
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0  # seconds, as OpenAI's client waits


def pauses(llm: AnyModel) -> Iterator[float]:
    """Yield the seconds to wait before each retry, as OpenAI's client does; none if a wrapper of the model retries."""
    for retry in range(_retries(unbound(llm))):
        yield min(_FIRST_PAUSE * 2**retry, _LONGEST_PAUSE) * random.uniform(0.75, 1)


def retries_by_itself(llm: AnyModel) -> bool:
    """Return whether a model's client retries by itself, as those with `max_retries` do.

    OpenAI's client does not retry after a broken stream, and Mistral's not after an HTTP status.
    """
    return hasattr(unbound(llm), "max_retries")


def _retries(model: Any) -> int:
    if is_openai(model):
        return int(model.root_async_client.max_retries)
    if not isinstance(model, BaseChatModel):
        return 0
    own = getattr(model, "max_retries", None)
    return own if isinstance(own, int) else _RETRIES
