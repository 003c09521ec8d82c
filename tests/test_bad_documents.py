"""Bad input is refused with a typed error that says what was expected and what came, and nothing is stored."""

import errno
import math
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from fakes import ArithmeticEmbeddings, contents, vectors
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.errors import (
    DocumentError,
    DuplicateIdError,
    EmbedderError,
    EmbeddingsMismatchError,
    EmptyKnowledgeBaseError,
    KnowledgeBaseError,
    QuestionError,
    RagError,
    UnknownNameError,
)
from langgraph_rag.retriever import KnowledgeBaseRetriever
from langgraph_rag.tools.ingest.embeddings import load_embeddings
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.retrieve.search import SEARCHES
from langgraph_rag.tools.stores.vector_files import VectorFiles

GOOD = {"id": "good", "text": "A good document."}
CIRCULAR: list[Any] = []
CIRCULAR.append(CIRCULAR)


# --- documents -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"id": "b", "text": ""}, "document 2 (b): it has no text"),
        ({"id": "b", "text": " \n\t "}, "document 2 (b): it has no text"),
        ({"title": "Only a title"}, "document 2 (Only a title): it has no text"),
        ({"text": None, "source": "a.txt"}, "document 2 (a.txt): it has no text"),
        ({}, "document 2 (no id): it has no text"),
        ({"id": "b", "txt": "A town."}, "document 2 (b): it has no text in 'text', but the fields 'id', 'txt'"),
        (Document("", id="b"), "document 2 (b): it has no text"),
        ({"id": "b", "text": "\ufeff\u00ad \u200b"}, "document 2 (b): it has no text"),
        *(
            ({"id": id_, "text": "x"}, f"document 2: id must be text or a number, got {id_!r}")
            for id_ in ({"a": 1}, [1], True, " ", float("nan"))
        ),
        ({"id": "b", "text": 7}, "document 2: text must be a string, got int"),
        *(
            (
                {"id": "b", "text": "x", "title": title},
                f"document 2: title must be a string, got {type(title).__name__}",
            )
            for title in (["x"], True, float("nan"))
        ),
        (Document("x", metadata={"source": 3}), "document 2: source must be a string, got int"),
        (
            "just a string",
            "document 2: expected a LangChain Document or a dict with text (and id, title), got str",
        ),
        (None, "document 2: expected a LangChain Document or a dict with text (and id, title), got NoneType"),
        (
            {"id": "b", "text": "half of \ud83d"},
            "document 2 ('b'): expected text, got half a surrogate pair in its text, 'half",
        ),
        ({"id": "\udce9", "text": "x"}, "document 2 ('\\udce9'): expected text, got half a surrogate pair in its id"),
        (
            {"text": "x", "source": "\udce9.txt"},
            "document 2 (''): expected text, got half a surrogate pair in its source, '\\udce9.txt'",
        ),
        (
            {"id": "big", "text": "word " * 200_000 + "ends"},
            "document 2 (big): expected passages of at most 1,000,000 characters, got one of 1,000,004: leave out",
        ),
        (
            {"text": "x", "author": "half of \ud83d"},
            "document 2: its metadata cannot be kept: expected text, got half a",
        ),
        (
            {"text": "x", "\ud83d": 1},
            "document 2: its metadata cannot be kept: expected text, got half a surrogate pair",
        ),
        (
            {"text": "x", "page": CIRCULAR},
            "document 2: its metadata cannot be kept: expected at most 50 levels of lists",
        ),
        ({"text": "x", "page": 10**5_000}, "document 2: its metadata cannot be kept: Exceeds the limit"),
        (
            Document("x", metadata={"html": "x" * 1_000_000}),
            "document 2: its metadata cannot be kept: expected at most 1,000,000 characters as JSON, got 1,000,012",
        ),
        (["a"], "document 2: expected a LangChain Document or a dict with text (and id, title), got list"),
    ],
)
def test_a_bad_document_is_named_and_nothing_is_stored(empty_kb: KnowledgeBase, bad: Any, says: str) -> None:
    with pytest.raises(DocumentError, match=re.escape(says)):
        empty_kb.add([GOOD, bad], progress=False)

    assert empty_kb.info()["passages"] == 0


def test_one_id_for_two_texts_in_one_call_is_refused(empty_kb: KnowledgeBase) -> None:
    with pytest.raises(DuplicateIdError, match="document 2: id 'good' was already given with another text or title"):
        empty_kb.add([GOOD, {"id": "good", "text": "Another text."}], progress=False)

    assert empty_kb.info()["passages"] == 0


