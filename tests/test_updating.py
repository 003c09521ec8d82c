"""Updating: afterwards, a knowledge base equals a new one made from the new documents."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
from fakes import ArithmeticEmbeddings, contents, vectors
from langchain_core.documents import Document

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.concurrency.threads import parallel_map
from langgraph_rag.errors import DocumentError, DuplicateIdError, KnowledgeBaseError
from langgraph_rag.records import Record, Triple
from langgraph_rag.tools.facts.extraction import Reading, RuleExtractor
from langgraph_rag.tools.ingest.indexing import Added
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.retrieve.search import SEARCHES
from langgraph_rag.tools.stores.protocols import Matrix
from langgraph_rag.tools.stores.records import Records

Documents = list[dict[str, str]]

FERRY = {"title": "Ferry", "text": "The Kell ferry sails from Pellworth.", "source": "ferry.md"}
GULL = {"title": "Gull", "text": "Gulls nest in Skellby.", "source": "birds.md", "page": "3"}
TERN = {"title": "Tern", "text": "Terns nest in Pellworth.", "source": "birds.md", "page": "4"}
STORK = {"title": "Stork", "text": "Storks nest in Norland.", "source": "birds.md"}
LONG = {"text": " ".join(f"Town {n} is a town on Kell." for n in range(105)), "source": "towns.md"}
LONGER = {"text": LONG["text"] + " Town 105 is a town on Kell. Town 106 was founded in 1301.", "source": "towns.md"}
ISLE = {"id": "isle", "title": "Kell", "text": "Kell is an island in Norland.", "source": "isles.jsonl"}
ROCK = {**ISLE, "text": "Kell is a rock. It was found in 1644."}


def everything(kb: KnowledgeBase) -> dict[str, Any]:
    """Return all that is stored and derived, also what is remembered."""
    kb.embed_triples(progress=False)
    found = {
        by: {hit["id"]: pytest.approx(hit["score"], abs=1e-4) for hit in kb.search("who nests in Pellworth", 50, by=by)}
        for by in SEARCHES
        if by != "hybrid"  # whose places may be shared
    }
    sources = {source: sorted(kb.ids(source)) for source in kb.sources()}
    walked = sorted(kb.hierarchy.passages)
    return {**contents(kb), "vectors": vectors(kb), "found": found, "sources": sources, "walked": walked}


def anew(folder: Path, documents: Sequence[Any]) -> dict[str, Any]:
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        kb.add(documents, progress=False)
        return everything(kb)


# --- exactness -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("before", "after", "did"),
    [
        ([], [GULL], (1, 0, 0)),
        ([GULL], [GULL], (0, 1, 0)),
        ([GULL, TERN], [TERN, STORK], (1, 1, 1)),
        ([GULL, TERN, FERRY], [FERRY, STORK], (1, 1, 2)),
        ([LONG], [LONGER], (1, 3, 1)),
        ([LONGER], [LONG], (1, 3, 1)),
        ([ISLE], [ROCK], (1, 0, 1)),
        ([ISLE], [{**ISLE, "title": "Isle of Kell"}], (1, 0, 1)),
        ([ISLE, GULL], [ROCK, TERN], (2, 0, 2)),
        ([ISLE], [{**ISLE, "id": "kell"}], (1, 0, 1)),
        ([ISLE], [{**ROCK, "id": "kell"}], (1, 0, 1)),
        ([GULL, TERN], [{**GULL, "page": "5"}, {**TERN, "by": "Orla"}], (0, 2, 0)),
        ([LONGER], [{**LONG, "page": "5"}], (1, 3, 1)),
        ([GULL], [{name: GULL[name] for name in ("title", "text", "source")}], (0, 1, 0)),
    ],
)
@pytest.mark.parametrize("look_first", [True, False], ids=["in use", "unused"])
def test_afterwards_it_is_as_if_made_anew(
    kb: KnowledgeBase,
    documents: Documents,
    tmp_path: Path,
    before: Documents,
    after: Documents,
    did: tuple[int, int, int],
    look_first: bool,
) -> None:
    kb.add(before, progress=False)
    if look_first:
        everything(kb)

    updated = kb.update(after, progress=False)

    assert (updated["added"], updated["unchanged"], updated["removed"]) == did
    assert everything(kb) == anew(tmp_path / "anew", [*documents, *after])
    assert kb.update(after, progress=False)["removed"] == 0
    assert kb.outdated(after) == []


def test_what_was_asked_before_is_answered_from_the_new_text(kb: KnowledgeBase) -> None:
    kb.add([ISLE], progress=False)
    assert kb.passages(["isle"])[0]["text"] == ISLE["text"]
    assert ["Kell", "is island in", "Norland"] in [entry["triple"] for entry in kb.triples(["isle"])]

    kb.update([ROCK], progress=False)

    assert kb.passages(["isle"])[0]["text"] == ROCK["text"]
    assert ["Kell", "is island in", "Norland"] not in [entry["triple"] for entry in kb.triples(["isle"])]
    assert kb.search("island", by="bm25") == []


async def test_passages_remembered_for_questions_are_the_new_ones(empty_kb: KnowledgeBase) -> None:
    empty_kb.add([ISLE], progress=False)
    assert (await empty_kb.apassages(["isle"]))[0]["text"] == ISLE["text"]

    empty_kb.update([ROCK], progress=False)

    assert (await empty_kb.apassages(["isle"]))[0]["text"] == ROCK["text"]


def test_an_update_counts_what_add_counts(empty_kb: KnowledgeBase) -> None:
    heron = {"id": "heron", "text": "Still. Waiting."}

    assert empty_kb.update([heron, ISLE], progress=False) == {
        "ids": ["heron", "isle"], "added": 2, "unchanged": 0, "removed": 0, "without_triples": 1, "failed": 0,
        "dropped": 0,
    }  # fmt: skip


def test_an_update_that_changes_nothing_embeds_nothing(kb: KnowledgeBase, embeddings: ArithmeticEmbeddings) -> None:
    kb.add([GULL, ISLE], progress=False)
    before, edition = len(embeddings.embedded), kb._records.changes.end

    kb.update([GULL, ISLE], progress=False)

    assert (len(embeddings.embedded), kb._records.changes.end) == (before, edition)


BIRDS = ("Gulls", "Terns", "Herons")


def test_langchain_documents_are_updated_by_their_source(empty_kb: KnowledgeBase) -> None:
    empty_kb.add([Document("Gulls nest in Skellby.", metadata={"source": "birds.md"})], progress=False)

    empty_kb.update([Document("Gulls nest in Norland.", metadata={"source": "birds.md"})], progress=False)

    assert [record["text"] for record in empty_kb.passages(empty_kb.ids())] == ["Gulls nest in Norland."]


def test_an_upsert_replaces_single_documents_where_an_update_would_replace_all(
    empty_kb: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    gulls, terns, herons = ({"id": name, "text": f"{name} nest in Skellby.", "source": "birds"} for name in BIRDS)
    changed = {**terns, "text": "Terns nest in Norland."}
    empty_kb.add([gulls, terns, herons], progress=False)

    upserted = empty_kb.upsert([changed], progress=False)

    assert (upserted["ids"], upserted["added"], upserted["removed"]) == (["Terns"], 1, 1)
    assert sorted(empty_kb.ids("birds")) == sorted(BIRDS)
    assert empty_kb.passages(["Terns"])[0]["text"] == changed["text"]
    assert "upsert" not in caplog.text
    assert empty_kb.update([changed], progress=False)["removed"] == 2
    assert "2 passages removed, as they came from the sources of the 1 passage given" in caplog.text


def test_a_source_is_stored_as_it_is_named(empty_kb: KnowledgeBase) -> None:
    empty_kb.add([{"text": "The mill burned.", "source": " notes.md "}], progress=False)

    assert len(empty_kb.ids(" notes.md ")) == 1
    assert empty_kb.delete(sources=[" notes.md "]) == 1


def test_documents_without_source_are_only_added(kb: KnowledgeBase) -> None:
    kb.add([{"text": "Gulls nest in Skellby."}], progress=False)

    assert kb.update([{"text": "Gulls nest in Norland."}], progress=False)["removed"] == 0
    assert kb.info()["passages"] == 10


def test_add_says_that_update_replaces(kb: KnowledgeBase) -> None:
    kb.add([ISLE], progress=False)

    with pytest.raises(DuplicateIdError, match="id 'isle' is already stored with another text or title: update it to"):
        kb.add([ROCK], progress=False)


def test_add_names_all_documents_that_changed(kb: KnowledgeBase) -> None:
    kb.add([ISLE, {**ISLE, "id": "islet"}], progress=False)

    with pytest.raises(DuplicateIdError, match=r"^2 ids \('isle', 'islet'\) are already stored .* update them to"):
        kb.add([ROCK, {**ROCK, "id": "islet"}], progress=False)


@pytest.mark.parametrize(("bad", "error"), [([{"text": ""}], DocumentError), ([ISLE, ROCK], DuplicateIdError)])
def test_bad_documents_change_nothing(kb: KnowledgeBase, bad: Documents, error: type[Exception]) -> None:
    kb.add([GULL], progress=False)
    before = everything(kb)

    with pytest.raises(error):
        kb.update([STORK, *bad], progress=False)

    assert everything(kb) == before


def test_only_who_may_change_it_may_update(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kb._access._lock, "acquire", lambda: False)

    with pytest.raises(KnowledgeBaseError, match="has it open to change it"):
        kb.update([GULL], progress=False)


def test_opening_it_again_while_passages_are_added_leaves_these_their_vectors(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert = kb._records.insert

    def opened_again(records: Sequence[Record], embedded: Matrix) -> None:
        KnowledgeBase.open(kb.path, ArithmeticEmbeddings()).close()
        insert(records, embedded)

    monkeypatch.setattr(kb._records, "insert", opened_again)
    kb.add([GULL], progress=False)

    assert sorted(vectors(kb)["passages"]) == sorted(kb.ids())


def test_two_openings_that_add_the_same_at_once_add_it_once(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    insert, others = kb._records.insert, list[Future[Added]]()

    with KnowledgeBase.open(kb.path, ArithmeticEmbeddings()) as second, ThreadPoolExecutor(1) as pool:

        def meanwhile(records: Sequence[Record], embedded: Matrix) -> None:
            others.append(pool.submit(second.add, [GULL], progress=False))
            wait(others, 0.2)
            insert(records, embedded)

        monkeypatch.setattr(kb._records, "insert", meanwhile)
        assert kb.add([GULL], progress=False)["added"] == 1
        assert others[0].result(10)["unchanged"] == 1


def test_two_openings_that_store_something_at_once_wait_for_each_other(kb: KnowledgeBase) -> None:
    read, ended = threading.Event(), threading.Event()

    def change_after_reading(records: Records) -> None:
        with records._db.change():
            assert records.count() == 8
            read.set()
            ended.wait(0.2)  # where nothing has it wait, the other change comes in between
            records.set_meta("one", "1")

    def change(records: Records) -> None:
        assert read.wait(10)
        records.set_meta("other", "2")
        ended.set()

    with KnowledgeBase.open(kb.path, ArithmeticEmbeddings()) as second, ThreadPoolExecutor(2) as pool:
        both = [pool.submit(change_after_reading, kb._records), pool.submit(change, second._records)]
        for one in both:
            one.result(20)

    assert (kb._records.meta("one"), kb._records.meta("other")) == ("1", "2")


# --- several sources -------------------------------------------------------------------------------------------------
COPY = {**GULL, "source": "copy.md", "page": "9"}


@pytest.mark.parametrize("together", [True, False], ids=["added at once", "added one after the other"])
@pytest.mark.parametrize(("updated", "left"), [("birds.md", "copy.md"), ("copy.md", "birds.md")])
def test_a_passage_of_two_sources_outlives_the_update_of_one(
    empty_kb: KnowledgeBase, tmp_path: Path, together: bool, updated: str, left: str
) -> None:
    for documents in [[GULL, COPY]] if together else [[GULL], [COPY]]:
        empty_kb.add(documents, progress=False)
    assert empty_kb.ids("birds.md") == empty_kb.ids("copy.md") == empty_kb.ids()

    new = {**TERN, "source": updated}
    assert empty_kb.update([new], progress=False)["removed"] == 0

    stays = {"birds.md": GULL, "copy.md": COPY}[left]
    assert everything(empty_kb) == anew(tmp_path / "anew", [stays, new])
    assert empty_kb.update([{**TERN, "source": left}], progress=False)["removed"] == 1


def test_a_passage_that_moved_to_another_file_stays_as_one_of_that_file(
    empty_kb: KnowledgeBase, tmp_path: Path, embeddings: ArithmeticEmbeddings
) -> None:
    empty_kb.add([GULL, TERN, FERRY], progress=False)
    moved = [TERN, FERRY, {**GULL, "source": "ferry.md"}]

    assert empty_kb.outdated(moved) == []
    assert empty_kb.update(moved, progress=False)["removed"] == 0

    assert everything(empty_kb) == anew(tmp_path / "anew", moved)
    assert len([text for text in embeddings.embedded if text.startswith("Gull\n")]) == 1


def test_a_passage_also_given_without_a_source_stays(empty_kb: KnowledgeBase) -> None:
    empty_kb.add([{"title": GULL["title"], "text": GULL["text"]}], progress=False)
    empty_kb.add([GULL], progress=False)

    empty_kb.update([TERN], progress=False)

    assert [record["title"] for record in empty_kb.passages(empty_kb.ids())] == ["Gull", "Tern"]
    assert "source" not in empty_kb.passages(empty_kb.ids())[0]


def test_deleting_sources_leaves_what_others_have_too(kb: KnowledgeBase, documents: Documents, tmp_path: Path) -> None:
    kb.add([GULL, TERN, COPY, FERRY], progress=False)

    assert kb.delete(["heron"], sources=["birds.md", "ferry.md", "nowhere.md", ""]) == 3

    left = [document for document in documents if document["id"] != "heron"]
    assert everything(kb) == anew(tmp_path / "anew", [*left, COPY])
    assert kb.sources() == ["copy.md", "gazetteer.txt"]


def test_documents_are_sources_and_without_one_titles_and_ids(empty_kb: KnowledgeBase) -> None:
    untitled, titled = {"id": "kell", "text": "alas!"}, {"title": "Gull", "text": "Gulls nest."}
    both = {"title": "Gull", "text": "Gulls cry."}
    given = [
        untitled,
        {"id": "one", **titled},
        {"id": "two", "title": "Gull", "text": "Gulls fly."},
        {"id": "both", **both},
        {"id": "both", **both, "source": "birds.md"},
        {"id": "both", **both, "source": "copy.md"},
    ]
    for document in given:
        empty_kb.add([document], progress=False)

    assert sorted((one["source"], one["title"], sorted(one["ids"])) for one in empty_kb.documents()) == [
        ("", "Gull", ["one", "two"]),
        ("", "kell", ["kell"]),
        ("birds.md", "", ["both"]),
        ("copy.md", "", ["both"]),
    ]


def test_a_string_is_no_list_of_sources_to_delete(kb: KnowledgeBase) -> None:
    with pytest.raises(TypeError, match=r"expected a list of sources, got the string 'birds\.md'"):
        kb.delete(sources="birds.md")


# --- interrupted -----------------------------------------------------------------------------------------------------
class KilledError(Exception):
    pass


def killed_at(number: int, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    """End the process, as it were, before its so-manieth change of records or vectors."""
    left = [number]

    def before(change: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*given: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise KilledError
            return change(*given)

        return changed

    for holder, names in (
        (kb._records, ["insert", "delete", "replace", "update_metadata"]),
        (kb._records.origins, ["add", "remove"]),
        (kb._records.triples, ["save"]),
        (kb._records.waiting, ["forget"]),
        (kb._vectors, ["put", "delete"]),
    ):
        for name in names:
            monkeypatch.setattr(holder, name, before(getattr(holder, name)))


BEFORE = [GULL, TERN, ISLE, LONG, COPY]
AFTER = [STORK, ROCK, {**LONGER, "page": "1"}, {**TERN, "source": "copy.md"}]


def test_run_again_after_a_kill_at_any_moment_it_finishes(documents: Documents, tmp_path: Path) -> None:
    expected = anew(tmp_path / "anew", [*documents, *AFTER])
    killed, number = True, 0
    while killed:
        with KnowledgeBase.open(tmp_path / f"killed{number}", ArithmeticEmbeddings()) as kb, pytest.MonkeyPatch.context() as patch:  # fmt: skip # noqa: E501
            kb.add([*documents, *BEFORE], progress=False)
            kb.embed_triples(progress=False)
            killed_at(number, kb, patch)
            try:
                kb.update(AFTER, progress=False)
                killed = False
            except KilledError:
                number += 1
        with KnowledgeBase.open(kb.path, ArithmeticEmbeddings()) as again:
            stored = again.passages(again.ids())
            assert sorted(vectors(again)["passages"]) == sorted(again.ids())
            assert vectors(again)["passages"] == _as_embedded(stored)  # also before it is run again
            assert again.search("Gulls nest in Skellby", 1)
            again.update(AFTER, progress=False)
            assert everything(again) == expected
    assert number >= 8


def _as_embedded(records: Sequence[Record]) -> dict[str, Any]:
    texts = [f"{record['title']}\n{record['text']}" if record["title"] else record["text"] for record in records]
    embedded = ArithmeticEmbeddings().embed_documents(texts)
    return {record["id"]: pytest.approx(vector, abs=1e-6) for record, vector in zip(records, embedded, strict=True)}


class Interrupted(RuleExtractor):
    """Updates the knowledge base between reading a passage and handing over what it read, once."""

    version = RuleExtractor.version

    def __init__(self) -> None:
        self.kb: KnowledgeBase | None = None

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        async for readings in RuleExtractor().extract(passages):
            if self.kb is not None:
                kb, self.kb = self.kb, None
                kb._indexer.add([ROCK], None, progress=False)  # type: ignore[list-item]
            yield readings


def test_what_was_read_out_of_a_text_replaced_meanwhile_is_not_kept(tmp_path: Path) -> None:
    extractor = Interrupted()
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=extractor) as kb:
        extractor.kb = kb
        kb.add([ISLE], progress=False)
        kb.add([], progress=False)

        assert everything(kb) == anew(tmp_path / "anew", [ROCK])


# --- what is derived stays as if made anew ---------------------------------------------------------------------------
OLD_TOLMAR = {"id": "b", "title": "Old Tolmar", "text": "Old Tolmar lies in Norland."}
TOLMAR_MILL = {"id": "a", "title": "Tolmar Mill", "text": "Tolmar Mill lies in Sund."}


def test_a_name_that_fits_several_entities_means_the_same_before_and_after_a_change(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path, ArithmeticEmbeddings()) as kb:
        for document in (OLD_TOLMAR, TOLMAR_MILL):
            kb.add([document], progress=False)
        assert kb.entities.link("Where is Tolmar?") == ["old tolmar"]

        kb.update([{**OLD_TOLMAR, "page": "1"}], progress=False)

        assert kb.entities.link("Where is Tolmar?") == ["old tolmar"]


def test_a_fact_is_spelled_as_in_its_first_passage_whichever_changed_last(tmp_path: Path) -> None:
    kell = [{"id": "b", "title": "Kell", "text": "Kell lies in Norland. It does."}]
    loud = [{"id": "a", "title": "KELL", "text": "KELL lies in NORLAND."}]
    with KnowledgeBase.open(tmp_path, ArithmeticEmbeddings()) as kb:
        assert len(kb.graph.networkx) == 0
        kb.add([*loud, *kell], progress=False)  # the longer one is stored first
        kb.add([{**kell[0], "source": "isles.md"}], progress=False)

        assert kb.ids() == ["b", "a"]
        assert kb.graph.neighbours("kell") == [["Kell", "lies in", "Norland"]]
        assert [fact for _, _, fact in kb.graph.networkx.edges(data="passages")] == [["b", "a"]]


# --- cut short -----------------------------------------------------------------------------------------------------
def searchable(kb: KnowledgeBase) -> tuple[list[str], list[str]]:
    """Return the ids of the triples that can be searched for, and of those that have a vector."""
    return sorted(kb._vectors.triple_ids()), sorted(kb._records.triples.vector_ids())


async def with_searchable_triples(folder: Path) -> KnowledgeBase:
    kb = KnowledgeBase.open(folder, ArithmeticEmbeddings())
    await asyncio.to_thread(kb.add, [ISLE], progress=False)
    assert await kb.asearch_triples("island", 1)
    return kb


async def test_interrupted_while_it_waits_it_still_removes_what_is_not_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: Any) -> Iterator[int]:
        yield from list(parallel_map(*given))[:0]
        raise KeyboardInterrupt

    monkeypatch.setattr("langgraph_rag.tools.ingest.indexing.parallel_map", interrupted)
    kb = KnowledgeBase.open(tmp_path, ArithmeticEmbeddings())
    with pytest.raises(KeyboardInterrupt):
        kb.add([ISLE], progress=False)
    kb.add([ISLE], progress=False)
    assert await kb.asearch_triples("island", 1)

    with pytest.raises(KeyboardInterrupt):
        kb.update([ROCK], progress=False)

    assert searchable(kb) == ([], [])
    assert kb._indexer.in_step()
    kb.close()


async def test_a_repair_that_is_cut_short_is_taken_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kb = await with_searchable_triples(tmp_path)
    for of, name in ((kb._indexer, "index"), (kb._vectors, "delete")):
        with monkeypatch.context() as killed:
            killed.setattr(of, name, _killed)
            with pytest.raises(KilledError):
                kb.update([ROCK], progress=False)

    kb._indexer.repair()

    assert searchable(kb) == ([], [])
    kb.close()


@pytest.mark.parametrize("number", [0, 1, 2])
async def test_deleting_that_is_cut_short_is_finished_by_deleting_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    kb = await with_searchable_triples(tmp_path)
    with monkeypatch.context() as killed, pytest.raises(KilledError):
        killed_at(number, kb, killed)
        kb.delete(["isle"])
    kb.delete(["isle"])

    assert kb.delete(["isle"]) == 0

    assert kb._indexer.in_step()
    assert searchable(kb) == ([], [])
    kb.close()


async def test_a_fact_that_a_new_text_states_again_is_found_by_who_asked_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb = await with_searchable_triples(tmp_path)
    with KnowledgeBase.open(tmp_path, ArithmeticEmbeddings(), read_only=True) as other:
        found = await other.asearch_triples("island", 1)
        delete = kb._vectors.delete

        def asked_before(*ids: Any) -> None:
            assert run_in_background(other.asearch_triples("island", 1)) == found
            delete(*ids)

        monkeypatch.setattr(kb._vectors, "delete", asked_before)
        await asyncio.to_thread(kb.update, [{**ISLE, "text": f"{ISLE['text']} Gulls nest there."}], progress=False)

        assert await other.asearch_triples("island", 1) == found
    kb.close()


def _killed(*_: Any) -> None:
    raise KilledError


async def test_passages_and_their_facts_are_of_one_version(
    empty_kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def written(text: str) -> None:
        empty_kb.upsert([{"id": "ada", "title": "Ada Moss", "text": text}], progress=False)

    written("Ada Moss was born in Skellby.")
    later, read = ["The archive was renewed in 1990. Ada Moss was born in Anstrey."], empty_kb._memory.triples

    def overtaken(ids: Sequence[str], extractor: str) -> list[Triple]:
        if later:
            written(later.pop())
        return read(ids, extractor)

    monkeypatch.setattr(empty_kb._memory, "triples", overtaken)
    (passage,), facts = await empty_kb.apassages_with_triples(["ada"])

    places = {fact["triple"][2]: fact["sources"][0]["sentences"] for fact in facts}
    assert [passage["sentences"][place] for place in places["Anstrey"]] == ["Ada Moss was born in Anstrey."]


@pytest.mark.parametrize("way", ["add", "update", "upsert"])
def test_documents_that_could_not_be_stored_are_not_read(way: str, kb: KnowledgeBase) -> None:
    def documents() -> Iterator[dict[str, Any]]:
        pytest.fail("read")
        yield {}

    with (
        KnowledgeBase.open(kb.path, ArithmeticEmbeddings(), read_only=True) as reading,
        pytest.raises(KnowledgeBaseError, match="was opened read-only"),
    ):
        getattr(reading, way)(documents(), progress=False)
