"""The similarity of queries to passages and triples; concurrent queries share batches."""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from enum import IntEnum
from itertools import islice

import numpy as np

from langgraph_rag.concurrency.tasks import gather
from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.normal_forms import triple_text
from langgraph_rag.records import ScoredPassage
from langgraph_rag.tools.ingest.embedder import Embedder
from langgraph_rag.tools.retrieve.batcher import Batcher, RequestQueue
from langgraph_rag.tools.stores.protocols import VectorStore
from langgraph_rag.tools.stores.records import Records
from langgraph_rag.tools.stores.triples import vector_id
from langgraph_rag.tools.stores.vectors import Matrix
from langgraph_rag.tools.stores.visibility import Visible

_REMEMBERED_QUERIES = 1_024
_REMEMBERED_TRIPLES = 50_000  # vectors


class Rank(IntEnum):
    """The order of waiting requests: the later in a step a method usually makes them, the earlier they are served."""

    PASSAGE_COSINES = 0
    TRIPLE_COSINES = 1
    QUERIES = 2
    SEARCHES = 3


class Similarity:
    """Embeds queries and compares them with stored vectors; triples are embedded when a query first needs them.

    Args:
        embedder: the embedder.
        vectors: the index of passages and triples.
        records: the store of the vectors of triples.
        queue: for the requests.
    """

    def __init__(self, embedder: Embedder, vectors: VectorStore, records: Records, queue: RequestQueue) -> None:
        self._embedder, self._vectors, self._records = embedder, vectors, records
        self._remembered_queries: OrderedDict[str, Matrix] = OrderedDict()
        self._remembered_triples: dict[str, Matrix] = {}
        self._embedding_queries = threading.Lock()
        self._queries = Batcher(self.embed_queries, largest=16, queue=queue, rank=Rank.QUERIES)
        self._of_triples = Batcher(self.cosines, queue=queue, rank=Rank.TRIPLE_COSINES)
        self._of_passages = Batcher(self._passage_cosines_many, queue=queue, rank=Rank.PASSAGE_COSINES)

    async def search_triples(self, query: str, k: int, among: frozenset[str] | None) -> list[str]:
        """Return the vector ids of the k embedded triples (of all, or among some) nearest to a query, best first."""
        vector = await self._vector(query)
        (found,) = await in_thread(self._vectors.search_triples, vector[np.newaxis], k, among)
        return [id_ for id_, _ in found]

    async def triple_cosines(self, queries: Sequence[str], triples: Sequence[Sequence[str]]) -> Matrix:
        """Return the cosines of triples (as "head relation tail") with queries; shape: triples x queries."""
        if not triples:
            return np.empty((0, len(queries)), np.float32)
        return await self._of_triples.ask((queries, triples))

    async def passage_cosines(self, queries: Sequence[str], ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the cosines of the stored vectors of passages with queries; unknown ids are left out."""
        return await self._of_passages.ask((queries, ids)) if ids else {}

    async def likeness(self, query: str, others: Sequence[str]) -> list[float]:
        """Return the cosines of a query with other texts."""
        vector, *rest = await gather(map(self._vector, [query, *others]))
        return [float(vector @ other) for other in rest]

    def embed_queries(self, queries: Sequence[str]) -> list[Matrix]:
        """Return the vectors of queries, with a cache of recent ones."""
        with self._embedding_queries:
            new = [query for query in dict.fromkeys(queries) if query not in self._remembered_queries]
            if new:
                vectors = self._embedder.queries(new)
                self._remembered_queries.update(zip(new, vectors, strict=True))
            found = [self._remembered_queries[query] for query in queries]
            while len(self._remembered_queries) > _REMEMBERED_QUERIES:
                self._remembered_queries.popitem(last=False)
            return found

    def nearest(self, requests: Sequence[tuple[str, int, Visible | None]]) -> list[list[ScoredPassage]]:
        """Return the k nearest passages for each query, of all or of the visible ones, best first."""
        queries = self.embed_queries([query for query, *_ in requests])
        found: dict[int, list[ScoredPassage]] = {}
        alike = defaultdict[tuple[int, Visible | None], list[int]](list)  # small requests do not wait for large ones
        for place, (_, k, visible) in enumerate(requests):
            alike[k, visible].append(place)
        for (k, visible), places in alike.items():
            among = None if visible is None else visible.ids
            nearest = self._vectors.search(np.stack([queries[place] for place in places]), k, among)
            for place, passages in zip(places, nearest, strict=True):
                found[place] = [ScoredPassage(id=id_, score=score) for id_, score in passages]
        return [found[place] for place in range(len(requests))]

    def cosines(self, requests: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]]) -> list[Matrix]:
        """Return the cosines of triples (as "head relation tail") with queries, for several requests at once."""
        queries = self._embed_groups([queries for queries, _ in requests])
        ids = [[vector_id(triple) for triple in triples] for _, triples in requests]
        texts = {
            id_: triple_text(triple)
            for (_, triples), those in zip(requests, ids, strict=True)
            for id_, triple in zip(those, triples, strict=True)
        }
        vectors = self._triple_vectors(texts)
        return [_cosines([vectors[id_] for id_ in those], queries) for queries, those in zip(queries, ids, strict=True)]

    def embed_triples(self, ids: Sequence[str]) -> None:
        """Embed and store the triples whose vectors have these ids."""
        self._embed_and_store(self._records.triples.texts(ids))

    def forget_triples(self, ids: Sequence[str]) -> None:
        """Remove the vectors of deleted triples from the cache."""
        for id_ in ids:
            self._remembered_triples.pop(id_, None)

    async def _vector(self, query: str) -> Matrix:
        remembered = self._remembered_queries.get(query)
        return await self._queries.ask(query) if remembered is None else remembered

    def _embed_groups(self, groups: Sequence[Sequence[str]]) -> list[list[Matrix]]:
        vectors = iter(self.embed_queries([query for queries in groups for query in queries]))
        return [list(islice(vectors, len(queries))) for queries in groups]

    def _passage_cosines_many(self, requests: list[tuple[Sequence[str], Sequence[str]]]) -> list[dict[str, Matrix]]:
        queries = self._embed_groups([queries for queries, _ in requests])
        vectors = self._vectors.passages(list({id_ for _, ids in requests for id_ in ids}))
        known = [[id_ for id_ in ids if id_ in vectors] for _, ids in requests]
        return [
            dict(zip(ids, _cosines([vectors[id_] for id_ in ids], near), strict=True))
            for ids, near in zip(known, queries, strict=True)
        ]

    def _triple_vectors(self, texts: Mapping[str, str]) -> dict[str, Matrix]:
        remembered = self._remembered_triples
        known = {id_: remembered[id_] for id_ in texts if id_ in remembered}
        known |= self._records.triples.vectors([id_ for id_ in texts if id_ not in known])
        known |= self._embed_and_store({id_: text for id_, text in texts.items() if id_ not in known})
        if len(remembered) + len(known) > _REMEMBERED_TRIPLES:
            remembered.clear()
        remembered |= known
        return known

    def _embed_and_store(self, texts: Mapping[str, str]) -> dict[str, Matrix]:
        if not texts:
            return {}
        vectors = self._embedder.texts(list(texts.values()))
        self._records.triples.put_vectors(list(texts), vectors)
        return dict(zip(texts, vectors, strict=True))


def _cosines(vectors: Sequence[Matrix], queries: Sequence[Matrix]) -> Matrix:
    """Return the cosines of vectors with queries, with the same ties on every processor.

    Shape: vectors x queries.
    """
    if not vectors or not queries:
        return np.empty((len(vectors), len(queries)), np.float32)
    cosines: Matrix = np.vecdot(np.stack(vectors)[:, np.newaxis], np.stack(queries), dtype=np.float64)
    return cosines.astype(np.float32)
