"""A limit on how much is under way at once that holds over all event loops of the process."""

import asyncio
import threading
from collections import deque


class Gate:
    """Lets so many in at once, first come first served; `asyncio.Semaphore` would count each event loop apart."""

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._lock = threading.Lock()

    async def __aenter__(self) -> None:
        """Wait for a place."""
        with self._lock:
            if self._free:
                self._free -= 1
                return
            place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            with self._lock:
                given = place not in self._waiting
                if not given:
                    self._waiting.remove(place)
            if given:
                self._leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        """Give the place to the next who waits."""
        self._leave()

    def _leave(self) -> None:
        with self._lock:
            while self._waiting:
                place = self._waiting.popleft()
                try:
                    place.get_loop().call_soon_threadsafe(_give, place)
                except RuntimeError:  # its loop has been closed
                    continue
                return
            self._free += 1


def _give(place: asyncio.Future[None]) -> None:
    if not place.done():
        place.set_result(None)
