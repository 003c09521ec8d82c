"""A log of changed passages, for derived data in any process."""

from collections.abc import Sequence

from langgraph_rag.tools.storage.database import Database

TABLE = """
CREATE TABLE IF NOT EXISTS changes (
    log TEXT NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (log, number)) WITHOUT ROWID;
"""
_LAST = "(SELECT max(number) AS last FROM changes WHERE log = ?)"
_KEPT = 10_000  # ids; after more changes, derived data is rebuilt


class ChangeLog:
    """Ids of changed passages, in the order of the changes; `end` grows with each change and marks a position.

    Args:
        db: the database, with the table `TABLE`.
        name: the name of the log in it.
    """

    def __init__(self, db: Database, name: str) -> None:
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
