"""Personalized PageRank on a graph in flat arrays, which may lie on disk, and rows of its nodes that changed since."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
Array = npt.NDArray[Any]
Seeds = Mapping[int, float]

RESTART = 0.5  # beta in Eq. 5 of MGranRAG; also in HippoRAG, which PAR RAG follows
EPSILON = 1e-6  # residue per edge below which nothing is passed on
_SCRATCHES = 4  # kept for the next walks; each takes 29 bytes a node that was ever reached


@dataclass(frozen=True)
class Reached:
    """The nodes that a walk has reached, each with its score; all others have none."""

    nodes: Ids
    scores: Numbers

    def of(self, nodes: npt.ArrayLike) -> Numbers:
        """Return the scores of some nodes. Shape: nodes."""
        wanted, order = np.asarray(nodes, np.int64), np.argsort(self.nodes)
        if not order.size:
            return np.zeros(wanted.size)
        places = order[np.searchsorted(self.nodes, wanted, sorter=order).clip(max=order.size - 1)]
        return np.where(self.nodes[places] == wanted, self.scores[places], 0.0)


@dataclass(frozen=True)
class Rows:
    """The edges of nodes, grouped by node.

    Attributes:
        starts: where the row of each node begins, and the end. Shape: nodes + 1.
        targets: the other ends, ascending in each row. Shape: edges.
        weights: of the edges; None if each is 1. Shape: edges.
        strengths: the sum of the weights of each row. Shape: nodes.
        weight: the sum of all weights.
    """

    starts: Array
    targets: Array
    weights: Array | None
    strengths: Array
    weight: float

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.starts) - 1

    def row(self, node: int) -> tuple[Ids, Array]:
        """Return the other ends and the weights of the edges of a node, which need not be one of these."""
        if node >= self.size:
            return np.empty(0, np.int64), np.empty(0)
        start, end = int(self.starts[node]), int(self.starts[node + 1])
        targets = self.targets[start:end].astype(np.int64)
        return targets, np.ones(targets.size) if self.weights is None else self.weights[start:end]

    @classmethod
    def from_edges(cls, size: int, sources: Array, targets: Array, *, weighted: bool) -> "Rows":
        """Group undirected edges, each of weight 1; repeated ones add up if they are weighted, or else count once."""
        keys = _keys(sources, targets)
        keys.sort()
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        counts = np.diff(first, append=keys.size)
        keys = keys[first]
        of, ends = keys >> 32, (keys & 0xFFFFFFFF).astype(np.int32)
        starts = np.searchsorted(of, np.arange(size + 1))
        sums = np.concatenate([[0], np.cumsum(counts)]) if weighted else starts
        strengths = np.diff(sums[starts]) if weighted else np.diff(starts)
        weights = counts.astype(np.min_scalar_type(int(counts.max(initial=1)))) if weighted else None
        starts = starts.astype(np.min_scalar_type(int(keys.size)))
        return cls(starts, ends, weights, strengths.astype(np.int32), float(sums[-1]) if weighted else float(keys.size))


def _keys(sources: Array, targets: Array) -> Ids:
    """Return one number for each edge in both directions; an edge from a node to itself counts once."""
    one, other = sources.astype(np.int64), targets.astype(np.int64)
    there = one != other
    return np.concatenate([one << 32 | other, (other << 32 | one)[there]])


class _Changed:
    """How the edges of a node differ from the rows in arrays; it is never changed itself."""

    def __init__(self, changes: dict[int, float]) -> None:
        self.changes = changes
        self._row: tuple[Ids, Array] | None = None

    def row(self, node: int, rows: Rows) -> tuple[Ids, Array]:
        """Return the other ends and the weights of the edges."""
        if self._row is None:
            targets, weights = rows.row(node)
            others = np.fromiter(self.changes, np.int64, len(self.changes))
            by = np.fromiter(self.changes.values(), np.float64, len(self.changes))
            places = np.searchsorted(targets, others)
            known = places < targets.size
            known[known] = targets[places[known]] == others[known]
            weights = weights.astype(np.float64)
            weights[places[known]] += by[known]
            targets, weights = np.concatenate([targets, others[~known]]), np.concatenate([weights, by[~known]])
            self._row = targets[weights > 0], weights[weights > 0]
        return self._row


@dataclass(frozen=True)
class Patch:
    """The nodes of a graph whose edges changed. Shape of the arrays: these nodes."""

    changed: Mapping[int, _Changed]
    nodes: Ids
    strengths: Numbers


_UNCHANGED = Patch({}, np.empty(0, np.int64), np.empty(0))


class EdgeChanges:
    """Collects changes of the edges of a graph; what it returned before stays as it is."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._changed: dict[int, _Changed] = {}
        self._places: dict[int, int] = {}
        self._nodes, self._strengths = np.empty(64, np.int64), np.empty(64)
        self._pending: defaultdict[int, dict[int, float]] = defaultdict(dict)
        self.edges = 0
        """The number of edges more than before, both directions counted."""
        self.weight = 0.0
        """The sum of their weights."""

    def add(self, one: int, other: int, by: float) -> None:
        """Add to the weight of an edge, which may be new; an edge without weight is none."""
        for node, end in {(one, other), (other, one)}:
            pending = self._pending[node]
            pending[end] = pending.get(end, 0.0) + by

    def patch(self) -> Patch:
        """Return all changes so far."""
        if self._pending:
            changed = dict(self._changed)
            strengths = self._strengths.copy()
            for node, pending in self._pending.items():
                changed[node] = self._with(node, pending)
                strengths = self._put(node, sum(pending.values()), strengths)
            self._changed, self._strengths = changed, strengths
            self._pending.clear()
        size = len(self._places)
        return Patch(self._changed, self._nodes[:size], self._strengths[:size])

    def _with(self, node: int, pending: Mapping[int, float]) -> _Changed:
        before = self._changed.get(node)
        changes = dict(before.changes) if before else {}
        targets, weights = self._rows.row(node)
        for other, by in pending.items():
            place = int(np.searchsorted(targets, other)) if targets.size else 0
            stored = float(weights[place]) if place < targets.size and targets[place] == other else 0.0
            weight = stored + changes.get(other, 0.0)
            self.edges += (weight + by > 0) - (weight > 0)
            self.weight += by
            changes[other] = changes.get(other, 0.0) + by
            if not changes[other]:
                del changes[other]
        return _Changed(changes)

    def _put(self, node: int, by: float, strengths: Numbers) -> Numbers:
        place = self._places.get(node)
        if place is None:
            place = self._places[node] = len(self._places)
            if place == strengths.size:
                self._nodes = np.concatenate([self._nodes, np.empty_like(self._nodes)])
                strengths = np.concatenate([strengths, np.empty_like(strengths)])
            self._nodes[place] = node
            strengths[place] = self._rows.strengths[node] if node < self._rows.size else 0.0
        strengths[place] += by
        return strengths


