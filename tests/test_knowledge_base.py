"""The knowledge base: passages are stored, found by three kinds of search, and deleted without a trace."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from subprocess import PIPE, Popen
from typing import Any

import numpy as np
import pytest
from chromadb import Collection
from chromadb.errors import InternalError
from fakes import ArithmeticEmbeddings, contents, vectors
from filelock import FileLock, Timeout
from langchain_core.documents import Document

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.context import Search
from langgraph_rag.errors import EmbedderError, KnowledgeBaseError
from langgraph_rag.nodes.extract_triples import ModelExtractor
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.records import Record, ids_of
from langgraph_rag.tools.facts.extraction import Reading, RuleExtractor
from langgraph_rag.tools.ingest import indexing, stages
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings
from langgraph_rag.tools.ingest.splitting import ESTIMATED
from langgraph_rag.tools.ingest.text import Analysis, TextPipeline, text_pipeline
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.retrieve.search import SEARCHES
from langgraph_rag.tools.stores.database import Database
from langgraph_rag.tools.stores.protocols import Matrix

Documents = list[dict[str, str]]


# --- adding ----------------------------------------------------------------------------------------------------------
def test_added_passages_come_back_in_the_order_asked_for(kb: KnowledgeBase) -> None:
    found = kb.passages(["skellby", "nobody", "heron"])

    assert [record["id"] for record in found] == ["skellby", "heron"]
    assert found[1]["sentences"] == ["Herons stand still in shallow water.", "They wait for fish."]


def test_what_is_found_says_where_it_comes_from_where_that_is_known(kb: KnowledgeBase) -> None:
    sources = {found["id"]: found.get("source") for found in kb.search("a town or village in Norland")}

    assert sources["pellworth"] == "gazetteer.txt"
    assert sources["skellby"] is None


def test_add_says_what_it_did(empty_kb: KnowledgeBase, documents: Documents) -> None:
    first = empty_kb.add(documents[:3], progress=False)
    second = empty_kb.add(documents, progress=False)

    ids = [document["id"] for document in documents]
    assert first == {"ids": ids[:3], "added": 3, "unchanged": 0, "without_triples": 0, "failed": 0, "dropped": 0}
    counts = {"added": 5, "unchanged": 3, "without_triples": 1, "failed": 0, "dropped": 0}  # none about herons
    assert second == {"ids": ids, **counts}


def test_adding_twice_changes_nothing(
    kb: KnowledgeBase, documents: Documents, embeddings: ArithmeticEmbeddings
) -> None:
    before, embedded = contents(kb), len(embeddings.embedded)

    kb.add(documents, progress=False)

    assert contents(kb) == before
    assert len(embeddings.embedded) == embedded


def test_an_addition_after_one_that_went_through_counts_no_vectors(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.add([{"id": "ferry", "title": "Ferries", "text": "A ferry sails to Pellworth."}], progress=False)
    monkeypatch.setattr(kb._vectors, "count", lambda: pytest.fail("all vectors were counted"))

    assert kb.add([{"id": "mill", "text": "The mill burnt down."}], progress=False)["added"] == 1


def test_the_same_passage_given_twice_counts_once(empty_kb: KnowledgeBase, documents: Documents) -> None:
    assert empty_kb.add([documents[0], documents[0]], progress=False)["added"] == 1


@pytest.mark.parametrize("write", ["add", "update"])
def test_a_long_text_with_an_id_is_kept_whole_and_told_of_once(
    write: str, empty_kb: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    documents = [{"id": f"log-{words}", "text": "Sun set. " * (words // 2)} for words in (340, 342, 600)]

    for _ in range(2):
        getattr(empty_kb, write)(documents, progress=False)

    assert [len(record["text"].split()) for record in empty_kb.passages(["log-342", "log-600"])] == [342, 600]
    told = [message for message in caplog.messages if "about 512 tokens" in message]  # three for two words
    assert [message.split(" of more")[0] for message in told] == ["2 passages ('log-342', 'log-600')"]


def test_a_passage_without_triples_is_named_by_its_title_else_by_its_id(
    empty_kb: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    empty_kb.add([{"id": "hello", "text": "how are you?"}, {"id": "2", "title": "Bye", "text": "See you!"}])

    assert "'hello'" in caplog.text and "'Bye'" in caplog.text


class Trained(TextPipeline):
    """Stands in for a trained text pipeline: finds one phrase in every text."""

    def analyse(self, texts: Sequence[str], titles: Sequence[str] = ()) -> Iterator[Analysis]:
        return (Analysis(sentences=[text], phrases=["a noun chunk"]) for text in texts)


@pytest.mark.parametrize(("made_with", "phrases"), [("rules", ["Kell", "Norland"]), (None, ["a noun chunk"])])
def test_passages_are_analysed_as_those_before_them_by_whatever_pipeline_is_installed_now(
    kb: KnowledgeBase, made_with: str | None, phrases: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if made_with is None:  # as before anything was added
        with kb._records._db.change():
            kb._records._db.execute("DELETE FROM meta WHERE name = 'text_pipeline'")
    trained = Trained("en_core_web_sm", text_pipeline("rules").nlp)
    for module in (indexing, stages):
        monkeypatch.setattr(module, "text_pipeline", lambda name: text_pipeline(name) if name == "rules" else trained)

    kb.add([{"id": "kell", "title": "Kell", "text": "Kell is an isle in Norland."}], progress=False)

    assert kb.passages(["kell"])[0]["phrases"] == phrases
    assert kb.info()["text_pipeline"] == (made_with or trained.name)


def test_adding_nothing_is_fine(empty_kb: KnowledgeBase) -> None:
    assert empty_kb.add([], progress=False)["added"] == 0


def test_langchain_documents_and_dicts_are_taken_alike(tmp_path: Path) -> None:
    given = {"id": "a", "title": "Kestrel", "text": "Kestrels hover.", "source": "birds.txt", "page": 3}
    document = Document("Kestrels hover.", id="a", metadata={"title": "Kestrel", "source": "birds.txt", "page": 3})
    with (
        KnowledgeBase.open(tmp_path / "one", ArithmeticEmbeddings()) as one,
        KnowledgeBase.open(tmp_path / "other", ArithmeticEmbeddings()) as other,
    ):
        one.add([given], progress=False)
        other.add([document], progress=False)

        assert one.passages(["a"]) == other.passages(["a"])
        assert one.passages(["a"])[0]["source"] == "birds.txt"


@pytest.mark.parametrize("document", [{"text": "Kestrels hover."}, Document("Kestrels hover.")])
def test_a_document_without_id_is_known_by_its_content(
    empty_kb: KnowledgeBase, document: Document | dict[str, str]
) -> None:
    empty_kb.add([document], progress=False)
    again = empty_kb.add([document], progress=False)

    assert again["unchanged"] == 1
    assert empty_kb.search("kestrels")[0]["text"] == "Kestrels hover."


def test_a_long_text_without_id_is_split_and_keeps_title_and_source(empty_kb: KnowledgeBase) -> None:
    text = " ".join(f"The heron number {n} stood in the shallow water of the pond." for n in range(60))

    empty_kb.add([{"title": "Herons", "text": text, "source": "pond.txt"}], progress=False)
    parts = empty_kb.passages(empty_kb._records.ids())

    assert len(parts) == 4
    assert all(ESTIMATED.count(part["text"]) <= 240 for part in parts)
    assert all(part["text"].endswith(".") for part in parts)
    assert {(part["title"], part["source"]) for part in parts} == {("Herons", "pond.txt")}
    assert sorted(" ".join(part["text"] for part in parts).split()) == sorted(text.split())


def test_a_document_without_title_gets_what_it_opens_with_for_all_its_passages(empty_kb: KnowledgeBase) -> None:
    long = "Matthis Orvane was an engineer. " + "He liked long walks by the river. " * 60

    empty_kb.add([Document(long), Document("It froze.", id="untitled")], progress=False)

    found = empty_kb.passages(empty_kb.ids())
    assert len(found) > 2
    assert {passage["title"] for passage in found if passage["id"] != "untitled"} == {"Matthis Orvane"}
    assert empty_kb.passages(["untitled"])[0]["title"] == ""
    assert ["Matthis Orvane", "was", "engineer"] in [triple["triple"] for triple in empty_kb.triples(empty_kb.ids())]


@pytest.mark.parametrize(
    "year", [{"title": 1917, "text": "It froze."}, Document("It froze.", metadata={"title": 1917})]
)
def test_a_title_may_be_a_number(empty_kb: KnowledgeBase, year: Document | dict[str, object]) -> None:
    empty_kb.add([year], progress=False)

    assert [passage["title"] for passage in empty_kb.passages(empty_kb.ids())] == ["1917"]


@pytest.mark.parametrize("heading", ["# Sarl Viaduct", "Sarl Viaduct\r", "**SARL VIADUCT**"])
def test_a_heading_that_is_the_title_is_no_sentence(empty_kb: KnowledgeBase, heading: str) -> None:
    text = f"{heading}\n\nIt was designed by Matthis Orvane."

    empty_kb.add([{"id": "viaduct", "title": "Sarl Viaduct", "text": text}], progress=False)

    assert empty_kb.passages(["viaduct"])[0]["text"] == "It was designed by Matthis Orvane."


def test_a_title_of_two_lines_becomes_one_line_and_is_no_part_of_the_text(empty_kb: KnowledgeBase) -> None:
    broken, plain = {"title": "Sarl\nViaduct", "text": "It fell."}, {"title": "Sarl", "text": "Viaduct\nIt fell."}

    assert empty_kb.add([broken, plain], progress=False)["added"] == 2

    assert [record["title"] for record in empty_kb.passages(empty_kb.ids())] == ["Sarl", "Sarl Viaduct"]


def test_a_text_that_is_only_its_title_is_kept(empty_kb: KnowledgeBase) -> None:
    empty_kb.add([{"id": "viaduct", "title": "Sarl Viaduct", "text": "Sarl Viaduct"}], progress=False)

    assert empty_kb.passages(["viaduct"])[0]["text"] == "Sarl Viaduct"


def test_a_long_text_with_an_id_is_kept_whole(empty_kb: KnowledgeBase) -> None:
    text = "Herons stand still. " * 200

    empty_kb.add([{"id": "herons", "text": text}], progress=False)

    assert empty_kb.passages(["herons"])[0]["text"] == text.strip()


def test_info_counts_what_is_there(kb: KnowledgeBase) -> None:
    info = kb.info()

    assert (info["passages"], info["sentences"]) == (8, 18)
    assert info["triples"] == sum(len(t["sources"]) for t in kb.triples(kb._records.ids()))
    assert (info["passages_without_triples"], info["passages_to_extract"]) == (1, 0)
    assert (info["embeddings"], info["extractor"], info["triple_vectors"]) == ("arithmetic", RuleExtractor.version, 0)


def test_the_fingerprint_is_that_of_the_passages_and_of_what_they_were_read_by(
    kb: KnowledgeBase, documents: list[dict[str, str]], embeddings: ArithmeticEmbeddings
) -> None:
    first = kb.fingerprint()
    assert first.startswith(f"8 passages, arithmetic, {RuleExtractor.version}, ")

    kb.update([{"id": "heron", "title": "Grey heron", "text": "Herons fly."}], progress=False)
    replaced = kb.fingerprint()
    kb.delete(["heron"])
    deleted = kb.fingerprint()
    kb.add(documents[::-1], progress=False)
    restored = kb.fingerprint()
    kb.close()
    with KnowledgeBase.open(kb.path, embeddings, extractor=ModelExtractor(OfflineModel())) as by_model:
        read_by_a_model = by_model.fingerprint()

    assert restored == first
    assert len({first, replaced, deleted, read_by_a_model}) == 4


def test_the_fingerprint_tells_embedders_of_one_name_apart(tmp_path: Path, documents: list[dict[str, str]]) -> None:
    def fingerprint(seed: int) -> str:
        with KnowledgeBase.open(tmp_path / str(seed), SeededEmbeddings(seed)) as kb:
            kb.add(documents, progress=False)
            return kb.fingerprint()

    assert fingerprint(1) != fingerprint(2)


class SeededEmbeddings(ArithmeticEmbeddings):
    """Another embedder with each seed, always of the same name."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.turned = seed

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[*vector[self.turned :], *vector[: self.turned]] for vector in super().embed_documents(texts)]


