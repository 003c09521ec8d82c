"""Plots that compare methods: quality against cost, and recall by depth."""

import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from langgraph_rag.errors import MissingExtraError
from langgraph_rag.evaluation.run_folder import writing
from langgraph_rag.evaluation.scoring import RECALL_DEPTHS
from langgraph_rag.evaluation.summary import Summary

_BESIDE = 0.1  # maximum shift between methods, so that equal lines do not hide each other; depths are 1 apart
_COLOURS, _MARKERS = 10, "os^DvPX*"
_log = logging.getLogger(__name__)

_Counted = Literal["questions", "recall_questions"]


def draw_comparison(rows: Mapping[str, Summary], out: str | Path, data: str = "") -> list[Path]:
    """Write `quality_by_tokens.png` and `recall_by_depth.png` to a folder and return their paths.

    A plot without data is left out with a warning, and the file of an earlier report is removed. `data` is the name of
    the questions in the titles.

    Raises:
        MissingExtraError: when matplotlib is not installed.
        OutcomesError: when the folder cannot be written to.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("drawing pictures", "plots") from error
    out = Path(out)
    pictures: dict[str, tuple[Callable[[Any, Mapping[str, Summary]], None], _Counted, str]] = {
        "quality_by_tokens.png": (_quality_by_tokens, "questions", "accepted answers"),
        "recall_by_depth.png": (_recall_by_depth, "recall_questions", "supporting passages"),
    }
    drawn: list[Path] = []
    with writing(out):
        for name, (draw, counts, needs) in pictures.items():
            path = out / name
            figure = Figure(figsize=(9, max(5.0, 0.22 * len(rows))), layout="constrained")
            axes = figure.subplots()
            draw(axes, rows)
            if not axes.has_data():
                path.unlink(missing_ok=True)
                _log.warning("%s is left out: no question was answered that names %s", path, needs)
                continue
            axes.set_title(f"{axes.get_title()}: {_asked(rows, counts, data)}", parse_math=False)
            if figure.axes[0].get_legend_handles_labels()[0]:
                figure.legend(loc="outside right upper", fontsize="small")
            figure.savefig(path, dpi=120)
            drawn.append(path)
    return drawn


def _asked(rows: Mapping[str, Summary], counts: _Counted, data: str) -> str:
    readable = data.encode(errors="replace").decode()  # the name of a file may be invalid Unicode
    return f"{readable}, " * bool(data) + f"{max((row[counts] for row in rows.values()), default=0)} questions"


def _looks(rows: Mapping[str, Summary]) -> Iterator[tuple[Summary, dict[str, Any]]]:
    """Yield each row with a colour and a marker; the pairs of forty rows are unique."""
    for number, (name, row) in enumerate(rows.items()):
        colour, marker = f"C{number % _COLOURS}", _MARKERS[number % len(_MARKERS)]
        yield row, {"color": colour, "marker": marker, "label": name, "linewidth": 1.2, "alpha": 0.8}


def _quality_by_tokens(axes: Any, rows: Mapping[str, Summary]) -> None:
    for row, look in _looks(rows):
        if row["f1"] is None or row["tokens"] is None:
            continue
        low, high = row["intervals"]["f1"] or (row["f1"], row["f1"])
        error = [[row["f1"] - low], [high - row["f1"]]]
        axes.errorbar(row["tokens"], row["f1"], yerr=error, linestyle="none", capsize=3, **look)
    if len(best := frontier(rows)) > 1:
        tokens, f1 = zip(*best, strict=True)
        axes.step(tokens, f1, where="post", color="0.4", linestyle="--", linewidth=1, label="frontier", zorder=0)
    axes.set(xlabel="tokens per question", ylabel="F1 (%), 95 % interval", title="Quality against cost")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)


def frontier(rows: Mapping[str, Summary]) -> list[tuple[float, float]]:
    """Return the tokens and F1 of the methods that none beats with as few tokens, by rising tokens."""
    told = [(row["tokens"], row["f1"]) for row in rows.values() if row["tokens"] is not None and row["f1"] is not None]
    best: list[tuple[float, float]] = []
    for tokens, f1 in sorted(told, key=lambda pair: (pair[0], -pair[1])):
        if not best or f1 > best[-1][1]:
            best.append((tokens, f1))
    return best


def _recall_by_depth(axes: Any, rows: Mapping[str, Summary]) -> None:
    for number, (row, look) in enumerate(_looks(rows)):
        recall = [row[f"recall_at_{k}"] for k in RECALL_DEPTHS]  # type: ignore[literal-required]
        if None not in recall:
            aside = min(_BESIDE, 0.3 / len(rows)) * (number - (len(rows) - 1) / 2)
            axes.plot([place + aside for place in range(len(RECALL_DEPTHS))], recall, **look)
    axes.set(xlabel="passages (markers are shifted sideways, to be told apart)", title="Retrieval")
    axes.set_ylabel("gold passages among them (%)")
    axes.set_xticks(range(len(RECALL_DEPTHS)), map(str, RECALL_DEPTHS))
    axes.grid(alpha=0.3)
