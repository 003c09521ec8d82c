"""Personalized PageRank by push: against power iteration, on graphs that changed, and on edge cases."""

import random
from typing import Any

import networkx as nx
import numpy as np
import pytest

from langgraph_rag.tools.index.pagerank import EdgeChanges, Numbers, PageRankGraph, Reached, Rows, Seeds
from langgraph_rag.tools.index.tables import ListedTexts, NodeSpace, PassageTable

PATH = PageRankGraph.from_edges(4, [0, 1], [1, 2])  # 0 - 1 - 2, and 3 alone


def scores(graph: PageRankGraph, seeds: Seeds, **settings: float) -> Numbers:
    """Return the scores of all nodes."""
    return graph.push(seeds, **settings).of(range(graph.size))


def weighted(size: int, edges: dict[tuple[int, int], int]) -> PageRankGraph:
    """Return a graph with whole numbers as weights."""
    ends = np.array([edge for edge, weight in edges.items() for _ in range(weight)], np.int64).reshape(-1, 2)
    rows = Rows.from_edges(size, *ends.T, weighted=True)
    return PageRankGraph.of(size, rows, EdgeChanges(rows))


def power_iteration(graph: "nx.Graph[int]", seeds: dict[int, float], restart: float) -> Numbers:
    """Return the scores as NetworkX finds them, which goes over the whole graph again and again."""
    found = nx.pagerank(graph, 1 - restart, seeds, dangling=seeds, tol=1e-13, max_iter=1_000)
    return np.array([found[node] for node in range(len(graph))])


def test_a_walk_on_a_path_has_the_scores_one_can_work_out_by_hand() -> None:
    # r0 = 1/2 + r1/4, r1 = (r0 + r2)/2, r2 = r1/4
    assert scores(PATH, {0: 1.0}, epsilon=1e-12) == pytest.approx([7 / 12, 1 / 3, 1 / 12, 0])


@pytest.mark.parametrize("heaviest", [1, 9])
@pytest.mark.parametrize("restart", [0.15, 0.5, 0.9])
def test_push_comes_as_near_to_power_iteration_as_it_promises(heaviest: int, restart: float) -> None:
    numbers = np.random.default_rng(1)
    pairs = {tuple(sorted(ends)) for ends in numbers.integers(0, 299, (900, 2)).tolist()}
    edges: dict[Any, int] = {ends: int(numbers.integers(1, heaviest + 1)) for ends in sorted(pairs)}
    graph = weighted(300, edges)
    whole = nx.Graph()
    whole.add_nodes_from(range(300))  # of which the last has no edges
    whole.add_weighted_edges_from((*ends, weight) for ends, weight in edges.items())
    seeds = {3: 1.0, 40: 2.5, 299: 0.1}
    exact = power_iteration(whole, seeds, restart)

    assert exact.sum() == pytest.approx(1)
    for epsilon in (1e-4, 1e-6, 1e-9):
        missing = exact - scores(graph, seeds, restart=restart, epsilon=epsilon)
        assert missing.min() > -1e-9
        assert (missing <= epsilon * 1.01 * graph.rows.strengths / graph.mean + 1e-9).all()


def test_seeds_count_by_their_share() -> None:
    assert scores(PATH, {0: 1.0, 2: 3.0}) == pytest.approx(scores(PATH, {2: 30.0, 0: 10.0}))


def test_weights_count_by_their_relation_to_each_other() -> None:
    one, other = weighted(3, {(0, 1): 1, (0, 2): 3}), weighted(3, {(0, 1): 1000, (0, 2): 3000})

    found = scores(one, {0: 1.0})
    assert found == pytest.approx(scores(other, {0: 1.0}))
    assert found[2] == pytest.approx(3 * found[1], rel=1e-4)


def test_a_node_without_edges_starts_again() -> None:
    found = scores(PATH, {0: 1.0, 3: 1.0}, epsilon=1e-12)

    assert found.sum() == pytest.approx(1)
    assert found[3] == pytest.approx(1 / 3)  # half of what the walk that starts at 0 has
    assert scores(PATH, {3: 1.0}) == pytest.approx([0, 0, 0, 1])


