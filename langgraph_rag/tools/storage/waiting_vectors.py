"""Vectors of passages, stored with these and kept until many are indexed together: each is safe once it is computed."""

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
        db: where it is, beside the passages.
    """

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Have the vectors of stored passages (shape: ids x dimensions) wait."""
        query = "INSERT OR REPLACE INTO waiting_vectors SELECT number, ? FROM passages WHERE id = ?"
        rows = [(vector.tobytes(), id_) for id_, vector in zip(ids, vectors, strict=True)]
        with self._db.change():
            self._db.executemany(query, rows)

    def all(self) -> dict[str, Matrix]:
        """Return them by passage."""
        return self._db.vectors("waiting_vectors JOIN passages ON number = passage")

    def forget(self, ids: Sequence[str]) -> None:
        """Forget those that have been indexed."""
        chosen = "DELETE FROM waiting_vectors WHERE passage IN (SELECT number FROM passages WHERE id = ?)"
        with self._db.change():
            self._db.executemany(chosen, [(id_,) for id_ in ids])

    def none(self) -> bool:
        """Return whether none waits."""
        return not self._db.rows("1", "(SELECT 1 FROM waiting_vectors LIMIT 1)")
