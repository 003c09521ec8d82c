"""A map over items in several threads, in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
Made = TypeVar("Made")
Done = TypeVar("Done")

_AHEAD = 16  # items submitted in advance for each thread


def parallel_map(
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
