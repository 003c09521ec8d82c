"""Reciprocal rank fusion (Cormack et al. 2009)."""

from collections import defaultdict
from collections.abc import Sequence

from langgraph_rag.records import ScoredPassage

_RRF_K = 60
TOP_HEAVY = 2
"""The constant for rankings that make different errors: the top of each matters."""


def fuse(
    rankings: Sequence[Sequence[ScoredPassage]], k: int | None = None, *, constant: int = _RRF_K
) -> list[ScoredPassage]:
    """Merge rankings and return the k best, or all: each rank scores 1 / (constant + rank), and ties are sorted by id.

    A smaller constant gives more weight to a high rank in one ranking than to medium ranks in all.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, passage in enumerate(ranking, start=1):
            scores[passage["id"]] += 1 / (constant + rank)
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]
    return [ScoredPassage(id=id_, score=score) for id_, score in best]
