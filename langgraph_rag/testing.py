"""Tests that every store of a knowledge base passes, for whoever writes one. They need pytest and nothing else.

    from langgraph_rag.testing import VectorCollectionTests

    class TestMine(VectorCollectionTests):
        def open(self, folder: Path) -> VectorCollection:
            return MyVectors(folder / "mine")

pytest then runs the tests of the class. `open` is called again with the same folder to see what was kept, and after
`close`; each test has a folder of its own, so one on a server takes the name of the folder as that of the collection.
"""

import threading
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from langgraph_rag.errors import EmbeddingsMismatchError, FilterError
from langgraph_rag.records import Fact, Naming, Record, ids_of
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.retrieve.search import SEARCHES
from langgraph_rag.tools.stores.protocols import Matrix, PassageStore, VectorCollection, unit
from langgraph_rag.tools.stores.records import content_hash

_DIMENSIONS = 24
_ODD = [
    "a b",
    "ß–é",
    "'; DROP TABLE passages; --",
    'say "so"',
    "100%s",
    "a/b\\c",
    "?",
    "{}",
    "x" * 900,
    "日本語",
    "A",
    "a",
]


class WordEmbeddings(Embeddings):
    """An embedder without a model: each word counts in the dimension that its checksum names."""

    model_name = "words"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector for each text."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a text."""
        vector = np.full(64, 0.01)
        for word in text.lower().split():
            vector[zlib.crc32(word.strip(".,?").encode()) % 64] += 1.0
        return vector.tolist()


def _vectors(number: int, seed: int = 0) -> Matrix:
    return unit(np.random.default_rng(seed).normal(size=(number, _DIMENSIONS)).astype(np.float32))


