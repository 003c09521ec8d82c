"""Vectors in Chroma: one collection for passages, one for triples; derived from the records, never the truth.

Chroma's files bear any number of threads, but only one process that writes.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
_log = logging.getLogger(__name__)
_LARGEST_WRITE = 5_000  # Chroma refuses more than 5,461 rows at once


class VectorIndex:
    """Cosine search over vectors in a folder of its own, with the vectors in float32.

    Args:
        path: the folder.
        writable: whether this process writes; otherwise triple vectors are not kept.
    """

    def __init__(self, path: Path, *, writable: bool = True) -> None:
        import chromadb  # here, because importing it takes most of a second

        self._writable = writable

        settings = chromadb.Settings(anonymized_telemetry=False)
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
        _upsert(self._passages, ids, vectors)

    def search(self, vectors: Matrix, k: int) -> list[list[tuple[str, float]]]:
        """Return the k nearest passages of each query vector with their cosine, best first."""
        return _nearest(self._passages, vectors, k)

    def search_triples(self, vectors: Matrix, k: int) -> list[list[tuple[str, float]]]:
        """Return the k nearest triples of each query vector with their cosine, best first."""
        return _nearest(self._triples, vectors, k)

    def passages(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the passage vectors that are stored."""
        return _stored(self._passages, ids)

    def delete(self, passages: Sequence[str], triples: Sequence[str] = ()) -> None:
        """Remove vectors, those of passages last: while they are there, a kill in between can be noticed."""
        for collection, ids in ((self._triples, triples), (self._passages, passages)):
            for start in range(0, len(ids), _LARGEST_WRITE):
                collection.delete(ids=list(ids[start : start + _LARGEST_WRITE]))

    def put_triples(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store triple vectors, if this process writes; existing ones are replaced."""
        if self._writable:
            _upsert(self._triples, ids, vectors)

    def triples(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the triple vectors that are stored; where they cannot be read, they are begun anew."""
        from chromadb.errors import InternalError

        try:
            return _stored(self._triples, ids)
        except InternalError as error:
            _log.warning("the vectors of triples cannot be read and are made anew: %s", error)
            if self._writable:
                self._client.delete_collection(self._triples.name)
                self._triples = self._collection("triples")
            return {}

    def triple_ids(self) -> list[str]:
        """Return the ids of all triple vectors."""
        return list(self._triples.get(include=[])["ids"])

    def triple_count(self) -> int:
        """Return the number of triple vectors."""
        return int(self._triples.count())


def _nearest(collection: Any, vectors: Matrix, k: int) -> list[list[tuple[str, float]]]:
    k = min(k, int(collection.count()))
    if k == 0:
        return [[] for _ in vectors]
    found = collection.query(query_embeddings=vectors, n_results=k, include=["distances"])
    return [
        sorted(((id_, 1.0 - distance) for id_, distance in zip(ids, distances, strict=True)), key=_best_first)
        for ids, distances in zip(found["ids"], found["distances"], strict=True)
    ]


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
