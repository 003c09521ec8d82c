"""DualRAG's entity identifier (section 3.1.1, Eq. 5): names entities to look up, with queries for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from typing_extensions import TypedDict

from langgraph_rag.llm import ask
from langgraph_rag.metering import count_dropped, first_of
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import normalise
from langgraph_rag.prompts.dualrag import Demands, EntityQueries, LookUp, OutlineEntry
from langgraph_rag.prompts.prompt import Prompt

_MOST_ENTITIES = 8  # per round: each costs a call
_MOST_QUERIES = 8  # per entity

Reply = TypeVar("Reply", Demands, LookUp)


class Demand(TypedDict):
    """An entity and the queries about it; the name is empty if they are about no particular entity."""

    entity: str
    queries: list[str]


class IdentifyEntitiesInput(TypedDict):
    """The question, the outline, the thoughts, and the queries without a result."""

    question: str
    step: int
    outline: list[OutlineEntry]
    thoughts: list[str]
    vain: list[str]


@dataclass(frozen=True)
class IdentifyEntities:
    """Ask for entities to look up, with queries, and link them to the entities of the outline.

    If the model names none, the last thought is the query.
    """

    llm: ChatModel
    prompt: Prompt[Demands]

    async def __call__(self, state: IdentifyEntitiesInput) -> dict[str, Any]:
        """Return the entities and queries of the next step."""
        _, demands = await ask_for_entities(self.llm, self.prompt, state, state["vain"])
        return _begin_step("identify_entities", state, demands or [_thought_as_query(state)])


@dataclass(frozen=True)
class QueryWithThought:
    """Use the last thought as the query (table 3, "w/o EI")."""

    async def __call__(self, state: IdentifyEntitiesInput) -> dict[str, Any]:
        """Return the entities and queries of the next step."""
        return _begin_step("query_with_thought", state, [_thought_as_query(state)])


async def ask_for_entities(
    llm: ChatModel, prompt: Prompt[Reply], state: Mapping[str, Any], vain: list[str]
) -> tuple[Reply, list[Demand]]:
    """Ask what to look up next; return the reply, and its entities as they are named in the outline."""
    names = [entry["entity"] for entry in state["outline"] if entry["entity"]]
    shown = {name: state[name] for name in ("question", "outline", "thoughts")}
    reply = await ask(llm, prompt, **shown, names=names, vain=vain)
    return reply, first_of(_linked(reply.entities, names), _MOST_ENTITIES)


def _linked(entities: list[EntityQueries], names: list[str]) -> list[Demand]:
    """Merge the queries of each entity, with its spelling in the outline.

    Only equal normal forms are merged, because similar names (Otto I, Otto II) may be different entities. To link a
    synonym, the model uses the name in the outline.
    """
    spelling = {normalise(name): name for name in names}
    queries: dict[str, dict[str, str]] = {}
    for asked in entities:
        form = normalise(asked.entity)
        if not form:
            count_dropped(1)
            continue
        wanted = {normalise(query): query.strip() for query in asked.queries if normalise(query)}
        spelling.setdefault(form, asked.entity)
        queries.setdefault(form, {}).update(wanted or {form: asked.entity})
    return [
        Demand(entity=spelling[form], queries=first_of(list(wanted.values()), _MOST_QUERIES))
        for form, wanted in queries.items()
    ]


def _thought_as_query(state: IdentifyEntitiesInput) -> Demand:
    return Demand(entity="", queries=[state["thoughts"][-1] or state["question"]])


def _begin_step(node: str, state: IdentifyEntitiesInput, demands: list[Demand]) -> dict[str, Any]:
    step = state["step"] + 1
    emit(node, step=step, demands=demands)
    return {"step": step, "demands": demands, "found": [], "fragments": []}
