"""Changes a knowledge base: passages are analyzed, embedded and stored in batches, their facts are read; or removed."""

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import NoReturn, TypeVar, cast

import numpy as np
from tqdm.auto import tqdm
from typing_extensions import TypedDict

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.concurrency.threads import parallel_map
from langgraph_rag.errors import DocumentError, DuplicateIdError, KnowledgeBaseError
from langgraph_rag.metering import count_dropped
from langgraph_rag.naming import counted, first_few
from langgraph_rag.normal_forms import first_of_each
from langgraph_rag.progress import hidden
from langgraph_rag.records import Passage, Record, ids_of, titled_text
from langgraph_rag.tools.facts.extraction import TripleExtractor, needs_no_model
from langgraph_rag.tools.ingest.embedder import Embedder
from langgraph_rag.tools.ingest.embeddings import MINILM
from langgraph_rag.tools.ingest.lazy_facts import TripleReader
from langgraph_rag.tools.ingest.stages import Row, analyse, embed, extract, in_other_scripts
from langgraph_rag.tools.ingest.text import text_pipeline
from langgraph_rag.tools.retrieve.search import Similarity
from langgraph_rag.tools.stores.metadata import origin_of
from langgraph_rag.tools.stores.protocols import Matrix, Origin, VectorStore
from langgraph_rag.tools.stores.records import Records, content_hash, has_own_id

_log = logging.getLogger(__name__)
T = TypeVar("T")
LAST_EXTRACTOR = "extractor"  # the property with the last extractor
SPLITTING = "splitting"  # the property with the label of how documents are split
TEXT_PIPELINE = "text_pipeline"  # the property with the name of the pipeline of all passages
UNREAD = "unread by "  # + extractor: the property with the ids of the passages that it could not read
_BATCH = 64  # passages analysed together, and vectors indexed together
_NAMED = 5  # in a warning, at most


class Loaded(TypedDict):
    """The result of `load`, in passages: those that were new, replaced, or stored before with the same text.

    `read` counts those whose facts were stored, `dropped` the facts that no passage states, and `failed` the rows with
    an error, of which nothing is stored.
    """

    added: int
    replaced: int
    unchanged: int
    read: int
    dropped: int
    failed: int


class Added(TypedDict):
    """The result of `add`, in passages; `failed` ones have no triples yet and are read again by the next `add`.

    `dropped` counts the triples that were not stored, as the passage from which they were read does not state them.
    `ids` are the ids of the given passages, each once, in the order of the documents.
    """

    ids: list[str]
    added: int
    unchanged: int
    without_triples: int
    failed: int
    dropped: int


class Updated(Added):
    """The result of `update`, in passages; a replaced passage counts as both added and removed."""

    removed: int