class VectorCollectionTests:
    """What a `VectorCollection` does."""

    @abstractmethod
    def open(self, folder: Path) -> VectorCollection:
        """Open the collection of a folder; a new one is empty."""

    @pytest.fixture
    def collection(self, tmp_path: Path) -> Iterator[VectorCollection]:
        """Give an empty collection."""
        with closing(self.open(tmp_path)) as opened:
            yield opened

    def test_it_keeps_the_protocol(self, collection: VectorCollection) -> None:
        """It has the methods."""
        assert isinstance(collection, VectorCollection)

    def test_vectors_are_kept_as_they_were_stored(self, tmp_path: Path) -> None:
        """Also when it is opened again, for any text as id."""
        vectors = _vectors(len(_ODD))
        with closing(self.open(tmp_path)) as opened:
            opened.add(_ODD, vectors)
        with closing(self.open(tmp_path)) as opened:
            found = opened.fetch([*_ODD, "unknown"])
            assert sorted(found) == sorted(_ODD) == sorted(opened.ids())
            np.testing.assert_allclose(np.stack([found[id_] for id_ in _ODD]), vectors, atol=1e-6)

    def test_the_nearest_come_first_with_their_cosine(self, collection: VectorCollection) -> None:
        """Of all vectors, whatever k."""
        ids, vectors, queries = [f"p{n}" for n in range(200)], _vectors(200), _vectors(3, seed=1)
        collection.add(ids, vectors)
        for k in (1, 10, 200, 500):
            for query, found in zip(queries, collection.nearest(queries, k), strict=True):
                cosines = dict(zip(ids, (vectors @ query).tolist(), strict=True))
                best = sorted(ids, key=lambda id_: (-cosines[id_], id_))[:k]
                assert [id_ for id_, _ in found] == best
                np.testing.assert_allclose([score for _, score in found], [cosines[id_] for id_ in best], atol=1e-4)

    def test_equal_vectors_are_found_in_the_order_of_their_ids(self, collection: VectorCollection) -> None:
        """In whatever order they were stored."""
        vector = _vectors(1)
        for id_ in ("c", "a", "b"):
            collection.add([id_], vector)
        assert [id_ for id_, _ in collection.nearest(vector, 3)[0]] == ["a", "b", "c"]

    def test_a_vector_replaces_the_one_with_its_id(self, collection: VectorCollection) -> None:
        """And is not stored twice."""
        first, second = _vectors(2)
        collection.add(["one"], first[np.newaxis])
        collection.add(["one"], second[np.newaxis])
        assert collection.ids() == ["one"]
        np.testing.assert_allclose(collection.fetch(["one"])["one"], second, atol=1e-6)

    def test_what_is_removed_is_gone(self, collection: VectorCollection) -> None:
        """Unknown ids are ignored."""
        collection.add(["a", "b", "c"], _vectors(3))
        collection.delete(["b", "unknown"])
        collection.delete([])
        assert sorted(collection.ids()) == ["a", "c"]
        assert sorted(id_ for id_, _ in collection.nearest(_vectors(1), 5)[0]) == ["a", "c"]
        assert not collection.fetch(["b"])

    def test_only_some_ids_are_found_where_a_filter_names_them(self, collection: VectorCollection) -> None:
        """The best of them, however far away, and never others; unknown ones are ignored."""
        ids, vectors = [f"p{n:03}" for n in range(300)], _vectors(300)
        collection.add(ids, vectors)
        query = _vectors(1, seed=2)
        order = sorted(ids, key=lambda id_: -float(vectors[int(id_[1:])] @ query[0]))
        for among in (order[-3:], order[::2], order[100:], []):
            (found,) = collection.nearest(query, 10, frozenset([*among, "unknown"]))
            assert [id_ for id_, _ in found] == among[:10]

    def test_an_empty_one_finds_nothing(self, collection: VectorCollection) -> None:
        """And fails at nothing."""
        assert collection.nearest(_vectors(2), 5) == [[], []]
        assert collection.nearest(_vectors(1), 5, frozenset(["a"])) == [[]]
        assert not collection.fetch(["a"])
        assert not collection.ids()

    def test_many_vectors_are_stored_in_one_call(self, collection: VectorCollection) -> None:
        """More than most stores take in one request."""
        ids = [f"p{n}" for n in range(600)]
        collection.add(ids, _vectors(600))
        assert sorted(collection.ids()) == sorted(ids)
        assert len(collection.fetch(ids)) == 600
        collection.delete(ids[:500])
        assert len(collection.ids()) == 100

    def test_vectors_of_another_length_are_refused(self, collection: VectorCollection) -> None:
        """They are of another embedder."""
        collection.add(["a"], _vectors(1))
        longer = unit(np.ones((1, _DIMENSIONS + 1), np.float32))
        with pytest.raises(EmbeddingsMismatchError):
            collection.nearest(longer, 1)
        with pytest.raises(EmbeddingsMismatchError):
            collection.add(["b"], longer)
        assert collection.ids() == ["a"]

    def test_threads_search_while_one_stores(self, collection: VectorCollection) -> None:
        """No search fails or finds half of a vector."""
        collection.add(["first"], _vectors(1))
        done = threading.Event()

        def search(_: int) -> None:
            while not done.is_set():
                (found,) = collection.nearest(_vectors(1), 1)
                assert found[0][0] == "first"

        with ThreadPoolExecutor(2) as pool:
            searching = [pool.submit(search, n) for n in range(2)]
            try:
                for n in range(5):
                    collection.add([f"p{n}_{place}" for place in range(20)], _vectors(20, seed=n + 5))
            finally:
                done.set()
            for one in searching:
                one.result()


def _record(id_: str, text: str = "", **fields: Any) -> Record:
    text = text or f"{id_} lies in Norland."
    title = fields.pop("title", id_.title())
    made = Record(
        id=id_,
        title=title,
        text=text,
        hash=content_hash(title, text),
        sentences=[text],
        phrases=[id_.title(), "Norland"],
    )
    made.update(fields)  # type: ignore[typeddict-item]
    return made


def _fact(*triple: str) -> Fact:
    return Fact(triple=[*triple], sentences=[0])


