"""Gives places in a short list to several passages and to all names that a question compares (KiRAG, CIRAG)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import Triple
from langgraph_rag.tools.ingest.spans import spot_names

T = TypeVar("T", bound=Triple)
OFFERED = 0.8
"""The weight of a fact that was offered in an earlier step and not taken."""
_OF_PASSAGE = 5  # facts of a passage, as long as there are others


def spread_out(ranked: Sequence[T], question: str, most: int | None) -> list[T]:
    """Return the `most` best facts, but few of each passage, and one about each name of a comparison.

    Otherwise the many facts of one passage, or about one of the things compared, would leave no place for the others.
    """
    if most is None or len(ranked) <= most:
        return list(ranked)
    few, others, of_passage = list[int](), list[int](), Counter[str]()
    for place, fact in enumerate(ranked):
        passage = fact["sources"][0]["passage_id"]
        of_passage[passage] += 1
        (few if of_passage[passage] <= _OF_PASSAGE else others).append(place)
    chosen = list(dict.fromkeys([*_compared(ranked, question), *few, *others]))[:most]
    return [ranked[place] for place in sorted(chosen)]


def _compared(ranked: Sequence[Triple], question: str) -> Iterator[int]:
    """Yield the place of the best fact about each name of a question that has several."""
    names = {normalise(span.text) for span in spot_names(question)}
    ends = [normalise(" ".join(fact["triple"][::2]) or str(fact.get("text", ""))) for fact in ranked]
    for name in names if len(names) > 1 else ():
        yield from islice((place for place, end in enumerate(ends) if name in end), 1)
