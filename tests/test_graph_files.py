"""The files of the graphs: opened instead of built, never trusted where they do not fit, and written beside readers."""

import os
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes import ArithmeticEmbeddings
from straightforward_graphs import Edges, edges_of

from langgraph_rag.records import Record
from langgraph_rag.tools.index import derived_graphs
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores.records import INDEXES

PLACES = [
    {"id": f"isle-{n}", "title": f"Isle {n}", "text": f"Isle {n} lies in Norland. Ada Renk was born on Isle {n}."}
    for n in range(60)
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a knowledge base whose graphs are in files."""
    monkeypatch.setattr(derived_graphs, "_SAVED_AT_CLOSING", 1)
    monkeypatch.setattr(derived_graphs, "_SHARE_AT_CLOSING", 10_000)
    with opened(tmp_path / "kb") as kb:
        kb.add(PLACES, progress=False)
    yield tmp_path / "kb"


def opened(path: Path, **settings: Any) -> KnowledgeBase:
    return KnowledgeBase.open(path, ArithmeticEmbeddings(), **settings)


def sentences(kb: KnowledgeBase) -> set[str]:
    return {sentence for record in kb.passages(kb.ids()) for sentence in record["sentences"]}


def edges(kb: KnowledgeBase) -> tuple[Edges, Edges]:
    return edges_of(kb.entities), edges_of(kb.hierarchy, sentences(kb))


def built(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> tuple[Edges, Edges]:
    """Return the edges of graphs that are made of the records alone."""
    with monkeypatch.context() as patched:
        patched.setattr(derived_graphs, "INDEXES", "nowhere")
        with opened(kb.path, read_only=True) as other:
            return edges(other)


def files(folder: Path) -> list[Path]:
    return sorted([*(folder / INDEXES).glob("entities*.arrays"), *(folder / INDEXES).glob("hierarchy*.arrays")])


def test_graphs_are_opened_and_not_built(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(folder) as kb:
        expected = built(kb, monkeypatch)
        monkeypatch.setattr(kb._records, "mentions", None)
        monkeypatch.setattr(kb._records.triples, "statements", None)
        assert kb.entities.link("Who was born on Isle 7?") == ["isle 7"]
        assert edges(kb) == expected
    assert len(files(folder)) == 2


def test_what_changes_is_seen_with_the_files_and_is_in_the_next_ones(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(folder)
    for _ in range(2):
        with opened(folder) as kb, opened(folder, read_only=True) as reader:
            held = reader.entities
            kb.delete(["isle-3", "isle-9"])
            kb.add([{**PLACES[3], "text": "Isle 3 is ruled by Tilda Marsh."}, PLACES[9]], progress=False)
            assert edges(kb) == edges(reader) == built(kb, monkeypatch)
            assert reader.entities.link("Tilda Marsh") == ["tilda marsh"]
            assert edges_of(held)
    assert len(files(folder)) == 2
    assert before[0] not in files(folder)


@pytest.mark.parametrize("harm", ["cut", "emptied", "other bytes", "of other records", "removed"])
def test_files_that_do_not_fit_are_not_used(folder: Path, harm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in files(folder):
        if harm == "removed":
            file.unlink()
        elif harm != "of other records":
            whole = file.read_bytes()
            file.write_bytes({"cut": whole[:-100], "emptied": b"", "other bytes": os.urandom(len(whole))}[harm])
    with opened(folder) as kb:
        if harm == "of other records":
            kb._records.words.history = "another"
            monkeypatch.setattr("langgraph_rag.tools.index.arrays.write", None)
        assert edges(kb) == built(kb, monkeypatch)
        monkeypatch.undo()


def test_who_only_reads_writes_nothing(folder: Path) -> None:
    (there, *_), names = files(folder), {file.name for file in folder.rglob("*")}
    there.unlink()
    with opened(folder, read_only=True) as kb:
        assert kb.entities.link("Isle 7") == ["isle 7"]
        assert kb.hierarchy.has("Isle 7")
    assert {file.name for file in folder.rglob("*")} == names - {there.name}


def test_more_changes_than_the_log_holds_are_found_all_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.tools.stores.database._KEPT", 5)
    with opened(folder) as kb:
        kb.delete([f"isle-{n}" for n in range(20)])
        assert edges(kb) == built(kb, monkeypatch)


def test_a_filter_hides_passages_names_and_facts(folder: Path) -> None:
    with opened(folder) as kb:
        kb.add([{"id": "x", "title": "Ida Moss", "text": "Ida Moss was born in Sund.", "secret": True}], progress=False)
        shown = {"secret": {"$exists": False}}
        assert kb.facts_about("Ida Moss")
        assert kb.facts_about("Ida Moss", filter=shown) == []
        assert kb.near_entities(["Ida Moss"], filter=shown) == []


def test_another_process_writes_files_while_all_go_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived_graphs, "_SAVED", 30)
    with opened(folder) as kb, opened(folder, read_only=True) as reader:
        before = files(folder)
        kb.add(
            [{**place, "id": f"more-{n}", "title": f"Rock {n}"} for n, place in enumerate(PLACES[:30])], progress=False
        )
        graphs = kb._graphs._hierarchy, kb._graphs._entities(kb.extractor.version)
        assert all(one._writing is not None and one._writing.wait() == 0 for one in graphs)
        assert set(before).isdisjoint(files(folder))
        kb.delete(["isle-1"])
        assert edges(kb) == edges(reader) == built(kb, monkeypatch)
        assert reader._graphs._hierarchy._used > 0


def test_a_process_that_is_killed_while_it_writes_leaves_what_can_be_opened(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(3)
    for turn in range(3):
        with opened(folder) as kb:
            kb.update(
                [{**PLACES[turn], "text": f"Isle {turn} was ruled by Ada Renk in {1900 + turn}."}], progress=False
            )
            arguments = kb._graphs._hierarchy._source.program
            writing = subprocess.Popen([*derived_graphs.PROGRAM, *arguments])
            time.sleep(chance.uniform(0.5, 1.5))
            writing.kill()
            writing.wait()
            with opened(folder, read_only=True) as reader:
                assert edges(reader) == built(kb, monkeypatch)


def test_a_record_that_changes_while_it_is_read_for_its_spelling_does_no_harm(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(ids: list[str]) -> list[Record]:
        return []

    with opened(folder) as kb:
        monkeypatch.setattr(kb._records, "passages", nothing)
        assert kb.hierarchy.similar("isle 7 of norland") == ["isle 7"]
