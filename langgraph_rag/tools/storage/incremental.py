"""What is made of what is stored, and catches up with what changed when it is asked for."""

import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Generic, Protocol, TypeVar


class _Shrinking(Protocol):
    def remove(self, ids: Iterable[str], /) -> None: ...
    def outgrown(self) -> bool: ...


class _Log(Protocol):
    @property
    def end(self) -> int: ...
    def since(self, place: int, /) -> list[str] | None: ...


Rows = TypeVar("Rows", bound=_Shrinking)
Made = TypeVar("Made")


class Incremental(Generic[Rows, Made]):
    """What is made of rows, with the rows.

    Args:
        rows: makes empty rows.
        fill: adds to rows what is stored under some ids, or all (None).
        make: makes it out of rows.
        logs: tell the ids of what changed, as `ChangeLog`.
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

    def now(self) -> Made:
        """Return what it is now."""
        with self._lock:
            ends = [log.end for log in self._logs]  # looked at first: what changes while it is read is read again
            if self._kept is not None and self._kept[0] == ends:
                return self._kept[2]
            kept, self._kept = self._kept, None  # what fails half-way is begun anew
            ids = self._changed_since(kept[0]) if kept else None
            rows = kept[1] if kept and ids is not None else self._rows()
            rows.remove(ids or ())
            self._fill(rows, ids)
            if rows.outgrown():
                rows = self._rows()
                self._fill(rows, None)
            made = self._make(rows)
            self._kept = ends, rows, made
            return made

    def _changed_since(self, ends: Sequence[int]) -> list[str] | None:
        """Return what changed since the logs ended there; None if that may be all."""
        missed = [log.since(end) for log, end in zip(self._logs, ends, strict=True)]
        told = [ids for ids in missed if ids is not None]
        return list(dict.fromkeys(chain.from_iterable(told))) if len(told) == len(missed) else None