def test_one_id_for_two_titles_is_refused(empty_kb: KnowledgeBase) -> None:
    with pytest.raises(DuplicateIdError, match="document 2: id 'good'"):
        empty_kb.add([GOOD, {**GOOD, "title": "A title"}], progress=False)


def test_a_stored_id_for_another_text_is_refused_and_nothing_of_that_call_is_stored(kb: KnowledgeBase) -> None:
    before = contents(kb)

    with pytest.raises(DuplicateIdError, match="id 'heron' is already stored with another text or title: update it to"):
        kb.add([GOOD, {"id": "heron", "text": "Herons fly."}], progress=False)

    assert contents(kb) == before
    assert "good" not in vectors(kb)["passages"]


def test_an_embedder_that_fails_leaves_what_was_stored_before_and_add_can_be_repeated(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(kb)
    with monkeypatch.context() as patch:
        patch.setattr(embeddings, "embed_documents", lambda texts: 1 / 0)
        with pytest.raises(EmbedderError):
            kb.add([GOOD], progress=False)
    assert contents(kb) == before

    assert kb.add([GOOD], progress=False)["added"] == 1


# --- folders ---------------------------------------------------------------------------------------------------------
def test_a_missing_knowledge_base_that_is_not_to_be_made_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match=f"no knowledge base in {tmp_path / 'none'}"):
        KnowledgeBase.open(tmp_path / "none", ArithmeticEmbeddings(), create=False)

    assert not (tmp_path / "none").exists()


def test_a_path_that_is_none_is_refused() -> None:
    nothing: Any = None
    with pytest.raises(TypeError, match="expected the path of a folder, got None"):
        KnowledgeBase.open(nothing)
    with pytest.raises(KnowledgeBaseError, match="expected the path of a folder, got ''"):
        KnowledgeBase.open("")


def _folder_of_something_else(path: Path) -> None:
    path.mkdir()
    (path / "holiday.jpg").write_bytes(b"...")


def _file(path: Path) -> None:
    path.write_text("a file")


@pytest.mark.parametrize("make", [_folder_of_something_else, _file])
def test_what_is_something_else_is_left_alone(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "kb")
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(KnowledgeBaseError, match=f"{tmp_path / 'kb'} is not a knowledge base and not an empty folder"):
        KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings())

    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(("refused", "folder"), [("pathlib.Path.mkdir", "new/kb"), ("filelock.FileLock.acquire", "")])
def test_a_folder_that_cannot_be_written_to_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str, folder: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(refused, refuse)

    with pytest.raises(KnowledgeBaseError, match="cannot be opened: Read-only file system .*needs a folder that can"):
        KnowledgeBase.open(tmp_path / folder, ArithmeticEmbeddings())


@pytest.mark.parametrize(
    "refused",
    [
        PermissionError(errno.EACCES, "Permission denied"),
        RuntimeError("attempt to write a readonly database"),
    ],
)
def test_vectors_that_cannot_be_written_to_are_told(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, refused: Exception
) -> None:
    monkeypatch.setattr(VectorFiles, "_open", Mock(side_effect=refused))

    with pytest.raises(KnowledgeBaseError, match=r"chroma cannot be opened: .*needs a folder that can"):
        KnowledgeBase.open(kb.path, ArithmeticEmbeddings(), read_only=True)


def test_a_path_below_a_file_is_told(tmp_path: Path) -> None:
    _file(tmp_path / "notes.txt")

    with pytest.raises(KnowledgeBaseError, match=r"notes\.txt/kb cannot be opened: Not a directory"):
        KnowledgeBase.open(tmp_path / "notes.txt" / "kb", ArithmeticEmbeddings())


def test_an_empty_folder_becomes_a_knowledge_base(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path, ArithmeticEmbeddings()) as kb:
        assert kb.info()["passages"] == 0


@pytest.mark.parametrize("content", [b"this is not sqlite at all" * 50, b"SQLite format 3\0" + b"\xff" * 2000])
def test_corrupt_records_are_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "records.sqlite").write_bytes(content)

    with pytest.raises(KnowledgeBaseError, match=r"records\.sqlite is not a knowledge base of this package: .+"):
        KnowledgeBase.open(tmp_path, ArithmeticEmbeddings())


