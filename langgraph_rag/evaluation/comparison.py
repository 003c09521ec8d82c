"""Compares methods by paired differences, question by question.

A question that is hard for one method is mostly hard for others. In a paired difference this cancels out, so it can
show a difference that separate intervals do not.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

import numpy as np
from typing_extensions import TypedDict

from langgraph_rag.evaluation.outcomes import Outcome
from langgraph_rag.evaluation.run_folder import OutcomesError
from langgraph_rag.naming import counted

_RESAMPLES, _SEED = 1_000, 0
_AT_ONCE = 2_000_000  # values per batch; this limits memory and does not change the draws


def interval(values: Sequence[float], scale: float, digits: int) -> list[float] | None:
    """Return the 95 % interval `[low, high]` of the mean, scaled and rounded; None if there are no values.

    The seed is fixed: the same values always have the same interval, in any order.
    """
    if not values:
        return None
    given, random = np.sort(np.asarray(values)), np.random.default_rng(_SEED)
    rows = max(1, _AT_ONCE // given.size)
    sizes = [min(rows, _RESAMPLES - begun) for begun in range(0, _RESAMPLES, rows)]
    means = [given[random.integers(given.size, size=(size, given.size))].mean(axis=1) for size in sizes]
    return [round(scale * float(edge), digits) for edge in np.percentile(np.concatenate(means), [2.5, 97.5])]


_log = logging.getLogger(__name__)


class Difference(TypedDict):
    """How many points a method scores above another one, on the questions with scores of both.

    `interval` is the 95 % bootstrap interval `[low, high]`; the difference is significant if it does not contain 0.
    """

    questions: int
    points: float
    interval: list[float]


class Comparison(TypedDict):
    """How a method differs from the method `to`; None if no question has scores of both."""

    to: str
    f1: Difference | None
    recall_at_5: Difference | None


def compare(
    outcomes: Mapping[str, Sequence[Outcome]], bases: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Comparison]:
    """Compare the outcomes of each method with those of another one; questions are matched by id.

    Questions that failed with either method are left out. A warning tells of questions with other gold answers.

    Args:
        outcomes: the outcomes by method.
        bases: which method another one is compared with, such as that of an ablation; by default the first.

    Raises:
        OutcomesError: when one id belongs to different questions.
    """
    first = next(iter(outcomes), "")
    return {name: _compared(bases.get(name, first), name, outcomes) for name in islice(outcomes, 1, None)}


def _compared(base: str, name: str, outcomes: Mapping[str, Sequence[Outcome]]) -> Comparison:
    before, after = outcomes[base], outcomes[name]
    _check_questions(base, before, name, after)
    return Comparison(to=base, f1=_difference(before, after, _f1), recall_at_5=_difference(before, after, _recall_at_5))


def _check_questions(base: str, before: Iterable[Outcome], name: str, after: Iterable[Outcome]) -> None:
    asked, differing = {outcome["id"]: outcome for outcome in before}, 0
    for outcome in after:
        other = asked.get(outcome["id"], outcome)
        if outcome["question"] != other["question"]:
            raise OutcomesError(
                f"expected the same questions in {base} and {name}, got for id {outcome['id']!r} "
                f"{other['question']!r} and {outcome['question']!r}"
            )
        differing += outcome["answers"] != other["answers"]
    if differing:
        questions = counted(differing, "question")
        _log.warning("%s and %s have other gold answers to %s: scores differ by that, too", base, name, questions)


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
