"""Reciprocal rank fusion (Cormack et al. 2009)."""

from collections import defaultdict
from collections.abc import Sequence

from langgraph_rag.records import ScoredPassage

_RRF_K = 60


def fuse(
    rankings: Sequence[Sequence[ScoredPassage]], k: int | None = None, *, constant: int = _RRF_K
) -> list[ScoredPassage]:
    """Merge rankings into one of the k best, or of all: each place is worth 1 / (constant + place); ties go by id.

    The smaller the constant, the more a high place in one ranking counts against fair places in all.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        for place, passage in enumerate(ranking, start=1):
            scores[passage["id"]] += 1 / (constant + place)
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]
    return [ScoredPassage(id=id_, score=score) for id_, score in best]
