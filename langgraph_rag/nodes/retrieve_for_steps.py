"""PAR RAG's passages for each question that is acted on: retrieved (section 3.5), or those that earlier steps cited."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.for_each_question import ForEachQuestion
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.retrieve import Retrieve, RetrieveInput
from langgraph_rag.records import Evidence, reciprocal_ranks
from langgraph_rag.tools.retrieve.ranking import round_robin
from langgraph_rag.tools.retrieve.retriever import Retriever


@dataclass(frozen=True)
class RetrieveForSteps(ForEachQuestion):
    """Retrieve the `top_k` best passages for each question."""

    kb: Retriever

    async def one(self, state: RetrieveInput) -> dict[str, Any]:
        """Return the passages."""
        found = await Retrieve(self.kb)(RetrieveInput({**state, "step": state["step"] - 1}))
        return {"retrieved": found["retrieved"]}


class RecallInput(TypedDict):
    """The question of the step, and the evidence so far."""

    query: str
    step: int
    evidence: list[Evidence]


@dataclass(frozen=True)
class Recall(ForEachQuestion):
    """Begin a step with the passages cited so far, from each step in turn, as only the first are used."""

    async def one(self, state: RecallInput) -> dict[str, Any]:
        """Return the passages."""
        passages = reciprocal_ranks(round_robin(state["evidence"]))
        emit("recall", step=state["step"], query=state["query"], passages=passages)
        return {"retrieved": passages}
