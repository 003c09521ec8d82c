"""Vectors by id, in any store: the protocol that stores of vectors meet."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.stores.chroma import Place

Matrix = npt.NDArray[np.float32]


def unit(vectors: Matrix) -> Matrix:
    """Return vectors with unit length, equal on every processor; a zero vector stays unchanged."""
    lengths = np.sqrt(np.vecdot(vectors, vectors, dtype=np.float64))[:, np.newaxis]
    scaled: Matrix = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return scaled


_LARGEST_WRITE = 128  # rows: a write blocks the process, and a server refuses 40 MB at once

FORKED = (
    "cannot be used in a process forked from one that had a knowledge base open, because threads do not survive a "
    "fork: start processes by spawn, and open it in each"
)


@cache
def _first_process() -> int:
    return os.getpid()


@dataclass(frozen=True)
class Opened:
    """A client of Chroma and the collections of passages and of triples."""

    client: Any
    passages: Any
    triples: Any

    @classmethod
    def of(cls, place: Place) -> "Opened":
        """Open a place."""
        client = place.connect()
        return cls(client, *map(client.collection, place.collections))


class VectorIndex:
    """Cosine search over vectors, in float32.

    Args:
        place: the place of the vectors.
    """

    in_records = False

    def __init__(self, place: Place) -> None:
        if _first_process() != os.getpid():
            raise KnowledgeBaseError(f"{place.name} {FORKED}")
        self.place = place
        with place.usable():
            self._opened = self._open()
            self._largest_write = min(_LARGEST_WRITE, self._opened.client.get_max_batch_size())

    @property
    def name(self) -> str:
        """The folder, or the address of the server."""
        return self.place.name

    def settle(self) -> None:
        """Do nothing: Chroma indexes vectors as it stores them."""

    def close(self) -> None:
        """Release the files or connections."""
        self._opened.client.close()

    def count(self) -> int:
        """Return the number of passage vectors."""
        with self._reading() as opened:
            return self._size(opened.passages)

    def ids(self) -> list[str]:
        """Return the ids of all passage vectors."""
        with self._reading() as opened:
            return _ids(opened.passages)

    def put(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store passage vectors (shape: ids x dimensions); existing ones are replaced."""
        with self._changing(ids) as opened:
            self._upsert(opened.passages, ids, vectors)

    def search(self, vectors: Matrix, k: int, among: frozenset[str] | None = None) -> list[list[tuple[str, float]]]:
        """Return the k nearest passages (of all, or among some) of each query vector with their cosine, best first."""
        with self._reading() as opened:
            return self._nearest(opened.passages, vectors, k, among)

    def search_triples(
        self, vectors: Matrix, k: int, among: frozenset[str] | None = None
    ) -> list[list[tuple[str, float]]]:
        """Return the k nearest triples (of all, or among some) of each query vector with their cosine, best first."""
        with self._reading() as opened:
            return self._nearest(opened.triples, vectors, k, among)

    def passages(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the passage vectors that are stored."""
        vectors: dict[str, Matrix] = {}
        with self._reading() as opened:
            for some in self._batches(ids):
                found = opened.passages.get(ids=list(ids[some]), include=["embeddings"])
                vectors.update(zip(found["ids"], np.asarray(found["embeddings"], dtype=np.float32), strict=True))
        return vectors

    def delete(self, passages: Sequence[str], triples: Sequence[str] = ()) -> None:
        """Remove vectors, those of passages last: as long as they exist, a kill can be detected."""
        with self._changing([*triples, *passages]) as opened:
            for collection, ids in ((opened.triples, triples), (opened.passages, passages)):
                for some in self._batches(ids):
                    collection.delete(ids=list(ids[some]))

    def put_triples(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Index triples (vectors: ids x dimensions) for search; existing ones are replaced."""
        with self._changing(ids) as opened:
            self._upsert(opened.triples, ids, vectors)

    def triple_ids(self) -> list[str]:
        """Return the ids of the indexed triples."""
        with self._reading() as opened:
            return _ids(opened.triples)

    def _open(self) -> Opened:
        return Opened.of(self.place)

    @contextmanager
    def _reading(self) -> Iterator[Opened]:
        with self.place.usable():
            yield self._opened

    def _changing(self, ids: Sequence[str]) -> AbstractContextManager[Opened]:
        return self._reading()  # a server handles concurrent reads by itself

    def _nearest(
        self, collection: Any, vectors: Matrix, k: int, among: frozenset[str] | None
    ) -> list[list[tuple[str, float]]]:
        k = min(k, self._size(collection, k) if among is None else len(among))
        if k == 0:
            return [[] for _ in vectors]
        some = None if among is None else list(among)
        found = collection.query(query_embeddings=vectors, ids=some, n_results=k, include=["distances"])
        return [
            [(id_, 1.0 - distance) for distance, id_ in sorted(zip(distances, ids, strict=True))]
            for ids, distances in zip(found["ids"], found["distances"], strict=True)
        ]

    def _size(self, collection: Any, enough: int | None = None) -> int:
        """Return the number of vectors; another number above `enough`, if there are more than that."""
        return int(collection.count())

    def _upsert(self, collection: Any, ids: Sequence[str], vectors: Matrix) -> None:
        for some in self._batches(ids):
            collection.upsert(ids=list(ids[some]), embeddings=vectors[some])

    def _batches(self, ids: Sequence[str]) -> Iterator[slice]:
        return (slice(start, start + self._largest_write) for start in range(0, len(ids), self._largest_write))


def _ids(collection: Any) -> list[str]:
    return list(collection.get(include=[])["ids"])
