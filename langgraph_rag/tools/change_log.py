"""Which passages changed last, told to whoever keeps something made of them."""

import threading
from collections import deque
from collections.abc import Sequence
from itertools import islice

_KEPT = 10_000  # ids; after more changes than that, what is made of passages is as soon made anew


class ChangeLog:
    """Ids of changed passages in the order of the changes; `end` grows with each and marks a place in the log."""

    def __init__(self) -> None:
        self.end = 0
        self._last: deque[str] = deque(maxlen=_KEPT)
        self._lock = threading.Lock()

    def add(self, ids: Sequence[str]) -> None:
        """Note that passages changed. To be called when others can read the change, not before."""
        with self._lock:
            self._last.extend(ids)
            self.end += len(ids)

    def since(self, place: int) -> list[str] | None:
        """Return the passages that changed since a place in the log, each once; None if it was too long ago."""
        with self._lock:
            missed = self.end - place
            if missed > len(self._last):
                return None
            return list(dict.fromkeys(islice(self._last, len(self._last) - missed, None)))
