"""DualRAG's reasoner (section 3.1.1, Eq. 3): writes a thought and decides whether knowledge is missing."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from typing_extensions import TypedDict

from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.prompts.dualrag import NextThought, OutlineEntry, Reasoning
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import TraceStep, trace_step

Step = TypeVar("Step", Reasoning, NextThought)


class ReasonInput(TypedDict):
    """The question, the outline, the thoughts so far, and the queries without a result."""

    question: str
    step: int
    outline: list[OutlineEntry]
    thoughts: list[str]
    vain: list[str]
    trace: list[TraceStep]


@dataclass(frozen=True)
class Reason(Generic[Step]):
    """Ask for the next thought; one that needs no retrieval is the last."""

    llm: ChatModel
    prompt: Prompt[Step]

    async def __call__(self, state: ReasonInput) -> dict[str, Any]:
        """Return all thoughts, and whether to retrieve."""
        reply = await ask(
            self.llm,
            self.prompt,
            question=state["question"],
            outline=state["outline"],
            thoughts=state["thoughts"],
            vain=state["vain"],
        )
        step = state["step"] + 1
        emit("reason", step=step, thought=reply.thought, needs_retrieval=reply.needs_retrieval)
        last = trace_step(step, "", reply.thought)
        return {
            "thoughts": [*state["thoughts"], reply.thought],
            "needs_retrieval": reply.needs_retrieval,
            "trace": state["trace"] if reply.needs_retrieval else [*state["trace"], last],
        }
