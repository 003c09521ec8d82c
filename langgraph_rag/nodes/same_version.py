"""Reads passages with their knowledge, as documents may be updated while a question is answered."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from langgraph_rag.records import Record
from langgraph_rag.tools.knowledge_base import KnowledgeBase

T = TypeVar("T")
_MOST = 3  # readings of passages that change each time


async def with_knowledge(
    kb: KnowledgeBase, ids: Sequence[str], knowledge: Callable[[Sequence[str]], Awaitable[Sequence[T]]]
) -> tuple[list[Record], Sequence[T]]:
    """Return passages, and what `knowledge` returns for them: of one version, so that positions of sentences fit."""
    passages, known = await kb.apassages(ids), await knowledge(ids)
    for _ in range(_MOST):
        again = await kb.apassages(ids)
        if _versions(again) == _versions(passages):
            break
        passages, known = again, await knowledge(ids)
    return passages, known


def _versions(passages: Sequence[Record]) -> list[tuple[str, str]]:
    return [(passage["id"], passage["hash"]) for passage in passages]
