"""Sum up outcomes and show methods side by side."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from typing_extensions import TypedDict

from langgraph_rag.evaluation.judging import Judgement
from langgraph_rag.evaluation.outcomes import Outcome
from langgraph_rag.evaluation.run_folder import writing
from langgraph_rag.evaluation.runner import RECALL_DEPTHS as _DEPTHS
from langgraph_rag.records import tokens_spent
from langgraph_rag.refusals import is_refusal

_RESAMPLES, _SEED = 1_000, 0
_AT_ONCE = 2_000_000  # values drawn, which bounds the memory and changes no draw
REPORTS = ("report.md", "report.json")
_NOTE = """\
EM, F1, Acc, Acc†, R@k, All@5 and refusals are percentages of the answered questions (failures are not among them), \
R@k and All@5 of those that name supporting passages, Acc† (a model judged) of those that the judge did not fail at. \
Calls, tokens and steps are means per answered question (tokens that the model did not tell are estimated, apart from \
the others); seconds are wall time per answered question, mean and median; in brackets are 95% bootstrap intervals.
"""


class Summary(TypedDict):
    """A run in numbers: percentages and means over the answered questions, None where there is nothing to count.

    `intervals` holds `[low, high]` of each of them, of the failures as a number of questions; `granularities` holds the
    percentage of each. `acc_judged` is over the answers that the judge did not fail at. `tokens` are all: read,
    written, and estimated where the model told none.
    """

    questions: int
    failures: int
    em: float | None
    f1: float | None
    acc: float | None
    acc_judged: float | None
    judge_failures: int
    recall_at_2: float | None
    recall_at_3: float | None
    recall_at_5: float | None
    recall_at_10: float | None
    all_at_5: float | None
    refusals: float | None
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


def summarise(outcomes: Sequence[Outcome], judgements: Sequence[Judgement] = ()) -> Summary:
    """Sum up the outcomes of one run, and what a judge said of them if there was one."""
    answered = [outcome for outcome in outcomes if outcome["error"] is None]
    shares, means = _shares(answered, judgements), _means(answered)
    failed = [float(outcome["error"] is not None) for outcome in outcomes]
    granularities = Counter(outcome["granularity"] for outcome in answered if outcome["granularity"])
    figures = {
        "questions": len(outcomes),
        "failures": len(outcomes) - len(answered),
        **{name: _figure(values, 100, 1) for name, values in shares.items()},
        "judge_failures": sum(judgement["correct"] is None for judgement in judgements),
        **{name: _figure(values, 1, 2) for name, values in means.items()},
        "median_seconds": _figure(means["mean_seconds"], 1, 2, np.median),
        "intervals": {
            "failures": _interval(failed, len(failed), 1),
            **{name: _interval(values, 100, 1) for name, values in shares.items()},
            **{name: _interval(values, 1, 2) for name, values in means.items()},
        },
        "granularities": {name: round(100 * n / len(answered), 1) for name, n in granularities.most_common()},
    }
    return cast(Summary, figures)


def _shares(answered: Sequence[Outcome], judgements: Sequence[Judgement]) -> dict[str, list[float]]:
    return {
        "em": _known(outcome["em"] for outcome in answered),
        "f1": _known(outcome["f1"] for outcome in answered),
        "acc": _known(outcome["acc"] for outcome in answered),
        "acc_judged": _known(judgement["correct"] for judgement in judgements),
        **{f"recall_at_{k}": _known((outcome["recall"] or {}).get(str(k)) for outcome in answered) for k in _DEPTHS},
        "all_at_5": _known(outcome["all_at_5"] for outcome in answered),
        "refusals": [float(is_refusal(outcome["answer"] or "")) for outcome in answered],
    }


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


def markdown_table(rows: Mapping[str, Summary]) -> str:
    """Return a Markdown table with one row per method.

    Raises:
        ValueError: when there is no method.
    """
    if not rows:
        raise ValueError("expected at least one method to report, got none")
    judged = any(row["acc_judged"] is not None or row["judge_failures"] for row in rows.values())
    table = [{"Method": name.replace("|", "\\|"), **_cells(summary, judged)} for name, summary in rows.items()]
    if any(row.get("estimated_tokens") for row in rows.values()):
        for line, row in zip(table, rows.values(), strict=True):
            line["Tokens estimated"] = _whole(row["estimated_tokens"], row["intervals"]["estimated_tokens"])
    rule = ["---"] + ["---:"] * (len(table[0]) - 1)
    return "".join(f"| {' | '.join(line)} |\n" for line in [list(table[0]), rule, *(row.values() for row in table)])


def overview(rows: Mapping[str, Summary]) -> str:
    """Return the figures that are looked at first, aligned for a terminal, one line per method."""
    lines = [["method", "questions", "failures", "EM", "F1", "R@5", "calls", "tokens", "seconds"]]
    lines += [[name, *_looked_at_first(summary)] for name, summary in rows.items()]
    if any(row["acc_judged"] is not None or row["judge_failures"] for row in rows.values()):
        column = lines[0].index("R@5")
        for line, cell in zip(lines, ["Acc†", *(_shown(row["acc_judged"]) for row in rows.values())], strict=True):
            line.insert(column, cell)
    name, *others = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(name), *(cell.rjust(width) for cell, width in zip(line[1:], others, strict=True))])
        for line in lines
    )


def _looked_at_first(summary: Summary) -> list[str]:
    scores = summary["em"], summary["f1"], summary["recall_at_5"]
    first = summary["questions"], summary["failures"], *scores, summary["calls"]
    tokens = f"{'about ' if summary['estimated_tokens'] else ''}{_whole(summary['tokens'])}"
    return [*map(_shown, first), tokens, _shown(summary["median_seconds"])]


def write_report(rows: Mapping[str, Summary], out: Path) -> None:
    """Write the summaries of methods as `report.md` and `report.json` in a folder.

    Raises:
        OutcomesError: when the folder cannot be written to.
    """
    table, text = f"{markdown_table(rows)}\n{_NOTE}", json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        for name, content in zip(REPORTS, (table, text), strict=True):
            (out / name).write_text(content, encoding="utf-8", newline="\n")


def _cells(summary: Summary, judged: bool) -> dict[str, str]:
    def shown(name: str) -> str:
        return _shown(summary[name], summary["intervals"][name])  # type: ignore[literal-required]

    of_judge = {"Acc†": shown("acc_judged"), "Judge failures": str(summary["judge_failures"])}
    shares = summary["granularities"]
    return {
        "Questions": str(summary["questions"]),
        "Failures": shown("failures"),
        "EM": shown("em"),
        "F1": shown("f1"),
        "Acc": shown("acc"),
        **(of_judge if judged else {}),
        **{f"R@{k}": shown(f"recall_at_{k}") for k in _DEPTHS},
        "All@5": shown("all_at_5"),
        "Refusals": shown("refusals"),
        "Calls": shown("calls"),
        "Tokens in": _whole(summary["input_tokens"], summary["intervals"]["input_tokens"]),
        "Tokens out": _whole(summary["output_tokens"], summary["intervals"]["output_tokens"]),
        "Steps": shown("steps"),
        "Seconds": f"{shown('mean_seconds')}, {_shown(summary['median_seconds'])}",
        "Answered from": ", ".join(f"{name} {share}%" for name, share in shares.items()) or "–",
    }


def _shown(value: float | None, interval: Sequence[float] | None = None) -> str:
    if value is None:
        return "–"
    return f"{value} ({interval[0]}–{interval[1]})" if interval and interval[0] < interval[1] else str(value)


def _whole(value: float | None, interval: Sequence[float] | None = None) -> str:
    return _shown(None if value is None else round(value), interval and [round(edge) for edge in interval])


def _known(values: Iterable[float | None]) -> list[float]:
    return [float(value) for value in values if value is not None]


def _figure(values: Sequence[float], scale: float, digits: int, average: Callable[..., Any] = np.mean) -> float | None:
    return round(scale * float(average(values)), digits) if values else None


def _interval(values: Sequence[float], scale: float, digits: int) -> list[float] | None:
    """Resample with one seed, so that methods asked the same questions are compared on the same resamples."""
    if not values:
        return None
    given, random = np.asarray(values), np.random.default_rng(_SEED)
    rows = max(1, _AT_ONCE // given.size)
    sizes = [min(rows, _RESAMPLES - begun) for begun in range(0, _RESAMPLES, rows)]
    means = [given[random.integers(given.size, size=(size, given.size))].mean(axis=1) for size in sizes]
    return [round(scale * float(edge), digits) for edge in np.percentile(np.concatenate(means), [2.5, 97.5])]
