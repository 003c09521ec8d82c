"""Time indexing against embedding the same passages alone, the two number formats, and opening what was indexed.

python benchmarks/indexing.py DATA
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from measuring import corpus, report, verdict

from langgraph_rag.tools import embeddings as embedder
from langgraph_rag.tools.embeddings import MiniLMEmbeddings
from langgraph_rag.tools.knowledge_base import KnowledgeBase

RATIO_GOAL, OPENING_GOAL = 1.25, 1.0
_FORMATS = {"fp32": torch.float32, "bf16": torch.bfloat16}
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


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl")
    parser.add_argument("--pairs", type=int, default=5, help="how often both sides are timed, in turn")
    parser.add_argument("--limit", type=int, help="index only the first so many passages")
    arguments = parser.parse_args()
    documents = corpus(arguments.data, arguments.limit)
    texts = [f"{document['title']}\n{document['text']}" for document in documents]
    minilm = MiniLMEmbeddings()
    minilm.embed_documents(texts[:64])
    chosen = _chosen()

    with TemporaryDirectory() as temporary:
        _index(documents[:64], Path(temporary) / "warm-up")
        pairs = []
        for number in range(arguments.pairs):
            folder = Path(temporary) / str(number)
            sides: dict[str, Callable[[], object]] = {
                "embedding": lambda: minilm.embed_documents(texts),
                "indexing": lambda folder=folder: _index(documents, folder),  # type: ignore[misc]
            }
            order = list(sides)[:: 1 if number % 2 == 0 else -1]
            pairs.append({side: _seconds(sides[side]) for side in order})
            print(f"pair {number + 1}: {pairs[-1]}", file=sys.stderr)
        openings = [_opening(folder) for _ in range(5)]
    throughput = _throughput(minilm, texts[:: max(1, len(texts) // 512)])
    choices = Counter(_name(embedder._fastest_format(embedder._model())) for _ in range(_PROBES))

    ratios = [pair["indexing"] / pair["embedding"] for pair in pairs]
    ratio = statistics.median(ratios)
    opening = {part: statistics.median(o[part] for o in openings) for part in openings[0]}
    report(
        "indexing",
        arguments.data,
        {
            "passages": len(documents),
            "pairs": [{side: round(value, 2) for side, value in pair.items()} for pair in pairs],
            "ratios": [round(value, 3) for value in ratios],
            "ratio": round(ratio, 3),
            "chosen_format": chosen,
            "choices_when_probed_again": dict(choices),
            "passages_per_second": throughput,
            "openings": [{part: round(value, 3) for part, value in o.items()} for o in openings],
        },
        [
            ("figure", "value", "goal"),
            ("indexing / embedding alone (median)", f"{ratio:.2f}", _goal(ratio, RATIO_GOAL)),
            ("indexing, passages per second", f"{len(documents) / _median(pairs, 'indexing'):.0f}", ""),
            ("embedding alone, passages per second", f"{len(documents) / _median(pairs, 'embedding'):.0f}", ""),
            ("embedding in fp32, passages per second", f"{throughput['fp32']:.0f}", ""),
            ("embedding in bf16, passages per second", f"{throughput['bf16']:.0f}", ""),
            ("number format chosen", chosen, ""),
            ("opening, seconds", f"{opening['open']:.2f}", _goal(opening["open"], OPENING_GOAL)),
            ("opening with imports, seconds", f"{opening['open'] + opening['imports']:.2f}", ""),
            ("first search after opening, seconds", f"{opening['first_search']:.2f}", ""),
        ],
    )


def _index(documents: list[dict[str, str]], folder: Path) -> None:
    with KnowledgeBase.open(folder) as kb:
        kb.add(documents, progress=False)


def _opening(folder: Path) -> dict[str, float]:
    """Open a knowledge base in a fresh process and search it once: the embedder is loaded by the search."""
    done = subprocess.run([sys.executable, "-c", _OPENING, str(folder)], check=True, capture_output=True, text=True)
    timed: dict[str, float] = json.loads(done.stdout)
    return timed


def _throughput(minilm: MiniLMEmbeddings, texts: list[str]) -> dict[str, float]:
    """Embed the same passages in both formats in turn; the model is left in the format it was in."""
    model, before = embedder._model(), _chosen()
    timed: dict[str, list[float]] = {name: [] for name in _FORMATS}
    for _ in range(5):
        for name, number_format in _FORMATS.items():
            model.to(number_format)
            minilm.embed_documents(texts[:16])
            timed[name].append(_seconds(lambda: minilm.embed_documents(texts)))
    model.to(_FORMATS[before])
    return {name: round(len(texts) / statistics.median(values), 1) for name, values in timed.items()}


def _chosen() -> str:
    return _name(next(embedder._model().parameters()).dtype)


def _name(number_format: Any) -> str:
    return next(name for name, known in _FORMATS.items() if known == number_format)


def _median(pairs: list[dict[str, float]], side: str) -> float:
    return statistics.median(pair[side] for pair in pairs)


def _goal(value: float, goal: float) -> str:
    return f"at most {goal}: {verdict(value <= goal)}"


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
