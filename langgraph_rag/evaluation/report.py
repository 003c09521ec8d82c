"""Show methods side by side: a table, a page, a few columns for a terminal."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from langgraph_rag.evaluation.run_folder import writing
from langgraph_rag.evaluation.runner import RECALL_DEPTHS
from langgraph_rag.evaluation.summary import Summary

REPORTS = ("report.md", "report.json")
_NOTE = """\
EM, F1, Acc, Acc†, R@k, All@5 and refusals are percentages of the answered questions (failures are not among them), \
R@k and All@5 of those that name supporting passages, Acc† (a model judged) of those that the judge did not fail at. \
Calls, tokens and steps are means per answered question (tokens that the model did not tell are estimated, apart from \
the others); seconds are wall time per answered question, mean and median; in brackets are 95% bootstrap intervals.
"""


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


def write_report(rows: Mapping[str, Summary], out: str | Path) -> None:
    """Write the summaries of methods as `report.md` and `report.json` in a folder.

    Raises:
        OutcomesError: when the folder cannot be written to.
    """
    table, text = f"{markdown_table(rows)}\n{_NOTE}", json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    out = Path(out)
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
        **{f"R@{k}": shown(f"recall_at_{k}") for k in RECALL_DEPTHS},
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
