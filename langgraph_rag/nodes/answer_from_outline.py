"""DualRAG's answer (Eq. 4): from the knowledge outline and the reasoning history."""

from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from typing_extensions import TypedDict

from langgraph_rag.llm import ask
from langgraph_rag.nodes.node import emit
from langgraph_rag.prompts.answering import Answer
from langgraph_rag.prompts.dualrag import OutlineEntry
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.refusals import is_refusal


class AnswerInput(TypedDict):
    """The question, what is known, and the reasoning."""

    question: str
    outline: list[OutlineEntry]
    thoughts: list[str]


@dataclass(frozen=True)
class AnswerFromOutline:
    """Answer from the outline and the thoughts."""

    llm: BaseChatModel
    prompt: Prompt[Answer]

    async def __call__(self, state: AnswerInput) -> dict[str, Any]:
        """Return the answer."""
        reply = await ask(
            self.llm,
            self.prompt,
            question=state["question"],
            outline=state["outline"],
            thoughts=state["thoughts"],
        )
        emit("answer", thought=reply.thought, answer=reply.answer, sufficient=not is_refusal(reply.answer))
        return {"answer": reply.answer}
