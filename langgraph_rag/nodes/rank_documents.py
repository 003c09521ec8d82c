"""KiRAG's document ranking (section 3.3): by the best piece of knowledge of each, by the chain, and as first found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.node import emit
from langgraph_rag.records import Evidence, ScoredPassage
from langgraph_rag.tools.retrieve.ranking import TOP_HEAVY, by_score, fuse


class RankInput(TypedDict):
    """The best score of each passage over all steps, the evidence of the chain, and what the question alone found."""

    scores: dict[str, float]
    evidence: list[Evidence]
    first_retrieval: list[ScoredPassage]


def by_best_score(state: RankInput) -> dict[str, float]:
    """Use the scores of the aligner alone, as the paper does."""
    return state["scores"]


def fused(state: RankInput) -> dict[str, float]:
    """Rank passages by the chain, by their best triple, and by what the question found, fused.

    In the authors' public code those of the chain are 0.5 better. But scores of different rounds are on different
    scales, a chain may go astray, and a passage may state what no triple holds. Without any triple there is no ranking.
    """
    if not state["scores"]:
        return {}
    behind = dict.fromkeys(evidence["passage_id"] for evidence in state["evidence"])
    chain = [ScoredPassage(id=id_, score=1.0) for id_ in behind]
    rankings = [chain, by_score(state["scores"]), state["first_retrieval"]]
    return {passage["id"]: passage["score"] for passage in fuse(rankings, constant=TOP_HEAVY)}


@dataclass(frozen=True)
class RankDocuments:
    """Rank the passages of a question."""

    score: Callable[[RankInput], dict[str, float]]

    async def __call__(self, state: RankInput) -> dict[str, Any]:
        """Return the passages, best first; ties keep the order in which they were found."""
        ranking = by_score(self.score(state))
        emit("rank_documents", passages=len(ranking))
        return {"ranking": ranking}
