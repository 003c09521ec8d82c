"""Vectors in any two collections, such as those of a LangChain `VectorStore`."""

import base64
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore as LangChainStore

from langgraph_rag.arguments import expect
from langgraph_rag.errors import EmbeddingsMismatchError, KnowledgeBaseError
from langgraph_rag.tools.stores.protocols import VectorCollection
from langgraph_rag.tools.stores.vectors import Matrix

_AT_ONCE = 256  # vectors in one call of a store
_FEW = 2_000  # ids that are compared one by one instead of searched for
_ALIKE = 1e-6  # difference of cosines that some store may not see
_MORE = 4  # times as many are looked at, if too few of those found are among some ids


class Collections:
    """The vectors of a knowledge base in two collections, beside the records in a folder.

    Args:
        passages: the collection for vectors of passages.
        triples: the collection for vectors of facts; both must not hold anything else.
        name: where they are, for people.

    Raises:
        TypeError: when one is no collection.
    """

    in_records = False

    def __init__(self, passages: VectorCollection, triples: VectorCollection, name: str) -> None:
        for one in (passages, triples):
            expect(VectorCollection, one, "a collection of vectors", "LangChainCollection(store) is one")
        self._passages, self._triples, self.name = passages, triples, name
        self.put, self.search, self.passages, self.ids = passages.add, passages.nearest, passages.fetch, passages.ids
        self.put_triples, self.search_triples, self.triple_ids = triples.add, triples.nearest, triples.ids

    def count(self) -> int:
        """Return the number of passages with a vector."""
        return len(self._passages.ids())

    def delete(self, passages: Sequence[str], triples: Sequence[str] = ()) -> None:
        """Remove vectors, those of passages last: as long as they exist, a kill can be noticed."""
        self._triples.delete(triples)
        self._passages.delete(passages)

    def settle(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Close both."""
        self._passages.close()
        self._triples.close()


class GivenVectors(Embeddings):
    """The embedder to make a LangChain `VectorStore` with: its texts are vectors that were made before."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors that texts are."""
        return [_decoded(text).tolist() for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector that a text is."""
        vector: list[float] = _decoded(text).tolist()
        return vector


class LangChainCollection:
    """Vectors in a LangChain `VectorStore` that can delete, and fetch documents by id.

    The store must have been made with `GivenVectors()` as its embedder, for cosine similarity. Each document has its
    vector as its text, so that the vectors can be fetched, and compared exactly, whatever scores the store returns and
    however it encodes them.

    Args:
        store: the store, which holds nothing else.
        listed: returns the keys of all documents; LangChain has no such method.
        close: releases what the store holds, at the end.
        key: makes the key of an id, where the store does not take any text, such as Qdrant, which takes UUIDs.
    """

    def __init__(
        self,
        store: LangChainStore,
        listed: Callable[[], Sequence[str]],
        close: Callable[[], object] = lambda: None,
        key: Callable[[str], str] = str,
    ) -> None:
        expect(LangChainStore, store, "a LangChain VectorStore", "InMemoryVectorStore(GivenVectors()) is one")
        self._store, self._listed, self._close, self._key = store, listed, close, key
        self._dimensions: int | None = None
        self._asking = threading.RLock()  # few stores say what threads may do

    def add(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store vectors (shape: ids x dimensions) in place of earlier ones.

        Raises:
            EmbeddingsMismatchError: when those that are stored have other dimensions.
        """
        self._check(vectors)
        for some in _parts(ids):
            texts = [_encoded(vector) for vector in vectors[some]]
            documents = [
                Document(id=self._key(id_), page_content=text, metadata={"id": id_})
                for id_, text in zip(ids[some], texts, strict=True)
            ]
            self._asked(self._store.add_documents, documents, ids=[one.id for one in documents])

    def delete(self, ids: Sequence[str]) -> None:
        """Remove vectors; unknown ids are ignored."""
        for some in _parts(ids):
            self._asked(self._store.delete, [self._key(id_) for id_ in ids[some]])

    def fetch(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors that are stored."""
        found = (self._documents([self._key(id_) for id_ in ids[some]]) for some in _parts(ids))
        return {str(one.metadata["id"]): _decoded(one.page_content) for documents in found for one in documents}

    def ids(self) -> list[str]:
        """Return the ids of all vectors."""
        keys = list(self._asked(self._listed))
        found = (self._documents(keys[some]) for some in _parts(keys))
        return [str(one.metadata["id"]) for documents in found for one in documents]

    def nearest(self, queries: Matrix, k: int, among: frozenset[str] | None = None) -> list[list[tuple[str, float]]]:
        """Return the k ids nearest to each query (of all, or among some), with their cosine, best first."""
        self._check(queries)
        if among is None or len(among) > _FEW:
            return [self._searched(query, k, among) for query in queries]
        vectors = self.fetch(list(among))
        if not vectors:
            return [[] for _ in queries]
        return [_best(query, list(vectors), np.stack(list(vectors.values())))[:k] for query in queries]

    def close(self) -> None:
        """Release what the store holds."""
        self._close()

    def _searched(self, query: Matrix, k: int, among: frozenset[str] | None) -> list[tuple[str, float]]:
        looked_at = k + 1  # one more, as the last ones may be alike
        while True:
            documents = self._asked(self._store.similarity_search, _encoded(query), k=looked_at)
            ids = [str(one.metadata["id"]) for one in documents]
            ranked = _best(query, ids, np.stack([_decoded(one.page_content) for one in documents])) if ids else []
            kept = [one for one in ranked if among is None or one[0] in among]
            if len(ids) < looked_at or (len(kept) >= k and kept[k - 1][1] - ranked[-1][1] > _ALIKE):
                return kept[:k]
            looked_at *= _MORE

    def _documents(self, keys: Sequence[str]) -> list[Document]:
        found: list[Document] = self._asked(self._store.get_by_ids, keys)
        return found

    def _check(self, vectors: Matrix) -> None:
        if self._dimensions is None and (keys := list(self._asked(self._listed))[:1]):
            self._dimensions = len(_decoded(self._documents(keys)[0].page_content))
        if self._dimensions not in (None, vectors.shape[1]):
            raise EmbeddingsMismatchError(
                f"{type(self._store).__name__} holds vectors of {self._dimensions} dimensions, got {vectors.shape[1]}"
            )

    def _asked(self, work: Callable[..., Any], *values: Any, **named: Any) -> Any:
        try:
            with self._asking:
                return work(*values, **named)
        except NotImplementedError as error:
            raise KnowledgeBaseError(
                f"{type(self._store).__name__} cannot hold vectors of a knowledge base: it has no {work.__name__}"
            ) from error
        except Exception as error:  # each store has its own
            told = f"{type(error).__name__}: {error}"[:300]
            raise KnowledgeBaseError(f"{type(self._store).__name__} cannot be read or written ({told})") from error


def _best(query: Matrix, ids: Sequence[str], vectors: Matrix) -> list[tuple[str, float]]:
    cosines = np.vecdot(vectors, query).tolist()
    return sorted(zip(ids, cosines, strict=True), key=lambda found: (-found[1], found[0]))


def _encoded(vector: Matrix) -> str:
    return base64.b85encode(np.asarray(vector, "<f4").tobytes()).decode()


def _decoded(text: str) -> Matrix:
    return np.frombuffer(base64.b85decode(text), "<f4").astype(np.float32)


def _parts(ids: Sequence[str]) -> Iterator[slice]:
    return (slice(start, start + _AT_ONCE) for start in range(0, len(ids), _AT_ONCE))
