"""CIRAG's construction phase (section 3.3): candidate triples from the retrieved passages, with their sources."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from typing_extensions import TypedDict

from langgraph_rag.context import Settings, context
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.spreading import OFFERED, spread_out
from langgraph_rag.normal_forms import triple_key
from langgraph_rag.records import Evidence, ScoredPassage, Triple
from langgraph_rag.tools.facts.extraction import TripleExtractor
from langgraph_rag.tools.retrieve.retriever import Retriever
from langgraph_rag.tools.stores.protocols import Matrix


class ConstructInput(TypedDict):
    """The query, its passages, those that the extractor failed to read, the evidence so far, and what was offered."""

    query: str
    step: int
    retrieved: list[ScoredPassage]
    unreadable: list[str]
    evidence: list[Evidence]
    offered: list[Triple]


Selection = Callable[[Retriever, ConstructInput, list[Triple], int | None], Awaitable[list[Triple]]]


async def nearest(kb: Retriever, query: str, triples: list[Triple], most: int | None) -> list[Triple]:
    """Return the `most` triples most similar to a query; ties keep their order."""
    return _best(triples, await _cosines(kb, query, triples))[:most]


async def most_similar(kb: Retriever, state: ConstructInput, triples: list[Triple], most: int | None) -> list[Triple]:
    """Select the `most` triples most similar to the query; ties keep the order of the passages."""
    return await nearest(kb, state["query"], triples, most)


async def new_first(kb: Retriever, state: ConstructInput, triples: list[Triple], most: int | None) -> list[Triple]:
    """Select the triples most similar to the query, but few of each passage, and one about each name compared.

    Those that were offered before and not kept count for less, so that they make room for new ones.
    """
    cosines = await _cosines(kb, state["query"], triples)
    offered = {triple_key(entry["triple"]) for entry in state["offered"]}
    weights = [OFFERED if triple_key(entry["triple"]) in offered else 1.0 for entry in triples]
    return spread_out(_best(triples, cosines * weights), state["query"], most)


async def all_of_them(kb: Retriever, state: ConstructInput, triples: list[Triple], most: int | None) -> list[Triple]:
    """Select every triple, in the order of the passages (ablation "w/o reranker")."""
    return triples


async def _cosines(kb: Retriever, query: str, triples: list[Triple]) -> Matrix:
    return (await kb.atriple_cosines([query], [entry["triple"] for entry in triples]))[:, 0]


def _best(triples: list[Triple], scores: Matrix) -> list[Triple]:
    return [triples[position] for position in np.argsort(-scores, kind="stable")]


@dataclass(frozen=True)
class Construct:
    """Select the candidates among the triples of the retrieved passages, without those accepted before.

    Without an `extractor`, the triples are those of the knowledge base's own extractor.
    """

    kb: Retriever
    extractor: TripleExtractor | None
    select: Selection
    defaults: Settings

    async def __call__(self, state: ConstructInput) -> dict[str, Any]:
        """Return the candidates, best first, each with its passages and sentences."""
        ids = [passage["id"] for passage in state["retrieved"] if passage["id"] not in state["unreadable"]]
        triples = await self.kb.atriples(ids, self.extractor)
        accepted = {triple_key(evidence["triple"]) for evidence in state["evidence"]}
        fresh = [entry for entry in triples if triple_key(entry["triple"]) not in accepted]
        most = context(self.defaults).max_candidates
        candidates = await self.select(self.kb, state, fresh, most) if fresh else []
        emit("construct", step=state["step"], triples=len(triples), candidates=len(candidates))
        return {"candidates": candidates}
