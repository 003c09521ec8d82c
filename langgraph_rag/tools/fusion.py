"""Merges rankings: by scores on one scale, reciprocal rank fusion (Cormack et al. 2009), or the best score of each."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import fsum

import numpy as np
from numpy.typing import NDArray

from langgraph_rag.records import ScoredPassage

Values = NDArray[np.float64]

_RRF_K = 60
TOP_HEAVY = 2
"""The constant for rankings that make different errors: the top of each matters."""

DEPTH = 50
"""Passages of each ranking that `blend` compares."""
_COVERAGE = 0.5  # weight of what a passage tells beyond those before it, against its score
_PART = 0.15  # weight of a part of a query, whose whole has 1
_WORDS = 0.65  # weight of words against meaning: where they differ, a name that is found is surer than a likeness


def blend(
    meaning: Sequence[ScoredPassage],
    words: Sequence[ScoredPassage],
    parts: Sequence[Sequence[ScoredPassage]] = (),
    *,
    sure: bool = False,
) -> list[ScoredPassage]:
    """Merge the rankings of one query by meaning and by words, and those of its parts by meaning.

    In each ranking, the first passage scores 1 and the 50th 0, and what lies between keeps its distance: a passage far
    ahead of all others is surer than the first of many alike. Such convex fusion finds more than ranks do (Bruch et
    al. 2023). Ties are sorted by id.

    Args:
        meaning: the passages by meaning with their cosines, best first, 50 or more if there are so many.
        words: the passages by words with their BM25 scores, likewise.
        parts: for each part of the query, the passages by meaning: what a query asks beside its main matter.
        sure: whether words are sure of their first passage, which then is the first of all.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    whole = 1 + _PART * len(parts)
    for weight, ranking in ((1 - _WORDS, meaning), (_WORDS, words), *((_PART, part) for part in parts)):
        if ranking:
            lowest = 0.0 if ranking is words else ranking[-1]["score"]
            last = ranking[DEPTH - 1]["score"] if len(ranking) >= DEPTH else lowest
            span = ranking[0]["score"] - last
            for passage in ranking:
                scores[passage["id"]] += weight / whole * ((passage["score"] - last) / span if span > 0 else 1.0)
    first = words[0]["id"] if sure else ""
    if first:
        scores[first] = max(scores.values())
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0] != first, item[0]))
    return [ScoredPassage(id=id_, score=score) for id_, score in best]


def covering(ranking: Sequence[ScoredPassage], told: Values, weights: Values, k: int) -> list[ScoredPassage]:
    """Return the k best passages of a ranking that together tell a query: xQuAD, with its words as aspects.

    The first stays. Each next one is that with the best score and most of what those before it do not tell, so that
    what a query asks beside its main matter gets a place (Santos et al. 2010). It looks at the first 50 passages.

    Args:
        ranking: the passages, best first, with scores of at most 1.
        told: how well each of the first 50 tells each word, from 0 to 1; shape: passages x words.
        weights: how much each word counts; they add up to 1 or, without words, to 0.
        k: the maximum number of passages.
    """
    scores = np.array([passage["score"] for passage in ranking[:DEPTH]])
    open_, least, chosen = weights.copy(), math.inf, list[ScoredPassage]()
    while len(chosen) < min(k, len(scores)):
        gains = scores + _COVERAGE * np.vecdot(told, open_)
        best = int(gains.argmax()) if chosen else 0
        least = min(least, float(gains[best]))
        chosen.append(ScoredPassage(id=ranking[best]["id"], score=least / (1 + _COVERAGE)))
        open_ *= 1 - told[best]
        scores[best] = -math.inf
    rest = [ScoredPassage(id=one["id"], score=one["score"] / (1 + _COVERAGE)) for one in ranking[DEPTH:k]]
    return chosen + rest


def fuse(
    rankings: Sequence[Sequence[ScoredPassage]], k: int | None = None, *, constant: int = _RRF_K
) -> list[ScoredPassage]:
    """Merge rankings and return the k best, or all: each rank scores 1 / (constant + rank), and ties are sorted by id.

    A smaller constant gives more weight to a high rank in one ranking than to medium ranks in all. The order of the
    rankings does not matter, as each sum is rounded once.
    """
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for ranking in rankings:
        for rank, passage in enumerate(ranking, start=1):
            shares[passage["id"]].append(1 / (constant + rank))
    scores = {id_: fsum(of_passage) for id_, of_passage in shares.items()}
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]
    return [ScoredPassage(id=id_, score=score) for id_, score in best]


def best_of(rankings: Iterable[Iterable[ScoredPassage]]) -> list[ScoredPassage]:
    """Merge rankings by the best score of each passage; ties keep the order of the rankings."""
    best: dict[str, float] = {}
    for passage in chain.from_iterable(rankings):
        best[passage["id"]] = max(passage["score"], best.get(passage["id"], passage["score"]))
    return by_score(best)


def by_score(scores: Mapping[str, float]) -> list[ScoredPassage]:
    """Rank passages by their scores; ties keep their order."""
    best_first = sorted(scores.items(), key=lambda item: -item[1])
    return [ScoredPassage(id=id_, score=score) for id_, score in best_first]
