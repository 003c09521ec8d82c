"""PAR RAG's refinement of the next question with what was just found (section 3.5)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import stands_in
from langgraph_rag.prompts.par_rag import Refined, Trajectory
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.refusals import asks_nothing

FoundBefore = Callable[[list[Trajectory]], list[Trajectory]]


class RefineInput(TypedDict):
    """The original question, the plan's next question, and what was found."""

    question: str
    query: str
    trajectories: list[Trajectory]


@dataclass(frozen=True)
class Refine:
    """Put what was found into the next question, in place of the words that stood for it."""

    llm: ChatModel
    prompt: Prompt[Refined]
    found: FoundBefore

    async def __call__(self, state: RefineInput) -> dict[str, Any]:
        """Return the refined question as the query."""
        found = [Trajectory({**t, "sources": []}) for t in self.found(state["trajectories"])]
        reply = await ask(self.llm, self.prompt, question=state["question"], found=found, following=state["query"])
        keeps = asks_nothing(reply.question) or _answers(reply.question, found)
        refined = state["query"] if keeps else reply.question
        emit("refine", planned=state["query"], refined=refined)
        return {"query": refined}


def _answers(question: str, found: list[Trajectory]) -> bool:
    """Tell whether what stands in the place of a question repeats what was found."""
    return "?" not in question and any(stands_in(question, trajectory["answer"]) for trajectory in found)