class RecordStoreTests:
    """What a record store does: `PassageStore`, with its facts, origins and log."""

    @abstractmethod
    def open(self, folder: Path) -> PassageStore:
        """Open the records of a folder; new ones are empty."""

    @pytest.fixture
    def records(self, tmp_path: Path) -> Iterator[PassageStore]:
        """Give an empty store."""
        with closing(self.open(tmp_path)) as opened:
            yield opened

    def _insert(self, records: PassageStore, *made: Record) -> None:
        records.insert(made, _vectors(len(made)))

    def test_passages_are_kept_as_they_were_stored(self, records: PassageStore, tmp_path: Path) -> None:
        """In another opening, too: in the order of storing, or of the ids that are asked for."""
        metadata = {"year": 1931, "big": 2**60, "ratio": 0.1, "none": None, "list": ["a", 1], "nul": "a\x00b", "": "ü"}
        made = [_record(id_, source="s.md", metadata=metadata) for id_ in _ODD]
        self._insert(records, *made)
        with closing(self.open(tmp_path)) as other:
            assert other.ids() == _ODD
            assert other.passages([*reversed(_ODD), "unknown"]) == made[::-1]
            assert other.count() == len(_ODD)
            assert other.hashes(["a", "unknown"]) == {"a": made[-1]["hash"]}

    def test_a_change_is_stored_as_a_whole_or_not_at_all(self, records: PassageStore, tmp_path: Path) -> None:
        """And others see nothing of it before its end."""
        end = records.changes.end
        with closing(self.open(tmp_path)) as other:
            with pytest.raises(ZeroDivisionError), records.together():
                self._insert(records, _record("pellworth"))
                records.set_meta("name", "value")
                assert not other.count()
                raise ZeroDivisionError
            assert not records.count()
            assert (records.meta("name"), records.changes.end) == (None, end)
            with records.together():
                self._insert(records, _record("pellworth"))
                self._insert(records, _record("skellby"))
                assert not other.ids()
            assert other.ids() == ["pellworth", "skellby"]

    def test_the_log_tells_what_changed(self, records: PassageStore, tmp_path: Path) -> None:
        """In the order of the changes, each id once, from any position."""
        with closing(self.open(tmp_path)) as other:
            places = [other.changes.end]
            for change in (
                lambda: self._insert(records, _record("a"), _record("b")),
                lambda: records.replace([_record("a", "A is new.")], _vectors(1)),
                lambda: records.delete(["b"]),
                lambda: records.update_metadata([_record("a", metadata={"x": 1})]),
            ):
                change()
                places.append(other.changes.end)
            assert places == sorted(set(places))
            assert [set(other.changes.since(place) or ()) for place in places] == [
                {"a", "b"},
                {"a", "b"},
                {"a", "b"},
                {"a"},
                set(),
            ]

    def test_a_reader_too_far_behind_is_told(self, records: PassageStore) -> None:
        """It reads all again."""
        place = records.changes.end
        records.changes.add(["early"])
        for start in range(0, 30_000, 5_000):
            records.changes.add([f"p{n}" for n in range(start, start + 5_000)])
        assert records.changes.since(place) in (None, ["early", *(f"p{n}" for n in range(30_000))])
        assert records.changes.since(records.changes.end - 1) == ["p29999"]

    def test_removing_a_passage_removes_what_comes_only_from_it(self, records: PassageStore) -> None:
        """Facts, sources and metadata; facts that another one states stay."""
        both = _fact("Orla", "was born in", "Pellworth")
        self._insert(records, _record("a", source="a.md"), _record("b", source="b.md"))
        stored = records.passages(["a", "b"])
        records.triples.save("x", [(stored[0], [both, _fact("A", "is", "old")]), (stored[1], [both])], [[], []])
        records.delete(["a"])
        assert records.origins.sources() == ["b.md"]
        assert records.triples.facts("x", ["a", "b"]) == {"a": [], "b": [both]}
        assert list(records.triples.statements("x")) == [("b", *both["triple"])]

    def test_facts_are_in_their_order_and_of_their_extractor(self, records: PassageStore) -> None:
        """A reading of a text that was replaced meanwhile is left out; a new reading replaces the old one."""
        self._insert(records, _record("a"), _record("b"))
        (a, b), facts = records.passages(["a", "b"]), [_fact("Z", "is", "1"), _fact("A", "is", "2")]
        names = [Naming("Zed", "Z", "title")]
        end = records.triples.changes("x").end
        records.triples.save("x", [(a, facts), ({**b, "hash": "old"}, facts)], [names, names])
        assert records.triples.changes("x").end > end
        assert records.triples.facts("x", ["a", "b"]) == {"a": facts, "b": []}
        assert records.triples.unextracted("x") == ["b"]
        assert records.triples.unextracted("y", ["a"]) == ["a"]
        records.triples.save("x", [(a, facts[:1])], [[]])
        assert records.triples.facts("x", ["a"]) == {"a": facts[:1]}
        records.triples.give_names({"Z": "Zed"})
        assert records.triples.facts("x", ["a"])["a"][0]["triple"] == ["Zed", "is", "1"]

    def test_a_passage_of_several_sources_is_there_for_each(self, records: PassageStore) -> None:
        """With the metadata of each, until the last is gone."""
        self._insert(records, _record("a", source="one.md", metadata={"page": 1}))
        records.origins.add([_record("a", source="two.md", metadata={"page": 2})])
        assert records.origins.sources() == ["one.md", "two.md"]
        assert records.passages(["a"], "two.md")[0]["metadata"] == {"page": 2}
        assert records.origins.only_from([("a", "one.md")]) == []
        records.origins.remove([("a", "one.md")])
        (left,) = records.passages(["a"])
        assert (left["source"], left["metadata"]) == ("two.md", {"page": 2})
        assert records.origins.only_from(records.origins.of(["two.md"])) == ["a"]

    def test_filters_let_through_what_they_say(self, records: PassageStore) -> None:
        """Of the kinds of values that metadata have, and refuse fields that no passage has."""
        years = {
            f"p{n}": {"year": 1900 + n, "tags": ["odd"] if n % 2 else ["even", n], "text": str(n)} for n in range(9)
        }
        self._insert(records, *(_record(id_, metadata=fields, source=f"{id_}.md") for id_, fields in years.items()))
        self._insert(records, _record("bare", title=""))
        for where, expected in (
            ({"year": {"$gte": 1907}}, ["p7", "p8"]),
            ({"year": {"$gt": 1906, "$lt": 1908}}, ["p7"]),
            ({"tags": "odd", "year": {"$lte": 1903}}, ["p1", "p3"]),
            ({"tags": 4}, ["p4"]),
            ({"$or": [{"year": 1901}, {"source": {"$in": ["p2.md", "none"]}}]}, ["p1", "p2"]),
            ({"text": {"$nin": [str(n) for n in range(8)]}}, ["p8", "bare"]),
            ({"$not": {"year": {"$exists": True}}}, ["bare"]),
            ({"text": {"$gt": "7"}}, ["p8"]),
            ({"title": "P3"}, ["p3"]),
            ({"year": {"$ne": 1900.0}}, [f"p{n}" for n in range(1, 9)] + ["bare"]),
        ):
            visible = records.visible(where)
            assert list(visible.numbers) == expected, where
        for wrong in ({"unknown": 1}, {"year": "1901"}, {"tags": {"$gt": True}}):
            with pytest.raises(FilterError):
                records.visible(wrong)
        records.delete(["p7"])
        assert list(records.visible({"year": {"$gte": 1907}}).numbers) == ["p8"]

    def test_two_openings_change_it_at_once(self, records: PassageStore, tmp_path: Path) -> None:
        """Nothing is lost, and the log tells of all."""
        before = records.changes.end
        with closing(self.open(tmp_path)) as other, ThreadPoolExecutor(2) as pool:

            def store(opened: PassageStore, name: str) -> None:
                for n in range(20):
                    opened.insert([_record(f"{name}{n}")], _vectors(1))

            for done in [pool.submit(store, records, "a"), pool.submit(store, other, "b")]:
                done.result()
        all_ = {f"{name}{n}" for name in "ab" for n in range(20)}
        assert set(records.ids()) == set(records.changes.since(before) or ()) == all_
        assert records.changes.end == before + 40


