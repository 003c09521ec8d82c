"""What other processes see, and may do, while one process changes a knowledge base."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from fakes import ArithmeticEmbeddings
from processes import start

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.retrieve.search import SEARCHES
from langgraph_rag.tools.stores.vector_files import VectorFiles


@contextmanager
def talking(work: Callable[[Path, Connection], None], folder: Path) -> Iterator[Connection]:
    """Let another process work on a knowledge base until nobody talks to it any more."""
    here, there = Pipe()
    process = start(work, folder, there)
    there.close()
    with here:
        yield here
    process.join()


def answer_searches(folder: Path, asked: Connection) -> None:
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb, suppress(EOFError):
        while query := asked.recv():
            ids = {by: sorted(passage["id"] for passage in kb.search(query, 20, by=by)) for by in SEARCHES}
            asked.send({**ids, "hierarchy": sorted(kb.hierarchy.passages)})


def found(other: Connection, query: str) -> dict[str, list[str]]:
    """Return the ids that each search of another process finds."""
    other.send(query)
    ids: dict[str, list[str]] = other.recv()
    return ids


def test_a_process_that_only_asks_sees_what_another_one_adds_updates_and_deletes(kb: KnowledgeBase) -> None:
    tern = {"id": "tern", "title": "Skellby tern", "text": "The Skellby tern is a bird in Skellby."}
    with talking(answer_searches, kb.path) as other:
        assert len(found(other, "Skellby tern")["dense"]) == 8

        kb.add([tern], progress=False)
        assert all("tern" in ids for ids in found(other, "Skellby tern").values())

        kb.update([{**tern, "text": "The Skellby tern is a gull in Skellby."}], progress=False)
        kb.delete([id_ for id_ in kb.ids() if id_ != "tern"])
        assert all(ids == ["tern"] for ids in found(other, "Skellby tern").values())


def test_what_an_opening_has_searched_it_sees_change_by_another_one(kb: KnowledgeBase) -> None:
    with KnowledgeBase.open(kb.path, ArithmeticEmbeddings()) as other:
        before = other.search("Skellby", 8, by="dense")
        other.delete([before[0]["id"]])

        assert [passage["id"] for passage in kb.search("Skellby", 8, by="dense")] == [
            passage["id"] for passage in before[1:]
        ]


def test_files_that_could_not_be_opened_again_are_so_for_the_next_search(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: VectorFiles) -> None:
        raise OSError("too many open files")

    with KnowledgeBase.open(kb.path, ArithmeticEmbeddings()) as other:
        other.delete(["skellby"])
    with monkeypatch.context() as short_of_files:
        short_of_files.setattr(VectorFiles, "_open", full)
        with pytest.raises(KnowledgeBaseError, match="too many open files"):
            kb.search("Skellby")

    assert "skellby" not in [passage["id"] for passage in kb.search("Skellby")]


def test_in_another_folder_than_it_was_opened_in_it_is_the_same(
    tmp_path: Path, documents: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with KnowledgeBase.open("kb", ArithmeticEmbeddings()) as kb:
        kb.add(documents[:4], progress=False)
        monkeypatch.chdir(elsewhere)
        with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as other:
            other.add(documents[4:6], progress=False)
        kb.add(documents[6:], progress=False)

        assert len(kb.search("Skellby", 20)) == len(documents)
    assert not list(elsewhere.iterdir())


def open_when_told(folder: Path, told: Connection) -> None:
    told.send("ready")
    told.recv()
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        told.send(kb.info()["passages"])


def test_processes_that_make_one_at_the_same_moment_all_have_it(tmp_path: Path) -> None:
    with ExitStack() as running:
        others = [running.enter_context(talking(open_when_told, tmp_path / "kb")) for _ in range(3)]
        assert [other.recv() for other in others] == ["ready"] * 3
        for other in others:
            other.send("go")
        assert [other.recv() for other in others] == [0] * 3


def replace_gull(folder: Path) -> None:
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        kb.delete(["gull"])
        kb.add([{"id": f"tern{number}", "text": f"Tern {number} nests here."} for number in range(100)], progress=False)
        kb.add([{"id": "gull", "text": "Gulls left for good."}], progress=False)


def test_a_search_that_another_process_overtakes_finds_what_is_there_now(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.add([{"id": "gull", "text": "Gulls nest here."}], progress=False)
    with KnowledgeBase.open(kb.path, ArithmeticEmbeddings(), read_only=True) as reader:
        reader.search("gulls")
        kb.upsert([{"id": "gull", "text": "Gulls nest there."}], progress=False)
        kb.close()
        table = reader._vectors._tables["passages"]  # type: ignore[attr-defined]
        now = table.now

        def overtaken() -> object:
            monkeypatch.undo()
            start(replace_gull, kb.path).join()
            return now()

        monkeypatch.setattr(table, "now", overtaken)
        reader.search("Gulls left for good.")
        assert reader.search("Gulls left for good.", 1)[0]["id"] == "gull"


def test_a_folder_that_was_replaced_is_not_changed(kb: KnowledgeBase) -> None:
    before = kb.info()["passages"]
    kb.path.rename(kb.path.with_name("moved"))

    with pytest.raises(KnowledgeBaseError, match="was moved, removed or replaced after it was opened: open it again"):
        kb.add([{"text": "Gulls nest here."}], progress=False)
    assert (kb.is_there, kb.info()["passages"], kb.path.exists()) == (False, before, False)
