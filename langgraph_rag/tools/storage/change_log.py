"""Which passages changed last, told to whoever keeps something made of them, in whatever process."""

from collections.abc import Sequence

from langgraph_rag.tools.storage.database import Database

TABLE = """
CREATE TABLE IF NOT EXISTS changes (
    log TEXT NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (log, number)) WITHOUT ROWID;
"""
_LAST = "(SELECT max(number) AS last FROM changes WHERE log = ?)"
_KEPT = 10_000  # ids; after more changes than that, what is made of passages is as soon made anew


class ChangeLog:
    """Ids of what changed, in the order of the changes; `end` grows with each and marks a place in the log.

    Args:
        db: where it is kept, in the table `TABLE`.
        name: tells it from the other logs there.
    """

    def __init__(self, db: Database, name: str) -> None:
        self._db, self._name = db, name

    @property
    def end(self) -> int:
        """The place after the last change; looked up without waiting for a change under way."""
        (row,) = self._db.glance("last", _LAST, self._name)
        return row[0] or 0

    def add(self, ids: Sequence[str]) -> None:
        """Note changes, as part of the change that is being made, if any."""
        with self._db.change():
            (row,) = self._db.rows("last", _LAST, self._name)
            numbered = [(self._name, number, id_) for number, id_ in enumerate(ids, (row[0] or 0) + 1)]
            self._db.executemany("INSERT INTO changes VALUES (?, ?, ?)", numbered[-_KEPT:])
            for _, last, _ in numbered[-1:]:
                self._db.execute("DELETE FROM changes WHERE log = ? AND number <= ?", (self._name, last - _KEPT))

    def since(self, place: int) -> list[str] | None:
        """Return what changed since a place in the log, each once; None if that was too long ago."""
        of = "(SELECT number, id FROM changes WHERE log = ? AND number > ? ORDER BY number)"
        changes = self._db.glance("number, id", of, self._name, place)
        if changes and changes[0][0] > place + 1:
            return None
        return list(dict.fromkeys(id_ for _, id_ in changes))
