"""Retrieves the passages for the current query, or for the whole question."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.context import context
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.receive_question import QuestionInput
from langgraph_rag.nodes.search import search
from langgraph_rag.records import LISTED, ScoredPassage, ids_of
from langgraph_rag.tools.retrieve.retriever import Retriever


class RetrieveInput(TypedDict):
    """The current query, and the passages of the first retrieval."""

    query: str
    step: int
    first_retrieval: list[ScoredPassage]


@dataclass(frozen=True)
class Retrieve:
    """Begin the next step with the `top_k` best passages for the query.

    The first retrieval also keeps the passages that follow, for the list of passages in the result. `node` is the name
    in the event.
    """

    kb: Retriever
    node: str = "retrieve"

    async def __call__(self, state: RetrieveInput) -> dict[str, Any]:
        """Return the passages, best first, and the number of their step."""
        settings, step = context(), state["step"] + 1
        found = await search(self.kb, state["query"], max(settings.top_k, LISTED), settings.search)
        best = found[: settings.top_k]
        titles = [record["title"] for record in await self.kb.apassages(ids_of(best))]
        emit(self.node, step=step, query=state["query"], passages=best, titles=titles)
        return {"step": step, "retrieved": best, "first_retrieval": state["first_retrieval"] or found}


@dataclass(frozen=True)
class LookUpQuestion:
    """Retrieve passages for the question, without showing them to a model."""

    kb: Retriever

    async def __call__(self, state: QuestionInput) -> dict[str, Any]:
        """Return the passages as the first retrieval."""
        settings = context()
        found = await search(self.kb, state["question"], max(settings.top_k, LISTED), settings.search)
        emit("look_up_question", passages=found)
        return {"first_retrieval": found}
