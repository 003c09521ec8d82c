"""Vectors in a folder or on a server, searched exactly while few; or in two collections of any vector store."""

import base64
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import numpy as np
from filelock import FileLock
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore as LangChainStore
from numpy.typing import NDArray

from langgraph_rag.arguments import expect
from langgraph_rag.errors import EmbeddingsMismatchError, KnowledgeBaseError
from langgraph_rag.tools.stores.chroma import FOLDER, Opened, Place, VectorIndex, in_folder, on_server
from langgraph_rag.tools.stores.database import ChangeLog, Incremental
from langgraph_rag.tools.stores.protocols import Matrix, VectorCollection
from langgraph_rag.tools.stores.records import RecordStore

VECTORS = "chroma"  # a folder in that of a knowledge base


@dataclass(frozen=True)
class VectorTable:
    """Vectors of unit length in memory.

    Attributes:
        ids: the ids of the vectors.
        vectors: the vectors; shape: ids x dimensions.
    """

    ids: Sequence[str]
    vectors: Matrix

    @cached_property
    def _places(self) -> dict[str, int]:
        return {id_: place for place, id_ in enumerate(self.ids)}

    @cached_property
    def _known_rows(self) -> WeakKeyDictionary[frozenset[str], NDArray[np.int_]]:
        return WeakKeyDictionary()

    def of(self, ids: Iterable[str]) -> dict[str, Matrix]:
        """Return the vectors of ids; unknown ids are left out."""
        return {id_: self.vectors[self._places[id_]] for id_ in ids if id_ in self._places}

    def fits(self, queries: Matrix) -> bool:
        """Return whether queries have the same dimensions."""
        return self.vectors.shape[-1:] == queries.shape[-1:]

    def nearest(self, queries: Matrix, k: int, among: frozenset[str] | None = None) -> list[list[tuple[str, float]]]:
        """Return the k ids nearest to each query, of all or among some, with their cosine, best first.

        Shape of `queries`: queries x dimensions.
        """
        rows = None if among is None else self._rows(among)
        k = min(k, len(self.ids if rows is None else rows))
        if not k:
            return [[] for _ in queries]
        # one pass over the vectors for all queries; in a matrix product, the threads of BLAS would spin
        return [self._best(cosines, k, rows) for cosines in np.vecdot(self.vectors[:, np.newaxis], queries).T]

    def _rows(self, ids: frozenset[str]) -> NDArray[np.int_]:
        if (known := self._known_rows.get(ids)) is None:
            known = np.array([place for id_ in ids if (place := self._places.get(id_)) is not None], int)
            self._known_rows[ids] = known
        return known

    def _best(self, cosines: Matrix, k: int, rows: NDArray[np.int_] | None) -> list[tuple[str, float]]:
        if rows is not None:
            cosines = cosines[rows]
        least = np.partition(cosines, len(cosines) - k)[len(cosines) - k]
        places = np.flatnonzero(cosines >= least)
        ids = [self.ids[row] for row in (places if rows is None else rows[places]).tolist()]
        best = sorted(zip((-cosines[places]).tolist(), ids, strict=True))[:k]  # alike: by id
        return [(id_, -negative) for negative, id_ in best]


