"""CIRAG's projection of core triples onto sentences and passages (Eqs. 3 and 4), added to what earlier steps found."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.node import emit
from langgraph_rag.records import Evidence, Triple
from langgraph_rag.tools.knowledge_base import KnowledgeBase


class AccumulateInput(TypedDict):
    """This step's core triples and the evidence so far."""

    step: int
    core: list[Triple]
    evidence: list[Evidence]


@dataclass(frozen=True)
class Accumulate:
    """Add to the evidence each core triple with every sentence that states it.

    The paper's sets C, S and D are the distinct triples, sentences and passages of the evidence.
    """

    kb: KnowledgeBase

    async def __call__(self, state: AccumulateInput) -> dict[str, Any]:
        """Return all evidence, in the order it was found."""
        ids = [source["passage_id"] for entry in state["core"] for source in entry["sources"]]
        passages = {record["id"]: record for record in await self.kb.apassages(ids)}
        found = [
            Evidence(
                triple=entry["triple"],
                sentence=passages[source["passage_id"]]["sentences"][position],
                passage_id=source["passage_id"],
                title=passages[source["passage_id"]]["title"],
                step=state["step"],
            )
            for entry in state["core"]
            for source in entry["sources"]
            if source["passage_id"] in passages  # deleted since
            for position in source["sentences"]
        ]
        emit("accumulate", step=state["step"], evidence=found)
        return {"evidence": [*state["evidence"], *found]}
