"""Putting passages into a knowledge base: analysed, embedded and stored batch by batch, so that a kill costs little."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from tqdm.auto import tqdm

from langgraph_rag.records import Passage, Record, titled_text
from langgraph_rag.tools.embedder import Embedder
from langgraph_rag.tools.record_store import RecordStore, content_hash
from langgraph_rag.tools.similarity import Similarity
from langgraph_rag.tools.text import TextPipeline, text_pipeline
from langgraph_rag.tools.vector_index import VectorIndex
from langgraph_rag.tools.vectors import Matrix

BATCH = 64  # texts embedded and stored together: what a kill can cost


class Indexer:
    """Keeps records and passage vectors in step; a kill in between leaves their numbers apart, for `repair` to see."""

    def __init__(
        self,
        records: RecordStore,
        vectors: VectorIndex,
        similarity: Similarity,
        embedder: Embedder,
    ) -> None:
        self._records, self._vectors, self._similarity, self._embedder = records, vectors, similarity, embedder

    def compare(self, passages: Sequence[Passage]) -> tuple[list[Passage], list[Passage]]:
        """Return the passages whose ids are not stored yet, and those whose ids are stored with another text."""
        stored = self._records.hashes([passage["id"] for passage in passages])
        new = [passage for passage in passages if passage["id"] not in stored]
        hashes = ((passage, content_hash(passage["title"], passage["text"])) for passage in passages)
        return new, [passage for passage, hash_ in hashes if stored.get(passage["id"], hash_) != hash_]

    def store(self, passages: Sequence[Passage], *, progress: bool) -> None:
        """Store new passages."""
        self._in_batches(passages, self._put, progress=progress)

    def replace(self, passages: Sequence[Passage], *, progress: bool) -> None:
        """Store passages in place of those of the same ids."""
        self._in_batches(passages, self._put_in_place, progress=progress)

    def remove(self, ids: Sequence[str]) -> None:
        """Remove passages with all that came from them alone."""
        if ids:
            self.repair()
            unused = self._records.delete(ids)
            self._vectors.delete(ids, unused)
            self._similarity.forget_triples(unused)

    def _in_batches(
        self,
        passages: Sequence[Passage],
        put: "Callable[[list[Record], Future[Matrix]], None]",
        *,
        progress: bool,
    ) -> None:
        """Analyse, embed and put passages; while one batch is embedded, the next one is analysed."""
        self.repair()
        if not passages:
            return
        self._embedder.settle()
        pipeline = text_pipeline(self._records.meta("text_pipeline"))  # one for all: another finds other phrases
        self._records.set_meta("text_pipeline", pipeline.name)
        passages = sorted(passages, key=lambda passage: -len(passage["text"]))  # alike in length, a batch embeds faster
        with (
            tqdm(total=len(passages), desc="indexing", unit="passage", disable=not progress) as bar,
            ThreadPoolExecutor(1) as embedder,
        ):
            ahead: list[tuple[list[Record], Future[Matrix]]] = []
            for start in range(0, len(passages), BATCH):
                records = _analysed(passages[start : start + BATCH], pipeline)
                ahead.append((records, embedder.submit(self._embed, records)))
                if len(ahead) > 1:
                    put(*ahead.pop(0))
                    bar.update(BATCH)
            for records, embedding in ahead:
                put(records, embedding)
                bar.update(len(records))

    def in_step(self) -> bool:
        """Tell whether there are as many vectors as records."""
        return self._vectors.count() == self._records.count()

    def repair(self) -> None:
        """Bring the vectors back in step with the records after a kill, or after the vectors were lost.

        Before each change, too: two that a server cut short, one after the other, could leave the numbers equal.
        """
        if self.in_step():
            return
        recorded, indexed = self._records.ids(), set(self._vectors.ids())
        unused = set(self._vectors.triple_ids()).difference(self._records.vector_ids())
        self._vectors.delete(list(indexed.difference(recorded)), list(unused))
        lost = [id_ for id_ in recorded if id_ not in indexed]
        for start in range(0, len(lost), BATCH):
            records = self._records.passages(lost[start : start + BATCH])
            self._vectors.put([record["id"] for record in records], self._embed(records))

    def _embed(self, records: Sequence[Record]) -> Matrix:
        return self._embedder.texts([titled_text(record) for record in records])

    def _put(self, records: list[Record], embedding: "Future[Matrix]") -> None:
        """Put the vectors first: those that a kill leaves without records are removed."""
        self._vectors.put([record["id"] for record in records], embedding.result())
        self._records.insert(records)

    def _put_in_place(self, records: list[Record], embedding: "Future[Matrix]") -> None:
        """Remove the vectors first: those that a kill leaves missing are made of the records, old or new."""
        ids, vectors = [record["id"] for record in records], embedding.result()
        self._vectors.delete(ids)
        unused = self._records.replace(records)
        self._vectors.delete([], unused)
        self._similarity.forget_triples(unused)
        self._vectors.put(ids, vectors)


def _analysed(passages: Sequence[Passage], pipeline: TextPipeline) -> list[Record]:
    analyses = pipeline.analyse([passage["text"] for passage in passages])
    return [
        Record(**passage, **analysis, hash=content_hash(passage["title"], passage["text"]))
        for passage, analysis in zip(passages, analyses, strict=True)
    ]
