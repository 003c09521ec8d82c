"""Reports that compare methods: a Markdown table, a page, and a few columns for a terminal."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from langgraph_rag.evaluation.comparison import Comparison, Difference
from langgraph_rag.evaluation.origin import Origin, in_words
from langgraph_rag.evaluation.run_folder import writing
from langgraph_rag.evaluation.scoring import RECALL_DEPTHS
from langgraph_rag.evaluation.summary import Summary

REPORTS = ("report.md", "report.json")
_NOTE = """\
- EM, F1, Acc, Acc†, R@k, All@5 and refusals are percentages of the answered questions: failures are not among \
them, questions that a budget stopped are.
- R@k and All@5 are over the questions that name supporting passages. If not all do, *R@k over* is their number.
- Supported is the percentage of answers that stand as a whole in what was shown to the model.
- Acc† is the share of answers that a model judged correct, without those at which it failed; – if it failed at \
all of them.
- Calls, tokens and steps are means per answered question. Tokens that the model did not report are estimated, and \
shown apart.
- Seconds are wall time per answered question, mean and median; they grow with the questions asked at once.
- The brackets hold 95% bootstrap intervals.
"""
_DIFFERENCES = """\
Differences from another method in points, question by question, on the questions with scores of both, with their \
95% bootstrap intervals. If an interval does not contain 0, the two methods differ.
"""
_TYPES = "By type of question:\n"


def _was_judged(row: Summary) -> bool:
    return row["acc_judged"] is not None or row["judge_failures"] > 0


_WHERE_ANY: Mapping[str, Callable[[Summary], object]] = {
    "stopped": lambda row: row["stopped"],
    "acc†": _was_judged,
    "judge failures": _was_judged,
    "supported": lambda row: row.get("supported") is not None,
    "effort": lambda row: row.get("efforts"),
    "r@k over": lambda row: 0 < row["recall_questions"] < row["questions"] - row["failures"],
    "tokens estimated": lambda row: row["estimated_tokens"],
}
"""Columns that are shown only if the condition holds for some row."""


def markdown_table(rows: Mapping[str, Summary]) -> str:
    """Return a Markdown table with one row per method.

    Raises:
        ValueError: when there is no method.
    """
    _expect_methods(rows)
    named = {name: {"Method": _in_cell(name), **_cells(row)} for name, row in rows.items()}
    return _as_markdown(_shown_columns(rows, named))


def overview(rows: Mapping[str, Summary]) -> str:
    """Return the main figures, aligned for a terminal, one line per method.

    Raises:
        ValueError: when there is no method.
    """
    _expect_methods(rows)
    named = {name: {"method": name, **_looked_at_first(row)} for name, row in rows.items()}
    return _aligned(_shown_columns(rows, named))


def differences(comparisons: Mapping[str, Comparison]) -> str:
    """Return the differences between methods, the result of `compare`, aligned for a terminal; empty if none."""
    return f"{_DIFFERENCES}{_aligned(_differing(comparisons, str))}" if comparisons else ""


def write_report(
    rows: Mapping[str, Summary],
    out: str | Path,
    *,
    comparisons: Mapping[str, Comparison] | None = None,
    types: Mapping[str, Mapping[str, Summary]] | None = None,
    origin: Origin | None = None,
) -> None:
    """Write the summaries of methods to `report.md` and `report.json` in a folder.

    Args:
        rows: the summaries by method.
        out: the folder.
        comparisons: the differences between methods, the result of `compare`: a separate table, and `compared`
            in the JSON of each of these methods.
        types: the summaries by type of question, the result of `by_type`, by method: a separate table, and `types` in
            the JSON of each of these methods.
        origin: how the scores were made: a sentence at the end, and `origin` in the JSON of each method.

    Raises:
        OutcomesError: when the folder cannot be written to.
    """
    parts = [markdown_table(rows), _NOTE]
    entries: dict[str, dict[str, Any]] = {name: {**row} for name, row in rows.items()}
    if comparisons:
        parts.append(f"{_DIFFERENCES}\n{_as_markdown(_differing(comparisons, _in_cell))}")
    for name, comparison in (comparisons or {}).items():
        entries[name]["compared"] = comparison
    if types and any(types.values()):
        parts.append(f"{_TYPES}\n{_as_markdown(_typed(types))}")
        for name, of_types in types.items():
            entries[name]["types"] = of_types
    if origin:
        parts.append(f"{in_words(origin)}\n")
        for entry in entries.values():
            entry["origin"] = origin
    page = "\n".join(parts)
    text = json.dumps(entries, indent=2, ensure_ascii=False) + "\n"
    out = Path(out)
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        for name, content in zip(REPORTS, (page, text), strict=True):
            (out / name).write_text(content, encoding="utf-8", newline="\n")


def _expect_methods(rows: Mapping[str, Summary]) -> None:
    if not rows:
        raise ValueError("expected at least one method to report, got none")


def _differing(compared: Mapping[str, Comparison], named: Callable[[str], str]) -> list[list[str]]:
    head = ["Method", "From", "F1", "Questions", "R@5", "Questions"]
    return [head] + [
        [named(name), named(one["to"]), *_point_cells(one["f1"]), *_point_cells(one["recall_at_5"])]
        for name, one in compared.items()
    ]


def _typed(types: Mapping[str, Mapping[str, Summary]]) -> list[list[str]]:
    columns = ("Questions", "EM", "F1", "R@5", "All@5", "Supported", "Calls", "Tokens in", "Tokens out", "Effort")
    return [["Method", "Type", *columns]] + [
        [_in_cell(method), _in_cell(type_) or "–", *map(_cells(row).__getitem__, columns)]
        for method, of_types in types.items()
        for type_, row in of_types.items()
    ]


def _point_cells(difference: Difference | None) -> tuple[str, str]:
    if difference is None:
        return "–", "0"
    points, low, high = (value + 0 for value in (difference["points"], *difference["interval"]))  # avoids "-0.0"
    return f"{points:+} ({low:+} to {high:+})", str(difference["questions"])


def _in_cell(name: str) -> str:
    return " ".join(name.split()).replace("|", "\\|")


def _shown_columns(rows: Mapping[str, Summary], cells: Mapping[str, Mapping[str, str]]) -> list[list[str]]:
    """Return the names of the columns, then the cells of each row, without the columns that no row needs."""
    names = [
        name
        for name in next(iter(cells.values()))
        if (wanted := _WHERE_ANY.get(name.lower())) is None or any(map(wanted, rows.values()))
    ]
    return [names, *([of_row[name] for name in names] for of_row in cells.values())]


def _as_markdown(lines: Sequence[Sequence[str]]) -> str:
    rule = ["---"] + ["---:"] * (len(lines[0]) - 1)
    return "".join(f"| {' | '.join(line)} |\n" for line in [lines[0], rule, *lines[1:]])


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    first, *others = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(first), *(cell.rjust(width) for cell, width in zip(line[1:], others, strict=True))])
        for line in lines
    )


def _looked_at_first(summary: Summary) -> dict[str, str]:
    return {
        "questions": str(summary["questions"]),
        "failures": str(summary["failures"]),
        "stopped": str(summary["stopped"]),
        "EM": _shown(summary["em"]),
        "F1": _shown(summary["f1"]),
        "Acc†": _shown(summary["acc_judged"]),
        "judge failures": str(summary["judge_failures"]),
        "R@k over": str(summary["recall_questions"]),
        "R@5": _shown(summary["recall_at_5"]),
        "supported": _shown(summary.get("supported")),
        "calls": _shown(summary["calls"]),
        "tokens": f"{'about ' if summary['estimated_tokens'] else ''}{_whole(summary['tokens'])}",
        "seconds": _shown(summary["median_seconds"]),
    }


def _cells(summary: Summary) -> dict[str, str]:
    def shown(name: str) -> str:
        return _shown(summary[name], summary["intervals"][name])  # type: ignore[literal-required]

    def whole(name: str) -> str:
        return _whole(summary[name], summary["intervals"][name])  # type: ignore[literal-required]

    return {
        "Questions": str(summary["questions"]),
        "Failures": shown("failures"),
        "Stopped": str(summary["stopped"]),
        "EM": shown("em"),
        "F1": shown("f1"),
        "Acc": shown("acc"),
        "Acc†": shown("acc_judged"),
        "Judge failures": str(summary["judge_failures"]),
        "R@k over": str(summary["recall_questions"]),
        **{f"R@{k}": shown(f"recall_at_{k}") for k in RECALL_DEPTHS},
        "All@5": shown("all_at_5"),
        "Refusals": shown("refusals"),
        "Supported": shown("supported") if "supported" in summary else "–",
        "Calls": shown("calls"),
        "Tokens in": whole("input_tokens"),
        "Tokens out": whole("output_tokens"),
        "Steps": shown("steps"),
        "Seconds": f"{shown('mean_seconds')}, {_shown(summary['median_seconds'])}",
        "Answered from": _listed(summary["granularities"]),
        "Effort": _listed(summary.get("efforts", {})),
        "Tokens estimated": whole("estimated_tokens"),
    }


def _listed(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {share}%" for name, share in shares.items()) or "–"


def _shown(value: float | None, interval: Sequence[float] | None = None) -> str:
    if value is None:
        return "–"
    return f"{value} ({interval[0]}–{interval[1]})" if interval and interval[0] < interval[1] else str(value)


def _whole(value: float | None, interval: Sequence[float] | None = None) -> str:
    return _shown(None if value is None else round(value), interval and [round(edge) for edge in interval])
