"""PAR RAG's refinement of the next question by what was found (section 3.5)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.for_each_question import ForEachQuestion, put_in, references
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import stands_in
from langgraph_rag.prompts.par_rag import Refined, Trajectory
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.refusals import asks_nothing

FoundBefore = Callable[[list[Trajectory]], list[Trajectory]]


class RefineInput(TypedDict):
    """The original question, a next question of the plan, and the findings."""

    question: str
    query: str
    trajectories: list[Trajectory]


@dataclass(frozen=True)
class Refine(ForEachQuestion):
    """Replace references to earlier steps in the next questions by what these found.

    Where all that #1 and the like refer to is known by a name, no model is needed.
    """

    llm: ChatModel
    prompt: Prompt[Refined]
    found: FoundBefore

    async def one(self, state: RefineInput) -> dict[str, Any]:
        """Return the refined question as the query."""
        planned, found = state["query"], [Trajectory({**t, "sources": []}) for t in self.found(state["trajectories"])]
        named = put_in(planned, {t["place"]: t["short"] for t in found})
        if references(planned) and not references(named):
            refined = named
        else:
            reply = await ask(self.llm, self.prompt, question=state["question"], found=found, following=planned)
            keeps = asks_nothing(reply.question) or _answers(reply.question, found)
            refined = put_in(planned, {t["place"]: t["answer"] for t in found}) if keeps else reply.question
        emit("refine", planned=planned, refined=refined)
        return {"query": refined}


def _answers(question: str, found: list[Trajectory]) -> bool:
    """Return whether a reply is no question, but repeats a finding."""
    return "?" not in question and any(stands_in(question, trajectory["answer"]) for trajectory in found)
