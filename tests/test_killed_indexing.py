"""Indexing survives `kill -9` at any moment: run again, it has the same result and repeats almost nothing."""

import os
import signal
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from fakes import ArithmeticEmbeddings, contents, vectors
from processes import start

from langgraph_rag.records import Record
from langgraph_rag.tools.facts.extraction import Reading, RuleExtractor
from langgraph_rag.tools.ingest.embeddings import FEW, Family, SentenceEmbeddings
from langgraph_rag.tools.ingest.splitting import ESTIMATED
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores import vector_files
from langgraph_rag.tools.stores.records import RecordStore
from langgraph_rag.tools.stores.vector_files import VectorFiles

PASSAGES = 300
THREADS = 2  # that embed
IN_HAND = THREADS * FEW  # passages
DOCUMENTS = [
    {
        "id": f"isle-{n}",
        "title": f"Isle {n}",
        "text": f"Isle {n} is an island in Norland. " + f"Its lighthouse was built in {1500 + n}. " * (1 + n % 7),
    }
    for n in range(PASSAGES)
]
EARLIER = [{**document, "text": f"Earlier. {document['text']}"} for document in DOCUMENTS[::2]]
TITLES = {f"Isle {n}": f"isle-{n}" for n in range(PASSAGES)}
IDS = frozenset(TITLES.values())


class Log:
    """Appends a line per piece of work, such that it outlives the process."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY)

    def write(self, kind: str, what: str) -> None:
        os.write(self._file, f"{kind}\t{what}\n".encode())


class LoggedEmbeddings(SentenceEmbeddings):
    """A model in this process, as it were, that logs each text and takes its time over it."""

    def __init__(self, log: Log) -> None:
        super().__init__("arithmetic", "", Family())
        self._log, self._arithmetic = log, ArithmeticEmbeddings()

    tokens = ESTIMATED

    @property
    def threads(self) -> int:
        return THREADS

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        for text in texts:
            time.sleep(0.002)
            self._log.write("embedded", TITLES.get(text.split("\n")[0], "probe"))
        return self._arithmetic.embed_documents(texts)


class LoggedExtractor(RuleExtractor):
    """Logs each passage before it is handed over."""

    def __init__(self, log: Log) -> None:
        self._log = log

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        for passage in passages:
            async for readings in super().extract([passage]):
                self._log.write("extracted", passage["id"])
                yield readings


def index(folder: Path, logged: Path, how: str = "add") -> None:
    log = Log(logged)
    extractor = RuleExtractor() if how == "add by rules" else LoggedExtractor(log)
    with KnowledgeBase.open(folder, LoggedEmbeddings(log), extractor=extractor) as kb:
        (kb.update if how == "update" else kb.add)(DOCUMENTS, progress=False)


def done(log: Path, kind: str) -> list[str]:
    """Return the passages a log tells of, a line cut short by the kill left out."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [what for what in (line.removeprefix(f"{kind}\t") for line in lines if line.startswith(kind)) if what in IDS]


def kill_once(folder: Path, log: Path, kind: str, number: int, how: str = "add") -> None:
    """Index until the log tells of so many pieces of work, then kill."""
    process = start(index, folder, log, how)
    deadline = time.monotonic() + 60
    while len(done(log, kind)) < number:
        assert process.is_alive(), "indexing ended before it could be killed"
        assert time.monotonic() < deadline, "indexing hangs"
        time.sleep(0.01)
    process.kill()
    process.join()


def recorded(folder: Path) -> tuple[set[str], set[str]]:
    """Return the passages stored, and those whose triples are."""
    records = RecordStore(folder / "records.sqlite")
    stored = set(records.ids())
    unread = set(records.triples.unextracted(RuleExtractor.version))
    records.close()
    return stored, stored - unread


def test_indexing_killed_three_times_ends_as_if_never_disturbed(tmp_path: Path) -> None:
    folder, safe = tmp_path / "killed", [(set[str](), set[str]())]
    logs = [tmp_path / f"run{n}.log" for n in range(4)]
    for log, (kind, number) in zip(logs, [("embedded", 40), ("embedded", 150), ("extracted", 100)], strict=False):
        kill_once(folder, log, kind, number)
        safe.append(recorded(folder))
    index(folder, logs[-1])
    index(tmp_path / "calm", tmp_path / "calm.log")

    # what was recorded when killed is not done again, and all but what was in hand was recorded
    for log, (stored, read) in zip(logs, safe, strict=True):
        assert not stored.intersection(done(log, "embedded"))
        assert not read.intersection(done(log, "extracted"))
    for log, (stored, read) in zip(logs, safe[1:], strict=False):
        assert len(set(done(log, "embedded")) - stored) <= IN_HAND
        assert len(set(done(log, "extracted")) - read) <= 1

    check_same(folder, tmp_path / "calm")