class KnowledgeBaseTests:
    """What a knowledge base answers, whatever its stores: the same as one in a folder."""

    documents: Sequence[dict[str, Any]] = tuple(
        {
            "id": id_,
            "title": title,
            "text": text,
            "source": f"{id_[:1]}.md",
            "year": 1900 + 10 * number,
        }
        for number, (id_, title, text) in enumerate(
            [
                ("vint", "Orla Vint", "Orla Vint was a film director. She directed The Salt Road in 1968."),
                ("salt", "The Salt Road", "The Salt Road is a film directed by Orla Vint. Casper Holm produced it."),
                ("holm", "Casper Holm", "Casper Holm was a film producer. He was born in Skellby."),
                ("skellby", "Skellby", "Skellby is a village in Norland. It has a lighthouse."),
                ("heron", "Grey heron", "Herons stand still in shallow water. They wait for fish."),
            ]
        )
    )

    @abstractmethod
    def open(self, folder: Path) -> KnowledgeBase:
        """Open the knowledge base of a folder, with `WordEmbeddings()` and `pipeline="rules"`."""

    @pytest.fixture
    def both(self, tmp_path: Path) -> Iterator[tuple[KnowledgeBase, KnowledgeBase]]:
        """Give an empty knowledge base, and another one in a folder."""
        with (
            self.open(tmp_path / "mine") as mine,
            KnowledgeBase.open(tmp_path / "folder", WordEmbeddings(), pipeline="rules") as folder,
        ):
            yield mine, folder

    def test_all_reads_equal_those_of_a_folder_after_each_change(
        self, both: tuple[KnowledgeBase, KnowledgeBase]
    ) -> None:
        """Searches, filters, facts, documents and names."""
        changed = {**self.documents[0], "text": "Orla Vint was born in Skellby, and directed Winter Tide."}
        changes: tuple[Callable[[KnowledgeBase], object], ...] = (
            lambda kb: kb.add(self.documents, progress=False),
            lambda kb: kb.add(self.documents, progress=False),
            lambda kb: kb.update([changed], progress=False),
            lambda kb: kb.delete(["heron"]),
            lambda kb: kb.add_names({"Holm": "Casper Holm"}),
            lambda kb: kb.add([{**self.documents[2], "source": "second.md", "year": 1}], progress=False),
            lambda kb: kb.delete(sources=["h.md"]),
        )
        for change in changes:
            mine, folder = (change(kb) for kb in both)
            assert mine == folder
            assert _reads(both[0]) == _reads(both[1])

    def test_what_was_stored_is_there_when_it_is_opened_again(self, tmp_path: Path) -> None:
        """With its vectors: nothing is embedded again."""
        with self.open(tmp_path) as kb:
            kb.add(self.documents, progress=False)
            before = _reads(kb)
        with self.open(tmp_path) as kb:
            assert _reads(kb) == before


def _reads(kb: KnowledgeBase) -> dict[str, Any]:
    ids = sorted(kb.ids())
    found: dict[str, Any] = {
        "passages": kb.passages(ids),
        "triples": sorted(map(repr, kb.triples(ids))),
        "documents": kb.documents(),
        "sources": {source: kb.ids(source) for source in kb.sources()},
        "neighbours": [ids_of(kb.neighbours(id_)) for id_ in ids],
        "names": kb.names(),
        "facts": kb.facts_about("Orla Vint", hops=2),
        "near": _rounded(kb.near_entities(["Casper Holm"], 3)),
        "fingerprint": kb.fingerprint(),
    }
    for where in (None, {"year": {"$lte": 1920}}, {"source": "s.md"}):
        for by in SEARCHES:
            key = f"{by} {where}"
            found[key] = _rounded(kb.search("Who directed The Salt Road in Skellby?", 4, by=by, filter=where))
        found[f"triples {where}"] = kb.search_triples("Who produced The Salt Road?", 3, filter=where)
    found["info"] = {name: value for name, value in kb.info().items() if name not in ("path", "vectors")}
    return found


def _rounded(found: Sequence[Any]) -> list[tuple[str, float]]:
    return [(one["id"], round(one["score"], 4)) for one in found]
