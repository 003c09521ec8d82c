"""MGranRAG's query decomposition: splits a question into sub-queries."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.llm import ask
from langgraph_rag.metering import first_of
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import first_of_each, normalise
from langgraph_rag.prompts.mgranrag import Decomposition
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.refusals import asks_nothing

_MOST = 8


class DecomposeInput(TypedDict):
    """The question."""

    question: str


@dataclass(frozen=True)
class Decompose:
    """Ask for sub-queries; duplicates and the question itself are left out."""

    llm: ChatModel
    prompt: Prompt[Decomposition]

    async def __call__(self, state: DecomposeInput) -> dict[str, Any]:
        """Return at most eight sub-queries, in the order of the reply."""
        reply = await ask(self.llm, self.prompt, question=state["question"])
        distinct = first_of_each(map(str.strip, reply.subqueries), normalise)
        distinct.pop(normalise(state["question"]), None)
        subqueries = first_of([text for text in distinct.values() if not asks_nothing(text)], _MOST)
        emit("decompose", thought=reply.thought, subqueries=subqueries)
        return {"subqueries": subqueries}
