"""DualRAG's reasoner (section 3.1.1, Eq. 3): writes a thought and decides whether knowledge is missing."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from typing_extensions import TypedDict

from langgraph_rag.context import context
from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.models.streaming import show_answer
from langgraph_rag.nodes.identify_entities import ask_for_entities
from langgraph_rag.nodes.node import emit
from langgraph_rag.prompts.dualrag import LookUp, NextThought, OutlineEntry, Reasoning
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import TraceStep, trace_step
from langgraph_rag.refusals import is_refusal

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


class ReasonAndLookUpInput(ReasonInput):
    """The same, and what stayed open in the last round."""

    missing: list[str]


@dataclass(frozen=True)
class ReasonAndLookUp:
    """Ask for the next thought with entities to look up; without any, the thought is the last.

    The answer of the last thought stands if something was found. A refusal, an answer in a style, or one from memory
    is left to the nodes that answer.
    """

    llm: ChatModel
    prompt: Prompt[LookUp]

    async def __call__(self, state: ReasonAndLookUpInput) -> dict[str, Any]:
        """Return all thoughts, the entities and queries of the next round, or the answer."""
        vain, step = list(dict.fromkeys([*state["vain"], *state["missing"]])), state["step"] + 1
        reply, demands = await ask_for_entities(self.llm, self.prompt, state, vain)
        emit("reason", step=step, thought=reply.thought, needs_retrieval=bool(demands), demands=demands)
        thoughts = {"thoughts": [*state["thoughts"], reply.thought], "needs_retrieval": bool(demands), "missing": []}
        if demands:
            return {**thoughts, "step": step, "demands": demands, "found": [], "fragments": []}
        concluded = {"trace": [*state["trace"], trace_step(step, "", reply.thought)]}
        if not state["outline"] or is_refusal(reply.answer) or context().answer_style:
            return {**thoughts, **concluded}
        show_answer(reply.answer)
        return {**thoughts, **concluded, "answer": reply.answer}
