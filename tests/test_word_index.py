"""The index of words on disk answers as one that is made anew, whatever changed, was killed, or was damaged."""

import random
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import ArithmeticEmbeddings
from processes import start

from langgraph_rag.tools.index import word_index
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores import database
from langgraph_rag.tools.stores.records import INDEXES

WORDS = "kell mill ferry harbour rain pier lamp tide isle 4.5.0 --dry-run ref/settings 東京の塔 Dvořák's".split()
QUERIES = ["mill", "kell ferry", "4.5.0", "--dry-run of ref/settings", "東京", "dvorak", " ".join(WORDS), "unknown"]


def small(set_: Callable[[object, str, object], None]) -> None:
    """Write after a few changes."""
    set_(word_index, "_SAVED", 7)
    set_(word_index, "_SAVED_AT_CLOSING", 3)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch.setattr)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kb"


def passage(chance: random.Random) -> dict[str, str]:
    words = chance.choices(WORDS, k=chance.randint(1, 12))
    return {"id": f"p{chance.randint(0, 60)}", "title": chance.choice(["", *WORDS[:3]]), "text": " ".join(words)}


def change(kb: KnowledgeBase, chance: random.Random) -> None:
    """Add, replace or remove some passages."""
    if chance.random() < 0.7:
        some = {one["id"]: one for one in (passage(chance) for _ in range(chance.randint(1, 6)))}
        kb.upsert(some.values(), progress=False)
    else:
        kb.delete([f"p{chance.randint(0, 60)}" for _ in range(chance.randint(1, 8))])


def answers(kb: KnowledgeBase) -> list[list[tuple[str, float]]]:
    if not kb.ids():
        return []
    return [[(hit["id"], hit["score"]) for hit in kb.search(query, 40, by="bm25")] for query in QUERIES]


def anew(folder: Path) -> list[list[tuple[str, float]]]:
    """Return the answers of an index that is made of the records alone."""
    with KnowledgeBase.open(folder, ArithmeticEmbeddings(), read_only=True) as kb:
        kb._records.words.history = ""  # no file has that
        return answers(kb)


def changed(folder: Path, seed: int, times: int = 12) -> None:
    chance = random.Random(seed)
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        for _ in range(times):
            change(kb, chance)


def names(folder: Path) -> set[str]:
    return {path.name.partition("-")[0] for path in (folder / INDEXES).iterdir()}


def listed(folder: Path) -> list[Path]:
    return sorted((folder / INDEXES).glob("words*"))


def settled(kb: KnowledgeBase) -> None:
    """Wait for what is being written."""
    thread = kb._records.words._thread
    if thread is not None:
        thread.join()


@pytest.mark.parametrize("seed", range(2))
def test_it_answers_as_an_index_made_anew_after_any_changes(folder: Path, seed: int) -> None:
    chance, seen = random.Random(seed), set[int]()
    with (
        KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb,
        KnowledgeBase.open(folder, ArithmeticEmbeddings(), read_only=True) as reader,
    ):
        for number in range(25):
            change(kb, chance)
            if chance.random() < 0.5:
                settled(kb)
            if number % 6 == 0:
                expected = anew(folder)
                assert answers(kb) == answers(reader) == expected
                seen.add(len(kb._records.words.now().parts))
        settled(kb)
    assert anew(folder) == expected or number % 6
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as again:
        assert answers(again) == anew(folder)
        assert again._records.words.now().in_files
    assert len(seen) > 1  # it had several segments


def test_what_no_list_names_is_removed(folder: Path) -> None:
    changed(folder, 0)
    (folder / INDEXES / "words_aa-1-3.arrays").write_bytes(b"left by a killed process")
    (folder / INDEXES / "words_bb-cc.unfinished").write_bytes(b"left by a killed process")

    changed(folder, 1)

    assert not {"words_aa", "words_bb"} & names(folder)
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        parts = kb._records.words.now().parts
        assert {part.segment.name for part in parts if part.segment.name} | {"words"} == names(folder)


def test_a_reader_takes_the_newest_files_and_writes_none(folder: Path) -> None:
    changed(folder, 0, times=3)
    with KnowledgeBase.open(folder, ArithmeticEmbeddings(), read_only=True) as reader:
        answers(reader)
        before = reader._records.words.now().parts
        changed(folder, 1)
        there = {path: path.stat().st_mtime_ns for path in listed(folder)}

        assert answers(reader) == anew(folder)
        assert reader._records.words.now().parts[0] is not before[0]
    assert {path: path.stat().st_mtime_ns for path in listed(folder)} == there


