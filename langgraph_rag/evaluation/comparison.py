"""Compare methods question by question: paired differences tell apart what intervals of each alone do not.

What is hard for one method is mostly hard for another; in a difference on the same question that cancels out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

import numpy as np
from typing_extensions import TypedDict

from langgraph_rag.evaluation.bootstrap import interval
from langgraph_rag.evaluation.outcomes import Outcome


class Difference(TypedDict):
    """By how many points a method scores higher than another one, on the questions that have the score of both.

    `interval` is `[low, high]` of the 95 % bootstrap interval; where it does not hold 0 the two are told apart.
    """

    questions: int
    points: float
    interval: list[float]


class Comparison(TypedDict):
    """How a method differs from the one named `to`; None where no question has the score of both."""

    to: str
    f1: Difference | None
    recall_at_5: Difference | None


def compare(outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, Comparison]:
    """Compare each method with the first one, by the outcomes of each; questions go together by their ids.

    What failed with either method is left out.
    """
    first = next(iter(outcomes), "")
    return {
        name: Comparison(
            to=first,
            f1=_difference(outcomes[first], of_method, _f1),
            recall_at_5=_difference(outcomes[first], of_method, _recall_at_5),
        )
        for name, of_method in islice(outcomes.items(), 1, None)
    }


def _f1(outcome: Outcome) -> float | None:
    return outcome["f1"]


def _recall_at_5(outcome: Outcome) -> float | None:
    return (outcome["recall"] or {}).get("5")


def _difference(
    first: Iterable[Outcome], second: Iterable[Outcome], score: Callable[[Outcome], float | None]
) -> Difference | None:
    before, after = _by_id(first, score), _by_id(second, score)
    paired = [value - before[id_] for id_, value in after.items() if id_ in before]
    if (bounds := interval(paired, 100, 1)) is None:
        return None
    return Difference(questions=len(paired), points=round(100 * float(np.mean(paired)), 1), interval=bounds)


def _by_id(outcomes: Iterable[Outcome], score: Callable[[Outcome], float | None]) -> dict[str, float]:
    return {outcome["id"]: value for outcome in outcomes if (value := score(outcome)) is not None}
