"""Who may use the folder of a knowledge base now: whether this opening is open, and whether it may make changes."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.storage.folder import file_number
from langgraph_rag.tools.storage.vector_index import FORKED
from langgraph_rag.tools.storage.write_lock import WriteLock


class Access:
    """One opening of a folder that has records, with its lock for changes."""

    def __init__(self, path: Path, lock: WriteLock, *, read_only: bool) -> None:
        self._path, self._lock, self._read_only = path, lock, read_only
        self._folder = path.resolve()  # the working directory may change
        self._process, self._file_number = os.getpid(), file_number(path)
        self._changing_here = threading.RLock()  # reentrant, as a change may close the knowledge base
        self._closing = self._closed = False

    @property
    def is_there(self) -> bool:
        """Whether the folder still has the files that were opened."""
        return file_number(self._folder) == self._file_number

    def check_open(self) -> None:
        """Check that it was not closed.

        Raises:
            KnowledgeBaseError: when it was, or this process is a fork of the one that opened it.
        """
        if self._process != os.getpid():  # a fork has no threads
            raise KnowledgeBaseError(f"{self._path} {FORKED}")
        if self._closed:
            raise KnowledgeBaseError(f"{self._path} was closed: open it again")

    def check_not_closing(self) -> None:
        """Check, during a change, that nobody waits for its end.

        Raises:
            KnowledgeBaseError: when another thread closes it.
        """
        if self._closing:
            raise KnowledgeBaseError(
                f"{self._path} was closed meanwhile: what was stored by then stays, and the same call stores the rest "
                "when it is open again"
            )

    def check_writable(self) -> None:
        """Check that changes are possible; from the first one on, other processes can make none.

        Raises:
            KnowledgeBaseError: when it is closed, replaced, read-only, or open for changes in another process.
        """
        self.check_open()
        if not self.is_there:
            raise KnowledgeBaseError(f"{self._path} was moved, removed or replaced after it was opened: open it again")
        if self._read_only:
            raise KnowledgeBaseError(f"{self._path} was opened read-only: open it without `read_only` to change it")
        if not self._lock.acquire():
            raise KnowledgeBaseError(
                f"{self._path} can only be asked here while another process, such as `langgraph-rag chat`, has it open "
                "to change it: close it there, or open it there with `read_only=True` where it is only asked"
            )

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the locks for changes of the folder.

        Raises:
            KnowledgeBaseError: as `check_writable`.
        """
        with self._changing_here:
            self.check_writable()
            with self._lock.writing:
                yield

    def if_free(self, repair: Callable[[], None]) -> None:
        """Run a repair, also of a read-only opening, unless another process or thread makes changes."""
        if not self._lock.acquire():
            return
        if self._lock.writing.acquire(blocking=False):
            try:
                repair()
            finally:
                self._lock.writing.release()
        if self._read_only:
            self._lock.release()

    def end(self, release: Callable[[], None]) -> None:
        """Close it, release what it holds after a running change, and then the lock; a forked process holds nothing."""
        self._closing = True
        if self._process != os.getpid():
            self._closed = True
            return
        with self._changing_here:
            self._closed = True
            try:
                release()
            finally:
                self._lock.release()
