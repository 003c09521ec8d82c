"""CIRAG's construction phase (section 3.3): candidate triples from the retrieved passages, with their sources."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from typing_extensions import TypedDict

from langgraph_rag.context import Settings, context
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.spreading import spread_out
from langgraph_rag.normal_forms import triple_key
from langgraph_rag.records import Evidence, ScoredPassage, Triple
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.language.extraction import TripleExtractor

Selection = Callable[[KnowledgeBase, str, list[Triple], int | None], Awaitable[list[Triple]]]


async def most_similar(kb: KnowledgeBase, query: str, triples: list[Triple], most: int | None) -> list[Triple]:
    """Select the `most` triples most similar to the query; ties keep the order of the passages."""
    cosines = await kb.atriple_cosines([query], [entry["triple"] for entry in triples])
    order = np.argsort(-cosines[:, 0], kind="stable")
    return [triples[position] for position in order[:most]]


async def most_similar_spread(kb: KnowledgeBase, query: str, triples: list[Triple], most: int | None) -> list[Triple]:
    """Select the triples most similar to the query, but few of each passage, and one about each name compared."""
    return spread_out(await most_similar(kb, query, triples, None), query, most)


async def all_of_them(kb: KnowledgeBase, query: str, triples: list[Triple], most: int | None) -> list[Triple]:
    """Select every triple, in the order of the passages (ablation "w/o reranker")."""
    return triples


class ConstructInput(TypedDict):
    """The query, its passages, those that the extractor failed to read, the evidence so far, and what was offered."""

    query: str
    step: int
    retrieved: list[ScoredPassage]
    unreadable: list[str]
    evidence: list[Evidence]
    offered: list[Triple]


def accepted(state: ConstructInput) -> set[str]:
    """Return the keys of the triples that were kept, as published."""
    return {triple_key(evidence["triple"]) for evidence in state["evidence"]}


def offered(state: ConstructInput) -> set[str]:
    """Return the keys of all triples that were offered: those that were not kept would only take places again."""
    return accepted(state) | {triple_key(entry["triple"]) for entry in state["offered"]}


@dataclass(frozen=True)
class Construct:
    """Select the candidates among the triples of the retrieved passages, without those known from earlier steps.

    Without an `extractor`, the triples are those of the knowledge base's own extractor.
    """

    kb: KnowledgeBase
    extractor: TripleExtractor | None
    select: Selection
    defaults: Settings
    known: Callable[[ConstructInput], set[str]]

    async def __call__(self, state: ConstructInput) -> dict[str, Any]:
        """Return the candidates, best first, each with its passages and sentences."""
        ids = [passage["id"] for passage in state["retrieved"] if passage["id"] not in state["unreadable"]]
        triples = await self.kb.atriples(ids, self.extractor)
        known = self.known(state)
        fresh = [entry for entry in triples if triple_key(entry["triple"]) not in known]
        most = context(self.defaults).max_candidates
        candidates = await self.select(self.kb, state["query"], fresh, most) if fresh else []
        emit("construct", step=state["step"], triples=len(triples), candidates=len(candidates))
        return {"candidates": candidates}
