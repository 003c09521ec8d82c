"""Times reading triples from SQLite, as one text and row by row, alone and beside a computing thread.

It reports means, not medians: beside a thread, a turn waits either for each of its rows or for none, depending on how
the system schedules the threads.

python benchmarks/reading.py DATA
"""

import argparse
import random
import sqlite3
import statistics
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from pathlib import Path

from measuring import computing_beside, indexed, report, timed

from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings
from langgraph_rag.tools.stores.database import Database

_READ = 10  # passages at a time
_COLUMNS, _OF = "id, head, relation, tail", "triples JOIN passages ON number = passage WHERE id IN"
_ROWS = f"SELECT {_COLUMNS} FROM {_OF} ({', '.join('?' * _READ)})"
_PLACES: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "alone": nullcontext,
    "beside a thread that computes": computing_beside,
}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl")
    parser.add_argument("--turns", type=int, default=40, help="how often each is timed")
    parser.add_argument("--kb", type=Path, help="folder to keep the index in for the next run")
    arguments = parser.parse_args()
    with indexed(arguments.data, arguments.kb, MiniLMEmbeddings()) as kb:
        file = kb / "records.sqlite"
        with closing(Database(file)) as database, closing(sqlite3.connect(file)) as connection:
            milliseconds = _measured(database, connection, arguments.turns)
    rows = [("mean ms of reading the triples of ten passages", "in one text / row by row", "ratio")]
    for place, ways in milliseconds.items():
        one, other = (statistics.mean(times) for times in ways.values())
        rows.append((place, f"{one:.1f} / {other:.1f}", f"{one / other:.2f}"))
    report("reading", arguments.data, {"milliseconds": milliseconds}, rows)


def _measured(database: Database, connection: sqlite3.Connection, turns: int) -> dict[str, dict[str, list[float]]]:
    ids = [id_ for (id_,) in database.rows("id", "passages")]
    choose = random.Random(0)
    groups = [choose.sample(ids, _READ) for _ in range(turns)]
    milliseconds: dict[str, dict[str, list[float]]] = {}
    for place, beside in _PLACES.items():
        times = milliseconds[place] = {"in one text": [], "row by row": []}
        with beside():
            for group in groups:
                times["in one text"].append(timed(partial(database.by_ids, _COLUMNS, _OF, group)) * 1000)
                times["row by row"].append(timed(partial(_row_by_row, connection, group)) * 1000)
    return milliseconds


def _row_by_row(connection: sqlite3.Connection, ids: Sequence[str]) -> list[object]:
    return connection.execute(_ROWS, ids).fetchall()


if __name__ == "__main__":
    main()
