"""Parallel coroutines, their cancellation, and a semaphore for all event loops of a process."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, TypeVar

T = TypeVar("T")
Item = TypeVar("Item")


async def gather(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines in parallel and return their results in order; if one fails, cancel the others.

    With `asyncio.gather`, the others would continue.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except ExceptionGroup as errors:
        first = errors.exceptions[0]
        raise first from first.__cause__
    return [task.result() for task in tasks]


async def map_limited(work: Callable[[Item], Awaitable[T]], items: Iterable[Item], at_once: int) -> list[T]:
    """Do the work of each item, at most so many at once, and return the results in order."""
    free = asyncio.Semaphore(at_once)

    async def done(item: Item) -> T:
        async with free:
            return await work(item)

    return await gather(map(done, items))


def is_own_cancellation(error: BaseException) -> bool:
    """Return whether an error is the cancellation of the current task, and not of something that it awaits."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and bool(task.cancelling())


_MOST_OVERTAKEN = 64  # times that the longest waiting caller is overtaken


class Gate:
    """Admits a caller when fewer callers than its own limit are inside; `asyncio.Semaphore` works on one loop only.

    Callers are admitted in the order of arrival. But callers with a larger limit may overtake one with a smaller limit
    that has to wait, so that many callers with small limits do not block them. After it was overtaken 64 times, the
    longest waiting caller is next.
    """

    def __init__(self) -> None:
        self._inside: set[asyncio.Future[None]] = set()
        self._waiting: defaultdict[int, dict[asyncio.Future[None], int]] = defaultdict(dict)  # by limit: arrivals
        self._arrivals = count()
        self._overtaken = 0
        self._lock = threading.Lock()

    @asynccontextmanager
    async def place(self, limit: int) -> AsyncIterator[None]:
        """Wait until fewer than `limit` callers are inside, and be inside during the block."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._lock:
            self._waiting[limit][place] = next(self._arrivals)
            self._let_in()
        try:
            await place
            yield
        finally:
            with self._lock:
                self._waiting[limit].pop(place, None)
                self._inside.discard(place)
                self._let_in()

    def is_full(self, limit: int) -> bool:
        """Return whether a caller with this limit would have to wait."""
        return len(self._inside) >= limit

    def _let_in(self) -> None:
        """Admit all waiting callers that are within their limits."""
        while (limit := self._next()) is not None:
            place = next(iter(self._waiting[limit]))
            del self._waiting[limit][place]
            try:
                place.get_loop().call_soon_threadsafe(_give, place)
            except RuntimeError:  # its loop has been closed
                continue
            self._inside.add(place)

    def _next(self) -> int | None:
        """Return the limit of the next caller; None if no caller can be admitted."""
        longest_waiting = sorted(
            (next(iter(places.values())), limit) for limit, places in self._waiting.items() if places
        )
        limits = [limit for _, limit in longest_waiting]
        may = [limit for limit in limits if len(self._inside) < limit]
        if not may or (may[0] != limits[0] and self._overtaken >= _MOST_OVERTAKEN):
            return None
        self._overtaken = 0 if may[0] == limits[0] else self._overtaken + 1
        return may[0]


def _give(place: asyncio.Future[None]) -> None:
    if not place.done():
        place.set_result(None)