def test_records_of_another_program_are_left_as_they_are(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "records.sqlite")) as other, other:
        other.execute("CREATE TABLE accounts (name)")

    with pytest.raises(
        KnowledgeBaseError, match=r"records\.sqlite is not a knowledge base .*: it is another program's"
    ):
        KnowledgeBase.open(tmp_path, ArithmeticEmbeddings())

    with closing(sqlite3.connect(tmp_path / "records.sqlite")) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("accounts",)]


def test_a_disk_that_refuses_is_not_taken_for_records_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "records.sqlite").mkdir()

    with pytest.raises(
        KnowledgeBaseError, match=r"records\.sqlite cannot be opened: unable to open .+ room on the disk"
    ):
        KnowledgeBase.open(tmp_path, ArithmeticEmbeddings())


@pytest.mark.parametrize("page", [1, 2, 3])
def test_records_with_a_damaged_page_are_refused_by_name(kb: KnowledgeBase, page: int) -> None:
    kb.close()
    file, size = kb.path / "records.sqlite", 4096
    content = file.read_bytes()
    file.write_bytes(content[: page * size] + b"\xaa" * size + content[(page + 1) * size :])

    with pytest.raises(KnowledgeBaseError, match=r"records\.sqlite cannot be read: .+"):
        KnowledgeBase.open(kb.path, ArithmeticEmbeddings()).search("film")


@pytest.mark.parametrize(
    ("other", "remedy"),
    [("99", "update langgraph-rag"), *((old, "remove it and index the documents again") for old in ("1", "x"))],
)
def test_a_knowledge_base_of_another_format_says_what_to_do(kb: KnowledgeBase, other: str, remedy: str) -> None:
    kb._records.set_meta("format", other)
    kb.close()

    with pytest.raises(KnowledgeBaseError, match=f"has format {other}, .* reads format 5: {remedy}"):
        KnowledgeBase.open(kb.path, ArithmeticEmbeddings())


