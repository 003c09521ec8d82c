"""Times indexing against embedding alone, the two number formats, and opening the knowledge base.

python benchmarks/indexing.py DATA
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import count
from operator import methodcaller
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import torch
from measuring import Round, corpus, counted, quiet, report, rounds, timed, verdict

from langgraph_rag.tools.ingest import encoders
from langgraph_rag.tools.ingest.embeddings import CPU, MiniLMEmbeddings, load_minilm
from langgraph_rag.tools.knowledge_base import KnowledgeBase

RATIO_GOAL, OPENING_GOAL = 1.25, 1.0
_FORMATS = {"fp32": torch.float32, "bf16": torch.bfloat16}
_SAMPLE = 512  # passages for the comparison of number formats
_PROBES = 10
_OPENING = """
import json, sys, time
started = time.perf_counter()
from langgraph_rag import KnowledgeBase
imported = time.perf_counter()
kb = KnowledgeBase.open(sys.argv[1], create=False)
opened = time.perf_counter()
kb.search("Who was born first?")
searched = time.perf_counter()
print(json.dumps({"imports": imported - started, "open": opened - imported, "first_search": searched - opened}))
"""
Seconds = dict[str, float]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl")
    parser.add_argument("--pairs", type=int, default=5, help="quiet rounds in which both sides are timed")
    parser.add_argument("--limit", type=int, help="index only the first so many passages")
    arguments = parser.parse_args()
    documents = corpus(arguments.data, arguments.limit)
    texts = [f"{document['title']}\n{document['text']}" for document in documents]
    minilm = MiniLMEmbeddings()
    minilm.embed_documents(texts)
    chosen = _name(minilm._encoder().dtype)

    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        _index(minilm, documents[:64], folder / "warm-up")
        number = count()
        pairs = rounds(lambda: _pair(minilm, texts, documents, folder, next(number)), arguments.pairs)
        openings = rounds(lambda: _opening(folder / "0"), 5)
    throughputs = rounds(lambda: _throughput(texts[:: max(1, len(texts) // _SAMPLE)]), arguments.pairs)
    choices = Counter(_name(load_minilm(CPU).dtype) for _ in range(_PROBES))

    ratio = statistics.median(_ratio(pair) for pair in quiet(pairs))
    speed = {side: len(documents) / seconds for side, seconds in _medians(pairs).items()}
    throughput, opening = _medians(throughputs), _medians(openings)
    report(
        "indexing",
        arguments.data,
        {
            "passages": len(documents),
            "ratio": round(ratio, 3),
            "ratio_of_all_pairs": round(statistics.median(_ratio(pair.measured) for pair in pairs), 3),
            "pairs": [{**_written(pair), "ratio": round(_ratio(pair.measured), 3)} for pair in pairs],
            "passages_per_second": [_written(one) for one in throughputs],
            "chosen_format": chosen,
            "choices_when_probed_again": dict(choices),
            "openings": [_written(one) for one in openings],
        },
        [
            ("figure", "value", "goal"),
            ("indexing / embedding alone (median)", f"{ratio:.2f}", _goal(ratio, RATIO_GOAL)),
            ("quiet pairs", counted(pairs), ""),
            ("indexing, passages per second", f"{speed['indexing']:.0f}", ""),
            ("embedding alone, passages per second", f"{speed['embedding']:.0f}", ""),
            ("embedding in fp32, passages per second", f"{throughput['fp32']:.0f}", ""),
            ("embedding in bf16, passages per second", f"{throughput['bf16']:.0f}", ""),
            ("number format chosen", chosen, ""),
            ("opening, seconds", f"{opening['open']:.2f}", _goal(opening["open"], OPENING_GOAL)),
            ("opening with imports, seconds", f"{opening['open'] + opening['imports']:.2f}", ""),
            ("first search after opening, seconds", f"{opening['first_search']:.2f}", ""),
        ],
    )


def _pair(
    minilm: MiniLMEmbeddings, texts: list[str], documents: list[dict[str, str]], folder: Path, number: int
) -> Seconds:
    """Time both sides, with alternating order."""
    sides: dict[str, Callable[[], object]] = {
        "embedding": lambda: minilm.embed_documents(texts),
        "indexing": lambda: _index(minilm, documents, folder / str(number)),
    }
    return {side: timed(sides[side]) for side in sorted(sides, reverse=number % 2 == 1)}


def _index(minilm: MiniLMEmbeddings, documents: list[dict[str, str]], folder: Path) -> None:
    with KnowledgeBase.open(folder, minilm) as kb:
        kb.add(documents, progress=False)


def _opening(folder: Path) -> Seconds:
    """Open a knowledge base in a new process and search it once, because the search loads the embedder."""
    done = subprocess.run([sys.executable, "-c", _OPENING, str(folder)], check=True, capture_output=True, text=True)
    seconds: Seconds = json.loads(done.stdout)
    return seconds


def _throughput(texts: list[str]) -> Seconds:
    """Embed the same passages in both formats."""
    speeds = {}
    for name, number_format in _FORMATS.items():
        minilm = MiniLMEmbeddings()
        with patch.object(encoders, "_in_fastest_format", methodcaller("to", number_format)):
            minilm._loaded = load_minilm(CPU)
        speeds[name] = len(texts) / timed(partial(minilm.embed_documents, texts))
    return speeds


def _name(number_format: Any) -> str:
    return next(name for name, known in _FORMATS.items() if known == number_format)


def _ratio(pair: Seconds) -> float:
    return pair["indexing"] / pair["embedding"]


def _medians(done: list[Round[Seconds]]) -> Seconds:
    calm = quiet(done)
    return {part: statistics.median(one[part] for one in calm) for part in calm[0]}


def _written(one: Round[Seconds]) -> dict[str, float]:
    return {**{part: round(value, 3) for part, value in one.measured.items()}, "others": one.others}


def _goal(value: float, goal: float) -> str:
    return f"at most {goal}: {verdict(value <= goal)}"


if __name__ == "__main__":
    main()