def test_files_of_other_records_are_not_read(folder: Path, tmp_path: Path) -> None:
    changed(folder, 0)
    changed(tmp_path / "other", 1)
    shutil.rmtree(folder / INDEXES)
    shutil.copytree(tmp_path / "other" / INDEXES, folder / INDEXES)

    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        assert answers(kb) == anew(folder)


def test_files_from_after_records_that_were_put_back_are_not_read(folder: Path, tmp_path: Path) -> None:
    changed(folder, 0)
    shutil.copy(folder / "records.sqlite", tmp_path / "records.sqlite")
    changed(folder, 1)
    shutil.copy(tmp_path / "records.sqlite", folder / "records.sqlite")
    shutil.rmtree(folder / "chroma")

    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        for seed in range(2, 4):
            assert answers(kb) == anew(folder)
            for _ in range(15):
                change(kb, random.Random(seed))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [cut, Path.unlink, lambda path: path.write_bytes(b"")])
@pytest.mark.parametrize("which", ["words-", "words_"])
def test_files_that_are_not_whole_are_made_anew(folder: Path, damage: Callable[[Path], None], which: str) -> None:
    changed(folder, 0)
    for path in listed(folder):
        if path.name.startswith(which):
            damage(path)

    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        assert answers(kb) == anew(folder)
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        assert answers(kb) == anew(folder)
        assert kb._records.words.now().in_files


def test_damaged_files_are_not_merged(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    changed(folder, 0)
    for path in listed(folder):
        if path.name.startswith("words_"):
            flip(path)

    changed(folder, 1)
    changed(folder, 2)

    assert "damaged" in caplog.text
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        assert answers(kb) == anew(folder)


def test_changes_that_the_log_no_longer_tells_are_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed(folder, 0)
    with KnowledgeBase.open(folder, ArithmeticEmbeddings(), read_only=True) as reader:
        answers(reader)
        monkeypatch.setattr(database, "_KEPT", 2)
        monkeypatch.setattr(word_index, "_SAVED", 1_000)  # nothing is written
        with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
            change(kb, random.Random(9))
            kb.delete(kb.ids()[::3])
            kept = len(kb._records.words.now().parts[0].segment)
            assert answers(kb) == answers(reader) == anew(folder)
            assert kept  # what stayed was not read again


def test_a_folder_that_cannot_be_written_is_searched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed(folder, 0)
    there = {path: path.read_bytes() for path in listed(folder)}
    monkeypatch.setattr("langgraph_rag.tools.stores.opening.is_read_only", lambda _: True)

    with KnowledgeBase.open(folder, ArithmeticEmbeddings(), read_only=True) as kb:
        assert kb._copy is not None
        assert kb._records.words.now().in_files
        found = answers(kb)

    assert found == anew(folder)
    assert {path: path.read_bytes() for path in listed(folder)} == there


def test_a_knowledge_base_of_the_format_before_is_opened_and_changed(folder: Path) -> None:
    changed(folder, 0)
    expected = anew(folder)
    shutil.rmtree(folder / INDEXES)
    with sqlite3.connect(folder / "records.sqlite") as connection:
        connection.executescript(
            """
            CREATE VIRTUAL TABLE words USING fts5(title, text, content='');
            CREATE TRIGGER words_in AFTER INSERT ON passages BEGIN
                INSERT INTO words (rowid, title, text) VALUES (new.number, new.title, new.text); END;
            UPDATE meta SET value = '4' WHERE name = 'format'; DELETE FROM meta WHERE name = 'history';
            """
        )
    connection.close()

    with KnowledgeBase.open(folder, ArithmeticEmbeddings(), read_only=True) as kb:
        assert answers(kb) == expected
    assert not (folder / INDEXES).exists()
    changed(folder, 1)
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        assert answers(kb) == anew(folder)
        assert kb._records.words.now().in_files
        assert "words" not in kb._records._db.tables()  # type: ignore[attr-defined]


def test_where_files_cannot_be_written_it_stays_in_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("langgraph_rag.tools.index.arrays.write", full)
    changed(folder, 0)

    assert "No space left" in caplog.text
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        assert answers(kb) == anew(folder)


def change_for_ever(folder: Path, seed: int, opened: Path) -> None:
    small(setattr)
    chance = random.Random(seed)
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        opened.touch()
        while True:
            change(kb, chance)
            kb.search("mill", by="bm25")


def test_after_kills_it_answers_as_an_index_made_anew(folder: Path, tmp_path: Path) -> None:
    for seed, pause in enumerate((0.2, 0.9)):
        opened = tmp_path / f"opened{seed}"
        process = start(change_for_ever, folder, seed, opened)
        while not opened.exists():
            assert process.exitcode is None
            time.sleep(0.01)
        time.sleep(pause)
        process.kill()
        process.join()

        with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
            assert answers(kb) == anew(folder)