def test_the_fingerprint_stays_when_documents_are_added_again_or_asked_for(
    kb: KnowledgeBase, documents: list[dict[str, str]], embeddings: ArithmeticEmbeddings
) -> None:
    kb.close()
    with KnowledgeBase.open(kb.path, embeddings, extractor=ModelExtractor(OfflineModel())) as read_when_asked:
        first = read_when_asked.fingerprint()
        read_when_asked.triples(["vint"])
        read_when_asked.embed_triples(progress=False)
        assert read_when_asked.fingerprint() == first
        read_when_asked.add([{**document, "source": "elsewhere"} for document in documents], progress=False)
        assert read_when_asked.fingerprint() == first


def test_reopening_finds_everything_and_embeds_nothing(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings, tmp_path: Path
) -> None:
    kb.embed_triples(progress=False)
    before, embedded = contents(kb), len(embeddings.embedded)
    kb.close()

    with KnowledgeBase.open(tmp_path / "kb", embeddings, create=False) as reopened:
        assert contents(reopened) == before
    assert len(embeddings.embedded) == embedded


def test_an_embedder_that_only_changed_its_name_opens_the_knowledge_base(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.close()
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(model_name="arithmetic-v2")) as reopened:
        assert reopened.search("Pellworth")[0]["id"] == "pellworth"


