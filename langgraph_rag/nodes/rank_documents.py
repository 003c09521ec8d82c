"""KiRAG's document ranking (section 3.3): by the best piece of knowledge of each, and by the chain."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.node import emit
from langgraph_rag.records import Evidence
from langgraph_rag.tools.fusion import by_score

_BOOST = 1.0  # no score of an aligner is higher


class RankInput(TypedDict):
    """The best score of each passage over all steps, and the evidence of the chain."""

    scores: dict[str, float]
    evidence: list[Evidence]


def by_best_score(state: RankInput) -> dict[str, float]:
    """Use the scores of the aligner alone, as the paper does."""
    return state["scores"]


def chain_first(state: RankInput) -> dict[str, float]:
    """Rank the passages of the chain before all others; in the authors' public code they are 0.5 better.

    Scores of different rounds are on different scales, so that a fact of the chain can score less than what it led to.
    """
    behind = {evidence["passage_id"] for evidence in state["evidence"]}
    return {id_: score + (_BOOST if id_ in behind else 0.0) for id_, score in state["scores"].items()}


@dataclass(frozen=True)
class RankDocuments:
    """Rank all passages with a candidate."""

    score: Callable[[RankInput], dict[str, float]]

    async def __call__(self, state: RankInput) -> dict[str, Any]:
        """Return the passages, best first; ties keep the order in which they were found."""
        ranking = by_score(self.score(state))
        emit("rank_documents", passages=len(ranking))
        return {"ranking": ranking}
