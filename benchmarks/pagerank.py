"""Times personalized PageRank by local push, against PRPACK of python-igraph and on a larger graph.

python benchmarks/pagerank.py

The graphs are synthetic, with the proportions of Table 1 of MGranRAG: about four sentences per passage, seven phrases
per sentence, and thirteen distinct phrases for each passage, few of which are common. `pip install -e .[bench]`
installs igraph.
"""

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import igraph
import numpy as np
from measuring import Round, counted, quiet, report, rounds, seconds, timed, verdict

from langgraph_rag.tools.index.pagerank import EPSILON, RESTART, Ids, Numbers, PageRankGraph

SPEED_GOAL, GROWTH_GOAL = 20.0, 4.0
_SMALL, _LARGE = 12_000, 100_000
_SENTENCES = 4  # of a passage
_PHRASES = 26  # mentions in a passage
_DISTINCT = 13  # phrases for each passage
_TAIL = 0.35  # the smaller, the more mentions belong to few phrases
_SEEDS = 30  # nodes of evidence
_SIMILAR = 200  # passages near the query
_DEPTH = 10
Times = dict[str, list[float]]
Seeds = dict[int, float]


@dataclass(frozen=True)
class Synthetic:
    """A passage-sentence-phrase graph: passages are its first nodes."""

    passages: int
    size: int
    sources: Ids
    targets: Ids

    @classmethod
    def of(cls, passages: int) -> "Synthetic":
        """Return a graph with a number of passages; it is always the same."""
        numbers = np.random.default_rng(passages)
        sentences, phrases = passages * _SENTENCES, passages * _DISTINCT
        mentioned = (phrases * numbers.power(_TAIL, passages * _PHRASES)).astype(np.int64)
        mentioning = numbers.integers(0, sentences, passages * _PHRASES)
        mentions = np.unique(np.stack([passages + mentioning, passages + sentences + mentioned]), axis=1)
        owners = np.repeat(np.arange(passages), _SENTENCES)
        return cls(
            passages,
            passages + sentences + phrases,
            np.concatenate([owners, mentions[0]]),
            np.concatenate([passages + np.arange(sentences), mentions[1]]),
        )

    def seeds(self, number: int) -> Seeds:
        """Return the seeds of a question as in MGranRAG: phrases and sentences of evidence, and similar passages."""
        numbers = np.random.default_rng(number)
        found = numbers.integers(self.passages, self.size, _SEEDS)
        similar = numbers.choice(self.passages, _SIMILAR, replace=False)
        evidence = {int(node): float(numbers.uniform(0.2, 2.0)) for node in found}
        return {int(node): 0.1 / _SIMILAR * float(numbers.uniform(0.5, 1.5)) * _SEEDS for node in similar} | evidence


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="quiet rounds")
    parser.add_argument("--questions", type=int, default=50, help="sets of seeds")
    arguments = parser.parse_args()
    small, large = Synthetic.of(_SMALL), Synthetic.of(_LARGE)
    walks = {
        graph.passages: PageRankGraph.from_edges(graph.size, graph.sources, graph.targets) for graph in (small, large)
    }
    prpack = igraph.Graph(n=small.size, edges=np.stack([small.sources, small.targets], axis=1))
    questions = range(arguments.questions)
    firsts = [_firsts(walks[_SMALL], prpack, small, small.seeds(number)) for number in questions]
    same = sum(set(ours) == set(theirs) for ours, theirs in firsts)
    same_order = sum(ours == theirs for ours, theirs in firsts)
    done = rounds(lambda: _round(walks, prpack, (small, large), questions), arguments.rounds)

    medians = {name: statistics.median(_all(done, name)) for name in ("small", "large", "prpack")}
    speed, growth = medians["prpack"] / medians["small"], medians["large"] / medians["small"]
    report(
        "pagerank",
        Path("synthetic"),
        {
            "restart": RESTART,
            "epsilon": EPSILON,
            "igraph": igraph.__version__,
            "graphs": [
                {"passages": graph.passages, "nodes": graph.size, "edges": graph.sources.size}
                for graph in (small, large)
            ],
            "questions": len(questions),
            "same_first_ten": same,
            "same_first_ten_in_the_same_order": same_order,
            "seconds": {name: seconds(_all(done, name)) for name in medians},
            "rounds": [
                {**{name: seconds(times) for name, times in one.measured.items()}, "others": one.others} for one in done
            ],
        },
        [
            ("figure", "value", "goal"),
            ("push, ms", f"{1e3 * medians['small']:.1f}", ""),
            ("PRPACK, ms", f"{1e3 * medians['prpack']:.1f}", ""),
            ("PRPACK / push (medians)", f"{speed:.0f}", f"at least {SPEED_GOAL:.0f}: {verdict(speed >= SPEED_GOAL)}"),
            ("same first ten passages", f"{same} of {len(questions)}", f"all: {verdict(same == len(questions))}"),
            ("in the same order, too", f"{same_order} of {len(questions)}", ""),
            (f"push on {_LARGE:,} passages, ms", f"{1e3 * medians['large']:.1f}", ""),
            (
                f"{_LARGE:,} / {_SMALL:,} passages",
                f"{growth:.1f}",
                f"less than {GROWTH_GOAL:.0f}: {verdict(growth < GROWTH_GOAL)}",
            ),
            ("quiet rounds", counted(done), ""),
        ],
    )


def _round(
    walks: dict[int, PageRankGraph], prpack: Any, graphs: tuple[Synthetic, Synthetic], questions: range
) -> Times:
    """Time each question on all sides, one directly after the other."""
    times: Times = {"small": [], "large": [], "prpack": []}
    small, large = graphs
    for number in questions:
        near, far = small.seeds(number), large.seeds(number)
        times["small"].append(timed(partial(walks[_SMALL].push, near)))
        times["large"].append(timed(partial(walks[_LARGE].push, far)))
        times["prpack"].append(timed(partial(_prpack, prpack, small, near)))
    return times


def _prpack(graph: Any, synthetic: Synthetic, seeds: Seeds) -> Numbers:
    reset = np.zeros(synthetic.size)
    reset[list(seeds)] = list(seeds.values())
    scores = graph.personalized_pagerank(
        directed=False, damping=1 - RESTART, reset=reset.tolist(), implementation="prpack"
    )
    return np.asarray(scores)


def _firsts(walk: PageRankGraph, prpack: Any, synthetic: Synthetic, seeds: Seeds) -> tuple[list[int], list[int]]:
    """Return the top ten passages of each side."""
    ours, theirs = walk.push(seeds).of(range(synthetic.passages)), _prpack(prpack, synthetic, seeds)
    return _first(ours), _first(theirs[: synthetic.passages])


def _first(scores: Numbers) -> list[int]:
    return [int(node) for node in np.argsort(-scores, kind="stable")[:_DEPTH]]


def _all(done: Sequence[Round[Times]], name: str) -> list[float]:
    return [seconds_ for times in quiet(done) for seconds_ in times[name]]


if __name__ == "__main__":
    main()
