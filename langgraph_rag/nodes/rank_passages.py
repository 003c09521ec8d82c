"""Merges the results of several retrievals: the first of each, then the second of each, and so on."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.node import emit
from langgraph_rag.records import ScoredPassage, ids_of, reciprocal_ranks
from langgraph_rag.tools.retrieve.ranking import best_of


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
        ranked = best_of(reciprocal_ranks(ids_of(ranking)) for ranking in rankings)
        emit("rank_passages", passages=len(ranked))
        return {"rankings": rankings, "ranking": ranked}
