"""PAR RAG's coarse retrieval (section 3.5): the passages for each question that is acted on."""

from dataclasses import dataclass
from typing import Any

from langgraph_rag.nodes.for_each_question import ForEachQuestion
from langgraph_rag.nodes.retrieve import Retrieve, RetrieveInput
from langgraph_rag.tools.retrieve.retriever import Retriever


@dataclass(frozen=True)
class RetrieveForSteps(ForEachQuestion):
    """Retrieve the `top_k` best passages for each question."""

    kb: Retriever

    async def one(self, state: RetrieveInput) -> dict[str, Any]:
        """Return the passages."""
        found = await Retrieve(self.kb)(RetrieveInput({**state, "step": state["step"] - 1}))
        return {"retrieved": found["retrieved"]}
