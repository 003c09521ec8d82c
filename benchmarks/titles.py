"""Measures what titles gain: the same documents with titles, with headings in their texts, and with neither.

python benchmarks/titles.py DATA
"""

import argparse
import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import corpus, report

from langgraph_rag import KnowledgeBase, load_model
from langgraph_rag.evaluation.questions import Question, load_questions
from langgraph_rag.evaluation.runner import evaluate
from langgraph_rag.evaluation.summary import Summary, summarise
from langgraph_rag.methods import METHODS, create

Document = Mapping[str, str]
_SHAPES: dict[str, Callable[[Document], Document]] = {
    "titles": lambda document: document,
    "headings": lambda document: {"id": document["id"], "text": f"# {document['title']}\n\n{document['text']}"},
    "neither": lambda document: {"id": document["id"], "text": document["text"]},
}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl and questions.jsonl")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    arguments = parser.parse_args()
    documents, asked = corpus(arguments.data), load_questions(arguments.data / "questions.jsonl")

    found = {shape: _ask([shaped(d) for d in documents], asked, arguments.methods) for shape, shaped in _SHAPES.items()}
    rows = [
        (f"{name}, {shape}", f"{summaries[name]['recall_at_5']} / {summaries[name]['f1']}", "")
        for name in arguments.methods
        for shape, summaries in found.items()
    ]
    report("titles", arguments.data, found, [("method, documents with", "R@5 / F1", ""), *rows])


def _ask(documents: list[Document], asked: list[Question], methods: list[str]) -> dict[str, Summary]:
    llm = load_model("offline")
    with TemporaryDirectory() as folder, KnowledgeBase.open(Path(folder) / "kb") as kb:
        kb.add(documents)
        return {
            name: summarise(asyncio.run(evaluate(create(name, llm, kb).compile(), asked, Path(folder) / name)))
            for name in methods
        }


if __name__ == "__main__":
    main()
