"""Time the embedder's transformer as TorchScript against the same transformer run by Python, operation by operation.

python benchmarks/embedding.py DATA
"""

import argparse
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
from measuring import Round, corpus, counted, questions, quiet, report, rounds, timed

from langgraph_rag.tools.sentence_embeddings import MiniLMEmbeddings

_QUESTIONS, _PASSAGES = 40, 256
Measured = dict[str, dict[str, float]]
T = TypeVar("T")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl and questions.jsonl")
    parser.add_argument("--rounds", type=int, default=5, help="quiet rounds in which both are timed")
    arguments = parser.parse_args()
    asked = questions(arguments.data, _QUESTIONS)
    passages = [document["text"] for document in corpus(arguments.data, _PASSAGES)]
    minilm = MiniLMEmbeddings()
    vectors = minilm.embed_documents(passages)
    if not np.array_equal(vectors, _untraced(minilm, lambda: minilm.embed_documents(passages))):
        raise SystemExit("the vectors differ")

    done = rounds(lambda: _round(minilm, asked, passages), arguments.rounds)
    rows = [
        (what, f"{_median(done, 'traced', what):.1f} against {_median(done, 'untraced', what):.1f}", "")
        for what in done[0].measured["traced"]
    ]
    report(
        "embedding",
        arguments.data,
        {"rounds": [{**one.measured, "others": one.others} for one in done]},
        [("figure", "TorchScript against Python", ""), *rows, ("quiet rounds", counted(done), "")],
    )


def _round(minilm: MiniLMEmbeddings, asked: list[str], passages: list[str]) -> Measured:
    """Time both, one after the other."""
    return {
        "traced": _timings(minilm, asked, passages),
        "untraced": _untraced(minilm, lambda: _timings(minilm, asked, passages)),
    }


def _timings(minilm: MiniLMEmbeddings, asked: list[str], passages: list[str]) -> dict[str, float]:
    def ask() -> None:
        for question in asked:
            minilm.embed_query(question)

    ask()
    alone = timed(ask, time.process_time)
    with _busy():
        beside = timed(ask)
    embedding = timed(lambda: minilm.embed_documents(passages))
    return {
        "processor ms of a question": alone * 1000 / len(asked),
        "ms of a question while another thread computes": beside * 1000 / len(asked),
        "passages per second": len(passages) / embedding,
    }


def _untraced(minilm: MiniLMEmbeddings, work: Callable[[], T]) -> T:
    transformer = minilm._model()[0].auto_model
    traced = transformer.__dict__.pop("forward")
    try:
        return work()
    finally:
        transformer.forward = traced


@contextmanager
def _busy() -> Iterator[None]:
    """Keep another thread computing in Python."""
    done = threading.Event()

    def compute() -> None:
        while not done.is_set():
            sum(range(1000))

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _median(done: list[Round[Measured]], side: str, what: str) -> float:
    return statistics.median(one[side][what] for one in quiet(done))


if __name__ == "__main__":
    main()