class Indexer:
    """Stores rows, and keeps the passage vectors consistent with them; after a kill, `repair` does."""

    def __init__(
        self,
        records: Records,
        vectors: VectorStore,
        similarity: Similarity,
        embedder: Embedder,
        check_not_closing: Callable[[], None],
        stored_more: Callable[[], None],
        pipeline: str | None = None,
    ) -> None:
        self._pipeline, self._stored_more = pipeline, stored_more
        self._records, self._vectors, self._similarity, self._embedder = records, vectors, similarity, embedder
        self._check_not_closing = check_not_closing
        self._unused = list[str]()  # triple vectors; not returned, as an interrupted caller would lose them
        self._dropped = 0
        self._begun = self._whole = (-1, -1)  # where the logs ended before a change, and after one that went through

    def compare(self, passages: Sequence[Passage]) -> tuple[list[Passage], list[Passage]]:
        """Return the passages whose ids are not stored yet, and those whose ids are stored with another text."""
        stored = self._records.hashes(ids_of(passages))
        new = [passage for passage in passages if passage["id"] not in stored]
        hashes = ((passage, content_hash(passage["title"], passage["text"])) for passage in passages)
        return new, [passage for passage, hash_ in hashes if stored.get(passage["id"], hash_) != hash_]

    def add(self, passages: Sequence[Passage], extractor: TripleExtractor | None, *, progress: bool) -> None:
        """Take passages through all stages, the last one only with an extractor, and load them as they are done."""
        self.repair()
        if not passages:
            return
        self._embedder.settle()
        pipeline = text_pipeline(self._pipeline or self._records.meta(TEXT_PIPELINE)).name  # one for all passages
        self._records.set_meta(TEXT_PIPELINE, pipeline)
        passages = sorted(passages, key=lambda passage: -len(passage["text"]))  # alike in length, a batch embeds faster
        analysed = chain.from_iterable(analyse(cast(list[Row], part), pipeline) for part in _parts(passages))

        def load(rows: list[Row]) -> None:
            self.load(extract(rows, extractor) if extractor else rows)

        with tqdm(total=len(passages), desc="indexing", unit="passage", disable=hidden(progress)) as bar:
            self._embed_all(analysed, len(passages), load, bar)
        self._went_through()

    def load(self, rows: Sequence[Row]) -> Loaded:
        """Store rows in one transaction: passages that are new or changed with their vectors, facts, and places.

        Their vectors are indexed with those of later rows, or by `index`. Facts alone can be loaded, too, for passages
        that are stored with the same text.
        """
        whole = [row for row in rows if not row.get("error")]
        embedded = {row["id"]: cast(Record, row) for row in whole if "vector" in row}
        with self._records.together():
            stored = self._records.hashes([row["id"] for row in whole])
            new = [row for id_, row in embedded.items() if id_ not in stored]
            changed = [row for id_, row in embedded.items() if stored.get(id_, row["hash"]) != row["hash"]]
            if new:
                self._records.insert(new, _vectors_of(new))
            if changed:
                self._unused.extend(self._records.replace(changed, _vectors_of(changed)))
            read = self._store_facts(whole)
            self.place([row for row in whole if "number" in row])
        return Loaded(
            added=len(new),
            replaced=len(changed),
            unchanged=len(embedded) - len(new) - len(changed),
            read=read,
            dropped=sum(row.get("dropped", 0) for row in whole),
            failed=len(rows) - len(whole),
        )

    def check_pipeline(self, names: Collection[str]) -> None:
        """Check that one text pipeline analyses all passages; the first that was used stays."""
        first = self._records.meta(TEXT_PIPELINE) if not self._records.is_empty() else None
        if len({*names, *([first] if first else [])}) > 1:
            raise KnowledgeBaseError(
                f"the passages were analysed by {' and '.join(sorted(names))}, the knowledge base by {first}: analyse "
                "them by the same text pipeline"
            )
        for name in names:
            if name != first:
                self._records.set_meta(TEXT_PIPELINE, name)

    def place(self, rows: Sequence[Row]) -> None:
        """Store where stored passages come from, with their metadata there, and their places, all at once."""
        if rows:
            passages, whole = cast(Sequence[Passage], rows), self._ends() == self._whole
            with self._records.together():
                self._records.origins.add(passages)
                places = {
                    origin_of(passage): (row["number"], row["splitting"])
                    for passage, row in zip(passages, rows, strict=True)
                }
                self._records.places.put(passages, places)
            if whole:  # it still is, as places change no vectors
                self._whole = self._ends()

    def take_dropped(self) -> int:
        """Return how many facts were not stored since the last call, as the passages do not state them."""
        dropped, self._dropped = self._dropped, 0
        return dropped

    def remove(self, ids: Sequence[str]) -> None:
        """Remove passages, with all data that comes only from them."""
        self.repair()  # even without ids, as the records are deleted first
        if ids:
            unused = self._records.delete(ids)
            self.forget_triples(unused)
            self._vectors.delete(ids, [])  # last: while they are there, a kill can be noticed
            self._went_through()

    def in_step(self) -> bool:
        """Return whether every record has its vector in the index."""
        if self._vectors.in_records:
            return True
        return self._records.waiting.none() and self._vectors.count() == self._records.count()

    def repair(self) -> None:
        """Make the vectors consistent with the records after a kill, or after the vectors were lost.

        It runs before each change: two interrupted changes in a row could leave equal numbers of both. Nothing is
        counted if the last change was one of this object and went through.
        """
        self._begun = self._ends()
        if self._begun == self._whole or self.in_step():
            return
        recorded = self._records.ids()
        unused = set(self._vectors.triple_ids()).difference(self._records.triples.vector_ids())
        self._vectors.delete(list(set(self._vectors.ids()).difference(recorded)), list(unused))
        self.index()  # last: as long as vectors wait, another kill can be noticed
        indexed = set(self._vectors.ids())
        lost = [id_ for id_ in recorded if id_ not in indexed]
        records = chain.from_iterable(map(self._records.passages, _parts(lost)))
        self._embed_all(cast(Iterator[Row], records), len(lost), self._put_vectors, tqdm(disable=True))

    def _ends(self) -> tuple[int, int]:
        return self._records.changes.end, self._records.vector_changes.end

    def _went_through(self) -> None:
        """Remember a change with its vectors, if these have a log: those on a server may get lost without a trace."""
        ends = self._ends()
        self._whole = ends if ends[1] > self._begun[1] else (-1, -1)

    def index(self) -> None:
        """Index the waiting vectors after unused triple vectors were removed; waiting vectors reveal a kill."""
        self.forget_triples([self._unused.pop() for _ in range(len(self._unused))])  # others may be added meanwhile
        if waiting := self._records.waiting.all():
            ids = list(waiting)
            self._vectors.put(ids, np.stack([waiting[id_] for id_ in ids]))
            self._records.waiting.forget(ids)
        self._records.words.keep()
        self._stored_more()
        self._vectors.settle()

    def forget_triples(self, unused: Sequence[str]) -> None:
        """Remove the vectors of deleted triples; keep those that concurrent questions have stored again."""
        if unused and self._vectors.in_records:
            self._similarity.forget_triples(unused)
        elif unused:
            self._vectors.delete([], unused)
            self._similarity.forget_triples(unused)
            if back := self._records.triples.vectors(unused):
                self._vectors.put_triples(list(back), np.stack(list(back.values())))

    def _embed_all(
        self, rows: Iterator[Row], number: int, finish: Callable[[list[Row]], None], bar: "tqdm[NoReturn]"
    ) -> None:
        """Embed rows in parallel, finish them in order, and index their vectors in batches."""

        def finished(_: Sequence[Row], embedded: list[Row]) -> int:
            finish(embedded)
            return len(embedded)

        waiting = 0
        try:
            for done in parallel_map(self._embed, finished, *self._embedder.divided(rows, number)):
                waiting += done
                bar.update(done)
                if waiting >= _BATCH:
                    self.index()
                    waiting = 0
        finally:
            self.index()

    def _embed(self, rows: Sequence[Row]) -> list[Row]:
        self._check_not_closing()
        return embed(rows, self._embedder.texts, self._embedder.name)

    def _put_vectors(self, rows: Sequence[Row]) -> None:
        self._records.waiting.put([row["id"] for row in rows], np.stack([row["vector"] for row in rows]))

    def _store_facts(self, rows: Sequence[Row]) -> int:
        """Store the facts of the rows that were read; return how many these are."""
        by_extractor: defaultdict[str, dict[str, Row]] = defaultdict(dict)
        for row in rows:
            if "extractor" in row:
                by_extractor[row["extractor"]][row["id"]] = row
        for version, read in by_extractor.items():
            facts = [(cast(Record, row), row["facts"]) for row in read.values()]
            self._records.triples.save(version, facts, [row.get("names", []) for row in read.values()])
        dropped = sum(row.get("dropped", 0) for read in by_extractor.values() for row in read.values())
        self._dropped += dropped
        count_dropped(dropped)
        return sum(map(len, by_extractor.values()))


