"""Vectors in the files of a folder, which many processes search and one at a time writes."""

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

_LOCK = "lock"  # a file among theirs
_OPENING = "opening"  # a file among theirs while they are opened
_EXACT = 20_000  # vectors of a collection in files that are all looked at, at most: 30 MB at 384 dimensions
_PATIENCE = 60.0  # seconds to wait for who reads or writes the files
_PAUSE = 0.005  # seconds between two looks whether they are done
_TRIAL = """
import sys
from pathlib import Path
from langgraph_rag.tools.storage.chroma import in_folder
from langgraph_rag.tools.storage.vector_files import opened_files
opened_files(in_folder(Path(sys.argv[1])))
"""
_SIGNALS = [getattr(signal, name, None) for name in ("SIGSEGV", "SIGBUS", "SIGABRT")]  # Windows lacks some
_CRASHES = {0xC0000005, *(-number for number in _SIGNALS if number)}  # the first is what Windows calls it


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
        with place.usable(), self._locked(), _tried_first(Path(place.name).resolve()):
            self._seen = changes.end
            super().__init__(place)
        self._tables = {name: self._table(name) for name in place.collections}

    def _open(self) -> Opened:
        return opened_files(self.place)  # read now that nobody writes them

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
            try:
                yield self._opened
            finally:  # also of what was only begun
                self._changes.add(ids)
                self._seen = self._changes.end


@contextmanager
def _tried_first(folder: Path) -> Iterator[None]:
    """Open files of which damaged ones end the whole process: after one ended meanwhile, another tries them first.

    Those that crash it are removed, and what is missing of the vectors is made anew from the records; where the process
    was only killed, they stay.
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
    """Open files and have them read."""
    opened = Opened.of(place)
    for collection in (opened.passages, opened.triples):
        collection.get(limit=1, include=["embeddings"])
    return opened


class _Seen:
    """The changes of the files that what is open has seen."""

    def __init__(self, files: VectorFiles, changes: ChangeLog) -> None:
        self._files, self.since = files, changes.since

    @property
    def end(self) -> int:
        return self._files._seen