# --- searching -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("by", ["dense", "bm25", "hybrid", "graph"])
def test_each_search_finds_the_passage_that_shares_the_words(kb: KnowledgeBase, by: str) -> None:
    found = kb.search("a village known for its lighthouse", 3, by=by)  # type: ignore[arg-type]

    assert found[0]["id"] == "skellby"
    assert found[0]["title"] == "Skellby"
    assert len(found) <= 3
    assert [p["score"] for p in found] == sorted((p["score"] for p in found), reverse=True)


def test_a_vector_whose_passage_is_just_being_removed_takes_no_place_among_those_found(kb: KnowledgeBase) -> None:
    first, *others = (passage["id"] for passage in kb.search("Kell", k=3))
    kb._records.delete([first])

    assert [passage["id"] for passage in kb.search("Kell", k=2)] == others


def test_ids_and_sources_that_cannot_be_stored_are_unknown(kb: KnowledgeBase) -> None:
    half = "\ud800"

    assert kb.delete([half], sources=[half]) == 0
    assert (kb.passages([half]), kb.triples([half]), kb.ids(half), kb.without_triples([half])) == ([], [], [], [])


def test_dense_search_ranks_by_cosine(kb: KnowledgeBase, embeddings: ArithmeticEmbeddings) -> None:
    found = kb.search("Pellworth harbour", 8, by="dense")

    query = embeddings.embed_query("Pellworth harbour")
    cosine = {id_: sum(a * b for a, b in zip(query, v, strict=True)) for id_, v in vectors(kb)["passages"].items()}
    assert [p["id"] for p in found] == sorted(cosine, key=lambda id_: (-round(cosine[id_], 5), id_))
    assert found[0]["score"] == pytest.approx(cosine[found[0]["id"]], abs=1e-5)


def test_more_passages_than_there_are_may_be_asked_for(kb: KnowledgeBase) -> None:
    assert len(kb.search("film", 1000)) == 8


@pytest.mark.parametrize("query", ['"unbalanced', "AND OR NOT", "film*", "a:b", "(", "ü", "'; DROP TABLE passages"])
def test_bm25_takes_any_query_as_words(kb: KnowledgeBase, query: str) -> None:
    assert all(passage["score"] > 0 for passage in kb.search(query, by="bm25"))


def test_bm25_knows_word_forms_and_accents(kb: KnowledgeBase) -> None:
    assert [p["id"] for p in kb.search("villages", by="bm25")] == ["skellby"]
    assert [p["id"] for p in kb.search("Skéllby", by="bm25")][0] == "skellby"


def test_texts_are_kept_as_they_are_seen(empty_kb: KnowledgeBase) -> None:
    texts = {
        "vry": "E\u0301vry is a tow\u00adn.",
        "din": "यह दिन है।",
        "dan": "यह दान है।",
        "zwj": "\ufeffक्\u200dष \u200b।",
    }
    empty_kb.add([{"id": id_, "title": text, "text": text} for id_, text in texts.items()], progress=False)

    kept = {passage["id"]: passage["text"] for passage in empty_kb.passages(list(texts))}
    assert (kept["vry"], kept["zwj"]) == ("Évry is a town.", "क्\u200dष ।")
    assert [p["id"] for p in empty_kb.search("E\u0301vry", by="bm25")] == ["vry"]
    assert [p["id"] for p in empty_kb.search("दिन", by="bm25")] == ["din"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("ខ្ញុំ\u200bរស់នៅ\u200bសៀមរាប។", "សៀមរាប"),
        ("ကျွန်တော်\u200bမန္တလေး\u200bမှာ", "မန္တလေး"),
        ("ទីក្រុង\u200bOrsby", "orsby"),
        ("The vil\u200blage of Orsby.", "village"),
        ("The village of Orsby.", "vil\u200bla\u00adge"),
    ],
)
def test_a_zero_width_space_parts_words_only_where_no_space_does(
    empty_kb: KnowledgeBase, text: str, query: str
) -> None:
    empty_kb.add([{"id": "one", "text": text}, {"id": "other", "text": "Herons wait."}], progress=False)

    assert [passage["id"] for passage in empty_kb.search(query, by="bm25")] == ["one"]


def test_bm25_finds_nothing_where_no_word_is_shared(kb: KnowledgeBase) -> None:
    assert kb.search("quantum chromodynamics", by="bm25") == []


def test_a_word_of_the_title_counts_more_than_one_of_the_text(empty_kb: KnowledgeBase) -> None:
    about = {"id": "about", "title": "Lanterns", "text": "They hang in rows along the harbour wall at night."}
    mentions = {"id": "mentions", "title": "Harbours", "text": "Ferries and lanterns come at night."}
    empty_kb.add([mentions, about], progress=False)

    assert [p["id"] for p in empty_kb.search("lanterns", by="bm25")] == ["about", "mentions"]


def test_hybrid_adds_the_scores_of_meaning_and_words_on_one_scale(kb: KnowledgeBase) -> None:
    query = "film director from Skellby"
    meaning = {p["id"]: p["score"] for p in kb.search(query, 50, by="dense")}
    words = {p["id"]: p["score"] for p in kb.search(query, 50, by="bm25")}
    least, most = min(meaning.values()), max(meaning.values())
    expected = {
        id_: 0.35 * (cosine - least) / (most - least) + 0.65 * words.get(id_, 0.0) / max(words.values())
        for id_, cosine in meaning.items()
    }

    expected[next(iter(words))] = max(expected.values())  # it has most of what the query tells

    found = {p["id"]: p["score"] for p in kb.search(query, 8, by="hybrid")}

    assert found == pytest.approx(expected)
    assert list(found) == sorted(found, key=lambda id_: (-found[id_], id_ != next(iter(words)), id_))


# --- triples ---------------------------------------------------------------------------------------------------------
def test_triples_name_the_passage_and_sentence_that_state_them(kb: KnowledgeBase) -> None:
    triples = {tuple(entry["triple"]): entry["sources"] for entry in kb.triples(["skellby", "pellworth"])}

    assert triples["Skellby", "is village in", "Norland"] == [{"passage_id": "skellby", "sentences": [0]}]
    assert triples["Pellworth", "was founded in", "1644"] == [{"passage_id": "pellworth", "sentences": [1]}]


