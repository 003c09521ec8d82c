"""Times the embedder beside a busy process: with threads that sleep, or spin, while they wait for each other.

python benchmarks/contention.py DATA

The two alternate, each time in a new process, because torch reads the setting when it is loaded.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measuring import corpus, report

_PASSAGES = 96
_EMBED = """
import json, sys, time
if sys.argv[1] == "spin":
    import torch  # before it is told to sleep
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings
embedder, passages = MiniLMEmbeddings(), json.load(sys.stdin)
embedder.embed_documents(passages)
started = time.perf_counter()
embedder.embed_documents(passages)
print((time.perf_counter() - started) * 1000 / len(passages))
"""
_WAYS, _PLACES = ("sleep", "spin"), ("alone", "beside a busy process")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl")
    parser.add_argument("--turns", type=int, default=5, help="how often each is timed")
    arguments = parser.parse_args()
    passages = json.dumps([document["text"] for document in corpus(arguments.data, _PASSAGES)])
    timed: dict[str, dict[str, list[float]]] = {place: {way: [] for way in _WAYS} for place in _PLACES}
    for _ in range(arguments.turns):
        for place in _PLACES:
            with _busy(place):
                for way in _WAYS:
                    timed[place][way].append(_milliseconds(way, passages))
    rows = [("ms of a passage", "sleep / spin", "ratio")]
    for place, ways in timed.items():
        sleep, spin = (statistics.median(ways[way]) for way in _WAYS)
        ratio = statistics.median(one / other for one, other in zip(*ways.values(), strict=True))
        rows.append((place, f"{sleep:.1f} / {spin:.1f}", f"{ratio:.2f}"))
    report("contention", arguments.data, {"milliseconds_of_a_passage": timed}, rows)


def _milliseconds(way: str, passages: str) -> float:
    command = [sys.executable, "-c", _EMBED, way]
    return float(subprocess.run(command, input=passages, check=True, capture_output=True, text=True).stdout)


@contextmanager
def _busy(place: str) -> Iterator[None]:
    """Keep one processor busy meanwhile, if that is the place."""
    if place == _PLACES[0]:
        yield
        return
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


if __name__ == "__main__":
    main()
