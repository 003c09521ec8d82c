"""Events of DualRAG."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field

from langgraph_rag.events.base import AnswerEvent, StepEvent, TitledRetrievalEvent
from langgraph_rag.nodes.identify_entities import Demand
from langgraph_rag.records import Evidence


class Reasoned(StepEvent):
    """The reasoner considered what is known, and decided whether something is missing."""

    node: Literal["reason"]
    thought: str
    """Its reasoning."""
    needs_retrieval: bool
    """Whether something is missing."""
    demands: NotRequired[list[Demand]]
    """The entities to look up, each with the queries about it, if they came in the same reply."""


class _Demanded(StepEvent):
    demands: Annotated[list[Demand], Field(description="The entities, each with the queries about it.")]


class EntitiesIdentified(_Demanded):
    """The missing knowledge was divided into entities, with queries for each."""

    node: Literal["identify_entities"]


class ThoughtTakenAsQuery(_Demanded):
    """The thought was used as the query (ablation without entity identifier)."""

    node: Literal["query_with_thought"]


class PassagesRetrievedForEntity(TitledRetrievalEvent):
    """Passages were retrieved for an entity."""

    node: Literal["retrieve_for_entity"]


class DocumentsSelected(StepEvent):
    """The passages that are new for their entity were selected for reading."""

    node: Literal["select_documents"]
    new: dict[str, int]
    """Number of passages by entity."""


class FindingsSummarized(StepEvent):
    """The passages found for an entity were summarised, or those of a round for all of its entities."""

    node: Literal["summarize"]
    entity: str
    """The entity, or the names that something was found about."""
    summary: str
    """What they say about it; empty if nothing helps."""


class PassagesCollected(StepEvent):
    """Whole passages were kept (ablation without outline)."""

    node: Literal["collect_passages"]
    titles: list[str]
    """Titles of the new passages."""


class OutlineUpdated(StepEvent):
    """The findings were merged into the outline."""

    node: Literal["update_outline"]
    added: int
    """Number of new findings."""
    entities: list[str]
    """The entities of the outline."""
    evidence: list[Evidence]
    """The evidence that this step adds."""


class AnsweredFromOutline(AnswerEvent):
    """The answer from the outline and the reasoning."""

    node: Literal["answer"]


DualragEvent = (
    Reasoned
    | EntitiesIdentified
    | ThoughtTakenAsQuery
    | PassagesRetrievedForEntity
    | DocumentsSelected
    | FindingsSummarized
    | PassagesCollected
    | OutlineUpdated
    | AnsweredFromOutline
)