class _Scratch:
    """Arrays for the numbers of a walk, all zero between walks: new ones would have to be cleared each time."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.scores, self.residue, self.strengths = np.zeros(size), np.zeros(size), np.zeros(size)
        self.last, self.changed = np.zeros(size, np.int32), np.zeros(size, bool)

    def unique(self, nodes: Ids) -> Ids:
        """Return each node once; sorting would take longer than the rest of a walk."""
        place = np.arange(nodes.size, dtype=np.int32)
        self.last[nodes] = place
        once: Ids = nodes[self.last.take(nodes) == place]
        return once


_scratches: list[_Scratch] = []
_borrowing = Lock()


@contextmanager
def _scratch(size: int) -> Iterator[_Scratch]:
    with _borrowing:
        fitting = [one for one in _scratches if one.size >= size]
        if fitting:
            _scratches.remove(fitting[0])
    own = fitting[0] if fitting else _Scratch(size + size // 8)
    yield own  # after an error, it is not clean
    with _borrowing:
        _scratches.append(own)
        _scratches.sort(key=lambda one: one.size)
        del _scratches[:-_SCRATCHES]


@dataclass(frozen=True)
class PageRankGraph:
    """An undirected graph whose nodes are the numbers below `size`; it never changes.

    Weights count relative to their mean, so that `epsilon` means the same in all graphs.
    """

    size: int
    rows: Rows
    patches: tuple[Patch, ...] = ()
    """What differs from the rows; of a node in several, the last one holds."""
    mean: float = 1.0
    """Of the weights of all edges."""

    @classmethod
    def from_edges(cls, size: int, sources: npt.ArrayLike, targets: npt.ArrayLike) -> "PageRankGraph":
        """Build an unweighted graph from undirected edges; a repeated edge counts once."""
        return cls(size, Rows.from_edges(size, *_checked(size, sources, targets), weighted=False))

    @classmethod
    def of(cls, size: int, rows: Rows, changes: EdgeChanges) -> "PageRankGraph":
        """Return a graph of these rows with changes."""
        patch = changes.patch()
        edges = rows.targets.size + changes.edges
        weight = rows.weight + changes.weight
        return cls(size, rows, (patch,) if patch.changed else (), weight / edges if edges else 1.0)

    def with_edges(self, sources: npt.ArrayLike, targets: npt.ArrayLike, *, nodes: int = 0) -> "PageRankGraph":
        """Return a graph with more edges and nodes; it shares what is the same with this one, which does not change.

        New nodes have the numbers from `size` on. Each edge has weight 1, and must be new.
        """
        size = self.size + nodes
        ends: defaultdict[int, list[int]] = defaultdict(list)
        for one, other in zip(*(some.tolist() for some in _checked(size, sources, targets)), strict=True):
            for node, end in {(one, other), (other, one)}:
                ends[node].append(end)
        changed: dict[int, _Changed] = {}
        for node, others in ends.items():
            before, weights = self._row(node)
            changed[node] = _Changed({})
            changed[node]._row = (
                np.concatenate([before, np.array(others, np.int64)]),
                np.concatenate([weights, np.ones(len(others))]),
            )
        strengths = np.array([one.row(node, self.rows)[1].sum() for node, one in changed.items()])
        patch = Patch(changed, np.fromiter(changed, np.int64, len(changed)), strengths)
        return replace(self, size=size, patches=(*self.patches, patch))

    def degree(self, nodes: npt.ArrayLike) -> Ids:
        """Return the number of edges of each node."""
        return np.array([self.neighbours(int(node)).size for node in np.asarray(nodes, np.int64)], np.int64)

    def neighbours(self, node: int) -> Ids:
        """Return the nodes that share an edge with a node."""
        return self._row(node)[0]

    def has_edges(self, node: int) -> bool:
        """Return whether a node shares an edge with any node."""
        if not any(node in patch.changed for patch in self.patches):
            return node < self.rows.size and bool(self.rows.starts[node + 1] > self.rows.starts[node])
        return bool(self.neighbours(node).size)

    def push(self, seeds: Seeds, *, restart: float = RESTART, epsilon: float = EPSILON) -> Reached:
        """Return the nodes with a score by forward push (Andersen et al. 2006), a whole frontier at a time.

        The work depends on the seeds' surroundings, not on the size of the graph. A score is too low by at most
        epsilon times the node's strength. Seeds are normalised; a walk that meets a node without edges starts again.

        Raises:
            ValueError: when there is no seed, or one is not a node or not positive.
        """
        frontier, mass, whole = self._start(seeds, restart)
        kept = restart / whole  # normalises the scores without a pass over the whole graph
        with _scratch(self.size) as scratch:
            for patch in self.patches:
                scratch.changed[patch.nodes], scratch.strengths[patch.nodes] = True, patch.strengths
            residue, pushed, met = scratch.residue, [frontier], [frontier]
            residue[frontier] = mass
            while frontier.size:
                mass = residue.take(frontier)
                residue[frontier] = 0.0
                scratch.scores[frontier] += kept * mass
                reached = self._pass_on(frontier, (1 - restart) * mass, scratch)
                worth = self._strengths(reached, scratch)
                worth *= epsilon / self.mean
                frontier = scratch.unique(reached[residue.take(reached) > worth])
                pushed.append(frontier)
                met.append(reached)
            nodes = scratch.unique(np.concatenate(pushed))
            found = Reached(nodes, scratch.scores.take(nodes))
            scratch.scores[nodes] = 0.0
            for reached in met:
                residue[reached] = 0.0
            for patch in self.patches:
                scratch.changed[patch.nodes] = False
        return found

    def _start(self, seeds: Seeds, restart: float) -> tuple[Ids, Numbers, float]:
        """Return the seeds, their normalised weights, and the sum of the scores without the restarts of lost walks."""
        nodes = np.fromiter(seeds.keys(), np.int64, len(seeds))
        mass = np.fromiter(seeds.values(), np.float64, len(seeds))
        if not nodes.size or nodes.min() < 0 or nodes.max() >= self.size or not mass.min() > 0:
            raise ValueError(f"expected seeds among {self.size} nodes, each with a positive weight; got {_few(seeds)}")
        mass = mass / mass.sum()
        alone = np.array([not self.has_edges(node) for node in nodes.tolist()])
        return nodes, mass, 1 - float(mass[alone].sum()) * (1 - restart)

    def _row(self, node: int) -> tuple[Ids, Array]:
        for patch in reversed(self.patches):
            if node in patch.changed:
                return patch.changed[node].row(node, self.rows)
        return self.rows.row(node)

    def _strengths(self, nodes: Ids, scratch: _Scratch) -> Numbers:
        if not self.patches:
            return self.rows.strengths.take(nodes).astype(np.float64)
        changed = scratch.changed.take(nodes)
        stored = np.where(changed | (nodes >= self.rows.size), 0, nodes)
        strengths = self.rows.strengths.take(stored).astype(np.float64) if self.rows.size else np.zeros(nodes.size)
        strengths[nodes >= self.rows.size] = 0.0
        strengths[changed] = scratch.strengths.take(nodes[changed])
        return strengths

    def _pass_on(self, frontier: Ids, mass: Numbers, scratch: _Scratch) -> Ids:
        """Add the mass of the frontier to the residue of its neighbours; return the neighbours, with repetitions."""
        strengths = self._strengths(frontier, scratch)
        per_weight = np.divide(mass, strengths, out=np.zeros(mass.size), where=strengths > 0)
        if not self.patches:
            return self._pass_on_stored(frontier, per_weight, scratch)
        changed = scratch.changed.take(frontier)
        stored = ~changed & (frontier < self.rows.size)
        reached = [self._pass_on_stored(frontier[stored], per_weight[stored], scratch)]
        changed_rows = [self._row(node) for node in frontier[changed].tolist()]
        if changed_rows:
            targets = np.concatenate([row[0] for row in changed_rows])
            counts = [row[0].size for row in changed_rows]
            flow = np.repeat(per_weight[changed], counts) * np.concatenate([row[1] for row in changed_rows])
            np.add.at(scratch.residue, targets, flow)
            reached.append(targets)
        return np.concatenate(reached)

    def _pass_on_stored(self, frontier: Ids, per_weight: Numbers, scratch: _Scratch) -> Ids:
        starts = self.rows.starts.take(frontier).astype(np.int64)
        counts = self.rows.starts.take(frontier + 1).astype(np.int64)
        counts -= starts
        before = np.cumsum(counts)
        before -= counts
        edges = np.repeat(starts - before, counts)
        edges += np.arange(edges.size)
        targets = self.rows.targets.take(edges).astype(np.int64)
        flow = np.repeat(per_weight, counts)
        if self.rows.weights is not None:
            flow *= self.rows.weights.take(edges)
        np.add.at(scratch.residue, targets, flow)
        return targets


def _checked(size: int, sources: npt.ArrayLike, targets: npt.ArrayLike) -> Sequence[Ids]:
    one, other = np.asarray(sources, np.int64).ravel(), np.asarray(targets, np.int64).ravel()
    if one.size and not (min(one.min(), other.min()) >= 0 and max(one.max(), other.max()) < size):
        raise ValueError(f"expected edges between nodes 0 to {size - 1}")
    return one, other


def _few(seeds: Seeds) -> str:
    return ", ".join(f"{node}: {weight}" for node, weight in list(seeds.items())[:3]) or "none"
