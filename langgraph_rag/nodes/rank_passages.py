"""Merge what several retrievals found: the first place of each, then the second of each, and so on."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.node import emit
from langgraph_rag.records import ScoredPassage


class RankPassagesInput(TypedDict):
    """What was retrieved now, and by the retrievals before."""

    retrieved: list[ScoredPassage]
    rankings: list[list[ScoredPassage]]


@dataclass(frozen=True)
class RankPassages:
    """Rank all passages found so far by their best place in any retrieval; of equal ones the earlier found wins.

    Scores of different queries cannot be compared, places can.
    """

    async def __call__(self, state: RankPassagesInput) -> dict[str, Any]:
        """Return all retrievals and the passages, best first; the score is 1 / place."""
        rankings = [*state["rankings"], state["retrieved"]]
        places: dict[str, int] = {}
        for ranking in rankings:
            for place, passage in enumerate(ranking, start=1):
                places[passage["id"]] = min(place, places.get(passage["id"], place))
        ranked = sorted(places.items(), key=lambda item: item[1])
        emit("rank_passages", passages=len(ranked))
        return {"rankings": rankings, "ranking": [ScoredPassage(id=id_, score=1 / place) for id_, place in ranked]}
