"""A SQLite file for several threads, and the log of its changes, by which derived data keeps itself up to date."""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.stores.protocols import Dialect, Matrix, SqlDatabase
from langgraph_rag.write_ahead import BUSY_TIMEOUT, use_wal

Id = TypeVar("Id")
_MAPPED = 2**30  # bytes of the file that are memory-mapped; without it, reading takes 1.5 times as long
_AT_ONCE = 100  # ids in one query: the longest documents take about 6 MB each, and the limit of SQLite is 1 GB

_KIND, _VALUE = "coalesce(item.type, field.type)", "coalesce(item.value, field.value)"
_VALUES = (
    f"(SELECT CASE WHEN {_KIND} IN ('integer', 'real') THEN 'number' ELSE {_KIND} END AS kind, "
    f"{_VALUE} AS number, {_VALUE} AS text FROM json_each({{}}) AS field "
    "LEFT JOIN json_each(CASE field.type WHEN 'array' THEN field.value END) AS item "
    "WHERE field.key = ? AND NOT (field.type = 'array' AND item.type IS NULL))"
)


class Database:
    """Queries and changes of a SQLite file, safe to call from any thread; it fails with a `KnowledgeBaseError`."""

    dialect = Dialect(
        "json_array_length({})",
        "json_each({})",
        "json_each({})",
        "(SELECT {} AS object)",
        "json_object('{}', {})",
        _VALUES,
    )

    def __init__(self, path: Path) -> None:
        self._path, self._lock, self._changing = path, threading.RLock(), False
        self._connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT, check_same_thread=False)
        with ExitStack() as opened:  # closed again after an error
            opened.callback(self._connection.close)
            use_wal(self._connection)
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute("PRAGMA foreign_keys=ON")
            self._connection.execute(f"PRAGMA mmap_size={_MAPPED}")
            self._watch = sqlite3.connect(path, timeout=BUSY_TIMEOUT, check_same_thread=False)
            self._watch.execute(f"PRAGMA mmap_size={_MAPPED}")
            opened.pop_all()
        self.execute, self.executemany = self._connection.execute, self._connection.executemany
        self.executescript = self._connection.executescript
        self._glancing, self._beside = threading.RLock(), 0
        self._closed = False

    def close(self) -> None:
        """Close the file."""
        with self._lock, self._glancing:
            self._closed = True
            self._connection.close()
            self._watch.close()

    def tables(self) -> set[str]:
        """Return the names of the tables and of all other definitions."""
        return {name for (name,) in self.execute("SELECT name FROM sqlite_master")}

    @contextmanager
    def change(self) -> Iterator[None]:
        """Run the block as a transaction; a nested one belongs to the outer one."""
        with self._lock:
            if self._changing:
                yield
                return
            self._changing = True
            try:
                with self._connection:
                    self.execute("BEGIN IMMEDIATE")  # a deferred transaction could not wait for its first write
                    yield
            except sqlite3.Error as error:
                raise self._failure("written", error) from error
            finally:
                self._changing = False

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Run the queries of the block on one version of the file, that of a running change if it is this thread's."""
        with self._lock:
            if self._connection.in_transaction:
                yield
                return
            self._read("BEGIN", ())
            try:
                yield
            except sqlite3.DatabaseError as error:
                raise self._failure("read", error) from error
            finally:
                self._connection.rollback()

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Run the queries of the block on one version of the file, without waiting for a running change."""
        with self._glancing:
            outer, self._beside = self._beside, threading.get_ident()
            if outer:
                yield
                return
            try:
                self._read("BEGIN", ())
                yield
            finally:
                self._beside = 0
                if not self._closed:
                    self._watch.rollback()

    def rows(self, columns: str, of: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of `SELECT columns FROM of`, in the order of a subquery; no column may be a blob.

        SQLite returns all rows as one JSON text. For separate rows, it would release and acquire the interpreter lock
        each time, which takes up to 5 ms per row if another thread computes.
        """
        return _tuples(self._read(_in_one_row(columns, of), values))

    def vectors(self, of: str, *values: object) -> dict[str, Matrix]:
        """Return column `vector` by column `id` of a query; transfer and errors are as in `rows`."""
        ids, joined = self.blobs("vector", of, *values)
        if not ids:
            return {}
        return dict(zip(ids, np.frombuffer(joined, dtype=np.float32).reshape(len(ids), -1), strict=True))

    def blobs(self, column: str, of: str, *values: object) -> tuple[list[Any], bytes]:
        """Return column `id` of a query, and the blobs of a column as one; transfer and errors are as in `rows`."""
        together = f"CAST(group_concat({column}, '') AS BLOB)"
        ((listed, joined),) = self._read(f"SELECT json_group_array(id), {together} FROM {of}", values)
        return json.loads(listed), joined or b""

    def _read(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        if self._beside == threading.get_ident():
            try:
                return self._watch.execute(query, values).fetchall()
            except sqlite3.DatabaseError as error:
                raise self._failure("read", error) from error
        with self._lock:
            try:
                return self.execute(query, values).fetchall()
            except sqlite3.DatabaseError as error:
                if self._changing:  # `change` converts it
                    raise
                raise self._failure("read", error) from error

    def glance(self, columns: str, of: str, *values: object) -> list[tuple[Any, ...]]:
        """Return rows without waiting for a running transaction, as they were before it."""
        with self._glancing:
            try:
                return _tuples(self._watch.execute(_in_one_row(columns, of), values).fetchall())
            except sqlite3.DatabaseError as error:
                raise self._failure("read", error) from error

    def glance_by_ids(self, columns: str, of: str, ids: Sequence[object]) -> list[tuple[Any, ...]]:
        """Return the rows of a query that ends in `IN`, as `glance` does, for any number of ids."""
        return [row for some, marks in _portions(ids) for row in self.glance(columns, f"{of} {marks}", *some)]

    def _failure(self, done: str, error: sqlite3.Error) -> KnowledgeBaseError:
        why = "it was closed meanwhile: open it again" if self._closed else str(error)
        return KnowledgeBaseError(f"{self._path} cannot be {done}: {why}")

    def by_ids(
        self,
        columns: str,
        of: str,
        ids: Sequence[str],
        *values: object,
        order: str = "",  # noqa: ARG002 - SQLite finds the rows by the keys that these are
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a query that ends in `IN`, for any number of ids; `values` come before the ids.

        Those of one id are in the order of the columns `order`.
        """
        return [row for some, marks in _portions(ids) for row in self.rows(columns, f"{of} {marks}", *values, *some)]

    def vectors_by_ids(self, of: str, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors of a query that ends in `IN`, for any number of ids."""
        found: dict[str, Matrix] = {}
        for some, marks in _portions(ids):
            found |= self.vectors(f"{of} {marks}", *some)
        return found

    def delete(self, of: str, ids: Sequence[str]) -> None:
        """Delete the rows of a condition that ends in `IN`, for any number of ids."""
        for some, marks in _portions(ids):
            self.execute(f"DELETE FROM {of} {marks}", some)

    @staticmethod
    def among(numbers: Sequence[int]) -> tuple[str, object]:
        """Return the condition that a column is among numbers, and the value in it."""
        return "IN (SELECT value FROM json_each(?))", as_json(numbers)

    def renumber(self) -> None:
        """Do nothing: new passages are numbered from the last one on."""

    @staticmethod
    def stored_vector(vector: Matrix) -> object:
        """Return a vector as a value."""
        return vector.tobytes()


def _in_one_row(columns: str, of: str) -> str:
    return f"SELECT json_group_array(json_array({columns})) FROM {of}"


def _tuples(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    ((listed,),) = rows
    return [tuple(row) for row in json.loads(listed)]


def _portions(ids: Sequence[Id]) -> Iterator[tuple[Sequence[Id], str]]:
    """Split ids into portions for one query, each with its placeholders."""
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        yield some, f"({', '.join('?' * len(some))})"


def as_json(value: object) -> str:
    """Return a value as JSON for a text column."""
    return json.dumps(value, ensure_ascii=False)


TABLE = """
CREATE TABLE IF NOT EXISTS changes (
    log TEXT NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (log, number)) WITHOUT ROWID;
"""
_LAST = "(SELECT max(number) AS last FROM changes WHERE log = ?)"
_KEPT = 100_000  # ids; after more changes, derived data is rebuilt


class ChangeLog:
    """Ids of changed passages, in the order of the changes; `end` grows with each change and marks a position."""

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


class _Log(Protocol):
    @property
    def end(self) -> int: ...
    def since(self, place: int, /) -> list[str] | None: ...


def changed_since(logs: Sequence[_Log], ends: Sequence[int]) -> list[str] | None:
    """Return the ids that changed since these ends of some logs; None if all may have changed."""
    missed = [log.since(end) for log, end in zip(logs, ends, strict=True)]
    told = [ids for ids in missed if ids is not None]
    return list(dict.fromkeys(chain.from_iterable(told))) if len(told) == len(missed) else None


Rows = TypeVar("Rows", bound=_Shrinking)
Made = TypeVar("Made")


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

    def now(self) -> Made:
        """Return the current data."""
        with self._lock:
            ends = [log.end for log in self._logs]  # read first, so that concurrent changes are read again
            if self._kept is None or self._kept[0] != ends:
                kept, self._kept = self._kept, None  # after an error, start again
                ids = changed_since(self._logs, kept[0]) if kept else None
                rows = kept[1] if kept and ids is not None else self._rows()
                rows.remove(ids or ())
                self._fill(rows, ids)
                self._kept = ends, rows, self._make(rows)
            return self._kept[2]
