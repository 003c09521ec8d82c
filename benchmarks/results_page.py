"""The pages with the results of `comparing.py`: `docs/results.md` and the table in the README."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"
IMAGES = DOCS / "images" / "results"
README = DOCS.parent / "README.md"
DENSE = "dense"
"""Single-shot RAG with dense retrieval only, the usual baseline."""

Figures = Mapping[str, Any]
Rows = Mapping[str, Any]
_MARKS = ("<!-- results -->", "<!-- end of results -->")
_NAMES = {"hotpotqa": "HotpotQA", "musique": "MuSiQue", "2wiki": "2WikiMultiHopQA"}
_PICTURES = {"F1 against tokens": "quality_by_tokens", "Gold passages by depth": "recall_by_depth"}
_COLUMNS = {
    "EM": "em", "F1": "f1", "R@2": "recall_at_2", "R@5": "recall_at_5", "R@10": "recall_at_10", "All@5": "all_at_5",
    "Refusals": "refusals", "Supported": "supported", "Calls": "calls", "Tokens": "tokens", "Seconds": "median_seconds",
}  # fmt: skip
_PAGE = """\
# Results

All methods{too} on {names}, {questions} questions in all, with all-MiniLM-L6-v2 and the offline model. This is \
rule-based, so the figures show what retrieval and reasoning add over one search, not what a language model makes of \
them.

Made by `python benchmarks/comparing.py ROOT{options}` at commit {commit} on {date}: {cores} cores ({cpu}). {minutes}

- The columns are those of `langgraph-rag eval` ([meaning](evaluation.md#the-figures)): means per question, the \
median of the seconds, and 95% bootstrap intervals in brackets.
- *dense* is single-shot RAG that searches by meaning alone. The methods search by meaning and words, then walk over \
the triple graph.
{sections}{ablations}"""
_ABLATIONS = """
## What the ablations change

The difference in points of R@5 and F1 from the whole method, for each data set.

"""


def results_page(figures: Figures) -> str:
    """Return the page of results."""
    data = _in_order(figures["data"])
    spent = [
        f"{minutes:.0f} minutes for the {phase}" for phase, minutes in figures["minutes"].items() if phase != DENSE
    ]
    ablations = _ablations(data)
    return _PAGE.format(
        too=" and their ablations" if ablations else "",
        options="" if ablations else " --method all",
        names=_listed([name_of(name) for name in data]),
        questions=figures["questions"],
        commit=figures["commit"],
        date=figures["date"],
        cores=figures["machine"]["cores"],
        cpu=figures["machine"]["cpu"],
        minutes=f"It took {_listed(spent)}." if spent else "",
        sections="".join(_section(name, rows) for name, rows in data.items()),
        ablations=ablations,
    )


def readme_table(figures: Figures) -> str:
    """Return the short table: retrieval, answers and cost of each method on each data set."""
    data = _in_order(figures["data"])
    head = ["", *(f"{name_of(name)} R@5 | F1" for name in data), "calls | tokens"]
    lines = [f"| {' | '.join(head)} |", "|---|" + "---:|" * (2 * len(data) + 2)]
    for method in methods_of(next(iter(data.values()))):
        rows = [rows[method] for rows in data.values()]
        cells = [_shown(row[name]) for row in rows for name in ("recall_at_5", "f1")]
        tokens = [row["tokens"] for row in rows]
        costs = [f"{_mean([row['calls'] for row in rows], rows):.1f}", f"{_mean(tokens, rows):,.0f}"]
        lines.append(f"| {' | '.join([method, *cells, *costs])} |")
    return "\n".join(lines) + "\n"


def methods_of(rows: Rows) -> dict[str, Any]:
    """Return the rows of the methods without their ablations."""
    return {name: row for name, row in rows.items() if "/" not in name}


def with_table(readme: str, figures: Figures) -> str:
    """Return the README with the table between its marks, and a reference to the other results."""
    begin, end = _MARKS
    text = f"{readme_table(figures)}\n[All figures](docs/results.md) with their intervals.\n"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{text}{end}", readme, flags=re.DOTALL)


def write_pages(figures: Figures) -> None:
    """Write the page of results and the table in the README."""
    (DOCS / "results.md").write_text(results_page(figures), encoding="utf-8", newline="\n")
    README.write_text(with_table(README.read_text(encoding="utf-8"), figures), encoding="utf-8", newline="\n")


def _section(name: str, rows: Rows) -> str:
    shown = {title: f"images/results/{name}/{file}.png" for title, file in _PICTURES.items()}
    pictures = "\n".join(f"![{title} on {name_of(name)}]({path})" for title, path in shown.items())
    lines = ["Method", *_COLUMNS], ["---", *("---:" for _ in _COLUMNS)], *(_cells(*row) for row in rows.items())
    return f"\n## {name_of(name)}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines) + f"\n{pictures}\n"


def _cells(method: str, row: Any) -> list[str]:
    """Return a row of a data set's table; F1 and R@5, by which methods are compared, have their intervals."""
    shown = [f"{row[name]:,.0f}" if name == "tokens" else _shown(row[name]) for name in _COLUMNS.values()]
    for place, name in enumerate(_COLUMNS.values()):
        if name in ("f1", "recall_at_5") and row["intervals"].get(name):
            shown[place] += " ({}–{})".format(*row["intervals"][name])
    return [method, *shown]


def _ablations(data: Mapping[str, Rows]) -> str:
    names = [name for name in next(iter(data.values())) if "/" in name]
    if not names:
        return ""
    head = ["Ablation", *(f"{name_of(name)} R@5 | F1" for name in data)]
    lines = [f"| {' | '.join(head)} |", "|---|" + "---:|" * (2 * len(data))]
    for ablation in names:
        pairs = [(rows[ablation], rows[ablation.partition("/")[0]]) for rows in data.values()]
        cells = [_difference(less[name], whole[name]) for less, whole in pairs for name in ("recall_at_5", "f1")]
        lines.append(f"| {' | '.join([ablation, *cells])} |")
    return _ABLATIONS + "\n".join(lines) + "\n"


def _difference(value: float | None, whole: float | None) -> str:
    return "–" if value is None or whole is None else f"{value - whole:+.1f}"


def _mean(values: list[float], rows: list[Any]) -> float:
    """Return the mean over the questions of all data sets."""
    answered = [row["questions"] - row["failures"] for row in rows]
    return float(sum(value * number for value, number in zip(values, answered, strict=True)) / sum(answered))


def _shown(value: float | None) -> str:
    return "–" if value is None else str(value)


def _in_order(data: Mapping[str, Rows]) -> dict[str, Rows]:
    known = [name for name in _NAMES if name in data]
    return {name: data[name] for name in [*known, *sorted(set(data) - set(known))]}


def name_of(folder: str) -> str:
    """Return the name of a data set from the name of its folder."""
    return _NAMES.get(folder, folder)


def _listed(items: list[str]) -> str:
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
