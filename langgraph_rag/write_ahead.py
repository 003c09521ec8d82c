"""Enables SQLite's write-ahead log, so that readers and a writer do not block each other."""

import sqlite3
import time

BUSY_TIMEOUT = 60.0
"""Seconds to wait for other writers."""


def use_wal(connection: sqlite3.Connection) -> None:
    """Enable the write-ahead log of a file; SQLite's own time-out does not cover this.

    Raises:
        sqlite3.OperationalError: when another process locked the file for too long.
    """
    until = time.monotonic() + BUSY_TIMEOUT
    while not _uses_wal(connection):
        if time.monotonic() > until:
            raise sqlite3.OperationalError("database is locked")
        time.sleep(0.01)


def _uses_wal(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("PRAGMA journal_mode=WAL")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            return False
        raise
    return True
