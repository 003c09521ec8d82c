"""PAR RAG's last call (section 3.5): the answer to the whole question out of the trajectory chain."""

from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from typing_extensions import TypedDict

from langgraph_rag.llm import ask
from langgraph_rag.nodes.node import emit
from langgraph_rag.prompts.answering import Answer
from langgraph_rag.prompts.par_rag import Trajectory
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.refusals import is_refusal


class TrajectoriesInput(TypedDict):
    """The question and the trajectory chain."""

    question: str
    trajectories: list[Trajectory]


@dataclass(frozen=True)
class AnswerFromTrajectories:
    """Answer the question from what the steps found."""

    llm: BaseChatModel
    prompt: Prompt[Answer]

    async def __call__(self, state: TrajectoriesInput) -> dict[str, Any]:
        """Return the answer."""
        reply = await ask(self.llm, self.prompt, question=state["question"], trajectories=state["trajectories"])
        sufficient = not is_refusal(reply.answer)
        emit("answer_from_trajectories", thought=reply.thought, answer=reply.answer, sufficient=sufficient)
        return {"answer": reply.answer}
