"""DualRAG between its two processes: which documents are new to their entity, as in the authors' code."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.identify_entities import Demand
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.retrieve_for_entity import Found
from langgraph_rag.prompts.dualrag import OutlineEntry


class Reading(Demand):
    """The passages to be read for an entity, best first, and what the outline holds of it."""

    passages: list[str]
    known: list[str]


class SelectInput(TypedDict):
    """What was found for each entity, and what was read for it before."""

    step: int
    found: list[Found]
    outline: list[OutlineEntry]


@dataclass(frozen=True)
class SelectDocuments:
    """Hand on, for each entity, the passages it has not read yet; an entity without any is left out.

    Queries about no entity in particular are about another thing each time: all that was found is read for them.
    """

    async def __call__(self, state: SelectInput) -> dict[str, Any]:
        """Return what is to be read."""
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
