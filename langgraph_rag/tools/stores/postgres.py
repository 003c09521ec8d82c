"""The records and vectors of a knowledge base in Postgres, for many writers and readers on many machines."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from langgraph_rag.errors import EmbeddingsMismatchError, KnowledgeBaseError
from langgraph_rag.tools.stores.postgres_database import PostgresDatabase
from langgraph_rag.tools.stores.records import HISTORY, INDEXES, Records
from langgraph_rag.tools.stores.vectors import Matrix

_EXACT = 10_000  # vectors that are all compared: 9 ms at 384 dimensions; pgvector's index of more misses some
_COMPARED = 200  # vectors that the index returns at most, which are then compared exactly
_REMEMBERED = 30.0  # seconds that a small table is taken for small
_OF_PASSAGES = "passage_vectors JOIN passages ON passage_vectors.passage = passages.number"
_OF_TRIPLES = "triple_vectors"
_PUT_PASSAGE = (
    "INSERT INTO passage_vectors (passage, vector) SELECT number, ? FROM passages WHERE id = ? "
    "ON CONFLICT (passage) DO UPDATE SET vector = excluded.vector"
)
_PUT_TRIPLE = "INSERT INTO triple_vectors VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET vector = excluded.vector"


class StoredAtOnce:
    """Vectors of passages go into their table in the change that stores the passages; none waits."""

    def __init__(self, db: PostgresDatabase) -> None:
        self._db = db

    def put(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store the vectors of stored passages (shape: ids x dimensions)."""
        with self._db.change():
            self._db.executemany(_PUT_PASSAGE, [*zip(vectors, ids, strict=True)])

    def all(self) -> dict[str, Matrix]:
        """Return none."""
        return {}

    def forget(self, ids: Sequence[str]) -> None:
        """Do nothing, as none waits."""

    def none(self) -> bool:
        """Return True."""
        return True


class PostgresRecords(Records):
    """Records in Postgres.

    Args:
        db: the database.
        indexes: returns the folder on this machine of what is derived from the records, by what tells these from
            others.
    """

    def __init__(self, db: PostgresDatabase, indexes: Callable[[str], Path]) -> None:
        with db.change():
            db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING", [HISTORY, uuid4().hex])
            ((history,),) = db.rows("value", "meta WHERE name = ?", HISTORY)
        self.folder = indexes(history)
        super().__init__(db, StoredAtOnce(db), self.folder / INDEXES)


