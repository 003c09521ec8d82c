"""Draw the comparison of methods: quality against cost, and retrieval by depth."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from langgraph_rag.errors import MissingExtraError
from langgraph_rag.evaluation.outcomes import writing
from langgraph_rag.evaluation.report import Summary

_DEPTHS = (2, 3, 5, 10)


def draw_comparison(rows: Mapping[str, Summary], out: Path) -> list[Path]:
    """Write `quality_by_tokens.png` and `recall_by_depth.png` into a folder and return their paths.

    Raises:
        MissingExtraError: when matplotlib is not installed.
        OutcomesError: when the folder cannot be written to.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("drawing pictures", "plots") from error
    quality, recall = Figure(figsize=(7, 5), layout="constrained"), Figure(figsize=(7, 5), layout="constrained")
    _quality_by_tokens(quality.subplots(), rows)
    _recall_by_depth(recall.subplots(), rows)
    paths = [out / "quality_by_tokens.png", out / "recall_by_depth.png"]
    with writing(out):
        for figure, path in zip((quality, recall), paths, strict=True):
            figure.savefig(path, dpi=120)
    return paths


def _quality_by_tokens(axes: Any, rows: Mapping[str, Summary]) -> None:
    for name, row in rows.items():
        if row["f1"] is None or row["tokens"] is None:
            continue
        low, high = row["intervals"]["f1"] or (row["f1"], row["f1"])
        error = [[row["f1"] - low], [high - row["f1"]]]
        axes.errorbar(row["tokens"], row["f1"], yerr=error, fmt="o", capsize=3, label=name)
    axes.set(xlabel="tokens per question", ylabel="F1 (%), 95 % interval", title="Quality against cost")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    if axes.containers:
        axes.legend()


def _recall_by_depth(axes: Any, rows: Mapping[str, Summary]) -> None:
    for name, row in rows.items():
        recall = [row["recall_at_2"], row["recall_at_3"], row["recall_at_5"], row["recall_at_10"]]
        if None not in recall:
            axes.plot(_DEPTHS, recall, marker="o", label=name)
    axes.set(xlabel="passages", ylabel="gold passages among them (%)", title="Retrieval", xticks=_DEPTHS)
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend()