def test_a_fact_of_two_passages_is_one_triple_with_two_sources(empty_kb: KnowledgeBase) -> None:
    text = "Skellby is a village in Norland."
    empty_kb.add([{"id": "a", "title": "Skellby", "text": text}, {"id": "b", "title": "SKELLBY", "text": text}])

    (triple,) = [t for t in empty_kb.triples(["a", "b"]) if t["triple"][2] == "Norland"]

    assert [source["passage_id"] for source in triple["sources"]] == ["a", "b"]


class Lazy:
    """Reads nothing while documents are added, then like the rules; counts what it reads."""

    version = "lazy"

    def __init__(self) -> None:
        self.read: list[str] = []
        self.asleep = True

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        if not self.asleep:
            self.read += [passage["id"] for passage in passages]
            async for readings in RuleExtractor().extract(passages):
                yield readings


def test_passages_not_read_yet_are_read_when_their_triples_are_asked_for(tmp_path: Path, documents: Documents) -> None:
    extractor = Lazy()
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=extractor) as kb:
        assert kb.add(documents, progress=False)["failed"] == 8
        assert kb.info()["passages_to_extract"] == 8
        extractor.asleep = False

        passages, triples = asyncio.run(kb.apassages_with_triples(["skellby", "heron"]))
        assert ids_of(passages) == ["skellby", "heron"] and not triples and not extractor.read
        first = kb.triples(["skellby", "heron"])

        assert ["Skellby", "is village in", "Norland"] in [entry["triple"] for entry in first]
        assert kb.triples(["skellby", "heron"]) == first
        assert sorted(extractor.read) == ["heron", "skellby"]  # once each, also where nothing was found
        assert kb.info()["passages_to_extract"] == 6


def test_another_extractor_reads_anew_and_leaves_the_first_reading(kb: KnowledgeBase) -> None:
    before = contents(kb)
    other = Lazy()
    other.asleep = False

    asyncio.run(kb.atriples(["skellby"], other))

    assert other.read == ["skellby"]
    assert contents(kb) == before


class Fixed:
    """Reads the same triple out of every passage."""

    version = "fixed"

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        yield [(passage["id"], [["Pellworth", "is", "harbour town"]]) for passage in passages]


