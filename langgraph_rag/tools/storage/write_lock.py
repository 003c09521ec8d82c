"""Locks a folder for changes: one process at a time, and in it one thread at a time."""

import threading
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

LOCK = "lock"  # a file in the folder

_counting = threading.Lock()  # the counter of FileLock is not thread-safe
_writing: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)


class WriteLock:
    """The lock of one open knowledge base on its folder; a process may open a folder more than once.

    Attributes:
        held: whether this opening has the lock.
        writing: held by the thread that changes the folder; the same for all openings.
    """

    def __init__(self, folder: Path) -> None:
        self._file = FileLock(folder.resolve() / LOCK, blocking=False, thread_local=False, is_singleton=True)
        self.held = False
        with _counting:
            self.writing = _writing[folder.resolve()]

    def acquire(self) -> bool:
        """Take the lock unless another process has it; return whether it is held now."""
        with _counting:
            if not self.held:
                with suppress(Timeout):
                    self._file.acquire()
                    self.held = True
            return self.held

    def release(self) -> None:
        """Release the lock; other openings keep theirs."""
        with _counting:
            if self.held:
                self._file.release()
            self.held = False
