"""The passages of evidence from each step in turn, so that the first ones represent every step."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import zip_longest

from langgraph_rag.records import Evidence


def round_robin(evidence: Sequence[Evidence]) -> list[str]:
    """Return the passages of evidence, the first of each step, then the second of each, and so on."""
    steps: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for entry in evidence:
        steps[entry["step"]][entry["passage_id"]] = None
    return list(dict.fromkeys(id_ for turn in zip_longest(*steps.values()) for id_ in turn if id_ is not None))
