"""The data of a growing graph: constant node numbers, in rows that each belong to a passage."""

from array import array
from collections.abc import Container, Sequence

import numpy as np

from langgraph_rag.tools.knowledge_graphs.pagerank import Ids


class Nodes:
    """Returns new nodes for `defaultdict(nodes)`; removed ones are not reused."""

    def __init__(self) -> None:
        self.given = 0

    def __call__(self) -> int:
        """Return a new node."""
        self.given += 1
        return self.given - 1


class Rows:
    """Rows of numbers; the first number of each row is its passage.

    Args:
        width: the number of numbers in a row.
    """

    def __init__(self, width: int) -> None:
        self.columns: Ids = np.empty((width, 0), np.int64)
        """Shape: width x rows."""

    def add(self, numbers: "array[int]") -> None:
        """Add concatenated rows."""
        rows = np.frombuffer(numbers, np.int64).reshape(-1, len(self.columns))
        self.columns = np.concatenate([self.columns, rows.T], axis=1)

    def remove(self, passages: Sequence[int], columns: Sequence[int]) -> set[int]:
        """Remove the rows of passages; return the numbers in some columns that no other row has."""
        gone = np.isin(self.columns[0], passages)
        removed, self.columns = self.columns[:, gone], self.columns[:, ~gone]
        numbers = np.unique(removed[list(columns)])
        return set(numbers[~np.isin(numbers, self.columns[list(columns)])].tolist())

    def without(self, numbers: set[int], columns: Sequence[int]) -> set[int]:
        """Return those of some numbers that are in none of some columns."""
        some = np.fromiter(numbers, np.int64, len(numbers))
        return set(some[~np.isin(some, self.columns[list(columns)])].tolist())


def forget(keys: dict[str, int], nodes: Container[int]) -> list[str]:
    """Remove the keys of nodes; return them."""
    gone = [key for key, node in keys.items() if node in nodes]
    for key in gone:
        del keys[key]
    return gone
