"""Data that is derived from stored records and updated incrementally on access."""

import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary


class _Shrinking(Protocol):
    def remove(self, ids: Iterable[str], /) -> None: ...
    def outgrown(self) -> bool: ...


class _Log(Protocol):
    @property
    def end(self) -> int: ...
    def since(self, place: int, /) -> list[str] | None: ...


Rows = TypeVar("Rows", bound=_Shrinking)
Made = TypeVar("Made")
Part = TypeVar("Part")


class Incremental(Generic[Rows, Made]):
    """Derived data, with the rows that it is made of.

    Args:
        rows: creates empty rows.
        fill: adds the stored rows of some ids, or of all (None).
        make: creates the derived data from the rows.
        logs: the logs of changed ids, such as `ChangeLog`.
    """

    def __init__(
        self,
        rows: Callable[[], Rows],
        fill: Callable[[Rows, Sequence[str] | None], None],
        make: Callable[[Rows], Made],
        logs: Sequence[_Log],
    ) -> None:
        self._rows, self._fill, self._make, self._logs = rows, fill, make, logs
        self._lock = threading.Lock()
        self._kept: tuple[list[int], Rows, Made] | None = None  # with the ends of the logs
        self._of_parts: WeakKeyDictionary[object, tuple[list[int], Made]] = WeakKeyDictionary()

    def now(self) -> Made:
        """Return the current data."""
        with self._lock:
            return self._current()[2]

    def of_part(self, part: Part, make: Callable[[Rows, Part], Made]) -> Made:
        """Return the current data of a part of the rows, which is kept as long as the part is."""
        with self._lock:
            ends, rows, _ = self._current()
            known = self._of_parts.get(part)
            if known is None or known[0] != ends:
                known = self._of_parts[part] = ends, make(rows, part)
            return known[1]

    def _current(self) -> tuple[list[int], Rows, Made]:
        ends = [log.end for log in self._logs]  # read first, so that concurrent changes are read again
        if self._kept is not None and self._kept[0] == ends:
            return self._kept
        kept, self._kept = self._kept, None  # after an error, start again
        ids = self._changed_since(kept[0]) if kept else None
        rows = kept[1] if kept and ids is not None else self._rows()
        rows.remove(ids or ())
        self._fill(rows, ids)
        if rows.outgrown():
            rows = self._rows()
            self._fill(rows, None)
        self._kept = ends, rows, self._make(rows)
        return self._kept

    def _changed_since(self, ends: Sequence[int]) -> list[str] | None:
        """Return the ids that changed since these ends of the logs; None if all may have changed."""
        missed = [log.since(end) for log, end in zip(self._logs, ends, strict=True)]
        told = [ids for ids in missed if ids is not None]
        return list(dict.fromkeys(chain.from_iterable(told))) if len(told) == len(missed) else None
