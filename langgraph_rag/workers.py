"""Threads that serve as long as the process lives, and end in an orderly way with it."""

import atexit
import threading
import time
from collections.abc import Callable

_PATIENCE = 5.0  # seconds


class Worker(threading.Thread):
    """A daemon thread that is asked to end, and waited for up to 5 seconds, when the interpreter is left.

    Python ends one that it finds in C++ (torch, Chroma) by aborting the whole process.

    Args:
        serve: what it runs.
        stop: makes that return soon.
        name: what it is called in a list of threads.
    """

    def __init__(self, serve: Callable[[], None], stop: Callable[[], None], name: str) -> None:
        super().__init__(target=serve, name=name, daemon=True)
        self.stop = stop


@atexit.register
def _end_all() -> None:
    until = time.monotonic() + _PATIENCE
    workers = [thread for thread in threading.enumerate() if isinstance(thread, Worker)]
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.join(max(0.0, until - time.monotonic()))
