"""Personalized PageRank by push: against power iteration, on grown graphs, and on edge cases."""

import networkx as nx
import numpy as np
import pytest

from langgraph_rag.tools.index.pagerank import Numbers, PageRankGraph, PassageNodes

PATH = PageRankGraph.from_edges(4, [0, 1], [1, 2])  # 0 - 1 - 2, and 3 alone


def power_iteration(graph: "nx.Graph[int]", seeds: dict[int, float], restart: float) -> Numbers:
    """Return the scores as NetworkX finds them, which goes over the whole graph again and again."""
    scores = nx.pagerank(graph, 1 - restart, seeds, dangling=seeds, tol=1e-13, max_iter=1_000)
    return np.array([scores[node] for node in range(len(graph))])


def test_a_walk_on_a_path_has_the_scores_one_can_work_out_by_hand() -> None:
    # r0 = 1/2 + r1/4, r1 = (r0 + r2)/2, r2 = r1/4
    assert PATH.push({0: 1.0}, epsilon=1e-12) == pytest.approx([7 / 12, 1 / 3, 1 / 12, 0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("restart", [0.15, 0.5, 0.9])
def test_push_comes_as_near_to_power_iteration_as_it_promises(weighted: bool, restart: float) -> None:
    numbers = np.random.default_rng(1)
    edges = {tuple(sorted(ends)): numbers.uniform(0.1, 9) for ends in numbers.integers(0, 299, (900, 2)).tolist()}
    sources, targets = zip(*edges, strict=True)
    graph = PageRankGraph.from_edges(300, sources, targets, list(edges.values()) if weighted else None)
    whole = nx.Graph()
    whole.add_nodes_from(range(300))  # of which the last has no edges
    whole.add_weighted_edges_from((*ends, weight if weighted else 1.0) for ends, weight in edges.items())
    seeds = {3: 1.0, 40: 2.5, 299: 0.1}
    exact = power_iteration(whole, seeds, restart)

    assert exact.sum() == pytest.approx(1)
    for epsilon in (1e-4, 1e-6, 1e-9):
        missing = exact - graph.push(seeds, restart=restart, epsilon=epsilon)
        assert missing.min() > -1e-9
        assert (missing <= epsilon * 1.01 * graph._strengths(np.arange(300)) + 1e-9).all()


def test_seeds_count_by_their_share() -> None:
    assert PATH.push({0: 1.0, 2: 3.0}) == pytest.approx(PATH.push({2: 30.0, 0: 10.0}))


def test_weights_count_by_their_relation_to_each_other() -> None:
    one = PageRankGraph.from_edges(3, [0, 0], [1, 2], [1.0, 3.0])
    other = PageRankGraph.from_edges(3, [0, 0], [1, 2], [1e6, 3e6])

    scores = one.push({0: 1.0})
    assert scores == pytest.approx(other.push({0: 1.0}))
    assert scores[2] == pytest.approx(3 * scores[1], rel=1e-4)


def test_an_edge_given_twice_has_both_weights() -> None:
    twice = PageRankGraph.from_edges(3, [0, 0, 0], [1, 2, 2])
    heavy = PageRankGraph.from_edges(3, [0, 0], [1, 2], [1.0, 2.0])

    assert twice.push({0: 1.0}) == pytest.approx(heavy.push({0: 1.0}), abs=1e-5)


def test_a_node_without_edges_starts_again() -> None:
    scores = PATH.push({0: 1.0, 3: 1.0}, epsilon=1e-12)

    assert scores.sum() == pytest.approx(1)
    assert scores[3] == pytest.approx(1 / 3)  # half of what the walk that starts at 0 has
    assert PATH.push({3: 1.0}) == pytest.approx([0, 0, 0, 1])


def test_a_grown_graph_walks_like_one_built_with_all_edges() -> None:
    small = PageRankGraph.from_edges(5, [0, 1, 2], [1, 2, 3])
    whole = PageRankGraph.from_edges(6, [0, 1, 2, 5, 5], [1, 2, 3, 4, 0])
    before = small.push({0: 1.0})

    grown = small.with_edges([5, 5], [4, 0], nodes=1)

    assert grown.size == 6
    assert grown.push({0: 1.0}, epsilon=1e-12) == pytest.approx(whole.push({0: 1.0}, epsilon=1e-12))
    assert grown.push({4: 1.0}, epsilon=1e-12) == pytest.approx(whole.push({4: 1.0}, epsilon=1e-12))
    assert grown.degree([0, 3, 5]).tolist() == [2, 1, 2]
    assert sorted(grown.neighbours(0)) == [1, 5]
    assert small.push({0: 1.0}) == pytest.approx(before)
    assert (small.size, small.neighbours(0).tolist()) == (5, [1])


def test_a_graph_without_edges_can_be_walked_and_grown() -> None:
    bare = PageRankGraph.from_edges(2, [], [])

    assert bare.push({1: 1.0}).tolist() == [0, 1]
    assert bare.with_edges([], []).push({1: 1.0}).tolist() == [0, 1]
    assert bare.with_edges([0], [2], nodes=1).push({0: 1.0}, epsilon=1e-12) == pytest.approx([2 / 3, 0, 1 / 3])


@pytest.mark.parametrize("seeds", [{}, {4: 1.0}, {-1: 1.0}, {0: 0.0}, {0: float("nan")}])
def test_seeds_must_be_nodes_with_positive_weights(seeds: dict[int, float]) -> None:
    with pytest.raises(ValueError, match="expected seeds among 4 nodes"):
        PATH.push(seeds)


def test_edges_must_be_between_nodes_and_have_positive_weights() -> None:
    with pytest.raises(ValueError, match="between nodes 0 to 1"):
        PageRankGraph.from_edges(2, [0], [2])
    with pytest.raises(ValueError, match="between nodes 0 to 1"):
        PageRankGraph.from_edges(2, [0], [-1])
    with pytest.raises(ValueError, match="positive weights of edges, got -1"):
        PageRankGraph.from_edges(2, [0], [1], [-1.0])
    with pytest.raises(ValueError, match="between nodes 0 to 3"):
        PATH.with_edges([0], [4])


@pytest.mark.parametrize(("k", "best"), [(1, ["a"]), (2, ["a", "b"]), (3, ["a", "b", "d"]), (9, ["a", "b", "d", "c"])])
def test_the_best_passages_come_first_and_ties_go_by_id(k: int, best: list[str]) -> None:
    nodes = PassageNodes({"c": 0, "d": 1, "b": 2, "unreached": 3, "a": 5})
    scores = np.array([0.1, 0.2, 0.2, 0.0, 0.9, 0.3])

    assert [passage["id"] for passage in nodes.best(scores, k)] == best
