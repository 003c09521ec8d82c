"""MGranRAG's personalization vector (Eqs. 2-4): the weight of each node of the graph, extended by the evidence."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from langgraph_rag.nodes.extract_evidence import EvidenceUnit
from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import ScoredPassage
from langgraph_rag.tools.index.hierarchy_graph import HierarchyGraph
from langgraph_rag.tools.index.pagerank import Ids, Numbers, PageRankGraph, Seeds
from langgraph_rag.tools.ingest.spans import spot


class GrownGraph:
    """A copy of the graph with the new phrases and links of the evidence; the shared graph is not changed.

    `memory` is the evidence whose sentences are still in the graph.
    """

    def __init__(self, graph: HierarchyGraph, memory: Sequence[EvidenceUnit], aligned: Mapping[str, str]) -> None:
        self.graph = graph
        self.memory = [unit for unit in memory if unit["sentence"] in graph.sentences]
        self.new: dict[str, int] = {}
        self._aligned = aligned
        links = dict.fromkeys((self.sentence(u), self.phrase(phrase)) for u in self.memory for phrase in u["phrases"])
        self.links = [link for link in links if not graph.linked(*link)]
        self.walk = self._grown()

    def sentence(self, unit: EvidenceUnit) -> int:
        """Return the node of a piece of evidence."""
        return self.graph.sentences[unit["sentence"]]

    def phrase(self, phrase: str) -> int:
        """Return the node of a phrase; a new one if the graph has none."""
        form = normalise(self._aligned.get(phrase, phrase))
        if form in self.graph.phrases:
            return self.graph.phrases[form]
        return self.new.setdefault(form, self.graph.walk.size + len(self.new))

    def _grown(self) -> PageRankGraph:
        if not self.links:
            return self.graph.walk
        sources, targets = zip(*self.links, strict=True)
        return self.graph.walk.with_edges(sources, targets, nodes=len(self.new))


# --- profiles --------------------------------------------------------------------------------------------------------
def inverse(degrees: Ids) -> Numbers:
    """Return 1/d (Eq. 4)."""
    return 1.0 / np.maximum(degrees, 1)


def damped(degrees: Ids) -> Numbers:
    """Return 1 + 1/(d + 1), as in the authors' code: between 1 and 1.5."""
    return 1.0 + 1.0 / (degrees + 1)


def normalised(seeds: Seeds) -> Seeds:
    """Divide seeds by their sum, so that the weight of a granularity does not depend on its number of nodes."""
    total = sum(seeds.values())
    return {node: weight / total for node, weight in seeds.items()}


def unchanged(seeds: Seeds) -> Seeds:
    """Return seeds unchanged."""
    return seeds


@dataclass(frozen=True)
class Weights:
    """The parameters of Eqs. 2-4.

    `passage`, `sentence` and `phrase` are omega 1 to 3, and `decay` is alpha. `named`, `term` and `asked` are lambda:
    for names and dates in the evidence, for its other phrases, and for phrases in the questions. `degree` reduces the
    weight of common phrases, and `scale` balances the seeds of a granularity.
    """

    passage: float
    sentence: float
    phrase: float
    decay: float
    named: float
    term: float
    asked: float
    degree: Callable[[Ids], Numbers]
    scale: Callable[[Seeds], Seeds]


PAPER = Weights(
    passage=0.1, sentence=0.5, phrase=0.6, decay=0.1, named=1.0, term=0.5, asked=0.5, degree=inverse, scale=normalised
)
OFFICIAL = Weights(
    passage=4.0, sentence=1.5, phrase=24.0, decay=0.01, named=1.0, term=1.0, asked=0.5, degree=damped, scale=unchanged
)


# --- Eqs. 2 to 4 -----------------------------------------------------------------------------------------------------
def personalization(
    grown: GrownGraph,
    weights: Weights,
    *,
    before: Sequence[ScoredPassage],
    similar: Sequence[ScoredPassage],
    asked: Iterable[str],
) -> dict[int, float]:
    """Return the weights of all nodes with a positive weight.

    Args:
        grown: the graph with the evidence.
        weights: the profile.
        before: the ranking of the last round.
        similar: passages with their similarity to the augmented query.
        asked: the phrases of the questions.
    """
    seeds: defaultdict[int, float] = defaultdict(float)
    for part in (
        _passages(grown.graph, weights, before, similar),
        _sentences(grown, weights),
        _phrases(grown, weights, asked),
    ):
        for node, weight in part.items():
            seeds[node] += weight
    return dict(seeds)


def _passages(
    graph: HierarchyGraph, weights: Weights, before: Sequence[ScoredPassage], similar: Sequence[ScoredPassage]
) -> Seeds:
    """Weight passages by the last ranking and by similarity to the augmented query (Eq. 2)."""
    seeds: defaultdict[int, float] = defaultdict(float)
    for factor, passages in ((weights.decay, before), (weights.passage, similar)):
        scores = {graph.passages[p["id"]]: p["score"] for p in passages if p["id"] in graph.passages and p["score"] > 0}
        for node, weight in _times(factor, weights.scale(scores)).items():
            seeds[node] += weight
    return seeds


def _sentences(grown: GrownGraph, weights: Weights) -> Seeds:
    """Weight the sentences of the evidence by confidence (Eq. 3)."""
    seeds = _highest((grown.sentence(unit), unit["score"]) for unit in grown.memory)
    return _times(weights.sentence, weights.scale(seeds))


def _phrases(grown: GrownGraph, weights: Weights, asked: Iterable[str]) -> Seeds:
    """Weight phrases by confidence, features and degree (Eq. 4).

    A phrase has the highest confidence of its sentences, and one in the questions the highest confidence of all.
    """
    sure = max((unit["score"] for unit in grown.memory), default=1.0)
    told = _highest(
        (grown.phrase(phrase), unit["score"] * (weights.named if spot(phrase) else weights.term))
        for unit in grown.memory
        for phrase in unit["phrases"]
    )
    forms = map(normalise, asked)
    questioned = {grown.graph.phrases[form]: sure * weights.asked for form in forms if form in grown.graph.phrases}
    seeds = {node: told.get(node, 0.0) + questioned.get(node, 0.0) for node in {**told, **questioned}}
    if not seeds:
        return {}
    light = weights.degree(grown.walk.degree(list(seeds))).tolist()
    weighed = {node: weight * factor for (node, weight), factor in zip(seeds.items(), light, strict=True)}
    return _times(weights.phrase, weights.scale(weighed))


def _highest(weighed: Iterable[tuple[int, float]]) -> dict[int, float]:
    seeds: dict[int, float] = {}
    for node, weight in weighed:
        seeds[node] = max(weight, seeds.get(node, 0.0))
    return seeds


def _times(factor: float, seeds: Seeds) -> dict[int, float]:
    return {node: factor * weight for node, weight in seeds.items() if weight > 0}