class OtherEmbeddings(ArithmeticEmbeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [list(reversed(vector)) for vector in super().embed_documents(texts)]


@pytest.mark.parametrize(
    ("other", "dimensions"),
    [(ArithmeticEmbeddings("other", dimensions=32), 32), (OtherEmbeddings("other"), 64)],
    ids=["of other length", "of other direction"],
)
def test_another_embedder_is_refused_and_both_are_named(
    kb: KnowledgeBase, other: ArithmeticEmbeddings, dimensions: int
) -> None:
    kb.close()

    says = rf"made with embedder 'arithmetic' \(64 dimensions\), opened with 'other' \({dimensions} dimensions\)"
    with pytest.raises(EmbeddingsMismatchError, match=says):
        KnowledgeBase.open(kb.path, other)


def test_an_embedder_of_another_name_is_refused_before_it_is_fetched(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("langgraph_rag.tools.ingest.embeddings.SentenceEmbeddings._load", lambda _: 1 / 0)
    kb.close()

    for name in ("intfloat/e5-base-v2", "nowhere/e5-base-v2"):
        with pytest.raises(EmbeddingsMismatchError, match="made with embedder 'arithmetic', opened with 'e5-base-v2'"):
            KnowledgeBase.open(kb.path, load_embeddings(name))
    KnowledgeBase.open(kb.path, load_embeddings("someone/arithmetic")).close()


class Nameless(Embeddings):
    """Has no name but that of its class."""

    def __init__(self, word: str) -> None:
        self.word = word

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, 2.0 * (self.word in text), 0.0] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def test_of_embedders_without_a_name_the_vectors_tell(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path, Nameless("embedder")) as kb:
        kb.add([GOOD], progress=False)

    KnowledgeBase.open(tmp_path, Nameless("knowledge base")).close()
    with pytest.raises(EmbeddingsMismatchError, match=r"'Nameless'.*, whose vectors differ \(.*\): open it with the"):
        KnowledgeBase.open(tmp_path, Nameless("another word"))
    KnowledgeBase.open(tmp_path).close()


def test_another_embedder_of_the_same_name_is_told_when_it_does_not_fit(kb: KnowledgeBase) -> None:
    kb.close()

    with (
        KnowledgeBase.open(kb.path, ArithmeticEmbeddings(dimensions=32)) as other,
        pytest.raises(
            EmbeddingsMismatchError, match=r"\(64 dim.* opened with 'arithmetic' \(32 dim.*, whose vectors differ: open"
        ),
    ):
        other.search("film")


def test_an_embedder_of_the_same_name_with_other_vectors_is_refused(kb: KnowledgeBase) -> None:
    held = kb.ids()
    kb.close()

    uses: list[Callable[[KnowledgeBase], object]] = [
        lambda other: other.search("film"),
        lambda other: other.search("film", by="hybrid"),
        lambda other: other.search_triples("film"),
        lambda other: other.add([GOOD], progress=False),
        lambda other: other.upsert([{**GOOD, "id": held[0]}], progress=False),
    ]
    for use in uses:
        with (
            KnowledgeBase.open(kb.path, OtherEmbeddings()) as other,
            pytest.raises(
                EmbeddingsMismatchError, match=r"opened with 'arithmetic' .*differ \(one sentence: cosine 0\."
            ),
        ):
            use(other)
    with KnowledgeBase.open(kb.path, OtherEmbeddings()) as other:
        assert other.search("film", by="bm25")  # which embeds nothing
        assert other.ids() == held


class RoundedEmbeddings(ArithmeticEmbeddings):
    """Keeps so many bits of each number, as number formats do: 8 in bfloat16."""

    bits = 8

    def _vector(self, text: str) -> list[float]:
        return [
            math.ldexp(round(math.ldexp(mantissa, self.bits)), exponent - self.bits)
            for mantissa, exponent in map(math.frexp, super()._vector(text))
        ]


def test_an_embedder_in_another_number_format_is_the_same(kb: KnowledgeBase) -> None:
    before = [found["id"] for found in kb.search("film")]
    kb.close()

    with KnowledgeBase.open(kb.path, RoundedEmbeddings()) as rounded:
        assert [found["id"] for found in rounded.search("film")] == before


@pytest.mark.parametrize("name", ["arithmetic", "other"])
def test_a_knowledge_base_without_the_vector_to_compare_gets_one_when_it_is_next_added_to(
    kb: KnowledgeBase, name: str
) -> None:
    kb._records.set_meta("embeddings_probe", "")
    kb.close()

    if name == "other":
        with pytest.raises(EmbeddingsMismatchError, match="with 'other', and holds no vector to compare them by"):
            KnowledgeBase.open(kb.path, ArithmeticEmbeddings(name))
        return
    with KnowledgeBase.open(kb.path, ArithmeticEmbeddings(name)) as same:
        assert same.search("film")
        same.add([GOOD], progress=False)
    with KnowledgeBase.open(kb.path, OtherEmbeddings(name)) as other, pytest.raises(EmbeddingsMismatchError):
        other.search("film")


def test_control_characters_of_a_text_are_blanks(kb: KnowledgeBase) -> None:
    kb.add(
        [{"id": "rig", "title": "Rig\x1b]0;Owned\x07", "text": "The rig\x1b[2J is\x0ctall.\r\nIt\tstands."}],
        progress=False,
    )

    (rig,) = kb.passages(["rig"])

    assert (rig["title"], rig["text"]) == ("Rig ]0;Owned", "The rig is tall.\r\nIt\tstands.")


def test_vectors_that_do_not_fit_are_refused_before_anything_is_stored(kb: KnowledgeBase) -> None:
    held = kb.ids()
    changes: list[Callable[[KnowledgeBase], object]] = [
        lambda other: other.add([GOOD], progress=False),
        lambda other: other.update([{**GOOD, "id": held[0], "source": "anew"}], progress=False),
    ]
    for change in changes:
        with (
            KnowledgeBase.open(kb.path, ArithmeticEmbeddings(dimensions=32)) as other,
            pytest.raises(EmbeddingsMismatchError, match="64 dimensions.*32 dimensions.*, whose vectors"),
        ):
            change(other)

    with KnowledgeBase.open(kb.path, ArithmeticEmbeddings()) as again:
        assert again.ids() == held
        assert again.search("film")


def test_of_two_openings_of_an_empty_one_the_first_to_add_decides_on_the_embedder(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path, Nameless("film")) as one, KnowledgeBase.open(tmp_path, Nameless("?")) as other:
        one.add([GOOD], progress=False)

        for use in (lambda: other.add([{"text": "Kell is an isle."}], progress=False), lambda: other.search("film")):
            with pytest.raises(EmbeddingsMismatchError, match=f"{tmp_path} was made with embedder 'Nameless'"):
                use()
        assert one.search("film")[0]["id"] == GOOD["id"]
        assert len(other.ids()) == 1


# --- searches --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("by", ["dense", "bm25", "hybrid", "graph"])
def test_searching_an_empty_knowledge_base_says_to_add_documents(empty_kb: KnowledgeBase, by: Any) -> None:
    with pytest.raises(EmptyKnowledgeBaseError, match=f"{empty_kb.path} is empty: add documents first"):
        empty_kb.search("anything", by=by)


@pytest.mark.parametrize("by", ["telepathy", ["bm25", "dense"], {"by": "graph"}, None])
def test_an_unknown_search_is_refused_with_the_known_ones(kb: KnowledgeBase, by: Any) -> None:
    known = f"unknown search {by!r}: expected one of dense, bm25, hybrid, graph"
    with pytest.raises(UnknownNameError, match=re.escape(known)):
        kb.search("anything", by=by)


@pytest.mark.parametrize("k", [0, -1, 2.5, "3"])
def test_only_a_number_of_passages_can_be_asked_for(kb: KnowledgeBase, k: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"k must be a whole number of at least 1, got {k!r}")):
        kb.search("anything", k)


