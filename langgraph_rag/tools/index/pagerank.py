"""Personalized PageRank by forward push, and rows of sparse graphs."""

from array import array
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from langgraph_rag.records import ScoredPassage

Ids = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
Seeds = Mapping[int, float]

RESTART = 0.5  # beta in Eq. 5 of MGranRAG; also in HippoRAG, which PAR RAG follows
EPSILON = 1e-6  # residue per edge below which nothing is passed on


class PassageNodes(dict[str, int]):
    """The nodes of passages by id."""

    def best(self, scores: Numbers, k: int) -> list[ScoredPassage]:
        """Return the k passages with the highest scores above 0, best first, ties by id; `scores` has all nodes."""
        ids, nodes = self._columns
        above = scores.take(nodes)
        reached = np.flatnonzero(above)
        if reached.size > k:
            lowest = np.partition(above[reached], -k)[-k]
            reached = reached[above[reached] >= lowest]
        found = [ScoredPassage(id=ids[place], score=float(above[place])) for place in reached.tolist()]
        return sorted(found, key=lambda passage: (-passage["score"], passage["id"]))[:k]

    @cached_property
    def ids(self) -> Mapping[int, str]:
        """The ids of passages by node."""
        return {node: id_ for id_, node in self.items()}

    @cached_property
    def _columns(self) -> tuple[list[str], Ids]:
        return list(self), np.fromiter(self.values(), np.int64, len(self))


@dataclass(frozen=True)
class _Adjacency:
    """Edges grouped by source: of all nodes (`nodes` is None), or of a few, whose ids are sorted."""

    nodes: Ids | None
    starts: Ids
    targets: Ids
    weights: Numbers | None
    strengths: Numbers

    def of(self, nodes: Ids) -> tuple[Ids | slice, Ids]:
        """Return the positions of the nodes that have a row here, and the numbers of these rows."""
        if self.nodes is None:
            if nodes.max(initial=-1) < self.strengths.size:
                return slice(None), nodes
            here = np.flatnonzero(nodes < self.strengths.size)
            return here, nodes[here]
        rows = np.searchsorted(self.nodes, nodes)
        rows[rows == self.nodes.size] = 0
        here = np.flatnonzero(self.nodes[rows] == nodes) if self.nodes.size else np.empty(0, np.int64)
        return here, rows[here]


