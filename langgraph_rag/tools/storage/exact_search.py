"""Exact search over all vectors; for some thousands it is faster than an index, and misses none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from langgraph_rag.tools.vectors import Matrix


@dataclass(frozen=True)
class VectorTable:
    """Vectors of unit length in memory.

    Attributes:
        ids: the ids of the vectors.
        vectors: the vectors; shape: ids x dimensions.
    """

    ids: Sequence[str]
    vectors: Matrix

    @cached_property
    def _places(self) -> dict[str, int]:
        return {id_: place for place, id_ in enumerate(self.ids)}

    @cached_property
    def _known_rows(self) -> WeakKeyDictionary[frozenset[str], NDArray[np.int_]]:
        return WeakKeyDictionary()

    def of(self, ids: Iterable[str]) -> dict[str, Matrix]:
        """Return the vectors of ids; unknown ids are left out."""
        return {id_: self.vectors[self._places[id_]] for id_ in ids if id_ in self._places}

    def fits(self, queries: Matrix) -> bool:
        """Return whether queries have the same dimensions."""
        return self.vectors.shape[-1:] == queries.shape[-1:]

    def nearest(self, queries: Matrix, k: int, among: frozenset[str] | None = None) -> list[list[tuple[str, float]]]:
        """Return the k ids nearest to each query, of all or among some, with their cosine, best first.

        Shape of `queries`: queries x dimensions.
        """
        rows = None if among is None else self._rows(among)
        k = min(k, len(self.ids if rows is None else rows))
        return [self._best(query, k, rows) if k else [] for query in queries]

    def _rows(self, ids: frozenset[str]) -> NDArray[np.int_]:
        if (known := self._known_rows.get(ids)) is None:
            known = np.array([place for id_ in ids if (place := self._places.get(id_)) is not None], int)
            self._known_rows[ids] = known
        return known

    def _best(self, query: Matrix, k: int, rows: NDArray[np.int_] | None) -> list[tuple[str, float]]:
        cosines = np.vecdot(self.vectors, query)  # in a matrix product, the threads of BLAS would spin
        if rows is not None:
            cosines = cosines[rows]
        least = np.partition(cosines, len(cosines) - k)[len(cosines) - k]
        places = np.flatnonzero(cosines >= least)
        ids = [self.ids[row] for row in (places if rows is None else rows[places]).tolist()]
        best = sorted(zip((-cosines[places]).tolist(), ids, strict=True))[:k]  # alike: by id
        return [(id_, -negative) for negative, id_ in best]


class VectorRows:
    """The vectors of a table that is updated incrementally; earlier tables do not change."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._vectors: Matrix | None = None

    def add(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Add vectors (shape: ids x dimensions)."""
        self._ids = [*self._ids, *ids]
        self._vectors = vectors if self._vectors is None else np.concatenate([self._vectors, vectors])

    def remove(self, ids: Iterable[str]) -> None:
        """Remove vectors; unknown ids are ignored."""
        gone = set(ids)
        if self._vectors is not None and gone:
            left = [place for place, id_ in enumerate(self._ids) if id_ not in gone]
            self._ids, self._vectors = [self._ids[place] for place in left], self._vectors[left]

    def outgrown(self) -> bool:
        """Return False, as removed vectors take no space."""
        return False

    def table(self) -> VectorTable:
        """Return the vectors as they are now."""
        return VectorTable(self._ids, np.empty((0, 0), np.float32) if self._vectors is None else self._vectors)
