"""Selects the documents that are new to their entity, between DualRAG's two processes, as in the authors' code."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.identify_entities import Demand
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.retrieve_for_entity import Found
from langgraph_rag.prompts.dualrag import OutlineEntry


class Reading(Demand):
    """The passages to read for an entity, best first, and the fragments of the outline about it."""

    passages: list[str]
    known: list[str]


class SelectInput(TypedDict):
    """The passages found for each entity, and the outline, with the passages read before."""

    step: int
    found: list[Found]
    outline: list[OutlineEntry]


@dataclass(frozen=True)
class SelectDocuments:
    """Select the new passages of each entity; entities without any are left out.

    For queries without an entity, all passages are read, because each of these queries is about something else.
    """

    async def __call__(self, state: SelectInput) -> dict[str, Any]:
        """Return the passages to read."""
        read = {entry["entity"]: entry["read"] for entry in state["outline"] if entry["entity"]}
        known = {entry["entity"]: entry["fragments"] for entry in state["outline"]}
        readings = [
            Reading(
                entity=found["entity"],
                queries=found["queries"],
                passages=[id_ for id_ in found["passages"] if id_ not in read.get(found["entity"], [])],
                known=known.get(found["entity"], []),
            )
            for found in state["found"]
        ]
        readings = [reading for reading in readings if reading["passages"]]
        new = {reading["entity"]: len(reading["passages"]) for reading in readings}
        emit("select_documents", step=state["step"], new=new)
        return {"readings": readings}
