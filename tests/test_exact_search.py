"""Dense search in files: exact even for very similar texts, and up to date after additions and removals."""

from pathlib import Path

import numpy as np
import pytest
from fakes import ArithmeticEmbeddings

from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores import database
from langgraph_rag.tools.stores.chroma import in_folder
from langgraph_rag.tools.stores.database import Database
from langgraph_rag.tools.stores.protocols import Matrix, unit
from langgraph_rag.tools.stores.vector_files import VectorFiles, VectorRows, VectorTable

FOOTER = "Sent from the ferry office in Pellworth."


def vectors(number: int) -> Matrix:
    return unit(np.random.default_rng(0).normal(size=(number, 8)).astype(np.float32))


def found(kb: KnowledgeBase, query: str, k: int = 100) -> list[str]:
    return [hit["id"] for hit in kb.search(query, k, by="dense")]


def test_the_nearest_come_first_and_those_alike_by_their_ids() -> None:
    rows, some = VectorRows(), vectors(3)
    rows.add(["c", "b", "a"], some)
    rows.add(["e", "d"], some[[0, 0]])

    (best,) = rows.table().nearest(some[:1], 4)

    assert [id_ for id_, _ in best[:3]] == ["c", "d", "e"]
    assert [score for _, score in best] == pytest.approx([1.0, 1.0, 1.0, max(some[1:] @ some[0])], abs=1e-6)


def test_several_queries_at_once_find_what_each_finds_alone() -> None:
    table = VectorTable([f"p{number}" for number in range(50)], vectors(50))
    queries = vectors(53)[50:]

    assert table.nearest(queries, 9) == [found for query in queries for found in table.nearest(query[np.newaxis], 9)]


def test_what_was_removed_is_not_found_and_a_table_stays_as_it_was_made() -> None:
    rows, some = VectorRows(), vectors(3)
    rows.add(["a", "b", "c"], some)
    before = rows.table()
    rows.remove(["b", "unknown"])

    assert sorted(id_ for id_, _ in rows.table().nearest(some[:1], 9)[0]) == ["a", "c"]
    assert sorted(id_ for id_, _ in before.nearest(some[:1], 9)[0]) == ["a", "b", "c"]


def test_nothing_is_found_where_nothing_is() -> None:
    assert VectorRows().table().nearest(vectors(2), 5) == [[], []]


def test_many_passages_of_one_text_hide_no_other(tmp_path: Path, documents: list[dict[str, str]]) -> None:
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb:
        kb.add([*documents, *({"id": f"footer{n}", "text": FOOTER} for n in range(300))], progress=False)

        assert len(found(kb, "Pellworth", 1_000)) == len(documents) + 300
        for document in documents:
            assert found(kb, f"{document['title']}\n{document['text']}", 1) == [document["id"]]


def test_a_search_knows_what_came_changed_and_went_since_the_last_one(kb: KnowledgeBase) -> None:
    before = set(found(kb, "gulls"))
    kb.add([{"id": "gull", "text": "Gulls nest here."}], progress=False)
    assert found(kb, "Gulls nest here.", 1) == ["gull"]

    kb.update([{"id": "gull", "title": "Gull", "text": "Terns nest there."}], progress=False)
    assert kb.search("Gull: terns nest there.", 1, by="dense")[0]["score"] == pytest.approx(1.0, abs=1e-6)

    kb.delete(["gull"])
    assert set(found(kb, "gulls")) == before


def test_a_search_knows_what_another_opening_changed(kb: KnowledgeBase) -> None:
    assert "gull" not in found(kb, "gulls")
    with KnowledgeBase.open(kb.path, ArithmeticEmbeddings()) as other:
        other.add([{"id": "gull", "text": "Gulls nest here."}], progress=False)

    assert found(kb, "Gulls nest here.", 1) == ["gull"]


def test_a_change_is_told_before_it_is_made_as_a_kill_may_end_it(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, told = kb._records.vector_changes, list[bool]()
    before = log.end
    opened = kb._vectors._opened  # type: ignore[attr-defined]
    monkeypatch.setattr(opened.passages, "delete", lambda **ids: told.append(log.end > before))

    kb.delete(["heron"])

    assert told and all(told)


def test_more_vectors_are_searched_by_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = Database(tmp_path / "records.sqlite")
    changes.executescript(database.TABLE)
    files, some = VectorFiles(in_folder(tmp_path / "chroma"), database.ChangeLog(changes, "vectors")), vectors(5)
    files.put(list("abcde"), some)
    exact, stored = files.search(some, 3), files.passages(["b", "unknown"])
    monkeypatch.setattr("langgraph_rag.tools.stores.vector_files._EXACT", 4)
    monkeypatch.delattr(VectorTable, "nearest")

    for found_, expected in zip(files.search(some, 3), exact, strict=True):
        assert [id_ for id_, _ in found_] == [id_ for id_, _ in expected]
        assert [score for _, score in found_] == pytest.approx([score for _, score in expected], abs=1e-5)
    assert np.allclose(files.passages(["b", "unknown"])["b"], stored["b"])
    assert list(stored) == ["b"]
    files.close()


def test_of_vectors_that_are_alike_no_more_than_k_are_found() -> None:
    alike = np.array([[1, 0], [1, 0], [0, 1], [1, 0]], np.float32)

    (found,) = VectorTable(["c", "a", "x", "b"], alike).nearest(alike[:1], 2)

    assert found == [("a", 1.0), ("b", 1.0)]
