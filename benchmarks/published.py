"""Measures R@5 on the sample of 2WikiMultiHopQA on which HippoRAG 2 and its successors report, without language model.

python benchmarks/published.py DATA

DATA is a folder with corpus.jsonl and questions.jsonl, or with HippoRAG's own files, which are read as they come:
2wikimultihopqa_corpus.json and 2wikimultihopqa.json (https://github.com/OSU-NLP-Group/HippoRAG, reproduce/dataset).
A stopped run can be continued. The table in the README has the published figures beside ours.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from measuring import COMMIT, command, report
from results_page import README

_NAME = "2wikimultihopqa"  # of HippoRAG's files
_MARKS = ("<!-- published -->", "<!-- end of published -->")
_METHODS = "adaptive,native_rag,cirag,mgranrag"


class Published(NamedTuple):
    """A figure of others, as a stored paper or page gives it."""

    system: str
    recall: float
    model: str
    embedder: str
    source: str


_LLAMA, _NV = "Llama-3.3-70B-Instruct", "NV-Embed-v2"
_UNNAMED = "not in its abstract", "not in its abstract"
PUBLISHED = (
    Published("HippoRAG 2", 90.4, _LLAMA, _NV, "[2502.14802](https://arxiv.org/abs/2502.14802), as MGranRAG gives it"),
    Published("PropRAG", 94.1, _LLAMA, _NV, "[2504.18070](https://arxiv.org/abs/2504.18070), as BridgeRAG gives it"),
    Published("BridgeRAG", 95.3, "Llama-3.3-70B (AWQ)", _NV, "[2604.03384](https://arxiv.org/abs/2604.03384)"),
    Published("MGranRAG (T = 3)", 95.9, "Qwen3-8B", _NV, "Hu et al. 2026"),
    Published("PROPEX-RAG", 98.1, *_UNNAMED, "[2511.01802](https://arxiv.org/abs/2511.01802), its abstract"),
)


def main() -> None:
    """Index and ask what is missing, then write the figures and the table in the README."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with the data")
    parser.add_argument("--out", type=Path, default=Path("runs/published"), help="folder for the index and outcomes")
    parser.add_argument("--method", default=_METHODS, help="as eval takes them")
    parser.add_argument("--limit", type=int, help="ask only the first so many questions, and write nothing down")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="processes that ask")
    arguments = parser.parse_args()
    out: Path = arguments.out
    corpus, questions = files_in(arguments.data)
    _expect_this_code(out / "commit")
    _run("index", corpus, "--kb", out / "kb")
    asked = ["--questions", questions, *(["--limit", arguments.limit] if arguments.limit else [])]
    which = ["--method", arguments.method, "--model", "offline", "--processes", arguments.processes]
    _run("eval", "--kb", out / "kb", *asked, *which, "--out", out / "asked")
    rows = json.loads((out / "asked" / "report.json").read_text(encoding="utf-8"))
    shown = ("questions", "failures", "recall_at_5")
    ours = {name: {figure: row[figure] for figure in shown} for name, row in rows.items()}
    figures = {"ours": ours, "published": [row._asdict() for row in PUBLISHED], "command": command(), "commit": COMMIT}
    if arguments.limit:
        print(table(figures))
        return
    named = [(name, f"{row['recall_at_5']:.1f}", f"of {row['questions']} questions") for name, row in ours.items()]
    report("published", arguments.data, figures, [("method", "R@5", ""), *named])
    README.write_text(with_table(README.read_text(encoding="utf-8"), figures), encoding="utf-8", newline="\n")


def files_in(data: Path) -> tuple[Path, Path]:
    """Return the files of passages and of questions in a folder.

    Raises:
        SystemExit: when the folder has neither form.
    """
    for names in (("corpus.jsonl", "questions.jsonl"), (f"{_NAME}_corpus.json", f"{_NAME}.json")):
        corpus, questions = (data / name for name in names)
        if corpus.exists() and questions.exists():
            return corpus, questions
    raise SystemExit(f"{data}: expected corpus.jsonl and questions.jsonl, or {_NAME}_corpus.json and {_NAME}.json")


def table(figures: Mapping[str, Any]) -> str:
    """Return the table of published figures and ours, the lowest first."""
    lines: defaultdict[float, list[str]] = defaultdict(list)
    for row in map(lambda row: Published(**row), figures["published"]):
        lines[row.recall].append(f"| {row.system} | {row.recall:.1f} | {row.model} | {row.embedder} | {row.source} |")
    for name, row in figures["ours"].items():
        lines[row["recall_at_5"]].append(
            f"| **{name}** here | **{row['recall_at_5']:.1f}** | none | all-MiniLM-L6-v2 | |"
        )
    head = ["| | R@5 | Language model | Embedder | Source |", "|---|---:|---|---|---|"]
    return "\n".join([*head, *(line for recall in sorted(lines) for line in lines[recall])]) + "\n"


def with_table(readme: str, figures: Mapping[str, Any]) -> str:
    """Return the README with the table between its marks.

    Raises:
        SystemExit: when it has no marks.
    """
    begin, end = _MARKS
    asked = max((row["questions"] for row in figures["ours"].values()), default=0)
    text = (
        "R@5 on the sample of 2WikiMultiHopQA on which HippoRAG 2 and its successors report: their figures, for its "
        "1,000 questions,\n"
        f"beside ours without a language model (`{figures['command']}` at {figures['commit']}, {asked} questions).\n\n"
        f"{table(figures)}"
    )
    filled, places = re.subn(f"{begin}.*?{end}", lambda _: f"{begin}\n{text}{end}", readme, flags=re.DOTALL)
    if places != 1:
        raise SystemExit(f"expected {begin} and {end} once in the README, got them {places} times")
    return filled


def _expect_this_code(file: Path) -> None:
    """Continue a run only with the code that started it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists() and (began := file.read_text(encoding="utf-8")) != COMMIT:
        raise SystemExit(f"{file.parent} holds a run of commit {began}, this is {COMMIT}: delete it to start again")
    file.write_text(COMMIT, encoding="utf-8")


def _run(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "langgraph_rag", *map(str, arguments)], check=True)


if __name__ == "__main__":
    main()
