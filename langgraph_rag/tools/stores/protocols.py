"""What a store of a knowledge base is, whoever keeps it. `langgraph_rag.testing` has the tests that each passes.

A knowledge base needs two: a record store, which is the truth, and a vector store. Whoever has vectors elsewhere writes
a `VectorCollection` of six methods, or wraps a LangChain `VectorStore` (`stores.vector_files`). All else, as graphs and
the index of words, is derived from the records and follows their change log.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from langgraph_rag.filters import Where
from langgraph_rag.records import Fact, Naming, Passage, Record, Statement

Matrix = npt.NDArray[np.float32]


def unit(vectors: Matrix) -> Matrix:
    """Return vectors with unit length, equal on every processor; a zero vector stays unchanged."""
    lengths = np.sqrt(np.vecdot(vectors, vectors, dtype=np.float64))[:, np.newaxis]
    scaled: Matrix = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return scaled


Origin = tuple[str, str]
"""A passage id and one of its sources, which may be empty."""


# --- vectors ---------------------------------------------------------------------------------------------------------
@runtime_checkable
class VectorCollection(Protocol):
    """Vectors of unit length, by id: those of passages, or those of facts. Safe to call from any thread."""

    def add(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store vectors (shape: ids x dimensions) in place of earlier ones with the same ids, for good on return.

        Raises:
            EmbeddingsMismatchError: when those that are stored have other dimensions.
        """

    def delete(self, ids: Sequence[str]) -> None:
        """Remove vectors; unknown ids are ignored."""

    def nearest(self, queries: Matrix, k: int, among: frozenset[str] | None = None) -> list[list[tuple[str, float]]]:
        """Return the k ids nearest to each query, with their cosine, best first, equal ones by id.

        Args:
            queries: shape: queries x dimensions.
            k: how many, or all if there are fewer.
            among: the ids that may be found, as a filter lets through; unknown ones are ignored. None: all.
        """

    def fetch(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors that are stored, in float32; shape of each: dimensions."""

    def ids(self) -> list[str]:
        """Return the ids of all vectors."""

    def close(self) -> None:
        """Release connections and files."""


class VectorStore(Protocol):
    """The vectors of the passages and of the facts of a knowledge base; `Collections` is one, of two collections."""

    @property
    def name(self) -> str:
        """Where they are, for people."""

    @property
    def in_records(self) -> bool:
        """Whether they are stored in the transactions of the records, so that no kill sets them apart."""

    def count(self) -> int:
        """Return the number of passages with a vector."""

    def ids(self) -> list[str]:
        """Return the ids of these passages."""

    def put(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store vectors of passages (shape: ids x dimensions) in place of earlier ones."""

    def passages(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors of passages that are stored."""

    def search(self, vectors: Matrix, k: int, among: frozenset[str] | None = None) -> list[list[tuple[str, float]]]:
        """Return the k passages nearest to each query, as `VectorCollection.nearest`."""

    def search_triples(
        self, vectors: Matrix, k: int, among: frozenset[str] | None = None
    ) -> list[list[tuple[str, float]]]:
        """Return the k facts nearest to each query, by the ids of their vectors."""

    def settle(self) -> None:
        """Do what is best done after many vectors were stored, beside reads."""

    def put_triples(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store vectors of facts in place of earlier ones."""

    def triple_ids(self) -> list[str]:
        """Return the ids of the vectors of facts."""

    def delete(self, passages: Sequence[str], triples: Sequence[str] = ()) -> None:
        """Remove vectors, those of passages last: as long as they exist, a kill can be noticed."""

    def close(self) -> None:
        """Release connections and files."""


# --- records ---------------------------------------------------------------------------------------------------------
class Log(Protocol):
    """The ids of what changed, in the order of the changes. A reader that was away catches up from it."""

    @property
    def end(self) -> int:
        """The position after the last change; it grows with each, and is seen by all who read afterwards."""

    @property
    def end_in_snapshot(self) -> int:
        """The same in the running change."""

    def add(self, ids: Sequence[str]) -> None:
        """Add changes, as part of the running change if there is one."""

    def since(self, place: int) -> list[str] | None:
        """Return the ids that changed since a position, each once; None if the log does not reach back so far."""


class Waiting(Protocol):
    """Vectors that were stored with their passages, in one change, until the vector store has them."""

    def put(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store the vectors of stored passages (shape: ids x dimensions)."""

    def all(self) -> dict[str, Matrix]:
        """Return those that wait, by passage."""

    def forget(self, ids: Sequence[str]) -> None:
        """Remove those that the vector store has."""

    def none(self) -> bool:
        """Return whether none waits."""


class FactStore(Protocol):
    """The facts of passages by one or several extractors, the names that they give, and vectors of facts."""

    def changes(self, extractor: str) -> Log:
        """Return the log of the passages whose facts changed."""

    def save(
        self, extractor: str, facts: Sequence[tuple[Record, Sequence[Fact]]], names: Sequence[Sequence[Naming]]
    ) -> None:
        """Store what passages state, in place of what the extractor read before; those replaced meanwhile are left."""

    def facts(self, extractor: str, ids: Sequence[str]) -> dict[str, list[Fact]]:
        """Return the facts of each passage, in the order in which they were read."""

    def statements(self, extractor: str, ids: Sequence[str] | None = None) -> Iterable[Statement]:
        """Return the facts of passages, all or some, with the ids of the passages."""

    def unextracted(self, extractor: str, ids: Sequence[str] | None = None) -> list[str]:
        """Return the passages, all or some, that an extractor has not read."""

    def vectors(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors of facts that are stored."""

    def put_vectors(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store vectors of facts, but for facts that no passage states now."""

    def give_names(self, names: Mapping[str, str]) -> list[str]:
        """Put entities in place of these names of theirs in all facts; return the vectors that none needs now."""


class OriginStore(Protocol):
    """The sources that passages come from."""

    def sources(self) -> list[str]:
        """Return all sources, in order."""

    def of(self, sources: Sequence[str]) -> list[Origin]:
        """Return the passages of some sources."""

    def only_from(self, origins: Sequence[Origin]) -> list[str]:
        """Return the passages that have no other origins."""

    def add(self, passages: Sequence[Passage]) -> None:
        """Add origins of stored passages, with the metadata of each."""

    def remove(self, origins: Sequence[Origin]) -> None:
        """Remove origins; the source of a passage becomes the first one that is left."""


class PassageStore(Protocol):
    """The records of passages, and what changed. Each method is one change, or part of that of `together`."""

    @property
    def changes(self) -> Log:
        """The log of added, removed and changed passages."""

    @property
    def waiting(self) -> Waiting:
        """The vectors that wait."""

    @property
    def triples(self) -> FactStore:
        """The facts."""

    @property
    def origins(self) -> OriginStore:
        """The sources."""

    def together(self) -> AbstractContextManager[None]:
        """Make all changes in a block one: stored as a whole or not at all, and seen by others at once."""

    def meta(self, name: str) -> str | None:
        """Return a property of the knowledge base."""

    def set_meta(self, name: str, value: str) -> None:
        """Set one."""

    def hashes(self, ids: Iterable[str] | None = None) -> dict[str, str]:
        """Return the content hash of each passage, of all or some."""

    def insert(self, records: Sequence[Record], vectors: Matrix) -> None:
        """Store new passages with their vectors."""

    def replace(self, records: Sequence[Record], vectors: Matrix) -> list[str]:
        """Replace passages with the same ids; return the vectors of facts that none needs now."""

    def delete(self, ids: Sequence[str]) -> list[str]:
        """Remove passages with all that comes only from them; return the vectors of facts that none needs now."""

    def update_metadata(self, passages: Sequence[Passage]) -> None:
        """Store metadata where they differ."""

    def passages(self, ids: Sequence[str], source: str | None = None) -> list[Record]:
        """Return passages in the order of the ids, without unknown ones, as from a source or from their first one."""

    def ids(self, source: str | None = None) -> list[str]:
        """Return all passages in the order of storing, or those of a source in the order of its documents."""

    def visible(self, where: Where | None) -> Any:
        """Return the passages that a filter lets through; None without a filter."""

    def count(self) -> int:
        """Return the number of passages."""

    def close(self) -> None:
        """Release connections and files."""


# --- below the records -----------------------------------------------------------------------------------------------
class Dialect(NamedTuple):
    """What each engine writes in its own way; `{}` stands for a column."""

    length: str
    """The expression for the length of a column of JSON arrays."""
    items: str
    """The table, for `FROM`, with the items of a column of JSON arrays of texts as column `value`."""
    keys: str
    """The table, for `FROM`, with the names in a column of JSON objects as column `key`."""
    parsed: str
    """The table, for `FROM`, with one row: a column of JSON objects as column `object`, which is best read often."""
    object: str
    """The expression for an object, as in `object`, of a name (the first `{}`) for a column (the second)."""
    values: str
    """The table, for `FROM`, with the values of the field `?` in a column such as `object`: one, or those of a list.

    Column `kind` is `number`, `text`, `true`, `false`, `null`, `object` or `array`; `number` and `text` are to compare.
    """


class SqlDatabase(Protocol):
    """The engine below `Records`; its queries keep to what SQLite and Postgres both understand."""

    @property
    def execute(self) -> Any:
        """Run a query with `?` for values, as part of the running change."""

    @property
    def executemany(self) -> Any:
        """Run a query for each of some rows of values, as part of the running change."""

    def change(self) -> AbstractContextManager[None]:
        """Run a block as a transaction; a nested one belongs to the outer one."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Run the queries of a block on one version."""

    def beside(self) -> AbstractContextManager[None]:
        """Run the queries of a block on one version, without waiting for a running change."""

    def rows(self, columns: str, of: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of `SELECT columns FROM of`."""

    def glance(self, columns: str, of: str, *values: object) -> list[tuple[Any, ...]]:
        """Return rows without waiting for a running change, as they were before it."""

    def glance_by_ids(self, columns: str, of: str, ids: Sequence[object]) -> list[tuple[Any, ...]]:
        """Return the rows of a query that ends in `IN`, as `glance` does, for any number of ids."""

    def by_ids(
        self, columns: str, of: str, ids: Sequence[Any], *values: object, order: str = ""
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a query that ends in `IN`, for any number of ids."""

    def vectors(self, of: str, *values: object) -> dict[str, Matrix]:
        """Return column `vector` by column `id` of a query."""

    def vectors_by_ids(self, of: str, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors of a query that ends in `IN`."""

    def delete(self, of: str, ids: Sequence[str]) -> None:
        """Delete the rows of a condition that ends in `IN`."""

    @property
    def dialect(self) -> Dialect:
        """What it writes in its own way."""

    def among(self, numbers: Sequence[int]) -> tuple[str, object]:
        """Return the condition that a column is among numbers, and the value in it."""

    def renumber(self) -> None:
        """Number new passages from the last one on, after some were stored with their numbers."""

    def stored_vector(self, vector: Matrix) -> object:
        """Return a vector as a value."""

    def close(self) -> None:
        """Release connections and files."""
