"""DualRAG without its knowledge outline (table 3, "w/o KO"): collects whole passages."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.retrieve_for_entity import Found
from langgraph_rag.nodes.summarize import Fragment
from langgraph_rag.prompts.dualrag import OutlineEntry
from langgraph_rag.tools.retrieve.ranking import nearest_evidence
from langgraph_rag.tools.retrieve.retriever import Retriever


class CollectInput(TypedDict):
    """What was found for each entity, and what was collected before."""

    step: int
    found: list[Found]
    outline: list[OutlineEntry]


@dataclass(frozen=True)
class CollectPassages:
    """Collect whole passages, without order, instead of summarising them (table 3, "w/o KO")."""

    kb: Retriever

    async def __call__(self, state: CollectInput) -> dict[str, Any]:
        """Return each new passage as a fragment without an entity."""
        seen = {id_ for entry in state["outline"] for id_ in entry["read"]}
        wanted_by = {id_: found for found in reversed(state["found"]) for id_ in found["passages"]}
        new = [id_ for found in state["found"] for id_ in found["passages"] if id_ not in seen]
        records = await self.kb.apassages(list(dict.fromkeys(new)))
        fragments = [
            Fragment(
                entity="",
                text=f"{record['title']}: {record['text']}",
                read=[record["id"]],
                evidence=nearest_evidence(" ".join(wanted_by[record["id"]]["queries"]), record, state["step"]),
            )
            for record in records
        ]
        emit("collect_passages", step=state["step"], titles=[record["title"] for record in records])
        return {"fragments": fragments}
