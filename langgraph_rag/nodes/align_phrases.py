"""MGranRAG's phrase matching: links the phrases of the evidence to phrases of the graph."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.concurrency.tasks import gather
from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.nodes.extract_evidence import EvidenceUnit
from langgraph_rag.nodes.node import emit
from langgraph_rag.tools.index.hierarchy_graph import HierarchyGraph
from langgraph_rag.tools.retrieve.retriever import Retriever

_SAME = 0.9  # cosine, the paper's threshold


class AlignInput(TypedDict):
    """The memory and the phrases aligned before."""

    memory: list[EvidenceUnit]
    aligned: dict[str, str]


@dataclass(frozen=True)
class AlignPhrases:
    """Match phrases by normal form, or else by similarity, with half of the words and all numbers in common."""

    kb: Retriever

    async def __call__(self, state: AlignInput) -> dict[str, Any]:
        """Return the graph's phrase for each phrase of the memory; a phrase without a match is returned as it is."""
        graph = await self.kb.ahierarchy()
        phrases = dict.fromkeys(phrase for unit in state["memory"] for phrase in unit["phrases"])
        unmatched = [phrase for phrase in phrases if phrase not in state["aligned"]]
        matched = await gather(self._match(graph, phrase) for phrase in unmatched)
        known_now = state["aligned"] | dict(zip(unmatched, matched, strict=True))
        aligned = {phrase: known_now[phrase] for phrase in phrases}
        emit("align_phrases", phrases=list(aligned), new=[p for p, known in aligned.items() if not graph.has(known)])
        return {"aligned": aligned}

    async def _match(self, graph: HierarchyGraph, phrase: str) -> str:
        if graph.has(phrase) or not (similar := await in_thread(graph.similar, phrase)):
            return phrase
        likeness = await self.kb.acosines(phrase, similar)
        best = max(range(len(similar)), key=lambda position: likeness[position])
        return similar[best] if likeness[best] >= _SAME else phrase
