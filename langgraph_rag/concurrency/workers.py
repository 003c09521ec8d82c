"""Long-running threads that end in order with the process."""

import atexit
import threading
import time
from collections.abc import Callable

_EXIT_TIMEOUT = 5.0  # seconds


class Worker(threading.Thread):
    """A daemon thread that is stopped when the interpreter exits, within 5 seconds.

    A thread that is still in C++ code (torch, Chroma) would otherwise abort the process.

    Args:
        serve: the function that it runs.
        stop: makes this function return soon.
        name: the name of the thread.
    """

    def __init__(self, serve: Callable[[], None], stop: Callable[[], None], name: str) -> None:
        super().__init__(target=serve, name=name, daemon=True)
        self.stop = stop


@atexit.register
def _end_all() -> None:
    until = time.monotonic() + _EXIT_TIMEOUT
    workers = [thread for thread in threading.enumerate() if isinstance(thread, Worker)]
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.join(max(0.0, until - time.monotonic()))
