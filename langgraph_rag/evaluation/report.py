"""Sum up outcomes and show methods side by side."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from typing_extensions import TypedDict

from langgraph_rag.evaluation.metrics import normalise_answer
from langgraph_rag.evaluation.outcomes import Outcome

_REFUSALS = ("unanswerable", "unknown")
_RESAMPLES, _SEED = 1_000, 0
_NOTE = """\
EM, F1, Acc, R@k, All@5 and refusals are percentages of the answered questions (failures are not among them), R@k and \
All@5 of those that name supporting passages; in brackets a 95% bootstrap interval. Calls, tokens and steps are means \
per answered question; seconds are wall time per answered question, median / mean.
"""


class Summary(TypedDict):
    """A run in numbers: percentages and means over the answered questions, None where there is nothing to count.

    `intervals` holds `[low, high]` of em, f1, acc and recall_at_5, `granularities` the percentage of each.
    """

    questions: int
    failures: int
    em: float | None
    f1: float | None
    acc: float | None
    recall_at_2: float | None
    recall_at_3: float | None
    recall_at_5: float | None
    recall_at_10: float | None
    all_at_5: float | None
    intervals: dict[str, list[float] | None]
    calls: float | None
    input_tokens: float | None
    output_tokens: float | None
    steps: float | None
    median_seconds: float | None
    mean_seconds: float | None
    granularities: dict[str, float]
    refusals: float | None


def summarise(outcomes: Sequence[Outcome]) -> Summary:
    """Sum up the outcomes of one run."""
    answered = [outcome for outcome in outcomes if outcome["error"] is None]
    em, f1, acc = (_known(outcome[name] for outcome in answered) for name in ("em", "f1", "acc"))
    recall = {k: _known((outcome["recall"] or {}).get(k) for outcome in answered) for k in ("2", "3", "5", "10")}
    usages = [usage for outcome in answered if (usage := outcome["usage"])]
    seconds = [outcome["wall_seconds"] for outcome in answered]
    granularities = Counter(outcome["granularity"] for outcome in answered if outcome["granularity"])
    return Summary(
        questions=len(outcomes),
        failures=len(outcomes) - len(answered),
        em=_percent(em),
        f1=_percent(f1),
        acc=_percent(acc),
        recall_at_2=_percent(recall["2"]),
        recall_at_3=_percent(recall["3"]),
        recall_at_5=_percent(recall["5"]),
        recall_at_10=_percent(recall["10"]),
        all_at_5=_percent(_known(outcome["all_at_5"] for outcome in answered)),
        intervals={
            "em": _interval(em),
            "f1": _interval(f1),
            "acc": _interval(acc),
            "recall_at_5": _interval(recall["5"]),
        },
        calls=_mean([usage["calls"] for usage in usages]),
        input_tokens=_mean([usage["input_tokens"] for usage in usages]),
        output_tokens=_mean([usage["output_tokens"] for usage in usages]),
        steps=_mean(_known(outcome["steps"] for outcome in answered)),
        median_seconds=round(float(np.median(seconds)), 2) if seconds else None,
        mean_seconds=_mean(seconds),
        granularities={name: round(100 * n / len(answered), 1) for name, n in granularities.most_common()},
        refusals=_percent([float(normalise_answer(outcome["answer"] or "") in _REFUSALS) for outcome in answered]),
    )


def markdown_table(rows: Mapping[str, Summary]) -> str:
    """Return a Markdown table with one row per method.

    Raises:
        ValueError: when there is no method.
    """
    if not rows:
        raise ValueError("expected at least one method to report, got none")
    table = [{"Method": name.replace("|", "\\|"), **_cells(summary)} for name, summary in rows.items()]
    rule = ["---"] + ["---:"] * (len(table[0]) - 1)
    return "".join(f"| {' | '.join(line)} |\n" for line in [list(table[0]), rule, *(row.values() for row in table)])


def write_report(rows: Mapping[str, Summary], out: Path) -> None:
    """Write the summaries of methods as `report.md` and `report.json` in a folder."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.md").write_text(f"{markdown_table(rows)}\n{_NOTE}", encoding="utf-8", newline="\n")
    text = json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    (out / "report.json").write_text(text, encoding="utf-8", newline="\n")


def _cells(summary: Summary) -> dict[str, str]:
    intervals, shares = summary["intervals"], summary["granularities"]
    return {
        "Questions": str(summary["questions"]),
        "Failures": str(summary["failures"]),
        "EM": _shown(summary["em"], intervals["em"]),
        "F1": _shown(summary["f1"], intervals["f1"]),
        "Acc": _shown(summary["acc"], intervals["acc"]),
        "R@2": _shown(summary["recall_at_2"]),
        "R@3": _shown(summary["recall_at_3"]),
        "R@5": _shown(summary["recall_at_5"], intervals["recall_at_5"]),
        "R@10": _shown(summary["recall_at_10"]),
        "All@5": _shown(summary["all_at_5"]),
        "Refusals": _shown(summary["refusals"]),
        "Calls": _shown(summary["calls"]),
        "Tokens in": _shown(summary["input_tokens"]),
        "Tokens out": _shown(summary["output_tokens"]),
        "Steps": _shown(summary["steps"]),
        "Seconds": f"{_shown(summary['median_seconds'])} / {_shown(summary['mean_seconds'])}",
        "Answered from": ", ".join(f"{name} {share}%" for name, share in shares.items()) or "–",
    }


def _shown(value: float | None, interval: Sequence[float] | None = None) -> str:
    if value is None:
        return "–"
    return f"{value} ({interval[0]}–{interval[1]})" if interval else str(value)


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _percent(shares: Sequence[float]) -> float | None:
    return round(100 * float(np.mean(shares)), 1) if shares else None


def _mean(values: Sequence[float]) -> float | None:
    return round(float(np.mean(values)), 2) if values else None


def _interval(shares: Sequence[float]) -> list[float] | None:
    """Resample with one seed, so that methods asked the same questions are compared on the same resamples."""
    if not shares:
        return None
    values, random = np.asarray(shares), np.random.default_rng(_SEED)
    means = [values[random.integers(values.size, size=values.size)].mean() for _ in range(_RESAMPLES)]
    return [round(100 * float(edge), 1) for edge in np.percentile(means, [2.5, 97.5])]
