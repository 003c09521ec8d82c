"""Vectors in the files of a folder, for many reading processes and one writing process at a time."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from langgraph_rag.tools.storage.change_log import ChangeLog
from langgraph_rag.tools.storage.chroma import Place
from langgraph_rag.tools.storage.exact_search import VectorRows, VectorTable
from langgraph_rag.tools.storage.incremental import Incremental
from langgraph_rag.tools.storage.vector_index import Opened, VectorIndex
from langgraph_rag.tools.vectors import Matrix

_LOCK = "lock"  # a file in the folder
_OPENING = "opening"  # a file in the folder while its files are opened
_EXACT = 20_000  # maximum vectors of a collection with exact search: 30 MB at 384 dimensions
_LOCK_TIMEOUT = 60.0  # seconds to wait for other readers or writers of the files
_PAUSE = 0.005  # seconds between two checks
_TRIAL = """
import sys
from pathlib import Path
from langgraph_rag.tools.storage.chroma import in_folder
from langgraph_rag.tools.storage.vector_files import opened_files
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
        return self._tables[collection.name].now() if self._size(collection) <= _EXACT else None

    def _size(self, collection: Any) -> int:
        """Return the number of vectors, counted after changes only: other threads wait while Chroma counts."""
        seen, known = self._seen, self._sizes.get(collection.name)
        if known is None or known[0] != seen:
            known = self._sizes[collection.name] = seen, super()._size(collection)
        return known[1]

    def _table(self, collection: str) -> Incremental[VectorRows, VectorTable]:
        def fill(rows: VectorRows, ids: Sequence[str] | None) -> None:
            with self._locked():  # Chroma reads from files and from its memory, which others' changes would set apart
                self._catch_up()
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
            if self._changes.end != self._seen:
                with self._locked():
                    self._catch_up()
            yield self._opened

    @contextmanager
    def _changing(self, ids: Sequence[str]) -> Iterator[Opened]:
        with self.place.usable(), self._locked():
            self._catch_up()
            self._changes.add(ids)  # before the change, so that a kill in it leaves no other process without notice
            try:
                yield self._opened
            finally:
                self._seen = self._changes.end


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