@dataclass(frozen=True)
class PageRankGraph:
    """An undirected graph whose nodes are the numbers below `size`.

    Weights are relative to their mean, so that `epsilon` means the same in all graphs.
    """

    size: int
    _rows: tuple[_Adjacency, ...]

    @classmethod
    def from_edges(
        cls, size: int, sources: npt.ArrayLike, targets: npt.ArrayLike, weights: npt.ArrayLike | None = None
    ) -> "PageRankGraph":
        """Build a graph from undirected edges with positive weights; the weights of repeated edges are added.

        Raises:
            ValueError: when an edge has an unknown node or no positive weight.
        """
        ends, lengths = _both_ways(size, sources, targets, weights)
        if lengths is not None and lengths.size:
            lengths = lengths / lengths.mean()
        return cls(size, (_grouped(*ends, lengths, size),))

    def with_edges(self, sources: npt.ArrayLike, targets: npt.ArrayLike, *, nodes: int = 0) -> "PageRankGraph":
        """Return a graph with more edges and nodes; it shares the arrays of this one, which does not change.

        New nodes have the numbers from `size` on. Each edge has weight 1, so the graph must be unweighted.

        Raises:
            ValueError: when an edge has an unknown node.
        """
        size = self.size + nodes
        ends, _ = _both_ways(size, sources, targets, None)
        return replace(self, size=size, _rows=(*self._rows, _grouped(*ends, None, None)))

    def degree(self, nodes: npt.ArrayLike) -> Ids:
        """Return the number of edges of each node."""
        wanted = np.asarray(nodes, np.int64)
        degrees = np.zeros(wanted.size, np.int64)
        for rows in self._rows:
            here, numbers = rows.of(wanted)
            degrees[here] += rows.starts[numbers + 1] - rows.starts[numbers]
        return degrees

    def neighbours(self, node: int) -> Ids:
        """Return the nodes that share an edge with a node."""
        found = [np.empty(0, np.int64)]
        for rows in self._rows:
            _, numbers = rows.of(np.array([node]))
            found += [rows.targets[rows.starts[row] : rows.starts[row + 1]] for row in numbers]
        return np.concatenate(found)

    def push(self, seeds: Seeds, *, restart: float = RESTART, epsilon: float = EPSILON) -> Numbers:
        """Return the score of each node by forward push (Andersen et al. 2006), a whole frontier at a time.

        The work depends on the seeds' surroundings, not on the size of the graph. A score is too low by at most
        epsilon times the node's strength. Seeds are normalised; a walk that meets a node without edges starts again.

        Raises:
            ValueError: when there is no seed, or one is not a node or not positive.
        """
        frontier, mass, whole = self._start(seeds, restart)
        scores, residue = np.zeros(self.size), np.zeros(self.size)
        last = np.empty(self.size, np.int64)
        residue[frontier] = mass
        kept = restart / whole  # normalises the scores without a pass over the whole graph
        while frontier.size:
            mass = residue.take(frontier)
            residue[frontier] = 0.0
            scores[frontier] += kept * mass
            reached = self._pass_on(frontier, (1 - restart) * mass, residue)
            worth = self._strengths(reached)
            worth *= epsilon
            due = reached[residue.take(reached) > worth]
            place = np.arange(due.size)
            last[due] = place
            frontier = due[last.take(due) == place]  # each node once; sorting would take a third of the total time
        return scores

    def _start(self, seeds: Seeds, restart: float) -> tuple[Ids, Numbers, float]:
        """Return the seeds, their normalised weights, and the sum of the scores without the restarts of lost walks."""
        nodes = np.fromiter(seeds.keys(), np.int64, len(seeds))
        mass = np.fromiter(seeds.values(), np.float64, len(seeds))
        if not nodes.size or nodes.min() < 0 or nodes.max() >= self.size or not mass.min() > 0:
            raise ValueError(f"expected seeds among {self.size} nodes, each with a positive weight; got {_few(seeds)}")
        mass = mass / mass.sum()
        lost = float(mass[self.degree(nodes) == 0].sum()) * (1 - restart)
        return nodes, mass, 1 - lost

    def _strengths(self, nodes: Ids) -> Numbers:
        if len(self._rows) == 1:
            return self._rows[0].strengths.take(nodes)
        strengths = np.zeros(nodes.size)
        for rows in self._rows:
            here, numbers = rows.of(nodes)
            strengths[here] += rows.strengths[numbers]
        return strengths

    def _pass_on(self, frontier: Ids, mass: Numbers, residue: Numbers) -> Ids:
        """Add the mass of the frontier to the residue of its neighbours; return the neighbours, with repetitions."""
        strengths = self._strengths(frontier)
        per_weight = np.divide(mass, strengths, out=np.zeros(mass.size), where=strengths > 0)
        reached: list[Ids] = []
        for rows in self._rows:
            here, numbers = rows.of(frontier)
            starts = rows.starts.take(numbers)
            counts = rows.starts.take(numbers + 1)
            counts -= starts
            before = np.cumsum(counts)
            before -= counts
            edges = np.repeat(starts - before, counts)
            edges += np.arange(edges.size)
            targets = rows.targets.take(edges)
            flow = np.repeat(per_weight[here], counts)
            if rows.weights is not None:
                flow *= rows.weights.take(edges)
            np.add.at(residue, targets, flow)
            reached.append(targets)
        return reached[0] if len(reached) == 1 else np.concatenate(reached)


def _both_ways(
    size: int, sources: npt.ArrayLike, targets: npt.ArrayLike, weights: npt.ArrayLike | None
) -> tuple[tuple[Ids, Ids], Numbers | None]:
    """Return each edge in both directions; an edge from a node to itself once."""
    one, other = np.asarray(sources, np.int64).ravel(), np.asarray(targets, np.int64).ravel()
    if one.size and not (min(one.min(), other.min()) >= 0 and max(one.max(), other.max()) < size):
        raise ValueError(f"expected edges between nodes 0 to {size - 1}")
    there = one != other
    ends = np.concatenate([one, other[there]]), np.concatenate([other, one[there]])
    if weights is None:
        return ends, None
    lengths = np.asarray(weights, np.float64).ravel()
    if lengths.size and not lengths.min() > 0:
        raise ValueError(f"expected positive weights of edges, got {lengths.min()}")
    return ends, np.concatenate([lengths, lengths[there]])


def _grouped(sources: Ids, targets: Ids, weights: Numbers | None, size: int | None) -> _Adjacency:
    """Group edges by their source: one row for each of `size` nodes, or one for each source if `size` is None."""
    order = np.argsort(sources, kind="stable")
    nodes: Ids | None = None
    if size is None:
        nodes, counts = np.unique(sources, return_counts=True)
    else:
        counts = np.bincount(sources, minlength=size)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    if weights is None:
        return _Adjacency(nodes, starts, targets[order], None, counts.astype(np.float64))
    rows = np.repeat(np.arange(counts.size), counts)
    strengths: Numbers = np.bincount(rows, weights[order], minlength=counts.size).astype(np.float64)
    return _Adjacency(nodes, starts, targets[order], weights[order], strengths)


def _few(seeds: Seeds) -> str:
    return ", ".join(f"{node}: {weight}" for node, weight in list(seeds.items())[:3]) or "none"


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