@pytest.mark.parametrize("query", [None, 7, "half of \ud83d"])
@pytest.mark.parametrize("by", ["dense", "bm25", "hybrid", "graph"])
def test_only_text_can_be_searched_for(kb: KnowledgeBase, query: Any, by: Any) -> None:
    with pytest.raises(ValueError, match="the query must be text, got "):
        kb.search(query, by=by)
    assert kb.search("a village with a lighthouse", 1, by=by)


@pytest.mark.parametrize("query", ["", " \n"])
def test_nothing_cannot_be_searched_for(kb: KnowledgeBase, query: str) -> None:
    searches: list[Callable[[str], object]] = [
        *(partial(kb.search, by=by) for by in SEARCHES),
        lambda query: run_in_background(kb.arank(query)),
        kb.search_triples,
        KnowledgeBaseRetriever(kb=kb).invoke,
    ]
    for search in searches:
        with pytest.raises(QuestionError, match="expected words to search for, got"):
            search(query)


USES: list[Callable[[KnowledgeBase], object]] = [
    lambda kb: kb.add([GOOD], progress=False),
    lambda kb: kb.update([GOOD], progress=False),
    lambda kb: kb.outdated([GOOD]),
    lambda kb: kb.contested([GOOD]),
    lambda kb: kb.delete(["vint"]),
    lambda kb: kb.embed_triples(progress=False),
    lambda kb: kb.search("film"),
    lambda kb: kb.search("film", by="bm25"),
    lambda kb: kb.triples(["vint"]),
    lambda kb: kb.passages(["vint"]),
    lambda kb: kb.ids(),
    lambda kb: kb.sources(),
    lambda kb: kb.documents(),
    lambda kb: kb.graph,
    lambda kb: kb.entities,
    lambda kb: kb.hierarchy,
    lambda kb: kb.info(),
    lambda kb: run_in_background(kb.acheck_filled()),
    lambda kb: run_in_background(kb.asearch_triples("film")),
    lambda kb: run_in_background(kb.apassages(["vint"])),
    lambda kb: run_in_background(kb.ahierarchy()),
    lambda kb: run_in_background(kb.anear_entities(["Orla Vint"])),
    lambda kb: run_in_background(kb.aids()),
    lambda kb: run_in_background(kb.atriple_cosines(["film"], [["Orla Vint", "directed", "The Salt Road"]])),
    lambda kb: run_in_background(kb.apassage_cosines(["film"], ["vint"])),
    lambda kb: run_in_background(kb.acosines("film", ["cinema"])),
]


def test_one_that_was_closed_is_told_whatever_is_asked_of_it(kb: KnowledgeBase) -> None:
    for use in USES:
        use(kb)
    kb.close()

    for use in USES:
        with pytest.raises(KnowledgeBaseError, match="was closed: open it again"):
            use(kb)


def test_a_string_is_no_list_of_ids_to_delete(kb: KnowledgeBase) -> None:
    with pytest.raises(TypeError, match="expected a list of ids, got the string 'vint'"):
        kb.delete("vint")


# --- a disk that is full, vectors that are damaged -------------------------------------------------------------------
def test_a_full_disk_is_told_and_adding_can_be_repeated(empty_kb: KnowledgeBase) -> None:
    documents = [{"id": "long", "text": "A long document. " * 5_000}]
    pages = empty_kb._records._db.execute("PRAGMA page_count").fetchone()[0]
    empty_kb._records._db.execute(f"PRAGMA max_page_count={pages}")

    with pytest.raises(KnowledgeBaseError, match=r"records\.sqlite cannot be written: database or disk is full"):
        empty_kb.add(documents, progress=False)

    empty_kb._records._db.execute("PRAGMA max_page_count=100000")
    empty_kb.add(documents, progress=False)
    assert empty_kb.info()["passages"] == 1


