"""Kills indexing at random moments with `kill -9`, completes it, and compares the result with an undisturbed run.

python benchmarks/kills.py DATA
"""

import argparse
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from measuring import report, timed, verdict

from langgraph_rag import KnowledgeBase
from langgraph_rag.tools.stores.records import RecordStore

_INDEX = [str(Path(sys.executable).with_name("langgraph-rag")), "index"]
_SAME_VECTOR = 0.999  # cosine; each process chooses the number format itself


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--limit", type=int, help="index only the first so many passages")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        corpus = folder / "corpus.jsonl"
        lines = (arguments.data / "corpus.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        corpus.write_text("".join(lines[: arguments.limit]), encoding="utf-8")
        started = time.perf_counter()
        added = _finish(corpus, folder / "calm")
        undisturbed = time.perf_counter() - started
        start_up = timed(lambda: _finish(corpus, folder / "calm"))

        moments: list[float] = []
        stored = [0]
        while len(moments) < arguments.kills:
            moment = start_up + chance.uniform(0, 2 * (undisturbed - start_up) / (arguments.kills + 1))
            if _killed(corpus, folder / "killed", moment):
                moments.append(round(moment, 2))
                stored.append(_stored(folder / "killed"))
            else:  # complete before all kills: start again
                shutil.rmtree(folder / "killed")
                stored, moments = [0], []
        if not any(stored):
            parser.error(f"nothing of {added} passages was stored before any kill: take a larger corpus")
        left = added - stored[-1]
        last = _finish(corpus, folder / "killed")
        same = _same(folder / "calm", folder / "killed")
    report(
        "kills",
        arguments.data,
        {
            "passages": added,
            "undisturbed_seconds": round(undisturbed, 1),
            "killed_after_seconds": moments,
            "passages_stored_then": stored[1:],
            "same": same,
        },
        [
            ("figure", "value", "goal"),
            ("kills", str(len(moments)), ""),
            (
                "passages stored at each",
                " ".join(map(str, stored[1:])),
                f"never fewer: {verdict(stored == sorted(stored))}",
            ),
            ("passages left to the last run / added by it", f"{left} / {last}", f"equal: {verdict(left == last)}"),
            *((f"same {name}", str(value), verdict(value)) for name, value in same.items()),
        ],
    )


def _finish(corpus: Path, folder: Path) -> int:
    done = subprocess.run([*_INDEX, str(corpus), "--kb", str(folder)], check=True, capture_output=True, text=True)
    added = re.search(r"\d[\d,]*", done.stdout)
    assert added, done.stdout
    return int(added.group().replace(",", ""))


def _killed(corpus: Path, folder: Path, moment: float) -> bool:
    """Kill indexing after some seconds; return whether it was still running."""
    process = subprocess.Popen(
        [*_INDEX, str(corpus), "--kb", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True
    return False


def _stored(folder: Path) -> int:
    if not (folder / "records.sqlite").exists():
        return 0
    records = RecordStore(folder / "records.sqlite")
    try:
        return records.count()
    finally:
        records.close()


def _same(calm: Path, killed: Path) -> dict[str, bool]:
    """Compare records, triples and vectors, regardless of their order."""
    with KnowledgeBase.open(calm) as one, KnowledgeBase.open(killed) as other:
        ids = sorted(one._records.ids())
        vectors = one._vectors.passages(ids), other._vectors.passages(ids)
        return {
            "ids": ids == sorted(other._records.ids()) == sorted(other._vectors.ids()),
            "records": one.passages(ids) == other.passages(ids),
            "triples": [one.triples([id_]) for id_ in ids] == [other.triples([id_]) for id_ in ids],
            "vectors": all(float(np.dot(vectors[0][id_], vectors[1][id_])) > _SAME_VECTOR for id_ in ids),
        }


if __name__ == "__main__":
    main()
