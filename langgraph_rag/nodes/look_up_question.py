"""Retrieves passages for the whole question, which the result lists after those that steps cite."""

from dataclasses import dataclass
from typing import Any

from langgraph_rag.context import context
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.receive_question import QuestionInput
from langgraph_rag.nodes.search import search
from langgraph_rag.records import LISTED
from langgraph_rag.tools.retrieve.retriever import Retriever


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
