"""A SQLite file that threads share: one transaction at a time, queries for any number of ids, errors that say which."""

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.write_ahead import PATIENCE, use_wal

_MAPPED = 2**30  # bytes of the file that are read where they lie; copied first, reading takes half as long again
_AT_ONCE = 500  # ids in one query: SQLite bears some thousands


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

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return what a query gives.

        Raises:
            KnowledgeBaseError: when the file cannot be read.
            sqlite3.DatabaseError: the same within a change.
        """
        with self._lock:
            try:
                return self.execute(query, values).fetchall()
            except sqlite3.DatabaseError as error:
                if self._changing:  # which then says what cannot be done
                    raise
                raise KnowledgeBaseError(f"{self._path} cannot be read: {error}") from error

    def glance(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return what a query gives, as it was before a change under way: unlike others, it never waits for one.

        Raises:
            KnowledgeBaseError: when the file cannot be read.
        """
        with self._glancing:
            try:
                return self._watch.execute(query, values).fetchall()
            except sqlite3.DatabaseError as error:
                raise KnowledgeBaseError(f"{self._path} cannot be read: {error}") from error

    def by_ids(self, query: str, ids: Sequence[str], *values: object) -> list[tuple[Any, ...]]:
        """Return what a query that ends in `IN` gives for some ids, however many; `values` come before them."""
        found = []
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            found += self.rows(f"{query} ({', '.join('?' * len(some))})", *values, *some)
        return found


def as_json(value: object) -> str:
    """Return a value as columns of text hold it."""
    return json.dumps(value, ensure_ascii=False)
