"""Takes the items of several lists in turn, so that the first ones represent every list."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from langgraph_rag.records import Evidence


def in_turn(lists: Iterable[Iterable[str]]) -> list[str]:
    """Return the first item of each list, then the second of each, and so on, each item once."""
    return list(dict.fromkeys(item for turn in zip_longest(*lists) for item in turn if item is not None))


def round_robin(evidence: Sequence[Evidence]) -> list[str]:
    """Return the passages of evidence, the first of each step, then the second of each, and so on."""
    steps: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for entry in evidence:
        steps[entry["step"]][entry["passage_id"]] = None
    return in_turn(steps.values())
