"""Embeds and indexes all triples of an extractor, in advance or at the first search."""

import numpy as np
from tqdm.auto import tqdm

from langgraph_rag.progress import hidden
from langgraph_rag.tools.similarity import Similarity
from langgraph_rag.tools.storage.record_store import RecordStore
from langgraph_rag.tools.storage.vector_index import VectorIndex

_EMBEDDED = 1_000  # triples embedded and stored together; a kill loses at most these
_INDEXED = 5_000  # vectors indexed together


class TripleEmbedding:
    """Embeds the triples that have no vector yet, and indexes the vectors."""

    def __init__(self, records: RecordStore, vectors: VectorIndex, similarity: Similarity) -> None:
        self._records, self._vectors, self._similarity = records, vectors, similarity
        self._searchable: tuple[int, int, str] | None = None  # the ends of both logs, and the extractor

    def embed(self, extractor: str, *, progress: bool) -> int:
        """Embed and store the triples of an extractor; return how many were embedded."""
        ids = self._records.triples.without_vector(extractor)
        starts = range(0, len(ids), _EMBEDDED)
        for start in tqdm(starts, desc="embedding triples", unit="batch", disable=hidden(progress)):
            self._similarity.embed_triples(ids[start : start + _EMBEDDED])
        return len(ids)

    def make_searchable(self, extractor: str) -> None:
        """Embed and index the triples of an extractor, if they changed; call it from one thread at a time."""
        state = self._records.changes.end, self._records.triples.changes(extractor).end, extractor
        if self._searchable != state:
            self.embed(extractor, progress=False)
            self._index()
            self._searchable = state

    def _index(self) -> None:
        """Index all triples that have a vector, and remove others from the index."""
        triples, indexed = self._records.triples, set(self._vectors.triple_ids())
        stored = triples.vector_ids()
        self._vectors.delete([], list(indexed.difference(stored)))
        missing = [id_ for id_ in stored if id_ not in indexed]
        for start in range(0, len(missing), _INDEXED):
            vectors = triples.vectors(missing[start : start + _INDEXED])
            if vectors:
                self._vectors.put_triples(list(vectors), np.stack(list(vectors.values())))
            kept = triples.vectors(list(vectors))  # a concurrent deletion did not find them in the index
            self._vectors.delete([], [id_ for id_ in vectors if id_ not in kept])
