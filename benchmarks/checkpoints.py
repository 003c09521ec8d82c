"""Measures what a question writes to a file of checkpoints, by method, with the offline model.

python benchmarks/checkpoints.py DATA
"""

import argparse
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver
from measuring import indexed, questions, report

from langgraph_rag import KnowledgeBase, load_model
from langgraph_rag.methods import METHODS, create
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings

_COUNT = "SELECT count(*), sum(length(checkpoint) + length(metadata)) FROM checkpoints"
_WRITES = "SELECT sum(length(value)) FROM writes"  # the results of nodes, until the next checkpoint includes them


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl and questions.jsonl")
    parser.add_argument("--limit", type=int, default=30, help="ask only the first so many questions")
    parser.add_argument("--kb", type=Path, help="folder to keep the index in for the next run")
    arguments = parser.parse_args()
    asked, minilm = questions(arguments.data, arguments.limit), MiniLMEmbeddings()

    with indexed(arguments.data, arguments.kb, minilm) as folder, KnowledgeBase.open(folder, minilm) as kb:
        written = {name: _written(create(name, load_model("offline"), kb), asked) for name in METHODS}
    report(
        "checkpoints",
        arguments.data,
        {"questions": len(asked), "methods": written},
        [
            ("checkpoints of a question", "value", "goal"),
            *((name, f"{one['kib']} KiB in {one['checkpoints']}", "") for name, one in written.items()),
        ],
    )


def _written(builder: Any, asked: list[str]) -> dict[str, float]:
    """Return the mean number and size of the checkpoints of a question; each question has its own thread."""
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as connection:
        graph = builder.compile(checkpointer=SqliteSaver(connection))
        for number, question in enumerate(asked):
            graph.invoke({"question": question}, {"configurable": {"thread_id": str(number)}})
        checkpoints, size = connection.execute(_COUNT).fetchone()
        (writes,) = connection.execute(_WRITES).fetchone()
    return {"kib": round((size + writes) / 1024 / len(asked)), "checkpoints": round(checkpoints / len(asked))}


if __name__ == "__main__":
    main()
