"""Long-running threads that end in order with the process, and ordered work in several threads."""

import atexit
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
Made = TypeVar("Made")
Done = TypeVar("Done")

_PATIENCE = 5.0  # seconds
_AHEAD = 16  # items submitted in advance for each thread


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
    until = time.monotonic() + _PATIENCE
    workers = [thread for thread in threading.enumerate() if isinstance(thread, Worker)]
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.join(max(0.0, until - time.monotonic()))


def in_threads(
    work: Callable[[T], Made], finish: Callable[[T, Made], Done], items: Iterable[T], threads: int
) -> Iterator[Done]:
    """Work on items in several threads and finish them one after the other; yield the results in order.

    Only a few items are submitted in advance. After an error, or when the generator is closed, the other items are
    dropped, and no item after a failed one is finished.
    """

    def done(item: T, before: Future[Done] | None) -> Done:
        made = work(item)
        if before:
            before.result()  # submitted earlier, so it is done or running
        return finish(item, made)

    pending: deque[Future[Done]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for item in items:
            pending.append(pool.submit(done, item, pending[-1] if pending else None))
            if len(pending) > _AHEAD * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
