"""Vectors in Chroma: a collection of passages, and one of triples once these are searched; derived from the records.

Chroma's files bear any number of threads, but only one process that writes.
"""

import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.chroma import FOLDER, Place, checked, in_folder, on_server
from langgraph_rag.tools.record_store import RecordStore
from langgraph_rag.tools.vectors import Matrix

_PLACE, _OWNER = "vectors", "vectors_owner"  # the properties that say where vectors lie, and as whose on a server
_LARGEST_WRITE = 500  # rows: more take as long, and a server refuses 40 MB at once

FORKED = (
    "cannot be used in a process forked from one that had a knowledge base open, because threads do not survive a "
    "fork: start processes by spawn, and open it in each"
)


@cache
def _first_process() -> int:
    return os.getpid()


class VectorIndex:
    """Cosine search over vectors, in float32.

    Args:
        place: where they lie.
    """

    def __init__(self, place: Place) -> None:
        if _first_process() != os.getpid():
            raise KnowledgeBaseError(f"{place.name} {FORKED}")
        self.place, self._usable = place, place.usable
        with self._usable():
            self._client = place.connect()
            self._passages, self._triples = map(self._collection, place.collections)
            self._largest_write = min(_LARGEST_WRITE, self._client.get_max_batch_size())

    def _collection(self, name: str) -> Any:
        return self._client.get_or_create_collection(
            name, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )

    def close(self) -> None:
        """Release the files or connections."""
        self._client.close()

    def count(self) -> int:
        """Return the number of passage vectors."""
        with self._usable():
            return int(self._passages.count())

    def ids(self) -> list[str]:
        """Return the ids of all passage vectors."""
        return self._ids(self._passages)

    def put(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store passage vectors (shape: ids x dimensions); existing ones are replaced."""
        self._upsert(self._passages, ids, vectors)

    def search(self, vectors: Matrix, k: int) -> list[list[tuple[str, float]]]:
        """Return the k nearest passages of each query vector with their cosine, best first."""
        return self._nearest(self._passages, vectors, k)

    def search_triples(self, vectors: Matrix, k: int) -> list[list[tuple[str, float]]]:
        """Return the k nearest triples of each query vector with their cosine, best first."""
        return self._nearest(self._triples, vectors, k)

    def passages(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the passage vectors that are stored."""
        if not ids:
            return {}
        with self._usable():
            found = self._passages.get(ids=list(ids), include=["embeddings"])
        return dict(zip(found["ids"], np.asarray(found["embeddings"], dtype=np.float32), strict=True))

    def delete(self, passages: Sequence[str], triples: Sequence[str] = ()) -> None:
        """Remove vectors, those of passages last: while they are there, a kill in between can be noticed."""
        with self._usable():
            for collection, ids in ((self._triples, triples), (self._passages, passages)):
                for some in self._batches(ids):
                    collection.delete(ids=list(ids[some]))

    def put_triples(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Make triples (vectors: ids x dimensions) ready to be searched; existing ones are replaced."""
        self._upsert(self._triples, ids, vectors)

    def triple_ids(self) -> list[str]:
        """Return the ids of the triples that can be searched."""
        return self._ids(self._triples)

    def _ids(self, collection: Any) -> list[str]:
        with self._usable():
            return list(collection.get(include=[])["ids"])

    def _upsert(self, collection: Any, ids: Sequence[str], vectors: Matrix) -> None:
        with self._usable():
            for some in self._batches(ids):
                collection.upsert(ids=list(ids[some]), embeddings=vectors[some])

    def _batches(self, ids: Sequence[str]) -> Iterator[slice]:
        return (slice(start, start + self._largest_write) for start in range(0, len(ids), self._largest_write))

    def _nearest(self, collection: Any, vectors: Matrix, k: int) -> list[list[tuple[str, float]]]:
        with self._usable():
            k = min(k, int(collection.count()))
            if k == 0:
                return [[] for _ in vectors]
            found = collection.query(query_embeddings=vectors, n_results=k, include=["distances"])
        return [
            sorted(((id_, 1.0 - distance) for id_, distance in zip(ids, distances, strict=True)), key=_best_first)
            for ids, distances in zip(found["ids"], found["distances"], strict=True)
        ]


def open_vectors(folder: Path, records: RecordStore, asked: str | None, *, writable: bool) -> VectorIndex:
    """Open the vectors of a knowledge base where they are asked to lie, else where they lay last.

    In another place than the last one there are none yet: they are to be made anew of the records.

    Raises:
        KnowledgeBaseError: when that place cannot be used, or is another one and this process may not change it.
    """
    last = records.meta(_PLACE) or FOLDER
    place = last if asked is None else checked(asked)
    moves = place != last
    if moves and not writable:
        raise KnowledgeBaseError(f"the vectors of {folder} stay in {last} while another process has it open")
    owner = uuid4().hex if moves else str(records.meta(_OWNER))  # another each time: copies of the folder part so
    vectors = VectorIndex(in_folder(folder / "chroma") if place == FOLDER else on_server(place, owner))
    if moves:
        vectors.delete(vectors.ids(), vectors.triple_ids())  # those from before the folder was left
        records.set_meta(_OWNER, owner)
        records.set_meta(_PLACE, place)
    return vectors


def _best_first(scored: tuple[str, float]) -> tuple[float, str]:
    return -scored[1], scored[0]
