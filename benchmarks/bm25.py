"""Times BM25 as the knowledge base computes it, compared with FTS5's own function, as the corpus grows.

python benchmarks/bm25.py ROOT

The passages of the data sets in ROOT are repeated as needed, each time with other names in them. Each question is asked
twice: the second time, all of its words were searched before.
"""

import argparse
import sqlite3
import statistics
import time
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

import numpy as np
from measuring import Round, counted, data_sets, questions, quiet, report, rounds, verdict
from scaling import repeated

from langgraph_rag.records import Record, ids_of
from langgraph_rag.tools.index.words import words_to_search
from langgraph_rag.tools.stores.records import RecordStore

_SIZES = (5_000, 20_000, 80_000)
_DEPTH = 50
_FTS5 = """
SELECT id FROM (SELECT rowid AS found, bm25(words, 3.0, 1.0) AS score FROM words WHERE words MATCH ?
ORDER BY score, found LIMIT ?) JOIN passages ON number = found ORDER BY score, id
"""


class Measured(TypedDict):
    """Milliseconds of a search; whether both found the same passages in the same order for all questions."""

    fts5: float
    first: float
    again: float
    same: bool


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder with data sets, each with corpus.jsonl and questions.jsonl")
    parser.add_argument("--sizes", type=int, nargs="+", default=_SIZES, help="passages")
    parser.add_argument("--rounds", type=int, default=3, help="quiet rounds")
    arguments = parser.parse_args()
    folders = data_sets(arguments.root)
    every = [question for folder in folders for question in questions(folder)]
    asked = [one for one in every if not any(words_to_search(one).values())]  # FTS5 cannot weigh the parts of names
    done: dict[int, list[Round[Measured]]] = {}
    for size in arguments.sizes:
        with TemporaryDirectory() as folder:
            _fill(Path(folder), folders, size)
            done[size] = rounds(partial(_round, Path(folder), asked), arguments.rounds)
    report(
        "bm25",
        arguments.root,
        {str(size): [{**one.measured, "others": one.others} for one in of] for size, of in done.items()},
        [("figure", "value", "goal"), *(row for size, of in done.items() for row in _rows(size, of))],
    )


def _fill(folder: Path, folders: list[Path], size: int) -> None:
    store = RecordStore(folder / "records.sqlite")
    records = [
        Record(id=one["id"], title=one["title"], text=one["text"], hash="", sentences=[], phrases=[])
        for one in islice(repeated(folders), size)
    ]
    store.insert(records, np.zeros((size, 1), dtype=np.float32))
    store.close()


def _round(folder: Path, asked: list[str]) -> Measured:
    connection = sqlite3.connect(folder / "records.sqlite")
    connection.execute(f"PRAGMA mmap_size={2**30}")
    store = RecordStore(folder / "records.sqlite")
    store.bm25("what is loaded once", 1)
    found: dict[str, list[list[str]]] = {name: [] for name in ("fts5", "first", "again")}
    times: dict[str, list[float]] = {name: [] for name in found}

    def by_fts5(question: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in words_to_search(question))
        return [id_ for (id_,) in connection.execute(_FTS5, (words, _DEPTH))]

    def by_store(question: str) -> list[str]:
        return ids_of(store.bm25(question, _DEPTH))

    for question in asked:
        for name, search in zip(found, (by_fts5, by_store, by_store), strict=True):
            started = time.perf_counter()
            found[name].append(search(question))
            times[name].append(1000 * (time.perf_counter() - started))
    store.close()
    connection.close()
    fts5, first, again = (round(statistics.mean(times[name]), 3) for name in found)
    return Measured(fts5=fts5, first=first, again=again, same=found["fts5"] == found["first"] == found["again"])


def _rows(size: int, of: list[Round[Measured]]) -> list[tuple[str, str, str]]:
    calm = quiet(of)
    first, again = (statistics.median(one["fts5"] / one[name] for one in calm) for name in ("first", "again"))
    same = all(one["same"] for one in calm)
    return [
        (f"{size:,} passages: FTS5, ms", f"{statistics.median(one['fts5'] for one in calm):.2f}", ""),
        (f"{size:,} passages: FTS5 / ours with new words", f"{first:.2f}", ""),
        (f"{size:,} passages: FTS5 / ours with known words", f"{again:.2f}", ""),
        (f"{size:,} passages: the same passages in the same order", "yes" if same else "no", verdict(same)),
        (f"{size:,} passages: quiet rounds", counted(of), ""),
    ]


if __name__ == "__main__":
    main()