def test_a_grown_graph_walks_like_one_built_with_all_edges() -> None:
    small = PageRankGraph.from_edges(5, [0, 1, 2], [1, 2, 3])
    whole = PageRankGraph.from_edges(6, [0, 1, 2, 5, 5], [1, 2, 3, 4, 0])
    before = scores(small, {0: 1.0})

    grown = small.with_edges([5, 5], [4, 0], nodes=1)

    assert grown.size == 6
    for seed in (0, 4, 5):
        assert scores(grown, {seed: 1.0}, epsilon=1e-12) == pytest.approx(scores(whole, {seed: 1.0}, epsilon=1e-12))
    assert grown.degree([0, 3, 5]).tolist() == [2, 1, 2]
    assert sorted(grown.neighbours(0)) == [1, 5]
    assert scores(small, {0: 1.0}) == pytest.approx(before)
    assert (small.size, small.neighbours(0).tolist()) == (5, [1])


def test_a_graph_whose_edges_changed_walks_like_one_that_is_new_and_earlier_ones_stay() -> None:
    chance, edges = random.Random(5), {(0, 1): 2, (1, 2): 1}
    ends = np.array([edge for edge, weight in edges.items() for _ in range(weight)], np.int64)
    rows = Rows.from_edges(20, *ends.T, weighted=True)
    changes = EdgeChanges(rows)
    held: list[tuple[PageRankGraph, Numbers]] = []
    for _ in range(40):
        for _ in range(3):
            edge = chance.randrange(30), chance.randrange(30)
            edge = min(edge), max(edge)
            by = chance.choice([1, 2]) if not edges.get(edge) or chance.random() < 0.4 else -edges[edge]
            edges[edge] = edges.get(edge, 0) + by
            changes.add(*edge, by)
        graph, new = PageRankGraph.of(30, rows, changes), weighted(30, {e: w for e, w in edges.items() if w})
        assert graph.mean == pytest.approx(new.mean)
        for node in range(30):
            assert sorted(graph.neighbours(node)) == sorted(new.neighbours(node))
            assert scores(graph, {node: 1.0}) == pytest.approx(scores(new, {node: 1.0}), abs=1e-12)
        held.append((graph, scores(graph, {0: 1.0, 7: 1.0})))

    assert all(scores(graph, {0: 1.0, 7: 1.0}).tolist() == found.tolist() for graph, found in held)


def test_a_graph_without_edges_can_be_walked_and_grown() -> None:
    bare = PageRankGraph.from_edges(2, [], [])

    assert scores(bare, {1: 1.0}).tolist() == [0, 1]
    assert scores(bare.with_edges([], []), {1: 1.0}).tolist() == [0, 1]
    assert scores(bare.with_edges([0], [2], nodes=1), {0: 1.0}, epsilon=1e-12) == pytest.approx([2 / 3, 0, 1 / 3])


@pytest.mark.parametrize("seeds", [{}, {4: 1.0}, {-1: 1.0}, {0: 0.0}, {0: float("nan")}])
def test_seeds_must_be_nodes_with_positive_weights(seeds: dict[int, float]) -> None:
    with pytest.raises(ValueError, match="expected seeds among 4 nodes"):
        PATH.push(seeds)


def test_edges_must_be_between_nodes() -> None:
    with pytest.raises(ValueError, match="between nodes 0 to 1"):
        PageRankGraph.from_edges(2, [0], [2])
    with pytest.raises(ValueError, match="between nodes 0 to 1"):
        PageRankGraph.from_edges(2, [0], [-1])
    with pytest.raises(ValueError, match="between nodes 0 to 3"):
        PATH.with_edges([0], [4])


@pytest.mark.parametrize(("k", "best"), [(1, ["a"]), (2, ["a", "b"]), (3, ["a", "b", "d"]), (9, ["a", "b", "d", "c"])])
def test_the_best_passages_come_first_and_ties_go_by_id(k: int, best: list[str]) -> None:
    passages = PassageTable(ListedTexts(["c", "d", "b", "unreached", "a"]), np.arange(5))
    reached = Reached(np.array([0, 1, 2, 4, 5]), np.array([0.1, 0.2, 0.2, 0.9, 3.0]))  # the last is no passage

    assert [passage["id"] for passage in passages.snapshot(NodeSpace(5, 2)).best(reached, k)] == best
