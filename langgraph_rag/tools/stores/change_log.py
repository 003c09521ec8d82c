"""The log of what changed in the records, by which derived data keeps itself up to date."""

import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

from langgraph_rag.tools.stores.protocols import SqlDatabase

TABLE = """
CREATE TABLE IF NOT EXISTS changes (
    log TEXT NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (log, number)) WITHOUT ROWID;
"""
_LAST = "(SELECT max(number) AS last FROM changes WHERE log = ?)"
_KEPT = 100_000  # ids; after more changes, derived data is rebuilt


class ChangeLog:
    """Ids of changed passages, in the order of the changes; `end` grows with each change and marks a position.

    Args:
        db: the database, with the table `TABLE`.
        name: the name of the log in it.
    """

    def __init__(self, db: SqlDatabase, name: str) -> None:
        self._db, self._name = db, name

    @property
    def end(self) -> int:
        """The position after the last change; read without waiting for a running change."""
        (row,) = self._db.glance("last", _LAST, self._name)
        return row[0] or 0

    @property
    def end_in_snapshot(self) -> int:
        """The same in the running snapshot or change."""
        (row,) = self._db.rows("last", _LAST, self._name)
        return row[0] or 0

    def add(self, ids: Sequence[str]) -> None:
        """Add changes, as part of the running transaction, if there is one."""
        with self._db.change():
            numbered = [(self._name, number, id_) for number, id_ in enumerate(ids, self.end_in_snapshot + 1)]
            self._db.executemany("INSERT INTO changes VALUES (?, ?, ?)", numbered[-_KEPT:])
            for _, last, _ in numbered[-1:]:
                self._db.execute("DELETE FROM changes WHERE log = ? AND number <= ?", (self._name, last - _KEPT))

    def since(self, place: int) -> list[str] | None:
        """Return the ids that changed since a position, each once; None if it is no longer in the log."""
        of = "(SELECT number, id FROM changes WHERE log = ? AND number > ? ORDER BY number)"
        changes = self._db.glance("number, id", of, self._name, place)
        if changes and changes[0][0] > place + 1:
            return None
        return list(dict.fromkeys(id_ for _, id_ in changes))


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
