"""Summarises the outcomes of a run as percentages and means, each with a bootstrap interval."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NotRequired, cast

import numpy as np
from typing_extensions import TypedDict

from langgraph_rag.evaluation.comparison import interval
from langgraph_rag.evaluation.judging import Judgement, told_by_judge
from langgraph_rag.evaluation.outcomes import Outcome
from langgraph_rag.evaluation.scoring import RECALL_DEPTHS
from langgraph_rag.records import tokens_spent
from langgraph_rag.refusals import is_refusal


class Summary(TypedDict):
    """A run in numbers: percentages and means over the answered questions, None if there is nothing to count.

    `intervals` holds `[low, high]` of each of them, and of the failures as a number of questions. `granularities` holds
    the percentage of each granularity, `efforts` that of each effort that `adaptive` took. `stopped` counts the
    answered questions whose search was ended by a budget.
    `recall_questions` counts the questions of R@k and All@5: those with supporting passages. `acc_judged` is over the
    answers at which the judge did not fail; it is None if the judge failed at all that it was asked. `tokens` are
    input, output and estimated tokens; tokens are estimated if the model did not report them.
    """

    questions: int
    failures: int
    stopped: int
    em: float | None
    f1: float | None
    acc: float | None
    acc_judged: float | None
    judge_failures: int
    recall_questions: int
    recall_at_2: float | None
    recall_at_3: float | None
    recall_at_5: float | None
    recall_at_10: float | None
    all_at_5: float | None
    refusals: float | None
    supported: NotRequired[float | None]  # missing in summaries of earlier versions
    calls: float | None
    input_tokens: float | None
    output_tokens: float | None
    estimated_tokens: float | None
    tokens: float | None
    steps: float | None
    mean_seconds: float | None
    median_seconds: float | None
    intervals: dict[str, list[float] | None]
    granularities: dict[str, float]
    efforts: NotRequired[dict[str, float]]


def summarise(outcomes: Sequence[Outcome], judgements: Sequence[Judgement] = ()) -> Summary:
    """Summarise the outcomes of one run.

    Args:
        outcomes: the result of `evaluate` or `read_outcomes`.
        judgements: the result of `judge` or `judgements_of` for these outcomes, if answers were judged.

    Returns:
        Percentages and means over the answered questions, with their bootstrap intervals.
    """
    answered = [outcome for outcome in outcomes if outcome["error"] is None]
    shares, means = _shares(answered, judgements), _means(answered)
    failed = [float(outcome["error"] is not None) for outcome in outcomes]
    efforts = Counter(outcome["effort"] for outcome in answered if "effort" in outcome)
    granularities = Counter(outcome["granularity"] for outcome in answered if outcome["granularity"])
    figures = {
        "questions": len(outcomes),
        "failures": len(outcomes) - len(answered),
        "stopped": sum(bool(usage["stopped_by"]) for outcome in answered if (usage := outcome["usage"])),
        **{name: _figure(values, 100, 1) for name, values in shares.items()},
        "recall_questions": sum(outcome["recall"] is not None for outcome in answered),
        "judge_failures": sum(judgement["correct"] is None for judgement in judgements),
        **{name: _figure(values, 1, 2) for name, values in means.items()},
        "median_seconds": _figure(means["mean_seconds"], 1, 2, np.median),
        "intervals": {
            "failures": interval(failed, len(failed), 1),
            **{name: interval(values, 100, 1) for name, values in shares.items()},
            **{name: interval(values, 1, 2) for name, values in means.items()},
        },
        "granularities": _in_percent(granularities, len(answered)),
        **({"efforts": _in_percent(efforts, len(answered))} if efforts else {}),
    }
    return cast(Summary, figures)


def _in_percent(counted: Counter[str], whole: int) -> dict[str, float]:
    return {name: round(100 * n / whole, 1) for name, n in counted.most_common()}


def by_type(outcomes: Sequence[Outcome], judgements: Sequence[Judgement] = ()) -> dict[str, Summary]:
    """Summarise each type of question separately; empty if there is only one type."""
    types = sorted({outcome["type"] for outcome in outcomes})
    if len(types) < 2:
        return {}
    of_type = {type_: [outcome for outcome in outcomes if outcome["type"] == type_] for type_ in types}
    ids = {type_: {outcome["id"] for outcome in some} for type_, some in of_type.items()}
    return {
        type_: summarise(some, [judgement for judgement in judgements if judgement["id"] in ids[type_]])
        for type_, some in of_type.items()
    }


def _shares(answered: Sequence[Outcome], judgements: Sequence[Judgement]) -> dict[str, list[float]]:
    return {
        "em": _known(outcome["em"] for outcome in answered),
        "f1": _known(outcome["f1"] for outcome in answered),
        "acc": _known(outcome["acc"] for outcome in answered),
        "acc_judged": _judged(judgements),
        **{
            f"recall_at_{k}": _known((outcome["recall"] or {}).get(str(k)) for outcome in answered)
            for k in RECALL_DEPTHS
        },
        "all_at_5": _known(outcome["all_at_5"] for outcome in answered),
        "supported": [
            float(supported == "yes") for outcome in answered if (supported := outcome.get("supported")) is not None
        ],
        "refusals": [float(is_refusal(outcome["answer"] or "")) for outcome in answered],
    }


def _judged(judgements: Sequence[Judgement]) -> list[float]:
    """Return the verdicts; none if the judge failed at all that it was asked, regardless of correct refusals."""
    asked = told_by_judge(judgements)
    if asked and all(judgement["correct"] is None for judgement in asked):
        return []
    return _known(judgement["correct"] for judgement in judgements)


def _means(answered: Sequence[Outcome]) -> dict[str, list[float]]:
    usages = [usage for outcome in answered if (usage := outcome["usage"])]
    return {
        "calls": [usage["calls"] for usage in usages],
        "input_tokens": [usage["input_tokens"] for usage in usages],
        "output_tokens": [usage["output_tokens"] for usage in usages],
        "estimated_tokens": [usage["estimated_tokens"] for usage in usages],
        "tokens": [tokens_spent(usage) for usage in usages],
        "steps": _known(outcome["steps"] for outcome in answered),
        "mean_seconds": [outcome["wall_seconds"] for outcome in answered],
    }


def _known(values: Iterable[float | None]) -> list[float]:
    return [float(value) for value in values if value is not None]


def _figure(values: Sequence[float], scale: float, digits: int, average: Callable[..., Any] = np.mean) -> float | None:
    return round(scale * float(average(values)), digits) if values else None
