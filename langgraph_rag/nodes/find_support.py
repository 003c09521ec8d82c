"""Finds the sentences that support an answer, in addition to the evidence of the method itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.nodes.node import emit
from langgraph_rag.records import Evidence, Record, TraceStep, new_evidence, trace_step
from langgraph_rag.tools.retrieve.ranking import answering_evidence, has_answer, supporting_evidence
from langgraph_rag.tools.retrieve.retriever import Retriever


class FindSupportInput(TypedDict):
    """The reader's thought and answer, the passages it read, the thoughts of all steps, and the evidence so far."""

    question: str
    answer: str
    thought: str
    read: list[str]
    thoughts: NotRequired[list[str]]
    evidence: list[Evidence]
    trace: list[TraceStep]


@dataclass(frozen=True)
class FindSupport:
    """Add the sentences of the read passages that support the thoughts of each step and the answer.

    The reader's thought belongs to the last step.
    """

    kb: Retriever

    async def __call__(self, state: FindSupportInput) -> dict[str, Any]:
        """Return all evidence, and a trace: if it is empty, the reader's thought becomes its only step."""
        passages = await self.kb.apassages(state["read"])
        found = await in_thread(_found, state, passages)
        emit("find_support", sentences=len(found), evidence=found)
        trace = state["trace"] or [trace_step(1, state["question"], state["thought"])]
        return {"evidence": [*state["evidence"], *found], "trace": trace}


def _found(state: FindSupportInput, passages: Sequence[Record]) -> list[Evidence]:
    """Return new supporting sentences, each once, and one with the answer if no other has it."""
    last = len(state["trace"]) or 1
    thoughts = [*enumerate(state.get("thoughts", []), start=1), (last, state["thought"])]
    found = [entry for step, thought in thoughts for entry in supporting_evidence(thought, passages, step)]
    if not any(has_answer(entry, state["answer"]) for entry in [*state["evidence"], *found]):
        found += answering_evidence(state["question"], state["answer"], passages, last)
    return new_evidence(found, state["evidence"])
