"""A SQLite file that threads share: one transaction at a time, queries for any number of ids, errors that say which."""

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.vectors import Matrix
from langgraph_rag.write_ahead import PATIENCE, use_wal

_MAPPED = 2**30  # bytes of the file that are read where they lie; copied first, reading takes half as long again
_AT_ONCE = 100  # ids in one query: the longest documents take some 6 MB each, and SQLite bears no more than 1 GB


class Database:
    """Queries and changes of a SQLite file, safe to call from any thread.

    Raises:
        sqlite3.DatabaseError: when the file is no database.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lock, self._changing = path, threading.RLock(), False
        self._connection = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False)
        with ExitStack() as opened:  # closed again when something goes wrong
            opened.callback(self._connection.close)
            use_wal(self._connection)
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute("PRAGMA foreign_keys=ON")
            self._connection.execute(f"PRAGMA mmap_size={_MAPPED}")
            self._watch = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False)
            opened.pop_all()
        self.execute, self.executemany = self._connection.execute, self._connection.executemany
        self.executescript = self._connection.executescript
        self._glancing = threading.Lock()

    def close(self) -> None:
        """Close the file."""
        with self._lock, self._glancing:
            self._connection.close()
            self._watch.close()

    def tables(self) -> set[str]:
        """Return the names of the tables, and of what else is defined."""
        return {name for (name,) in self.execute("SELECT name FROM sqlite_master")}

    @contextmanager
    def change(self) -> Iterator[None]:
        """Make all changes inside, or none of them; a change within a change belongs to the outer one.

        Raises:
            KnowledgeBaseError: when the file cannot be written.
        """
        with self._lock:
            if self._changing:
                yield
                return
            self._changing = True
            try:
                with self._connection:
                    self.execute("BEGIN IMMEDIATE")  # one that only later comes to write cannot wait for its turn
                    yield
            except sqlite3.Error as error:
                raise KnowledgeBaseError(f"{self._path} cannot be written: {error}") from error
            finally:
                self._changing = False

    def rows(self, columns: str, of: str, *values: object) -> list[tuple[Any, ...]]:
        """Return columns of what a query gives, `SELECT columns FROM of`, none of them a blob.

        SQLite hands all rows over as one JSON text: to hand over each, it would let the interpreter go and wait for
        it again, up to 5 ms a row beside a thread that computes. They keep the order of a subquery.

        Raises:
            KnowledgeBaseError: when the file cannot be read.
            sqlite3.DatabaseError: the same within a change.
        """
        return _tuples(self._read(_in_one_row(columns, of), values))

    def vectors(self, of: str, *values: object) -> dict[str, Matrix]:
        """Return column `vector` by column `id` of what a query gives, handed over and failing as in `rows`."""
        together = "CAST(group_concat(vector, '') AS BLOB)"
        ((listed, joined),) = self._read(f"SELECT json_group_array(id), {together} FROM {of}", values)
        if joined is None:
            return {}
        ids = json.loads(listed)
        return dict(zip(ids, np.frombuffer(joined, dtype=np.float32).reshape(len(ids), -1), strict=True))

    def _read(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self.execute(query, values).fetchall()
            except sqlite3.DatabaseError as error:
                if self._changing:  # which then says what cannot be done
                    raise
                raise KnowledgeBaseError(f"{self._path} cannot be read: {error}") from error

    def glance(self, columns: str, of: str, *values: object) -> list[tuple[Any, ...]]:
        """Return rows as they were before a change under way: unlike `rows`, it never waits for one.

        Raises:
            KnowledgeBaseError: when the file cannot be read.
        """
        with self._glancing:
            try:
                return _tuples(self._watch.execute(_in_one_row(columns, of), values).fetchall())
            except sqlite3.DatabaseError as error:
                raise KnowledgeBaseError(f"{self._path} cannot be read: {error}") from error

    def by_ids(self, columns: str, of: str, ids: Sequence[str], *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query that ends in `IN` for some ids, however many; `values` come before them."""
        return [row for some, marks in _portions(ids) for row in self.rows(columns, f"{of} {marks}", *values, *some)]

    def vectors_by_ids(self, of: str, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors of a query that ends in `IN`, likewise."""
        found: dict[str, Matrix] = {}
        for some, marks in _portions(ids):
            found |= self.vectors(f"{of} {marks}", *some)
        return found

    def delete(self, of: str, ids: Sequence[str]) -> None:
        """Delete what ends in `IN`, for some ids, however many."""
        for some, marks in _portions(ids):
            self.execute(f"DELETE FROM {of} {marks}", some)


def _in_one_row(columns: str, of: str) -> str:
    return f"SELECT json_group_array(json_array({columns})) FROM {of}"


def _tuples(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    ((listed,),) = rows
    return [tuple(row) for row in json.loads(listed)]


def _portions(ids: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
    """Divide ids into as many as one query bears, each portion with the place that it takes in the query."""
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        yield some, f"({', '.join('?' * len(some))})"


def as_json(value: object) -> str:
    """Return a value as columns of text hold it."""
    return json.dumps(value, ensure_ascii=False)
