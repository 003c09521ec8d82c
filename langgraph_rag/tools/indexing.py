"""Stores passages in a knowledge base: each one as soon as it is embedded, so that a kill loses no others."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NoReturn, TypeVar

import numpy as np
from tqdm.auto import tqdm

from langgraph_rag.concurrency.parallel_map import parallel_map
from langgraph_rag.progress import hidden
from langgraph_rag.records import Passage, Record, ids_of, titled_text
from langgraph_rag.tools.embedder import Embedder
from langgraph_rag.tools.language.text import TextPipeline, text_pipeline
from langgraph_rag.tools.similarity import Similarity
from langgraph_rag.tools.storage.record_store import RecordStore, content_hash
from langgraph_rag.tools.storage.vector_index import VectorIndex
from langgraph_rag.tools.vectors import Matrix

T = TypeVar("T")

TEXT_PIPELINE = "text_pipeline"  # the property with the name of the pipeline of all passages
_BATCH = 64  # passages analysed together, and vectors indexed together

Keep = Callable[[Sequence[Record], Matrix], list[str]]
"""Stores passages with their vectors; returns the ids of triple vectors that are no longer used."""
Read = Callable[[Sequence[Record]], None]
"""Extracts triples from stored passages."""


class Indexer:
    """Keeps passage vectors consistent with the records; after a kill, `repair` restores the consistency."""

    def __init__(
        self,
        records: RecordStore,
        vectors: VectorIndex,
        similarity: Similarity,
        embedder: Embedder,
        check_not_closing: Callable[[], None],
        pipeline: str | None = None,
    ) -> None:
        self._pipeline = pipeline
        self._records, self._vectors, self._similarity, self._embedder = records, vectors, similarity, embedder
        self._check_not_closing = check_not_closing

    def compare(self, passages: Sequence[Passage]) -> tuple[list[Passage], list[Passage]]:
        """Return the passages whose ids are not stored yet, and those whose ids are stored with another text."""
        stored = self._records.hashes(ids_of(passages))
        new = [passage for passage in passages if passage["id"] not in stored]
        hashes = ((passage, content_hash(passage["title"], passage["text"])) for passage in passages)
        return new, [passage for passage, hash_ in hashes if stored.get(passage["id"], hash_) != hash_]

    def store(self, passages: Sequence[Passage], read: Read, *, progress: bool) -> None:
        """Store new passages, and extract the triples of each."""
        self._add(passages, self._insert, read, progress=progress)

    def replace(self, passages: Sequence[Passage], read: Read, *, progress: bool) -> None:
        """Replace passages with the same ids, and extract the triples of each."""
        self._add(passages, self._records.replace, read, progress=progress)

    def remove(self, ids: Sequence[str]) -> None:
        """Remove passages, with all data that comes only from them."""
        self.repair()  # even without ids, as the records are deleted first
        if ids:
            unused = self._records.delete(ids)
            self.forget_triples(unused)
            self._vectors.delete(ids, [])  # last: while they are there, a kill can be noticed

    def in_step(self) -> bool:
        """Return whether every record has its vector in the index."""
        return self._records.waiting.none() and self._vectors.count() == self._records.count()

    def repair(self) -> None:
        """Make the vectors consistent with the records after a kill, or after the vectors were lost.

        It runs before each change: two interrupted changes in a row could leave equal numbers of both.
        """
        if self.in_step():
            return
        recorded = self._records.ids()
        unused = set(self._vectors.triple_ids()).difference(self._records.triples.vector_ids())
        self._vectors.delete(list(set(self._vectors.ids()).difference(recorded)), list(unused))
        self._index([])  # last: as long as vectors wait, another kill can be noticed
        indexed = set(self._vectors.ids())
        lost = [id_ for id_ in recorded if id_ not in indexed]
        records = chain.from_iterable(map(self._records.passages, _parts(lost)))
        self._embed_all(records, len(lost), self._put_vectors, read_later, tqdm(disable=True))

    def _add(self, passages: Sequence[Passage], keep: Keep, read: Read, *, progress: bool) -> None:
        self.repair()
        if not passages:
            return
        self._embedder.settle()
        pipeline = text_pipeline(self._pipeline or self._records.meta(TEXT_PIPELINE))  # one for all passages
        self._records.set_meta(TEXT_PIPELINE, pipeline.name)
        passages = sorted(passages, key=lambda passage: -len(passage["text"]))  # alike in length, a batch embeds faster
        records = chain.from_iterable(map(partial(_analysed, pipeline), _parts(passages)))
        with tqdm(total=len(passages), desc="indexing", unit="passage", disable=hidden(progress)) as bar:
            self._embed_all(records, len(passages), keep, read, bar)

    def _embed_all(self, records: Iterator[Record], number: int, keep: Keep, read: Read, bar: "tqdm[NoReturn]") -> None:
        """Embed records in parallel, store and read them in order, and index their vectors in batches."""
        unused, waiting = list[str](), 0

        def store(some: Sequence[Record], vectors: Matrix) -> int:
            with self._records.together():
                freed = keep(some, vectors)
                read(some)
            unused.extend(freed)  # not returned, as an interrupted caller would lose it
            return len(some)

        try:
            for stored in parallel_map(self._embed, store, *self._embedder.divided(records, number)):
                waiting += stored
                bar.update(stored)
                if waiting >= _BATCH:
                    self._index(unused)
                    waiting = 0
        finally:
            self._index(unused)

    def _embed(self, records: Sequence[Record]) -> Matrix:
        self._check_not_closing()
        return self._embedder.texts([titled_text(record) for record in records])

    def _index(self, unused: list[str]) -> None:
        """Index the waiting vectors after unused triple vectors were removed; waiting vectors reveal a kill."""
        self.forget_triples([unused.pop() for _ in range(len(unused))])  # others may be added meanwhile
        if waiting := self._records.waiting.all():
            ids = list(waiting)
            self._vectors.put(ids, np.stack([waiting[id_] for id_ in ids]))
            self._records.waiting.forget(ids)

    def forget_triples(self, unused: Sequence[str]) -> None:
        """Remove the vectors of deleted triples; keep those that concurrent questions have stored again."""
        if unused:
            self._vectors.delete([], unused)
            self._similarity.forget_triples(unused)
            if back := self._records.triples.vectors(unused):
                self._vectors.put_triples(list(back), np.stack(list(back.values())))

    def _insert(self, records: Sequence[Record], vectors: Matrix) -> list[str]:
        self._records.insert(records, vectors)
        return []

    def _put_vectors(self, records: Sequence[Record], vectors: Matrix) -> list[str]:
        self._records.waiting.put(ids_of(records), vectors)
        return []


def read_later(records: Sequence[Record]) -> None:
    """Extract nothing now; the triples are extracted after all passages are stored."""


def _parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))


def _analysed(pipeline: TextPipeline, passages: Sequence[Passage]) -> list[Record]:
    analyses = pipeline.analyse(*zip(*((passage["text"], passage["title"]) for passage in passages), strict=True))
    return [
        Record(**passage, **analysis, hash=content_hash(passage["title"], passage["text"]))
        for passage, analysis in zip(passages, analyses, strict=True)
    ]
