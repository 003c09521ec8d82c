"""DualRAG's reasoner and entity identifier in one reply: the next thought, and what to look up, or the answer."""

from dataclasses import dataclass
from typing import Any

from langgraph_rag.context import context
from langgraph_rag.llm import ask
from langgraph_rag.metering import first_of
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.models.streaming import show_answer
from langgraph_rag.nodes.identify_entities import MOST_ENTITIES, linked
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.reason import ReasonInput
from langgraph_rag.prompts.dualrag import LookUp
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import trace_step
from langgraph_rag.refusals import is_refusal


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
        names = [entry["entity"] for entry in state["outline"] if entry["entity"]]
        reply = await ask(
            self.llm,
            self.prompt,
            question=state["question"],
            outline=state["outline"],
            names=names,
            thoughts=state["thoughts"],
            vain=list(dict.fromkeys([*state["vain"], *state["missing"]])),
        )
        demands, step = first_of(linked(reply.entities, names), MOST_ENTITIES), state["step"] + 1
        emit("reason", step=step, thought=reply.thought, needs_retrieval=bool(demands), demands=demands)
        thoughts = {"thoughts": [*state["thoughts"], reply.thought], "needs_retrieval": bool(demands), "missing": []}
        if demands:
            return {**thoughts, "step": step, "demands": demands, "found": [], "fragments": []}
        concluded = {"trace": [*state["trace"], trace_step(step, "", reply.thought)]}
        if not state["outline"] or is_refusal(reply.answer) or context().answer_style:
            return {**thoughts, **concluded}
        show_answer(reply.answer)
        return {**thoughts, **concluded, "answer": reply.answer}