class PostgresVectors:
    """Cosine search by pgvector, exact up to 10,000 vectors and behind narrow filters.

    With more vectors, an index in half precision proposes 200 of them, which are compared exactly; it is built beside
    reads and writes. Behind a filter the index alone would find too few, and would not tell: so all vectors are
    compared that a narrow filter lets through, and for a wide one that many more are proposed as it hides.

    Args:
        db: the database.
    """

    in_records = True

    def __init__(self, db: PostgresDatabase) -> None:
        self._db, self.name = db, db.name
        self._seen_small = {"passage_vectors": 0.0, "triple_vectors": 0.0}  # until when
        self._building, self._indexed = threading.Lock(), set[str]()

    def close(self) -> None:
        """Wait for the building of an index; the records close the database."""
        with self._building:
            pass

    def count(self) -> int:
        """Return the number of passages with a vector."""
        return int(self._db.rows("count(*)", "passage_vectors")[0][0])

    def ids(self) -> list[str]:
        """Return the ids of these passages."""
        return [row[0] for row in self._db.rows("id", _OF_PASSAGES)]

    def put(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store vectors of stored passages in place of earlier ones."""
        self._check("passage_vectors", vectors)
        StoredAtOnce(self._db).put(ids, vectors)

    def passages(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors of passages that are stored."""
        return self._db.vectors_by_ids(f"{_OF_PASSAGES} WHERE id IN", ids)

    def search(self, vectors: Matrix, k: int, among: frozenset[str] | None = None) -> list[list[tuple[str, float]]]:
        """Return the k nearest passages (of all, or among some) of each query vector with their cosine, best first."""
        return [self._nearest("passage_vectors", _OF_PASSAGES, query, k, among) for query in vectors]

    def search_triples(
        self, vectors: Matrix, k: int, among: frozenset[str] | None = None
    ) -> list[list[tuple[str, float]]]:
        """Return the k nearest facts (of all, or among some) of each query vector with their cosine, best first."""
        return [self._nearest("triple_vectors", _OF_TRIPLES, query, k, among) for query in vectors]

    def put_triples(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store vectors of facts in place of earlier ones."""
        self._check("triple_vectors", vectors)
        with self._db.change():
            self._db.executemany(_PUT_TRIPLE, [*zip(ids, vectors, strict=True)])

    def triple_ids(self) -> list[str]:
        """Return the ids of the vectors of facts."""
        return [row[0] for row in self._db.rows("id", "triple_vectors")]

    def delete(self, passages: Sequence[str], triples: Sequence[str] = ()) -> None:
        """Remove vectors; those of removed passages and facts are gone with them already."""
        with self._db.change():
            self._db.delete("triple_vectors WHERE id IN", triples)
            self._db.delete("passage_vectors USING passages WHERE passage = passages.number AND id IN", passages)

    # --- internals ---------------------------------------------------------------------------------------------------
    def _nearest(
        self, table: str, of: str, query: Matrix, k: int, among: frozenset[str] | None
    ) -> list[tuple[str, float]]:
        if among is not None and not among:
            return []
        if self._proposes_enough(table, k, among):
            found = self._compared(table, of, query)
            kept = [one for one in found if among is None or one[0] in among]
            if len(kept) >= k:
                return kept[:k]
        hidden = "" if among is None else " WHERE id = ANY(?)"
        values = [] if among is None else [list(among)]
        return self._ranked(f"(SELECT id, vector FROM {of}{hidden})", query, k, values)

    def _proposes_enough(self, table: str, k: int, among: frozenset[str] | None) -> bool:
        """Return whether the index proposes enough vectors for k to be left behind a filter."""
        if self._is_small(table) or (among is not None and len(among) <= _EXACT):
            return False
        hidden = 1.0 if among is None else self._size(table) / len(among)
        return 2 * k * max(hidden, 1.0) <= _COMPARED

    def _compared(self, table: str, of: str, query: Matrix) -> list[tuple[str, float]]:
        """Return the vectors that the index proposes, compared exactly."""
        half = f"{{types}}.halfvec({len(query)})"
        key = "passage" if table == "passage_vectors" else "id"
        near = (
            f"SELECT {key} AS near FROM {table} ORDER BY (vector::{half}) OPERATOR({{types}}.<#>) (?::{half}) LIMIT ?"
        )
        where = f"(SELECT id, vector FROM ({near}) proposed JOIN {of} ON {table}.{key} = near)"
        return self._ranked(where, query, _COMPARED, [query, _COMPARED])

    def _ranked(self, of: str, query: Matrix, k: int, values: Sequence[object]) -> list[tuple[str, float]]:
        less = "vector OPERATOR({types}.<#>) ?"  # the negative inner product: of unit vectors, the negative cosine
        ranked = f"(SELECT id, {less} AS less FROM {of} compared ORDER BY 2, 1 LIMIT ?) ranked"
        try:
            rows = self._db.rows("id, less", ranked, query, *values, k)
        except KnowledgeBaseError as error:
            if "different vector dimensions" in str(error):
                raise EmbeddingsMismatchError(f"{self.name} holds vectors of another embedder: {error}") from error
            raise
        return [(id_, -less) for id_, less in rows]

    def _check(self, table: str, vectors: Matrix) -> None:
        """Check that vectors have the dimensions of those that are stored.

        Raises:
            EmbeddingsMismatchError: when they have others.
        """
        for stored in self._dimensions(table):
            if stored != vectors.shape[1]:
                raise EmbeddingsMismatchError(
                    f"{self.name} holds vectors of {stored} dimensions, got {vectors.shape[1]}"
                )

    def _dimensions(self, table: str) -> list[int]:
        """Return the dimensions of the vectors in a table, if there are any."""
        of = f"(SELECT {{types}}.vector_dims(vector) AS number FROM {table} LIMIT 1) one"
        return [row[0] for row in self._db.rows("number", of)]

    def _is_small(self, table: str) -> bool:
        if time.monotonic() < self._seen_small[table]:
            return True
        if self._db.rows("1", f"(SELECT 1 FROM {table} OFFSET {_EXACT} LIMIT 1) more"):
            return False
        self._seen_small[table] = time.monotonic() + _REMEMBERED
        return True

    def _size(self, table: str) -> int:
        return int(self._db.rows("count(*)", table)[0][0])

    def settle(self) -> None:
        """Build the indexes of large tables in another thread, unless another process or thread does."""
        large = [table for table in self._seen_small if table not in self._indexed and not self._is_small(table)]
        if large and self._building.acquire(blocking=False):
            threading.Thread(target=self._build, args=(large,), name="pgvector index", daemon=True).start()

    def _build(self, tables: Sequence[str]) -> None:
        try:
            with suppress(KnowledgeBaseError):
                for table in tables:
                    if self._db.build_index(table, self._dimensions(table)[0]):
                        self._indexed.add(table)
        finally:
            self._building.release()
