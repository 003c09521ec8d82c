"""MGranRAG's global structure-aware calibration (Eqs. 2-5): ranks passages by personalized PageRank."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.context import context
from langgraph_rag.nodes.extract_evidence import EvidenceUnit
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.search import search
from langgraph_rag.nodes.weigh import GrownGraph, Weights, personalization
from langgraph_rag.records import ScoredPassage, ids_of
from langgraph_rag.tools.index.hierarchy_graph import HierarchyGraph
from langgraph_rag.tools.ingest.text import RULES, text_pipeline
from langgraph_rag.tools.retrieve.retriever import Retriever

_RANKED = 50  # passages kept for the next round and the result, if no more are read


class CalibrateInput(TypedDict):
    """The questions, the augmented query, the memory with its phrases, and the previous ranking."""

    question: str
    query: str
    subqueries: list[str]
    memory: list[EvidenceUnit]
    aligned: dict[str, str]
    ranking: list[ScoredPassage]
    retrieved: list[ScoredPassage]
    seen: list[str]


@dataclass(frozen=True)
class Calibrate:
    """Rank passages by personalized PageRank on the hierarchical graph, extended by the evidence."""

    kb: Retriever
    weights: Weights

    async def __call__(self, state: CalibrateInput) -> dict[str, Any]:
        """Return the ranking, the best passages to read next, and how many of them are new."""
        similar = await search(self.kb, state["query"], context().similar_k, "dense")
        graph = await self.kb.ahierarchy()
        grown, ranking = await in_thread(self._rank, graph, state, similar)
        best = ranking[: context().top_k]
        ids = ids_of(best)
        titles = [record["title"] for record in await self.kb.apassages(ids)]
        emit(
            "calibrate",
            passages=best,
            titles=titles,
            seeds=len(grown.memory),
            new_phrases=len(grown.new),
            new_links=len(grown.links),
        )
        seen = list(dict.fromkeys([*state["seen"], *(passage["id"] for passage in state["retrieved"])]))
        return {"ranking": ranking, "retrieved": best, "seen": seen, "unread": len(set(ids).difference(seen))}

    def _rank(
        self, graph: HierarchyGraph, state: CalibrateInput, similar: Sequence[ScoredPassage]
    ) -> tuple[GrownGraph, list[ScoredPassage]]:
        grown = GrownGraph(graph, state["memory"], state["aligned"])
        questions = text_pipeline(RULES).analyse([state["question"], *state["subqueries"]])
        asked = [phrase for question in questions for phrase in question["phrases"]]
        ranked = max(_RANKED, context().top_k, context().read_k or 0)
        seeds = personalization(grown, self.weights, before=state["ranking"], similar=similar, asked=asked)
        return grown, graph.passages.best(grown.walk.push(seeds), ranked) if seeds else list(similar)
