"""Embeds all triples of an extractor, in advance or at the first search."""

from tqdm.auto import tqdm

from langgraph_rag.tools.similarity import Similarity
from langgraph_rag.tools.storage.record_store import RecordStore

_BATCH = 1_000  # triples embedded and stored together; a kill loses at most these


class TripleEmbedding:
    """Embeds the triples that have no vector yet."""

    def __init__(self, records: RecordStore, similarity: Similarity) -> None:
        self._records, self._similarity = records, similarity
        self._searchable: tuple[int, int, str] | None = None  # the ends of both logs, and the extractor

    def embed(self, extractor: str, *, progress: bool) -> int:
        """Embed and store the triples of an extractor; return how many were embedded."""
        ids = self._records.triples.without_vector(extractor)
        for start in tqdm(range(0, len(ids), _BATCH), desc="embedding triples", unit="batch", disable=not progress):
            self._similarity.embed_triples(ids[start : start + _BATCH])
        return len(ids)

    def make_searchable(self, extractor: str) -> None:
        """Embed and index the triples of an extractor, if they changed; call it from one thread at a time."""
        state = self._records.changes.end, self._records.triples.changes(extractor).end, extractor
        if self._searchable != state:
            self.embed(extractor, progress=False)
            self._similarity.index_triples()
            self._searchable = state
