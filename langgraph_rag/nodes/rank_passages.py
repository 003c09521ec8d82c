"""Merges the results of several retrievals: the first of each, then the second of each, and so on."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.node import emit
from langgraph_rag.records import ScoredPassage


class RankPassagesInput(TypedDict):
    """The passages of this retrieval, and the rankings of earlier ones."""

    retrieved: list[ScoredPassage]
    rankings: list[list[ScoredPassage]]


@dataclass(frozen=True)
class RankPassages:
    """Rank all passages found so far by their best rank in any retrieval; ties keep the order of retrieval.

    The scores of different queries cannot be compared, but ranks can.
    """

    async def __call__(self, state: RankPassagesInput) -> dict[str, Any]:
        """Return all rankings and the merged one, with scores 1 / rank."""
        rankings = [*state["rankings"], state["retrieved"]]
        ranks: dict[str, int] = {}
        for ranking in rankings:
            for rank, passage in enumerate(ranking, start=1):
                ranks[passage["id"]] = min(rank, ranks.get(passage["id"], rank))
        ranked = sorted(ranks.items(), key=lambda item: item[1])
        emit("rank_passages", passages=len(ranked))
        return {"rankings": rankings, "ranking": [ScoredPassage(id=id_, score=1 / rank) for id_, rank in ranked]}