class VectorRows:
    """The vectors of a table that is updated incrementally; earlier tables do not change."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._vectors = np.empty((0, 0), np.float32)  # those of the ids, and room for more behind them

    def add(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Add vectors (shape: ids x dimensions)."""
        size, new = len(self._ids), len(self._ids) + len(ids)
        if new > len(self._vectors):
            held, self._vectors = self._vectors[:size], np.empty((new + new // 2, vectors.shape[1]), np.float32)
            if size:
                self._vectors[:size] = held
        self._vectors[size:new] = vectors  # behind those of earlier tables
        self._ids = [*self._ids, *ids]

    def remove(self, ids: Iterable[str]) -> None:
        """Remove vectors; unknown ids are ignored."""
        gone = set(ids)
        left = [place for place, id_ in enumerate(self._ids) if id_ not in gone] if gone else []
        if gone and len(left) < len(self._ids):
            self._ids, self._vectors = [self._ids[place] for place in left], self._vectors[left]

    def table(self) -> VectorTable:
        """Return the vectors as they are now."""
        return VectorTable(self._ids, self._vectors[: len(self._ids)])


_LOCK = "lock"  # a file in the folder
_OPENING = "opening"  # a file in the folder while its files are opened
_EXACT = 20_000  # maximum vectors of a collection with exact search: 30 MB at 384 dimensions
_LOCK_TIMEOUT = 60.0  # seconds to wait for other readers or writers of the files
_PAUSE = 0.005  # seconds between two checks
_TRIAL = """
import sys
from pathlib import Path
from langgraph_rag.tools.stores.chroma import in_folder
from langgraph_rag.tools.stores.vector_files import opened_files
opened_files(in_folder(Path(sys.argv[1])))
"""
_SIGNALS = [getattr(signal, name, None) for name in ("SIGSEGV", "SIGBUS", "SIGABRT")]  # Windows lacks some
_CRASHES = {0xC0000005, *(-number for number in _SIGNALS if number)}  # the first is that of Windows


class VectorFiles(VectorIndex):
    """Vectors in files, which Chroma reads when it opens them; they are reopened after changes by another opening.

    Reading the files while another process writes them causes a segmentation fault, so a lock allows one to open or
    write them at a time. Open files are searched in memory, by any number of threads: up to 20,000 vectors exactly.
    Chroma's index is approximate, and misses the nearest vectors if many are similar.

    Args:
        place: the folder.
        changes: the log of the changes by all openings, in any process.
    """

    def __init__(self, place: Place, changes: ChangeLog) -> None:
        self._changes = changes
        self._lock = FileLock(Path(place.name).resolve() / _LOCK)
        with place.usable(), self._locked(), _tried_first(Path(place.name).resolve()):
            self._seen = changes.end
            super().__init__(place)
        self._tables = {name: self._table(name) for name in place.collections}
        self._sizes: dict[str, tuple[int, int]] = {}  # with the end of the log that they belong to
        self._writing = False
        self._sharing, self._sharers = threading.Condition(), 0  # threads that read files under the lock of a change

    def _open(self) -> Opened:
        return opened_files(self.place)  # reads the files, while nobody writes them

    def passages(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the passage vectors that are stored."""
        with self._reading() as opened:
            table = self._exact(opened.passages)
        return super().passages(ids) if table is None else table.of(ids)

    def _nearest(
        self, collection: Any, vectors: Matrix, k: int, among: frozenset[str] | None
    ) -> list[list[tuple[str, float]]]:
        table = self._exact(collection)
        if table is None or not table.fits(vectors):  # Chroma reports other dimensions
            return super()._nearest(collection, vectors, k, among)
        return table.nearest(vectors, k, among)

    def _exact(self, collection: Any) -> VectorTable | None:
        """Return the vectors of a collection, if it is small enough for exact search."""
        return self._tables[collection.name].now() if self._size(collection, _EXACT) <= _EXACT else None

    def _size(self, collection: Any, enough: int | None = None) -> int:
        """Return the number of vectors, counted only where it matters: other threads wait while Chroma counts."""
        seen, known = self._seen, self._sizes.get(collection.name)
        if known is not None:
            counted_at, size = known
            if counted_at == seen or (enough is not None and size - (seen - counted_at) > enough):
                return size
        known = self._sizes[collection.name] = seen, super()._size(collection)
        return known[1]

    def _table(self, collection: str) -> Incremental[VectorRows, VectorTable]:
        def fill(rows: VectorRows, ids: Sequence[str] | None) -> None:
            with self._steady():  # Chroma reads from files and from its memory, which others' changes would set apart
                opened = self._opened.passages if collection == self._opened.passages.name else self._opened.triples
                for some in [None] if ids is None else [list(ids[some]) for some in self._batches(ids)]:
                    found = opened.get(ids=some, include=["embeddings"])
                    if found["ids"]:
                        rows.add(found["ids"], np.asarray(found["embeddings"], dtype=np.float32))

        return Incremental(VectorRows, fill, VectorRows.table, [_Seen(self, self._changes)])

    def _locked(self) -> AbstractContextManager[object]:
        return self._lock.acquire(timeout=_LOCK_TIMEOUT, poll_interval=_PAUSE)

    def _catch_up(self) -> None:
        """Reopen the files if they changed; the caller must hold the lock."""
        if self._changes.end != self._seen:
            end = self._changes.end
            self._opened = self._open()  # running searches keep the old one
            self._seen = end

    @contextmanager
    def _reading(self) -> Iterator[Opened]:
        with self.place.usable():
            if (
                self._changes.end != self._seen and not self._writing
            ):  # beside a change of its own, nothing else changes
                with self._locked():
                    self._catch_up()
            yield self._opened

    @contextmanager
    def _steady(self) -> Iterator[None]:
        """Keep other openings from changing the files: with the lock, or with that of a running change of this one."""
        with self._sharing:
            shares = self._writing
            self._sharers += shares
        if not shares:
            with self._locked():
                self._catch_up()
                yield
            return
        try:
            yield
        finally:
            with self._sharing:
                self._sharers -= 1
                self._sharing.notify_all()

    @contextmanager
    def _changing(self, ids: Sequence[str]) -> Iterator[Opened]:
        with self.place.usable(), self._locked():
            self._catch_up()
            self._writing = True
            try:
                self._changes.add(ids)  # before the change, so that a kill in it leaves no other process without notice
                yield self._opened
            finally:
                with self._sharing:
                    self._seen, self._writing = self._changes.end, False
                    self._sharing.wait_for(lambda: not self._sharers)


@contextmanager
def _tried_first(folder: Path) -> Iterator[None]:
    """Guard the opening of files, as damaged ones crash the process; after a crash, another process tries them first.

    Files that crash it are removed, and missing vectors are restored from the records. If the process was only killed,
    they stay.
    """
    opening = folder / _OPENING
    if opening.exists() and _crash(folder):
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != _LOCK:
                path.unlink()
    opening.touch()
    try:
        yield
    finally:
        opening.unlink(missing_ok=True)


def _crash(folder: Path) -> bool:
    """Return whether files crash a process that opens them."""
    tried = subprocess.run(
        [sys.executable, "-c", _TRIAL, folder],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return tried.returncode in _CRASHES


def opened_files(place: Place) -> Opened:
    """Open files and read them."""
    opened = Opened.of(place)
    for collection in (opened.passages, opened.triples):
        collection.get(limit=1, include=["embeddings"])
    return opened


class _Seen:
    """The changes of the files that are included in the open ones."""

    def __init__(self, files: VectorFiles, changes: ChangeLog) -> None:
        self._files, self.since = files, changes.since

    @property
    def end(self) -> int:
        return self._files._seen


VECTORS_PLACE, VECTORS_OWNER = (
    "vectors",
    "vectors_owner",
)  # the properties with the place of the vectors, and their owner on a server


def open_vectors(folder: Path, records: RecordStore, asked: str | None, *, writable: bool) -> VectorIndex:
    """Open the vectors of a knowledge base in the place that is asked for (a checked address), or else in the last one.

    A new place is empty; its vectors must be restored from the records.

    Raises:
        KnowledgeBaseError: when that place cannot be used, or is another one and this process may not change it.
    """
    last = records.meta(VECTORS_PLACE) or FOLDER
    place = asked or last
    moves = place != last
    if moves and not writable:
        raise KnowledgeBaseError(f"the vectors of {folder} stay in {last}: it is open elsewhere, or read-only here")
    owner = uuid4().hex if moves else str(records.meta(VECTORS_OWNER))  # new, so that copies of the folder separate
    vectors = (
        VectorFiles(in_folder(folder / VECTORS), records.vector_changes)
        if place == FOLDER
        else VectorIndex(on_server(place, owner))
    )
    if moves:
        vectors.delete(vectors.ids(), vectors.triple_ids())  # from an earlier use of the folder
        records.set_meta(VECTORS_OWNER, owner)
        records.set_meta(VECTORS_PLACE, place)
    return vectors


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
