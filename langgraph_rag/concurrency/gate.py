"""A limit on how much is under way at once that holds over all event loops of the process."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

_MOST_OVERTAKEN = 64  # times that who waits longest lets others go first


class Gate:
    """Lets each in when fewer than its own limit are inside; `asyncio.Semaphore` would count each event loop apart.

    First come, first served, but whoever waits for fewer to be inside is overtaken by those with larger limits, so that
    these are not held up by many with a small one. After having been overtaken 64 times it is waited for, so that it is
    not held up for good: at most until those inside have left.
    """

    def __init__(self) -> None:
        self._inside: set[asyncio.Future[None]] = set()
        self._waiting: defaultdict[int, dict[asyncio.Future[None], int]] = defaultdict(dict)  # by limit: arrivals
        self._arrivals = count()
        self._overtaken = 0
        self._lock = threading.Lock()

    @asynccontextmanager
    async def place(self, limit: int) -> AsyncIterator[None]:
        """Wait until fewer than `limit` are inside, and be inside."""
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
        """Tell whether who has this limit would have to wait for others."""
        return len(self._inside) >= limit

    def _let_in(self) -> None:
        """Let in all who may come."""
        while (limit := self._next()) is not None:
            place = next(iter(self._waiting[limit]))
            del self._waiting[limit][place]
            try:
                place.get_loop().call_soon_threadsafe(_give, place)
            except RuntimeError:  # its loop has been closed
                continue
            self._inside.add(place)

    def _next(self) -> int | None:
        """Return the limit of the one who comes next, if anyone may."""
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