def test_opened_again_it_uses_what_was_read_last_and_says_what_is_left_unread(
    kb: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    kb.extractor = Fixed()
    kb.add([], progress=False)

    with KnowledgeBase.open(kb.path, ArithmeticEmbeddings()) as reopened:
        assert reopened.info()["extractor"] == "fixed"
        assert reopened.graph.neighbours("Pellworth") == [["Pellworth", "is", "harbour town"]]
        added = reopened.add([{"id": "tern", "text": "The Arctic tern flies far."}], progress=False)

    assert (added["added"], added["failed"]) == (1, 1)
    assert "fixed, which is to read them, was not given" in caplog.text


class Near:
    """Reads out of each passage that it is near something."""

    version = "near"

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        yield [(passage["id"], [[passage["title"], "is near", passage["text"].split()[-1]]]) for passage in passages]


async def test_as_many_triples_are_found_as_wanted_also_after_two_extractors_have_read(kb: KnowledgeBase) -> None:
    query = "Orla Vint directed The Salt Road in 1968"
    await kb.asearch_triples(query, 3)  # embeds what the rules read
    kb.extractor = Near()
    await asyncio.to_thread(kb.add, [], progress=False)

    found = [entry["triple"] for entry in await kb.asearch_triples(query, 8)]

    assert len(found) == 8
    assert {triple[1] for triple in found} == {"is near"}


async def test_an_extractor_given_later_has_graph_and_triple_search_of_its_own(kb: KnowledgeBase) -> None:
    by_rules = set(kb.graph.networkx.nodes)
    await kb.asearch_triples("Pellworth")

    kb.extractor = Fixed()
    kb.add([], progress=False)

    assert set(kb.graph.networkx.nodes) == {"pellworth", "harbour town"} != by_rules
    found = await kb.asearch_triples("Pellworth is harbour town", 100)
    assert [entry["triple"] for entry in found] == [["Pellworth", "is", "harbour town"]]

    kb.extractor = RuleExtractor()
    assert set(kb.graph.networkx.nodes) == by_rules


async def test_what_an_extractor_has_not_read_comes_in_the_order_asked_for(kb: KnowledgeBase) -> None:
    assert await kb.aunread(["vint", "nobody", "heron", "holm"], kb.extractor) == []
    assert await kb.aunread(["vint", "nobody", "heron", "holm"], Fixed()) == ["vint", "heron", "holm"]


def test_embed_triples_embeds_each_text_once(kb: KnowledgeBase, embeddings: ArithmeticEmbeddings) -> None:
    kb.search("film")  # the embedder is compared with the stored one
    texts = {" ".join(entry["triple"]) for entry in kb.triples(kb._records.ids())}
    before = len(embeddings.embedded)

    assert kb.embed_triples(progress=False) == len(texts)
    assert sorted(embeddings.embedded[before:]) == sorted(texts)
    assert kb.info()["triple_vectors"] == len(texts)
    assert kb.embed_triples(progress=False) == 0


async def test_rank_gives_the_cosine_of_each_triple_and_keeps_its_vector(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings
) -> None:
    triples = [["Skellby", "is", "village"], ["Casper Holm", "died on", "8 July 1999"]]

    cosines = await kb.atriple_cosines(["is Skellby a village", "is Skellby a village", "heron"], triples)
    await kb.atriple_cosines(["when did Casper Holm die"], triples)

    assert np.allclose(cosines, [[3 / 12**0.5, 3 / 12**0.5, 0.0], [0.0, 0.0, 0.0]], atol=1e-4)
    assert [text for text in embeddings.embedded if text == "Skellby is village"] == ["Skellby is village"]


async def test_triples_that_share_as_much_with_a_query_are_as_similar_to_it(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(60)]
    query = [word for number, word in enumerate(words) for _ in range(number % 4 + 1)]  # once to four times
    triples = [words[start : start + 4] for start in range(50)]
    with KnowledgeBase.open(tmp_path, ArithmeticEmbeddings(dimensions=2**14)) as kb:  # more than words
        cosines = await kb.atriple_cosines([" ".join(query)], triples)

    assert len(set(cosines[:, 0])) == 1


async def test_likeness_is_the_cosine_with_each_of_the_others(kb: KnowledgeBase) -> None:
    assert await kb.acosines("grey heron", ["heron grey", "village"]) == pytest.approx([1, 0], abs=1e-4)


def test_the_graph_joins_facts_of_different_passages(kb: KnowledgeBase) -> None:
    facts = kb.graph.neighbours("casper holm")

    assert ["Casper Holm", "produced", "Winter Tide"] in facts
    assert ["The Salt Road", "was produced by", "Casper Holm"] in facts
    assert kb.graph.neighbours("Nobody") == []


def test_the_graph_keeps_in_step_with_adding_and_deleting(
    empty_kb: KnowledgeBase, documents: Documents, tmp_path: Path
) -> None:
    graph = empty_kb.graph
    empty_kb.add(documents[:5], progress=False)
    empty_kb.add(documents, progress=False)
    empty_kb.delete(["vint", "holm"])
    in_step = contents(empty_kb)
    empty_kb.close()

    assert len(graph.networkx) > 0
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as reopened:
        assert contents(reopened) == in_step  # there the graph is built from the records


# --- deleting and updating -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("look_first", [True, False], ids=["with the graph in use", "with the graph unused"])
def test_after_deleting_it_is_as_if_the_passages_had_never_been_there(
    kb: KnowledgeBase, documents: Documents, tmp_path: Path, look_first: bool
) -> None:
    kb.add([{"id": "twin", "title": "SKELLBY", "text": "Skellby is a village in Norland. Gulls nest there."}])
    kb.embed_triples(progress=False)
    if look_first:
        assert len(kb.graph.networkx) > 0

    assert kb.delete(["skellby", "nobody", "vint"]) == 2

    kb.embed_triples(progress=False)  # a spelling only the deleted passage had embedded
    others = [document for document in documents if document["id"] not in {"skellby", "vint"}]
    with KnowledgeBase.open(tmp_path / "fresh", ArithmeticEmbeddings()) as fresh:
        fresh.add(others, progress=False)
        fresh.add([{"id": "twin", "title": "SKELLBY", "text": "Skellby is a village in Norland. Gulls nest there."}])
        fresh.embed_triples(progress=False)
        assert contents(kb) == contents(fresh)
        assert vectors(kb) == vectors(fresh)
        for by in SEARCHES:
            for query in ("film director born in Pellworth", "village in Norland", "Skellby lighthouse"):
                found, expected = kb.search(query, by=by), fresh.search(query, by=by)
                assert [p["id"] for p in found] == [p["id"] for p in expected]
                assert [p["score"] for p in found] == pytest.approx([p["score"] for p in expected])


def test_a_fact_stated_elsewhere_outlives_a_deleted_passage(empty_kb: KnowledgeBase) -> None:
    text = "Skellby is a village in Norland."
    empty_kb.add(
        [{"id": "a", "title": "Skellby", "text": text}, {"id": "b", "title": "Skellby", "text": text + " Yes."}]
    )
    assert len(empty_kb.graph.neighbours("Skellby")) == 1
    empty_kb.embed_triples(progress=False)

    empty_kb.delete(["a"])

    assert len(empty_kb.graph.neighbours("Skellby")) == 1
    assert empty_kb.info()["triple_vectors"] == 1
    assert {source["passage_id"] for t in empty_kb.triples(["a", "b"]) for source in t["sources"]} == {"b"}


def test_what_is_left_of_a_merged_fact_is_spelled_as_the_remaining_passage_spells_it(empty_kb: KnowledgeBase) -> None:
    empty_kb.add([{"id": "a", "title": "SKELLBY", "text": "SKELLBY is a village in NORLAND."}])
    empty_kb.add([{"id": "b", "title": "Skellby", "text": "Skellby is a village in Norland."}])
    assert len(empty_kb.graph.neighbours("Skellby")) == 1

    empty_kb.delete(["a"])

    assert ["Skellby", "is village in", "Norland"] in empty_kb.graph.neighbours("Skellby")
    assert empty_kb.graph.networkx.nodes["norland"]["name"] == "Norland"


def test_more_passages_than_one_query_takes_are_deleted_with_the_fact_that_all_state(empty_kb: KnowledgeBase) -> None:
    ids = [f"note-{number}" for number in range(501)]
    empty_kb.add([{"id": id_, "text": "Skellby lies in Norland."} for id_ in ids], progress=False)
    empty_kb.embed_triples(progress=False)

    assert empty_kb.delete(ids) == len(ids)

    assert vectors(empty_kb) == {"passages": {}, "triples": {}}


def test_deleting_everything_leaves_nothing(kb: KnowledgeBase) -> None:
    kb.embed_triples(progress=False)

    assert kb.delete([*kb._records.ids(), "heron"]) == 8

    info = kb.info()
    assert (info["passages"], info["sentences"], info["phrases"], info["triples"], info["triple_vectors"]) == (0,) * 5
    assert vectors(kb) == {"passages": {}, "triples": {}}
    assert len(kb.graph.networkx) == 0


async def test_ranking_keeps_no_vector_of_what_no_passage_states(kb: KnowledgeBase) -> None:
    stated = [entry["triple"] for entry in kb.triples(["skellby"])]
    kb.delete(["skellby"])

    cosines = await kb.atriple_cosines(["a village"], [*stated, ["Skellby", "was invented by", "a model"]])
    assert len(cosines) == len(stated) + 1

    assert vectors(kb)["triples"] == {}


async def test_triples_deleted_while_they_are_made_ready_for_search_leave_no_vector(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = kb._vectors.put_triples

    def deleted_meanwhile(ids: Sequence[str], of_triples: Matrix) -> None:
        kb.delete(["skellby"])
        put(ids, of_triples)

    monkeypatch.setattr(kb._vectors, "put_triples", deleted_meanwhile)
    await kb.asearch_triples("a village")

    assert sorted(kb._vectors.triple_ids()) == sorted(vectors(kb)["triples"])


def test_updating_is_deleting_and_adding(kb: KnowledgeBase) -> None:
    kb.delete(["skellby"])
    kb.add([{"id": "skellby", "title": "Skellby", "text": "Skellby is a ruin in Norland."}], progress=False)

    assert kb.passages(["skellby"])[0]["text"] == "Skellby is a ruin in Norland."
    assert ["Skellby", "is ruin in", "Norland"] in kb.graph.neighbours("Skellby")
    assert ["Skellby", "is village in", "Norland"] not in kb.graph.neighbours("Skellby")
    assert kb.search("lighthouse", by="bm25") == []


# --- side by side ----------------------------------------------------------------------------------------------------
def test_what_a_text_was_split_into_is_deleted_by_its_source(kb: KnowledgeBase) -> None:
    before = kb.ids()
    kb.add([{"text": " ".join(f"Town {n} is on Kell." for n in range(200)), "source": "notes.md"}], progress=False)
    split = kb.ids(source="notes.md")
    assert kb.ids(source=Path("notes.md")) == split

    assert len(split) > 1
    assert kb.delete(split) == len(split)
    assert kb.ids(source="notes.md") == []
    assert kb.ids() == before


def test_two_knowledge_bases_do_not_see_each_other(tmp_path: Path, documents: Documents) -> None:
    with (
        KnowledgeBase.open(tmp_path / "one", ArithmeticEmbeddings()) as one,
        KnowledgeBase.open(tmp_path / "other", ArithmeticEmbeddings(dimensions=32)) as other,
    ):
        one.add(documents[:4], progress=False)
        other.add(documents[4:], progress=False)
        one.delete(["skellby"])

        assert {p["id"] for p in one.search("film", 10)} == {"vint", "salt-road", "pellworth", "holm"}
        assert {p["id"] for p in other.search("film", 10)} == {"winter-tide", "barrow", "skellby", "heron"}


def test_one_folder_opened_twice_outlives_the_closing_of_one(
    kb: KnowledgeBase, tmp_path: Path, embeddings: ArithmeticEmbeddings
) -> None:
    KnowledgeBase.open(tmp_path / "kb", embeddings).close()

    assert kb.search("Pellworth")[0]["id"] == "pellworth"


def test_nothing_is_written_outside_the_folder(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.search("Pellworth")
    assert [path.name for path in tmp_path.iterdir()] == ["kb"]


def test_searching_from_inside_an_event_loop_works(kb: KnowledgeBase) -> None:
    async def notebook_cell() -> str:
        return kb.search("Pellworth")[0]["id"]

    assert asyncio.run(notebook_cell()) == "pellworth"


class HeldBackEmbeddings(MiniLMEmbeddings):
    """Embeds queries in batches, the first batch only once it is let go."""

    model_name = "held back"

    def __init__(self) -> None:
        super().__init__()
        self.inner = ArithmeticEmbeddings()
        self.go = threading.Event()
        self.go.set()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        assert self.go.wait(10)
        return self.inner.embed_documents(texts)

    embed_queries = embed_documents


async def test_searches_at_the_same_moment_share_a_batch(tmp_path: Path, documents: Documents) -> None:
    embeddings = HeldBackEmbeddings()
    with KnowledgeBase.open(tmp_path / "kb", embeddings) as kb:
        await asyncio.to_thread(kb.add, documents, progress=False)
        embeddings.inner.batches.clear()
        embeddings.go.clear()
        queries = [f"{word} {n}" for n in range(10) for word in ("Pellworth", "Skellby")]

        searches = asyncio.gather(*(kb.arank(query, 1 + n % 3, by="dense") for n, query in enumerate(queries)))
        await asyncio.sleep(0.05)  # all have asked
        embeddings.go.set()
        found = await searches

        assert [len(passages) for passages in found] == [1 + n % 3 for n in range(20)]
        assert found[0][0]["id"] == "pellworth"
        assert found[1][0]["id"] == "skellby"
        assert len(embeddings.inner.batches) <= 6
        assert embeddings.inner.embedded == queries


async def test_a_search_for_any_number_of_passages_fails_nobody_and_makes_nobody_fetch_as_many(
    tmp_path: Path, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    embeddings = HeldBackEmbeddings()
    with KnowledgeBase.open(tmp_path / "kb", embeddings) as kb:
        await asyncio.to_thread(kb.add, documents, progress=False)
        search, fetched = kb._vectors.search, list[tuple[int, int]]()

        def seen(queries: Matrix, k: int, among: frozenset[str] | None) -> list[list[tuple[str, float]]]:
            fetched.append((len(queries), k))
            return search(queries, k, among)

        monkeypatch.setattr(kb._vectors, "search", seen)
        embeddings.go.clear()
        asked: list[tuple[int, Search]] = [(k, by) for k in (1, 2**70) for by in SEARCHES]
        searches = asyncio.gather(*(kb.arank("Pellworth harbour", k, by=by) for k, by in asked))
        await asyncio.sleep(0.05)  # all have asked
        embeddings.go.set()
        found = await searches

        assert [len(passages) for passages in found[:5]] == [1, 1, 1, 1, 8]
        assert sum(queries for queries, k in fetched if k == 2**70) == 3  # of the six that are not by words


async def test_searches_of_all_kinds_at_the_same_moment_find_what_each_finds_alone(kb: KnowledgeBase) -> None:
    asked = [(query, k, by) for query in ("village in Norland", "Skellby") for k in (1, 60) for by in SEARCHES]

    alone = [await kb.arank(query, k, by=by) for query, k, by in asked]
    together = await asyncio.gather(*(kb.arank(query, k, by=by) for query, k, by in asked))

    for found, expected in zip(together, alone, strict=True):
        assert [p["id"] for p in found] == [p["id"] for p in expected]
        assert [p["score"] for p in found] == pytest.approx([p["score"] for p in expected])


async def test_a_query_asked_again_is_not_embedded_again(kb: KnowledgeBase, embeddings: ArithmeticEmbeddings) -> None:
    await kb.arank("film")  # the embedder is compared with the stored one
    before = len(embeddings.embedded)

    await asyncio.gather(*(kb.arank("who directed Winter Tide", by="dense") for _ in range(10)))

    assert embeddings.embedded[before:] == ["who directed Winter Tide"]


def test_several_threads_at_once_see_and_leave_a_sound_knowledge_base(
    kb: KnowledgeBase, documents: Documents, tmp_path: Path
) -> None:
    more = [{"id": f"n{n}", "title": f"Isle {n}", "text": f"Isle {n} is an island in Norland."} for n in range(24)]

    def write(part: int) -> None:
        kb.add(more[part::3], progress=False)

    def read(part: int) -> None:
        for _ in range(5):
            assert kb.search("a harbour town", 1, by="dense")[0]["id"] == "pellworth"
            assert kb.triples(["skellby"])
            assert kb.graph.neighbours("Skellby")

    def churn(part: int) -> None:
        for _ in range(3):
            kb.delete(["heron"])
            kb.add(documents, progress=False)

    jobs: list[tuple[Callable[[int], None], int]] = [
        (write, 0),
        (write, 1),
        (write, 2),
        (read, 0),
        (read, 1),
        (churn, 0),
    ]
    with ThreadPoolExecutor(len(jobs)) as pool:
        for future in [pool.submit(job, part) for job, part in jobs]:
            future.result()

    with KnowledgeBase.open(tmp_path / "calm", ArithmeticEmbeddings()) as calm:
        calm.add([*documents, *more], progress=False)
        assert contents(kb) == contents(calm)


async def test_triples_are_found_in_the_whole_knowledge_base(kb: KnowledgeBase) -> None:
    stored = kb.triples(kb._records.ids())
    wanted = stored[-1]

    found = await kb.asearch_triples(" ".join(wanted["triple"]), 3)

    assert found[0] == wanted
    assert len(found) == 3
    assert kb.info()["triple_vectors"] == len(stored)


async def test_triples_added_later_are_found_and_deleted_ones_are_not(kb: KnowledgeBase) -> None:
    await kb.asearch_triples("where is Thornwick", 1)
    await asyncio.to_thread(kb.add, [{"id": "new", "title": "Thornwick", "text": "Thornwick is a town in Norland."}])
    (added, *_) = await kb.asearch_triples("Thornwick is a town in Norland", 1)
    kb.delete(["new"])

    assert added["sources"][0]["passage_id"] == "new"
    assert "new" not in [s["passage_id"] for t in await kb.asearch_triples("Thornwick", 50) for s in t["sources"]]


async def test_triples_read_after_a_search_are_found_by_the_next(kb: KnowledgeBase) -> None:
    kb.extractor = Fixed()
    assert await kb.asearch_triples("Pellworth is harbour town") == []

    await kb.atriples(["pellworth"])

    (found,) = await kb.asearch_triples("Pellworth is harbour town")
    assert found["triple"] == ["Pellworth", "is", "harbour town"]


_HOLD = """
import sys
from filelock import FileLock
lock = FileLock(sys.argv[1])
lock.acquire()
print(flush=True)
sys.stdin.read()
"""


@contextmanager
def held_by_another_process(folder: Path) -> Iterator[None]:
    with Popen([sys.executable, "-c", _HOLD, str(folder / "lock")], stdin=PIPE, stdout=PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        yield


def test_one_process_at_a_time_may_change_it(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings, documents: Documents
) -> None:
    before = contents(kb)
    kb.close()
    with held_by_another_process(kb.path), KnowledgeBase.open(kb.path, embeddings) as second:
        assert second.search("a village with a lighthouse", 1)
        run_in_background(second.atriple_cosines(["a village"], [["Skellby", "is", "a village"]]))
        for change in (lambda: second.add(documents), lambda: second.delete(["skellby"])):
            with pytest.raises(KnowledgeBaseError, match="has it open to change it: close it"):
                change()
        assert contents(second) == before


def test_what_another_process_had_open_may_be_changed_once_it_is_closed_there(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings
) -> None:
    kb.close()
    with held_by_another_process(kb.path):
        second = KnowledgeBase.open(kb.path, embeddings)
    with second:
        assert second.delete(["skellby"]) == 1


def test_opened_read_only_it_leaves_the_right_to_change_it_to_others(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings
) -> None:
    kb.close()
    with KnowledgeBase.open(kb.path, embeddings, read_only=True) as reader:
        with FileLock(kb.path / "lock", blocking=False):
            assert reader.search("a village with a lighthouse", 1)
            assert run_in_background(reader.asearch_triples("a village", 1))
        with pytest.raises(KnowledgeBaseError, match="was opened read-only"):
            reader.delete(["skellby"])


def test_on_a_read_only_volume_it_is_asked_and_nothing_is_written_there(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = kb.search("Who directed The Salt Road?")
    kb.close()

    def state() -> dict[Path, tuple[int, int]]:
        return {file: (file.stat().st_mtime_ns, file.stat().st_size) for file in kb.path.rglob("*")}

    before = state()
    monkeypatch.setattr("langgraph_rag.tools.stores.opening.is_read_only", lambda _: True)  # root may write anyway
    with KnowledgeBase.open(kb.path, embeddings, read_only=True) as reader:
        assert reader.search("Who directed The Salt Road?") == expected
        assert reader.search_triples("Casper Holm")
        assert reader.path == kb.path
        assert reader.is_there
        assert state() == before
        copied = Path(reader._copy.name) if reader._copy else kb.path
        with pytest.raises(KnowledgeBaseError, match="was opened read-only"):
            reader.delete(["heron"])
    assert state() == before
    assert not copied.exists()


def test_opened_read_only_nothing_is_made_where_there_is_nothing(
    tmp_path: Path, embeddings: ArithmeticEmbeddings
) -> None:
    with pytest.raises(KnowledgeBaseError, match="there is no knowledge base"):
        KnowledgeBase.open(tmp_path / "missing", embeddings, read_only=True)
    assert not (tmp_path / "missing").exists()


def test_opened_read_only_lost_vectors_are_made_anew_and_the_right_is_given_back(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings
) -> None:
    kb.close()
    rmtree(kb.path / "chroma")
    with KnowledgeBase.open(kb.path, embeddings, read_only=True) as reader:
        assert len(reader.search("a village", 20)) == 8
        with FileLock(kb.path / "lock", blocking=False):
            pass


def test_closing_waits_for_what_another_thread_adds(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    insert, closings = kb._records.insert, list[Future[None]]()

    with ThreadPoolExecutor(1) as pool:

        def meanwhile(records: Sequence[Record], embedded: Matrix) -> None:
            closings.append(pool.submit(kb.close))
            assert not wait(closings, 0.2).done
            insert(records, embedded)

        monkeypatch.setattr(kb._records, "insert", meanwhile)
        assert kb.add([{"id": "tern", "text": "Terns nest in Skellby."}], progress=False)["added"] == 1
        closings[0].result(10)
    with pytest.raises(KnowledgeBaseError, match="was closed"):
        kb.ids()


def test_closing_stops_a_long_change_in_another_thread_which_can_be_finished_later(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [{"id": f"tern {number}", "text": f"Tern {number} nests in Skellby."} for number in range(2_000)]
    insert, closings = kb._records.insert, list[Future[None]]()

    with ThreadPoolExecutor(1) as pool:

        def meanwhile(records: Sequence[Record], embedded: Matrix) -> None:
            if not closings:
                closings.append(pool.submit(kb.close))
                assert not wait(closings, 0.2).done
            insert(records, embedded)

        monkeypatch.setattr(kb._records, "insert", meanwhile)
        with pytest.raises(KnowledgeBaseError, match="was closed meanwhile: what was stored by then stays"):
            kb.add(documents, progress=False)
        closings[0].result(10)

    with KnowledgeBase.open(kb.path, embeddings) as again:
        stored = len(again.ids()) - 8
        assert 0 < stored < 2_000
        assert again.add(documents, progress=False)["added"] == 2_000 - stored


class Closing:
    """Reads a passage at a time, and has the knowledge base closed after the first."""

    version = "closing"

    def __init__(self) -> None:
        self.kb: KnowledgeBase | None = None
        self.closing: threading.Thread | None = None

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        for passage in passages:
            if self.kb and not self.closing:
                self.closing = threading.Thread(target=self.kb.close)
                self.closing.start()
                while not self.kb._access._closing:
                    await asyncio.sleep(0.01)
            yield [(passage["id"], [[passage["id"], "is", "read"]])]


def test_closing_stops_the_reading_of_triples_and_keeps_what_was_read(
    tmp_path: Path, embeddings: ArithmeticEmbeddings, documents: list[dict[str, str]]
) -> None:
    reader = Closing()
    with KnowledgeBase.open(tmp_path / "kb", embeddings, extractor=reader) as kb:
        reader.kb = kb
        with pytest.raises(KnowledgeBaseError, match="was closed meanwhile: what was stored by then stays"):
            kb.add(documents, progress=False)
        assert reader.closing
        reader.closing.join(10)

    reader.kb = None
    with KnowledgeBase.open(kb.path, embeddings, extractor=reader) as again:
        assert again.info()["passages_to_extract"] == len(documents) - 1
        assert again.add([], progress=False)["failed"] == 0
        assert again.info()["passages_to_extract"] == 0


def test_one_process_may_open_it_twice(kb: KnowledgeBase, embeddings: ArithmeticEmbeddings) -> None:
    """As a notebook does whose cell is run again."""
    with KnowledgeBase.open(kb.path, embeddings) as second:
        assert second.delete(["skellby"]) == 1
    assert kb.delete(["heron"]) == 1


def test_closing_one_opening_leaves_the_others_the_right_to_change_it(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings
) -> None:
    kb.close()
    with held_by_another_process(kb.path):
        reader = KnowledgeBase.open(kb.path, embeddings)
    with KnowledgeBase.open(kb.path, embeddings) as writer:
        reader.close()
        kb.close()  # once more
        with pytest.raises(Timeout):
            FileLock(kb.path / "lock", blocking=False).acquire()
        assert writer.delete(["heron"]) == 1


def test_opening_that_fails_leaves_the_right_to_change_it_to_others(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.close()
    unusable = ArithmeticEmbeddings(model_name="unusable")
    monkeypatch.setattr(unusable, "embed_documents", lambda texts: 1 / 0)

    with pytest.raises(EmbedderError, match="embedder 'unusable' could not be asked: ZeroDivisionError"):
        KnowledgeBase.open(kb.path, unusable)

    with FileLock(kb.path / "lock", blocking=False):
        pass


def test_a_folder_that_was_only_just_begun_is_begun_anew(tmp_path: Path, embeddings: ArithmeticEmbeddings) -> None:
    (tmp_path / "lock").touch()
    with KnowledgeBase.open(tmp_path, embeddings) as kb:
        assert kb.info()["passages"] == 0


def test_damaged_vectors_are_an_error_that_says_how_to_make_them_anew(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(*_: object, **__: object) -> None:
        raise InternalError("Error getting embedding")

    before = kb.search("a village with a lighthouse", 3, by="dense")
    kb.add([{"text": "Gulls nest here."}], progress=False)
    with monkeypatch.context() as patch:
        patch.setattr(Collection, "get", damaged)
        with pytest.raises(KnowledgeBaseError, match="chroma cannot be read .*open the knowledge base again.*remove"):
            kb.search("a village with a lighthouse", 3, by="dense")
    kb.close()

    rmtree(kb.path / "chroma")

    with KnowledgeBase.open(kb.path, embeddings) as repaired:
        assert repaired.search("a village with a lighthouse", 3, by="dense") == before


def test_what_one_opening_deletes_no_other_of_the_process_remembers(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings
) -> None:
    with KnowledgeBase.open(kb.path, embeddings) as second:
        assert len(run_in_background(second.apassages(["skellby", "heron"]))) == 2
        assert second.triples(["skellby", "heron"]) != kb.triples(["heron"])

        kb.delete(["skellby"])

        assert [record["id"] for record in run_in_background(second.apassages(["skellby", "heron"]))] == ["heron"]
        assert second.triples(["skellby", "heron"]) == kb.triples(["heron"])


async def test_what_one_caller_makes_of_a_passage_no_other_gets(kb: KnowledgeBase, documents: Documents) -> None:
    kb.update([{**document, "places": ["Norland"]} for document in documents], progress=False)
    stored = await kb.apassages(["skellby"])
    for _ in range(2):  # as it is read, and as it is remembered
        (record,) = await kb.apassages(["skellby"])
        record["text"] = "changed"
        record["sentences"].clear()
        record["phrases"].append("changed")
        record["metadata"]["places"].append("changed")

    assert await kb.apassages(["skellby"]) == kb.passages(["skellby"]) == stored


async def test_what_one_caller_makes_of_triples_no_other_gets(kb: KnowledgeBase) -> None:
    stored = await kb.atriples(["skellby"])
    for _ in range(2):  # as they are read, and as they are remembered
        first, *_ = await kb.atriples(["skellby"])
        first["triple"].append("changed")
        first["sources"][0]["sentences"].clear()
        first["sources"].clear()

    assert await kb.atriples(["skellby"]) == kb.triples(["skellby"]) == stored


async def test_passages_asked_for_twice_come_once(kb: KnowledgeBase) -> None:
    ids = ["heron", "skellby", "heron", "unknown"]
    assert [record["id"] for record in kb.passages(ids)] == ["heron", "skellby"]
    assert [record["id"] for record in await kb.apassages(ids)] == ["heron", "skellby"]


@pytest.mark.parametrize("k", [-1, 0, 2.5, True, None])
async def test_every_search_refuses_a_number_of_results_that_is_none(kb: KnowledgeBase, k: Any) -> None:
    for call in (kb.arank("x", k), kb.asearch_triples("x", k), kb.anear_entities(["x"], k)):
        with pytest.raises(ValueError, match="k must be a whole number of at least 1, got"):
            await call


@pytest.mark.parametrize("query", [None, 3, "\ud800"])
async def test_every_search_refuses_a_query_that_is_no_text(kb: KnowledgeBase, query: Any) -> None:
    calls = (
        kb.arank(query),
        kb.asearch_triples(query),
        kb.atriple_cosines([query], []),
        kb.apassage_cosines([query], ["heron"]),
    )
    for call in (*calls, kb.acosines(query, ["x"])):
        with pytest.raises(ValueError, match="the query must be text, got"):
            await call


def test_calls_that_a_close_overtakes_are_told(tmp_path: Path) -> None:
    records = Database(tmp_path / "records.sqlite")
    records.close()

    for call in (records.rows, records.glance):
        with pytest.raises(KnowledgeBaseError, match=r"records\.sqlite cannot be read: it was closed meanwhile"):
            call("1", "passages")