class Editor:
    """Adds, replaces and removes passages, in the one thread that changes the folder."""

    def __init__(self, records: Records, indexer: Indexer, reader: TripleReader, embedder: Embedder) -> None:
        self._records, self._indexer, self._reader, self._embedder = records, indexer, reader, embedder
        self._unread: dict[str, tuple[int, list[str]]] = {}  # where the log ended, and what an extractor had not read

    def add(self, given: Sequence[Passage], extractor: TripleExtractor, *, progress: bool) -> Added:
        """Add new passages.

        Raises:
            DuplicateIdError: when an id is stored with another text or title.
        """
        passages = _each_once(given)
        new, changed = self._indexer.compare(passages)
        if changed:
            named = first_few([repr(passage["id"]) for passage in changed], _NAMED)
            are = f"id {named} is" if len(changed) == 1 else f"{counted(len(changed), 'id')} ({named}) are"
            raise DuplicateIdError(
                f"{are} already stored with another text or title: update {'it' if len(changed) == 1 else 'them'} to "
                "replace that (`update`, on the command line `index --update`)"
            )
        self._tell_hard_to_embed(new)
        self._indexer.add(new, _at_once(extractor), progress=progress)
        self._place(given)
        return self._read_out(passages, extractor, added=len(new), progress=progress)

    def upsert(self, given: Sequence[Passage], extractor: TripleExtractor, *, progress: bool) -> Updated:
        """Add new passages, and replace stored ones with another text, title or metadata."""
        return self._replace(given, [], extractor, progress=progress)

    def update(self, given: Sequence[Passage], extractor: TripleExtractor, *, progress: bool) -> Updated:
        """Upsert, and remove passages that are no longer in their sources."""
        return self._replace(given, self._left_over(given), extractor, progress=progress)

    def load(self, rows: Sequence[Row]) -> Loaded:
        """Store rows of all stages, and replace passages with the same ids; nothing else is removed."""
        whole = [row for row in rows if not row.get("error")]
        embedded = [row for row in whole if "vector" in row]
        self._indexer.repair()
        self._check_stored([row for row in whole if "vector" not in row])
        if embedded:
            self._embedder.settle()
        for by in dict.fromkeys(row["embedded_by"] for row in embedded):
            first = next(row for row in embedded if row["embedded_by"] == by)
            self._embedder.check_vector(by, titled_text(cast(Passage, first)), first["vector"])
        self._indexer.check_pipeline({row["analysed_by"] for row in embedded})
        try:
            loaded = self._indexer.load(rows)
            self._records.update_metadata([cast(Passage, row) for row in whole if "number" in row])
        finally:
            self._indexer.index()
        for name, values in ((SPLITTING, "splitting"), (LAST_EXTRACTOR, "extractor")):
            for value in dict.fromkeys(str(row.get(values, "")) for row in whole):
                if value and self._records.meta(name) != value:
                    self._records.set_meta(name, value)
        return loaded

    def note_unread(self, extractor: str) -> None:
        """Store that this extractor is the last one, and which passages it has not read."""
        self._records.set_meta(LAST_EXTRACTOR, extractor)
        self._records.set_meta(UNREAD + extractor, json.dumps(self._unread_by(extractor)))

    def _unread_by(self, extractor: str) -> list[str]:
        """Return the passages that an extractor has not read yet, looking only at those that may have changed."""
        end, (begin, unread) = self._records.changes.end, self._unread.get(extractor, (-1, []))
        changed = None if begin < 0 else self._records.changes.since(begin)
        some = None if changed is None else [*unread, *changed]
        unread = self._records.triples.unextracted(extractor, some)
        self._unread[extractor] = end, unread
        return unread

    def withdraw(self, ids: Sequence[str], source: str) -> int:
        """Remove passages from a source, and those that come from no other; return the number of the latter."""
        self._indexer.repair()
        return self._remove([(id_, source) for id_ in ids])

    def delete(self, ids: Sequence[str], sources: Sequence[str]) -> int:
        """Remove passages, and those that are only from some sources; return the number of removed passages."""
        present = list(self._records.hashes(ids))
        self._indexer.remove(present)
        return len(present) + self._remove(self._records.origins.of(sources))

    def give_names(self, names: Mapping[str, str]) -> None:
        """Store names of entities, and put these in place of them in facts."""
        self._indexer.repair()
        self._indexer.forget_triples(self._records.triples.give_names(names))

    def take_names(self, names: Sequence[str]) -> None:
        """Remove names of entities; facts are again as they were written."""
        self._indexer.repair()
        self._indexer.forget_triples(self._records.triples.take_names(names))

    def outdated(self, given: Sequence[Passage]) -> list[str]:
        """Return the ids of the passages that `update` would remove, without those that it would replace."""
        ids = {passage["id"] for passage in given}
        return [id_ for id_ in self._records.origins.only_from(self._left_over(given)) if id_ not in ids]

    def contested(self, given: Sequence[Passage]) -> list[str]:
        """Return the ids of the passages that `update` would replace although they are also from other sources."""
        _, changed = self._indexer.compare(_each_once(given))
        own = set(self._records.origins.only_from(list(map(origin_of, given))))
        return [passage["id"] for passage in changed if passage["id"] not in own]

    def _replace(
        self, given: Sequence[Passage], left_over: Sequence[Origin], extractor: TripleExtractor, *, progress: bool
    ) -> Updated:
        passages = _each_once(given)
        new, changed = self._indexer.compare(passages)
        self._tell_hard_to_embed([*new, *changed])
        self._indexer.add(new, _at_once(extractor), progress=progress)
        self._indexer.add(changed, _at_once(extractor), progress=progress)
        self._place(given)
        self._records.update_metadata(given)
        gone = self._remove(left_over)
        if gone > len(passages):
            _log.warning(
                "%s removed, as they came from the sources of the %s given and were not given again; upsert "
                "changes single documents",
                counted(gone, "passage"),
                counted(len(passages), "passage"),
            )
        added = self._read_out(passages, extractor, added=len(new) + len(changed), progress=progress)
        return Updated(**added, removed=gone + len(changed))

    def _read_out(
        self, passages: Sequence[Passage], extractor: TripleExtractor, *, added: int, progress: bool
    ) -> Added:
        """Extract triples from all unread passages."""
        triples, version = self._records.triples, extractor.version
        failed = run_in_background(self._reader.read(self._unread_by(version), extractor, progress=progress))
        self.note_unread(version)
        ids = [passage["id"] for passage in passages]
        barren = triples.none_found_in(ids, version)
        if barren:
            titles = [repr(passage["title"] or passage["id"]) for passage in self._records.passages(barren)]
            _log.warning(
                "%s (%s) gave no triples, and can be found by meaning and words, not by way of facts",
                counted(len(barren), "passage"),
                first_few(list(dict.fromkeys(titles)), _NAMED),
            )
        if dropped := self._indexer.take_dropped():
            _log.info("%s dropped: the passages do not state them", counted(dropped, "triple"))
        return Added(
            ids=ids,
            added=added,
            unchanged=len(passages) - added,
            without_triples=len(barren),
            failed=failed,
            dropped=dropped,
        )

    def _check_stored(self, rows: Sequence[Row]) -> None:
        stored = self._records.hashes([row["id"] for row in rows])
        if other := next((row["id"] for row in rows if stored.get(row["id"]) != row["hash"]), None):
            raise DocumentError(f"row {other!r:.80}: expected a vector, as no passage is stored with this id and text")

    def _left_over(self, given: Sequence[Passage]) -> list[Origin]:
        """Return the origins of stored passages that are no longer in these sources."""
        still = dict.fromkeys(map(origin_of, given))
        sources = list(dict.fromkeys(source for _, source in still))
        return [origin for origin in self._records.origins.of(sources) if origin not in still]

    def _place(self, given: Sequence[Passage]) -> None:
        """Store where passages come from, and their places, when all of a document are stored.

        So readers see the passages of an earlier version in their order until those of a new one are all there.
        """
        splitting = self._records.meta(SPLITTING) or ""
        how = ("" if has_own_id(passage) else splitting for passage in given)
        placed = zip(given, how, strict=True)
        self._indexer.place(
            [cast(Row, {**one, "number": number, "splitting": by}) for number, (one, by) in enumerate(placed)]
        )

    def _tell_hard_to_embed(self, passages: Sequence[Passage]) -> None:
        tokens = self._embedder.tokens
        about = "" if tokens.exact else "about "
        _tell(
            [passage["id"] for passage in passages if tokens.count(titled_text(passage)) > tokens.limit],
            f"of more than the {about}{tokens.limit} tokens that the embedder reads, so that the end of each is found "
            "by words only: leave out the id to have such a text split, or give it in parts",
        )
        if self._embedder.name == MINILM:
            _tell(
                in_other_scripts(passages),
                f"mostly not in Latin letters: {MINILM} was trained on English and will find little there by meaning; "
                "open another folder with a multilingual embedder (docs/languages.md)",
            )

    def _remove(self, origins: Sequence[Origin]) -> int:
        """Remove passages without other origins, then the origins of the others; return the number of the former."""
        ids = self._records.origins.only_from(origins)
        self._indexer.remove(ids)
        self._records.origins.remove(origins)
        return len(ids)


def _at_once(extractor: TripleExtractor) -> TripleExtractor | None:
    """Return an extractor that reads passages when they are stored: without a model; others read many in parallel."""
    return extractor if needs_no_model(extractor) else None


def _tell(ids: Sequence[str], problem: str) -> None:
    if ids:
        _log.warning("%s (%s) %s", counted(len(ids), "passage"), first_few([repr(id_) for id_ in ids], _NAMED), problem)


def _each_once(given: Sequence[Passage]) -> list[Passage]:
    return list(first_of_each(given, lambda passage: passage["id"]).values())


def _vectors_of(rows: Sequence[Record]) -> Matrix:
    return np.stack([cast(Row, row)["vector"] for row in rows])


def _parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))
