"""SQLite's write-ahead log, with which readers and a writer do not wait for each other."""

import sqlite3
import time

PATIENCE = 60.0
"""Seconds to wait for the changes of others."""


def use_wal(connection: sqlite3.Connection) -> None:
    """Switch a file to it; SQLite's own time limit does not cover this.

    Raises:
        sqlite3.OperationalError: when others held the file for too long.
    """
    until = time.monotonic() + PATIENCE
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
