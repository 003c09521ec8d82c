"""Measures what the size of passages and their overlap gain, on documents that are split.

python benchmarks/splitting.py DATA

DATA is a folder with docs/, files of any kind that is read, and questions.jsonl. A question names what it needs as
`gold`: a list of `source`, the end of a file's path, and `contains`, a stretch of its text that is shown. A place is
found when a passage from that file has that text; so it does not matter how the files are split. The overlaps are
measured with the default size. A stopped run can be continued.
"""

import argparse
import json
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measuring import report

from langgraph_rag import KnowledgeBase, Splitting
from langgraph_rag.context import DEFAULT_SEARCH
from langgraph_rag.records import FoundPassage
from langgraph_rag.tools.documents.files import read_documents

_MARKS = str.maketrans({**dict.fromkeys("‘’‚‛`", "'"), **dict.fromkeys("“”„", '"'), **dict.fromkeys("‐‑‒–—−", "-")})


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with docs/ and questions.jsonl")
    parser.add_argument("--sizes", type=int, nargs="+", default=[120, 160, 200, 240])
    parser.add_argument("--overlaps", type=int, nargs="+", default=[20, 40])
    parser.add_argument("--out", type=Path, default=Path("runs/splitting"), help="folder for the knowledge bases")
    arguments = parser.parse_args()
    documents = read_documents([arguments.data / "docs"])
    lines = (arguments.data / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [question for question in map(json.loads, lines) if question["gold"]]
    ways = [*map(Splitting, arguments.sizes), *(Splitting(overlap=overlap) for overlap in arguments.overlaps)]
    figures = {}
    for way in ways:
        folder = arguments.out / arguments.data.name / f"{way.size}-{way.overlap}"
        with KnowledgeBase.open(folder, splitting=way) as kb:
            kb.add(documents)
            figures[str(way)] = _found(kb, asked)
    rows = [(way, f"{row['recall_at_1']} / {row['recall_at_5']}", str(row["passages"])) for way, row in figures.items()]
    report(f"splitting_{arguments.data.name}", arguments.data, figures, [("size", "R@1 / R@5", "passages"), *rows])


def _found(kb: KnowledgeBase, asked: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the share of gold places, in percent, that the first passage has, and the first five."""
    ranks = [
        next((rank for rank, passage in enumerate(found) if _has(passage, place)), len(found))
        for question in asked
        for found in [kb.search(question["question"], 5, by=DEFAULT_SEARCH)]
        for place in question["gold"]
    ]
    at = {k: round(100 * sum(rank < k for rank in ranks) / len(ranks), 1) for k in (1, 5)}
    return {"passages": len(kb.ids()), "places": len(ranks), "recall_at_1": at[1], "recall_at_5": at[5]}


def _has(passage: FoundPassage, place: dict[str, str]) -> bool:
    shown = _plain(f"{passage['title']}\n{passage['text']}")
    return passage.get("source", "").endswith(place["source"]) and _plain(place["contains"]) in shown


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).translate(_MARKS).split())


if __name__ == "__main__":
    main()
