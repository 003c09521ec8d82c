"""Vectors in Chroma: a collection of passages, and one of triples once these are searched; derived from the records.

Chroma's files bear any number of threads, but only one process that writes.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from langgraph_rag.errors import EmbeddingsMismatchError, KnowledgeBaseError
from langgraph_rag.tools.vectors import Matrix

_LARGEST_WRITE = 5_000  # Chroma refuses more than 5,461 rows at once

FORKED = (
    "cannot be used in a process forked from one that had a knowledge base open, because threads do not survive a "
    "fork: start processes by spawn, and open it in each"
)


@cache
def _first_process() -> int:
    return os.getpid()


class VectorIndex:
    """Cosine search over vectors in a folder of its own, with the vectors in float32.

    Args:
        path: the folder.
    """

    def __init__(self, path: Path) -> None:
        import chromadb  # here, because importing it takes most of a second

        if _first_process() != os.getpid():
            raise KnowledgeBaseError(f"{path} {FORKED}")
        self._path = path
        settings = chromadb.Settings(anonymized_telemetry=False)
        with self._usable():
            self._client = chromadb.PersistentClient(str(path.resolve()), settings=settings)  # it is shared by path
            self._passages, self._triples = self._collection("passages"), self._collection("triples")

    def _collection(self, name: str) -> Any:
        return self._client.get_or_create_collection(
            name, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )

    def close(self) -> None:
        """Release the files."""
        self._client.close()

    def count(self) -> int:
        """Return the number of passage vectors."""
        return int(self._passages.count())

    def ids(self) -> list[str]:
        """Return the ids of all passage vectors."""
        return list(self._passages.get(include=[])["ids"])

    def put(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store passage vectors (shape: ids x dimensions); existing ones are replaced."""
        with self._usable():
            _upsert(self._passages, ids, vectors)

    def search(self, vectors: Matrix, k: int) -> list[list[tuple[str, float]]]:
        """Return the k nearest passages of each query vector with their cosine, best first."""
        return self._nearest(self._passages, vectors, k)

    def search_triples(self, vectors: Matrix, k: int) -> list[list[tuple[str, float]]]:
        """Return the k nearest triples of each query vector with their cosine, best first."""
        return self._nearest(self._triples, vectors, k)

    def passages(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the passage vectors that are stored."""
        return _stored(self._passages, ids)

    def delete(self, passages: Sequence[str], triples: Sequence[str] = ()) -> None:
        """Remove vectors, those of passages last: while they are there, a kill in between can be noticed."""
        with self._usable():
            for collection, ids in ((self._triples, triples), (self._passages, passages)):
                for start in range(0, len(ids), _LARGEST_WRITE):
                    collection.delete(ids=list(ids[start : start + _LARGEST_WRITE]))

    def put_triples(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Make triples (vectors: ids x dimensions) ready to be searched; existing ones are replaced."""
        with self._usable():
            _upsert(self._triples, ids, vectors)

    def triple_ids(self) -> list[str]:
        """Return the ids of the triples that can be searched."""
        return list(self._triples.get(include=[])["ids"])

    def _nearest(self, collection: Any, vectors: Matrix, k: int) -> list[list[tuple[str, float]]]:
        k = min(k, int(collection.count()))
        if k == 0:
            return [[] for _ in vectors]
        with self._usable():
            found = collection.query(query_embeddings=vectors, n_results=k, include=["distances"])
        return [
            sorted(((id_, 1.0 - distance) for id_, distance in zip(ids, distances, strict=True)), key=_best_first)
            for ids, distances in zip(found["ids"], found["distances"], strict=True)
        ]

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Tell what Chroma complains of in words of our own."""
        from chromadb.errors import ChromaError, InvalidArgumentError

        try:
            yield
        except InvalidArgumentError as error:
            raise EmbeddingsMismatchError(f"{self._path} holds vectors of another embedder: {error}") from error
        except ChromaError as error:
            raise KnowledgeBaseError(
                f"the vectors in {self._path} cannot be read or written ({error}): where the disk is not full, remove "
                "that folder and open the knowledge base in a new process, which makes them anew"
            ) from error


def _stored(collection: Any, ids: Sequence[str]) -> dict[str, Matrix]:
    if not ids:
        return {}
    found = collection.get(ids=list(ids), include=["embeddings"])
    return dict(zip(found["ids"], np.asarray(found["embeddings"], dtype=np.float32), strict=True))


def _upsert(collection: Any, ids: Sequence[str], vectors: Matrix) -> None:
    for start in range(0, len(ids), _LARGEST_WRITE):
        end = start + _LARGEST_WRITE
        collection.upsert(ids=list(ids[start:end]), embeddings=vectors[start:end])


def _best_first(scored: tuple[str, float]) -> tuple[float, str]:
    return -scored[1], scored[0]
