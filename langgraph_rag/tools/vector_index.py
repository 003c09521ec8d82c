"""Vectors in Chroma: a collection of passages, and one of triples once these are searched; derived from the records.

Chroma's files bear any number of threads of one opening, but no other opening that reads them while they are written.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from filelock import FileLock

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.change_log import ChangeLog
from langgraph_rag.tools.chroma import FOLDER, Place, checked, in_folder, on_server
from langgraph_rag.tools.exact_search import VectorRows, VectorTable
from langgraph_rag.tools.incremental import Incremental
from langgraph_rag.tools.record_store import RecordStore
from langgraph_rag.tools.vectors import Matrix

_PLACE, _OWNER = "vectors", "vectors_owner"  # the properties that say where vectors lie, and as whose on a server
_LARGEST_WRITE = 500  # rows: more take as long, and a server refuses 40 MB at once
_LOCK = "lock"  # a file among theirs
_OPENING = "opening"  # a file among theirs while they are opened: a byte for each time
_ATTEMPTS = 2
_EXACT = 20_000  # vectors of a collection in files that are all looked at, at most: 30 MB at 384 dimensions
_PATIENCE = 60.0  # seconds to wait for who reads or writes the files
_PAUSE = 0.005  # seconds between two looks whether they are done

FORKED = (
    "cannot be used in a process forked from one that had a knowledge base open, because threads do not survive a "
    "fork: start processes by spawn, and open it in each"
)


@cache
def _first_process() -> int:
    return os.getpid()


@dataclass(frozen=True)
class _Opened:
    client: Any
    passages: Any
    triples: Any


class VectorIndex:
    """Cosine search over vectors, in float32.

    Args:
        place: where they lie.
    """

    def __init__(self, place: Place) -> None:
        if _first_process() != os.getpid():
            raise KnowledgeBaseError(f"{place.name} {FORKED}")
        self.place = place
        with place.usable():
            self._opened = self._open()
            self._largest_write = min(_LARGEST_WRITE, self._opened.client.get_max_batch_size())

    def close(self) -> None:
        """Release the files or connections."""
        self._opened.client.close()

    def count(self) -> int:
        """Return the number of passage vectors."""
        with self._reading() as opened:
            return int(opened.passages.count())

    def ids(self) -> list[str]:
        """Return the ids of all passage vectors."""
        with self._reading() as opened:
            return _ids(opened.passages)

    def put(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store passage vectors (shape: ids x dimensions); existing ones are replaced."""
        with self._changing(ids) as opened:
            self._upsert(opened.passages, ids, vectors)

    def search(self, vectors: Matrix, k: int) -> list[list[tuple[str, float]]]:
        """Return the k nearest passages of each query vector with their cosine, best first."""
        with self._reading() as opened:
            return self._nearest(opened.passages, vectors, k)

    def search_triples(self, vectors: Matrix, k: int) -> list[list[tuple[str, float]]]:
        """Return the k nearest triples of each query vector with their cosine, best first."""
        with self._reading() as opened:
            return self._nearest(opened.triples, vectors, k)

    def passages(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the passage vectors that are stored."""
        if not ids:
            return {}
        with self._reading() as opened:
            found = opened.passages.get(ids=list(ids), include=["embeddings"])
        return dict(zip(found["ids"], np.asarray(found["embeddings"], dtype=np.float32), strict=True))

    def delete(self, passages: Sequence[str], triples: Sequence[str] = ()) -> None:
        """Remove vectors, those of passages last: while they are there, a kill in between can be noticed."""
        with self._changing([*triples, *passages]) as opened:
            for collection, ids in ((opened.triples, triples), (opened.passages, passages)):
                for some in self._batches(ids):
                    collection.delete(ids=list(ids[some]))

    def put_triples(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Make triples (vectors: ids x dimensions) ready to be searched; existing ones are replaced."""
        with self._changing(ids) as opened:
            self._upsert(opened.triples, ids, vectors)

    def triple_ids(self) -> list[str]:
        """Return the ids of the triples that can be searched."""
        with self._reading() as opened:
            return _ids(opened.triples)

    def _open(self) -> _Opened:
        client = self.place.connect()
        return _Opened(client, *(_collection(client, name) for name in self.place.collections))

    @contextmanager
    def _reading(self) -> Iterator[_Opened]:
        with self.place.usable():
            yield self._opened

    def _changing(self, ids: Sequence[str]) -> AbstractContextManager[_Opened]:
        return self._reading()  # a server minds by itself who reads meanwhile

    def _nearest(self, collection: Any, vectors: Matrix, k: int) -> list[list[tuple[str, float]]]:
        k = min(k, int(collection.count()))
        if k == 0:
            return [[] for _ in vectors]
        found = collection.query(query_embeddings=vectors, n_results=k, include=["distances"])
        return [
            [(id_, 1.0 - distance) for distance, id_ in sorted(zip(distances, ids, strict=True))]
            for ids, distances in zip(found["ids"], found["distances"], strict=True)
        ]

    def _upsert(self, collection: Any, ids: Sequence[str], vectors: Matrix) -> None:
        for some in self._batches(ids):
            collection.upsert(ids=list(ids[some]), embeddings=vectors[some])

    def _batches(self, ids: Sequence[str]) -> Iterator[slice]:
        return (slice(start, start + self._largest_write) for start in range(0, len(ids), self._largest_write))


class VectorFiles(VectorIndex):
    """Vectors in files, which Chroma reads when they are opened: opened again after another opening changed them.

    Who reads the files while another writes them gets a segmentation fault, so one at a time opens, which reads them,
    or writes. What is open is searched in memory, by any number at once: up to 20,000 vectors exactly. Chroma's index
    is approximate, and where many vectors are alike it misses what is nearest.

    Args:
        place: the folder.
        changes: tells of the changes of all openings, in whatever process.
    """

    def __init__(self, place: Place, changes: ChangeLog) -> None:
        self._changes = changes
        self._lock = FileLock(Path(place.name).resolve() / _LOCK)
        with place.usable(), self._locked(), _attempt(Path(place.name).resolve()):
            self._seen = changes.end
            super().__init__(place)
        self._tables = {name: self._table(name) for name in place.collections}

    def _open(self) -> _Opened:
        opened = super()._open()
        for collection in (opened.passages, opened.triples):
            collection.get(limit=1, include=["embeddings"])  # has the files read, now that nobody writes them
        return opened

    def passages(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the passage vectors that are stored."""
        with self._reading() as opened:
            table = self._exact(opened.passages)
        return super().passages(ids) if table is None else table.of(ids)

    def _nearest(self, collection: Any, vectors: Matrix, k: int) -> list[list[tuple[str, float]]]:
        table = self._exact(collection)
        if table is None or not table.fits(vectors):  # which Chroma tells
            return super()._nearest(collection, vectors, k)
        return table.nearest(vectors, k)

    def _exact(self, collection: Any) -> VectorTable | None:
        """Return the vectors of a collection that is small enough to look at all of them."""
        return self._tables[collection.name].now() if int(collection.count()) <= _EXACT else None

    def _table(self, collection: str) -> Incremental[VectorRows, VectorTable]:
        def fill(rows: VectorRows, ids: Sequence[str] | None) -> None:
            opened = self._opened.passages if collection == self._opened.passages.name else self._opened.triples
            for some in [None] if ids is None else [list(ids[some]) for some in self._batches(ids)]:
                found = opened.get(ids=some, include=["embeddings"])
                if found["ids"]:
                    rows.add(found["ids"], np.asarray(found["embeddings"], dtype=np.float32))

        return Incremental(VectorRows, fill, VectorRows.table, [_Seen(self, self._changes)])

    def _locked(self) -> AbstractContextManager[object]:
        return self._lock.acquire(timeout=_PATIENCE, poll_interval=_PAUSE)

    def _catch_up(self) -> None:
        """Open the files again if they changed. To be called by who has the lock."""
        if self._changes.end != self._seen:
            end = self._changes.end
            self._opened = self._open()  # whoever still searches the last one keeps it until that is done
            self._seen = end

    @contextmanager
    def _reading(self) -> Iterator[_Opened]:
        with self.place.usable():
            if self._changes.end != self._seen:
                with self._locked():
                    self._catch_up()
            yield self._opened

    @contextmanager
    def _changing(self, ids: Sequence[str]) -> Iterator[_Opened]:
        with self.place.usable(), self._locked():
            self._catch_up()
            try:
                yield self._opened
            finally:  # also of what was only begun
                self._changes.add(ids)
                self._seen = self._changes.end


@contextmanager
def _attempt(folder: Path) -> Iterator[None]:
    """Open files of which damaged ones end the whole process: after that came about twice, they are removed first.

    What is missing of the vectors is made anew from the records.
    """
    opening = folder / _OPENING
    if opening.exists() and opening.stat().st_size >= _ATTEMPTS:
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != _LOCK:
                path.unlink()
    with opening.open("ab") as noted:
        noted.write(b".")
    try:
        yield
    finally:
        opening.unlink(missing_ok=True)


class _Seen:
    """The changes of the files that what is open has seen."""

    def __init__(self, files: VectorFiles, changes: ChangeLog) -> None:
        self._files, self.since = files, changes.since

    @property
    def end(self) -> int:
        return self._files._seen


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
        raise KnowledgeBaseError(f"the vectors of {folder} stay in {last}: it is open elsewhere, or read-only here")
    owner = uuid4().hex if moves else str(records.meta(_OWNER))  # another each time: copies of the folder part so
    vectors = (
        VectorFiles(in_folder(folder / "chroma"), records.vector_changes)
        if place == FOLDER
        else VectorIndex(on_server(place, owner))
    )
    if moves:
        vectors.delete(vectors.ids(), vectors.triple_ids())  # those from before the folder was left
        records.set_meta(_OWNER, owner)
        records.set_meta(_PLACE, place)
    return vectors


def _collection(client: Any, name: str) -> Any:
    return client.get_or_create_collection(name, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None)


def _ids(collection: Any) -> list[str]:
    return list(collection.get(include=[])["ids"])
