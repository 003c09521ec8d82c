"""Threads: those that serve as long as the process lives and end with it in an orderly way, and those for one task."""

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
_AHEAD = 16  # items a thread, so that none waits for its next one


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


def in_threads(
    work: Callable[[T], Made], finish: Callable[[T, Made], Done], items: Iterable[T], threads: int
) -> Iterator[Done]:
    """Yield what becomes of items, in their order: worked on in so many threads, finished one after the other.

    A few items are taken ahead, not all. When something fails, or no more is wanted, those not begun are dropped, and
    none is finished after one that failed.
    """

    def done(item: T, before: Future[Done] | None) -> Done:
        made = work(item)
        if before:
            before.result()  # begun before, in another thread, if it is not done
        return finish(item, made)

    under_way: deque[Future[Done]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for item in items:
            under_way.append(pool.submit(done, item, under_way[-1] if under_way else None))
            if len(under_way) > _AHEAD * threads:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
