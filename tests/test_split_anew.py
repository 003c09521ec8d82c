"""A knowledge base that is split anew: killed at any moment, updated, and read by others meanwhile."""

import sqlite3
import time
from contextlib import closing
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from fakes import ArithmeticEmbeddings, contents
from processes import start

from langgraph_rag.tools.ingest.splitting import ESTIMATED, Splitting
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.retrieve.search import SEARCHES

COARSE, FINE = Splitting(90), Splitting(40, 8)
DOCUMENTS = [
    {
        "title": f"Isle {n}",
        "source": f"isle{n}.md",
        "text": " ".join(f"Isle {n} has lighthouse {m}, which was built in {1500 + m}." for m in range(40)),
    }
    for n in range(6)
]


class SlowEmbeddings(ArithmeticEmbeddings):
    """Takes its time, and tells in a file how many texts it embedded."""

    tokens = ESTIMATED

    def __init__(self, log: Path) -> None:
        super().__init__()
        self._log = log

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors = []
        for text in texts:
            time.sleep(0.002)
            vectors += super().embed_documents([text])
        with self._log.open("a") as log:
            log.write("+" * len(texts))
        return vectors


def split_anew(folder: Path, log: Path, splitting: Splitting = FINE) -> None:
    with KnowledgeBase.open(folder, SlowEmbeddings(log), splitting=splitting) as kb:
        kb.update(DOCUMENTS, progress=False)


def make(folder: Path, splitting: Splitting) -> dict[str, object]:
    with KnowledgeBase.open(folder, ArithmeticEmbeddings(), splitting=splitting) as kb:
        kb.update(DOCUMENTS, progress=False)
        return everything(kb)


def everything(kb: KnowledgeBase) -> dict[str, object]:
    return {**contents(kb), "order": {source: kb.ids(source) for source in kb.sources()}}


def embedded(log: Path) -> int:
    return len(log.read_text()) if log.exists() else 0


def wait_for(number: int, log: Path, process: BaseProcess) -> None:
    deadline = time.monotonic() + 120
    while embedded(log) < number and process.is_alive():
        assert time.monotonic() < deadline, "it hangs"
        time.sleep(0.002)


@pytest.mark.parametrize("moments", [[1, 64], [2, 65, 66], [129]])
def test_a_kill_while_it_is_split_anew_loses_nothing(tmp_path: Path, moments: list[int]) -> None:
    make(tmp_path / "kb", COARSE)
    for run, moment in enumerate(moments):
        process = start(split_anew, tmp_path / "kb", tmp_path / f"log{run}")
        wait_for(moment, tmp_path / f"log{run}", process)
        process.kill()
        process.join()

    split_anew(tmp_path / "kb", tmp_path / "last")

    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb:
        assert everything(kb) == make(tmp_path / "new", FINE)
        assert kb.info()["passages_split_otherwise"] == 0


def test_only_what_is_split_otherwise_is_embedded_again(tmp_path: Path) -> None:
    short = {"title": "Kell", "source": "kell.md", "text": "Kell is an isle."}
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), splitting=COARSE) as kb:
        kb.update([*DOCUMENTS[:1], short], progress=False)
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), splitting=FINE) as kb:
        updated = kb.update([*DOCUMENTS[:1], short], progress=False)
        assert (updated["unchanged"], updated["removed"] > 0) == (1, True)
        assert kb.info()["passages_split_otherwise"] == 0
        (kell,) = kb.ids("kell.md")
        assert kb.passages([kell])[0]["position"] == 0


def test_readers_beside_see_whole_passages_and_one_order(tmp_path: Path) -> None:
    coarse = make(tmp_path / "kb", COARSE)
    process = start(split_anew, tmp_path / "kb", tmp_path / "log")
    seen = set()
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), read_only=True) as kb:
        while process.is_alive():
            for hit in kb.search("which lighthouse was built in 1510", 5, by="hybrid"):
                assert "lighthouse" in hit["text"]
                for near in kb.neighbours(hit["id"]):
                    assert near["document"] and near["source"].startswith("isle")
            ids = kb.ids("isle3.md")
            placed = [passage for passage in kb.passages(ids) if "position" in passage]
            (document,) = {passage["document"] for passage in placed[:1]}
            own = [passage for passage in placed if passage["document"] == document]
            assert [passage["position"] for passage in own] == sorted(passage["position"] for passage in own)
            seen.add(document)
        process.join()
        assert process.exitcode == 0
        assert everything(kb) == make(tmp_path / "new", FINE) != coarse
    assert len(seen) <= 2  # the earlier version and the new one


def age(folder: Path) -> None:
    """Make a folder as the first code of its format made it: without places and names, read by earlier rules."""
    with closing(sqlite3.connect(folder / "records.sqlite")) as db, db:
        for table in ("standing", "namings", "given_names", "written_ends"):
            db.execute(f"DROP TABLE {table}")
        db.execute("DELETE FROM meta WHERE name IN ('splitting')")
        for table in ("triples", "extractions"):
            db.execute(f"UPDATE {table} SET extractor = 'rules-18'")


def test_a_folder_of_earlier_code_is_searched_and_split_anew(tmp_path: Path) -> None:
    make(tmp_path / "old", COARSE)
    age(tmp_path / "old")

    with KnowledgeBase.open(tmp_path / "old", ArithmeticEmbeddings(), splitting=FINE) as kb:
        found = {by: kb.search("lighthouse 7 of Isle 3", 3, by=by) for by in SEARCHES}
        old = kb.info()
        kb.update(DOCUMENTS, progress=False)
        new, kept = kb.info(), everything(kb)

    assert all(len(passages) == 3 for passages in found.values())
    assert old["passages_split_otherwise"] == old["passages_to_extract"] == old["passages"] > 0
    assert new["passages_split_otherwise"] == new["passages_to_extract"] == 0
    assert kept == make(tmp_path / "new", FINE)