def test_rules_have_read_all_but_the_passages_in_hand_when_indexing_is_killed(tmp_path: Path) -> None:
    kill_once(tmp_path / "killed", tmp_path / "run.log", "embedded", 100, "add by rules")
    stored, read = recorded(tmp_path / "killed")

    assert len(set(done(tmp_path / "run.log", "embedded")) - read) <= IN_HAND
    assert len(stored) >= 100 - IN_HAND


@pytest.mark.parametrize(("number", "together"), [(2, 1), (6, 3), (40, FEW)])
def test_a_few_passages_are_spread_over_the_threads(
    number: int, together: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, embed = list[int](), LoggedEmbeddings.embed_documents

    def counted(self: LoggedEmbeddings, texts: list[str]) -> list[list[float]]:
        calls.append(len(texts))
        return embed(self, texts)

    with KnowledgeBase.open(tmp_path / "kb", LoggedEmbeddings(Log(tmp_path / "log"))) as kb:
        kb.add(DOCUMENTS[-1:], progress=False)
        monkeypatch.setattr(LoggedEmbeddings, "embed_documents", counted)
        kb.add(DOCUMENTS[:number], progress=False)

    assert calls == [together] * (number // together)


def test_updating_killed_three_times_ends_as_if_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        kb.add(EARLIER, progress=False)
        kb.embed_triples(progress=False)
    for run, (kind, number) in enumerate([("embedded", 100), ("embedded", 70), ("extracted", 50)]):
        kill_once(folder, tmp_path / f"run{run}.log", kind, number, "update")
    index(folder, tmp_path / "last.log", "update")
    with KnowledgeBase.open(tmp_path / "calm", ArithmeticEmbeddings()) as calm:
        calm.add(DOCUMENTS, progress=False)

    check_same(folder, tmp_path / "calm")


def check_same(killed_folder: Path, calm_folder: Path) -> None:
    """Check that two knowledge bases hold the same in the end."""
    with (
        KnowledgeBase.open(killed_folder, ArithmeticEmbeddings()) as killed,
        KnowledgeBase.open(calm_folder, ArithmeticEmbeddings()) as calm,
    ):
        for kb in (killed, calm):
            kb.embed_triples(progress=False)
        assert killed.info()["passages"] == PASSAGES
        assert contents(killed) == contents(calm)
        undisturbed = vectors(calm)["passages"]
        for id_, vector in vectors(killed)["passages"].items():
            assert np.allclose(vector, undisturbed[id_])


def open_and_end(folder: Path) -> None:
    """End as a process that is killed while it opens files of vectors, or that damaged ones end."""

    def end(_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    pytest.MonkeyPatch().setattr(VectorFiles, "_open", end)
    KnowledgeBase.open(folder, ArithmeticEmbeddings())


@pytest.mark.parametrize(
    ("crash", "anew"),
    [("", False), ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", True)],
    ids=["killed", "damaged"],
)
def test_files_of_vectors_are_made_anew_where_they_crash_who_opens_them_and_not_where_it_was_killed(
    crash: str, anew: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with KnowledgeBase.open(tmp_path, ArithmeticEmbeddings()) as kb:
        kb.add(DOCUMENTS[:20], progress=False)
        before = vectors(kb)
    files = set(tmp_path.glob("chroma/*/*"))
    for _ in range(2):
        opening = start(open_and_end, tmp_path)
        opening.join()
        assert opening.exitcode == -signal.SIGKILL
    assert (tmp_path / "chroma" / "opening").exists()

    monkeypatch.setattr("langgraph_rag.tools.stores.vector_files._TRIAL", crash + vector_files._TRIAL)
    with KnowledgeBase.open(tmp_path, ArithmeticEmbeddings()) as kb:
        assert vectors(kb) == before
    assert bool(files) and files.isdisjoint(tmp_path.glob("chroma/*/*")) == anew
    assert not (tmp_path / "chroma" / "opening").exists()