def test_damaged_files_of_vectors_are_told_on_opening(kb: KnowledgeBase, embeddings: ArithmeticEmbeddings) -> None:
    kb.close()
    (kb.path / "chroma" / "chroma.sqlite3").write_bytes(b"junk" * 100)

    with pytest.raises(KnowledgeBaseError, match="chroma cannot be read or written .* remove that folder"):
        KnowledgeBase.open(kb.path, embeddings)


@pytest.mark.parametrize("error", [DocumentError, DuplicateIdError, EmbeddingsMismatchError, UnknownNameError])
def test_every_error_can_be_caught_as_one(error: type[Exception]) -> None:
    assert issubclass(error, RagError)


# --- damage that is repaired on opening ------------------------------------------------------------------------------
def test_lost_vectors_are_made_again_on_opening(kb: KnowledgeBase, embeddings: ArithmeticEmbeddings) -> None:
    kept, asked = vectors(kb), kb.search("a village with a lighthouse", 3)
    kb.close()
    shutil.rmtree(kb.path / "chroma")

    with KnowledgeBase.open(kb.path, embeddings) as repaired:
        assert vectors(repaired) == kept
        assert [p["id"] for p in repaired.search("a village with a lighthouse", 3)] == [p["id"] for p in asked]


def test_vectors_without_records_are_removed_on_opening(kb: KnowledgeBase, embeddings: ArithmeticEmbeddings) -> None:
    kept = contents(kb)
    kb._vectors.put(["orphan"], kb._embedder.texts(["stored just before a kill"]))
    kb.close()

    with KnowledgeBase.open(kb.path, embeddings) as repaired:
        assert contents(repaired) == kept
        assert "orphan" not in [passage["id"] for passage in repaired.search("stored just before a kill", 10)]


def test_a_deletion_cut_short_is_finished_on_opening(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.embed_triples(progress=False)
    monkeypatch.setattr(kb._vectors, "delete", lambda *ids: 1 / 0)  # the kill
    with pytest.raises(ZeroDivisionError):
        kb.delete(["skellby"])
    kb.close()

    with KnowledgeBase.open(kb.path, embeddings) as repaired:
        repaired.embed_triples(progress=False)
        assert "skellby" not in vectors(repaired)["passages"]
        texts = [" ".join(entry["triple"]) for entry in repaired.triples(repaired._records.ids())]
        assert len(vectors(repaired)["triples"]) == len(texts)
        assert not any("Skellby is" in text for text in texts)


FORKED = """
import os, signal, sys
from fakes import ArithmeticEmbeddings
from langgraph_rag import KnowledgeBase
from langgraph_rag.errors import KnowledgeBaseError
from test_bad_documents import GOOD, USES

kb = KnowledgeBase.open("kb", ArithmeticEmbeddings())
child = os.fork()
if not child:
    signal.alarm(20)  # which ends it where it hangs
    sys.exit()
print(os.waitpid(child, 0)[1], flush=True)
kb.close()

with KnowledgeBase.open("kb", ArithmeticEmbeddings()) as kb:
    for use in USES:
        use(kb)
    child = os.fork()
    if not child:
        signal.alarm(30)
        for use in (*USES, lambda kb: kb.close(), USES[0], lambda _: KnowledgeBase.open("kb", ArithmeticEmbeddings())):
            try:
                use(kb)
            except KnowledgeBaseError as error:
                print(error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print(kb.add([{**GOOD, "id": "after"}], progress=False)["added"])
"""


def run_beside(kb: KnowledgeBase, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in the folder that holds the one of a knowledge base, `kb`."""
    kb.close()
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=kb.path.parent,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_forked_process_is_told_that_it_cannot_use_one_leaves_it_alone_and_comes_to_its_end(
    kb: KnowledgeBase,
) -> None:
    ended = run_beside(kb, FORKED)

    end, *told, afterwards = ended.stdout.splitlines()
    assert len(told) == len(USES) + 2, ended.stderr
    assert all("cannot be used in a process forked" in line for line in told)
    assert (afterwards, end) == ("1", "0")
