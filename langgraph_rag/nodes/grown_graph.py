"""MGranRAG's hierarchical graph, extended by the evidence of one question."""

from collections.abc import Mapping, Sequence

from langgraph_rag.nodes.extract_evidence import EvidenceUnit
from langgraph_rag.normal_forms import normalise
from langgraph_rag.tools.index.hierarchy_graph import HierarchyGraph
from langgraph_rag.tools.index.pagerank import PageRankGraph


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
