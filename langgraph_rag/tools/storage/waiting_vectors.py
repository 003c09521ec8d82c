"""Vectors that wait for indexing in batches; each is stored with its passage, so that a kill does not lose it."""

from collections.abc import Sequence

from langgraph_rag.tools.storage.database import Database
from langgraph_rag.tools.vectors import Matrix

TABLE = """
CREATE TABLE IF NOT EXISTS waiting_vectors (
    passage INTEGER PRIMARY KEY REFERENCES passages(number) ON DELETE CASCADE, vector BLOB NOT NULL);
"""


class WaitingVectors:
    """The table of vectors that are not indexed yet.

    Args:
        db: the database, which also has the passages.
    """

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store the vectors of stored passages (shape: ids x dimensions)."""
        query = "INSERT OR REPLACE INTO waiting_vectors SELECT number, ? FROM passages WHERE id = ?"
        rows = [(vector.tobytes(), id_) for id_, vector in zip(ids, vectors, strict=True)]
        with self._db.change():
            self._db.executemany(query, rows)

    def all(self) -> dict[str, Matrix]:
        """Return the vectors by passage."""
        return self._db.vectors("waiting_vectors JOIN passages ON number = passage")

    def forget(self, ids: Sequence[str]) -> None:
        """Remove vectors that have been indexed."""
        chosen = "DELETE FROM waiting_vectors WHERE passage IN (SELECT number FROM passages WHERE id = ?)"
        with self._db.change():
            self._db.executemany(chosen, [(id_,) for id_ in ids])

    def none(self) -> bool:
        """Return whether there are none."""
        return not self._db.rows("1", "(SELECT 1 FROM waiting_vectors LIMIT 1)")
