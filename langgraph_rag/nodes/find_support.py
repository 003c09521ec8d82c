"""Find the sentences that an answer read from passages rests on, besides those that the method itself kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.nodes.node import emit
from langgraph_rag.records import Evidence, Record, TraceStep, new_evidence, trace_step
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.language.support import answering_evidence, has_answer, supporting_evidence


class FindSupportInput(TypedDict):
    """The reader's thought and answer, the passages it read, what was thought in each step and kept so far."""

    question: str
    answer: str
    thought: str
    read: list[str]
    thoughts: NotRequired[list[str]]
    evidence: list[Evidence]
    trace: list[TraceStep]


@dataclass(frozen=True)
class FindSupport:
    """Add to the evidence the sentences of the read passages that say what was thought, step by step, and the answer.

    What the reader thought counts as found by the last step.
    """

    kb: KnowledgeBase

    async def __call__(self, state: FindSupportInput) -> dict[str, Any]:
        """Return all evidence; the trace of a run that thought only once, while reading, is that thought."""
        passages = await self.kb.apassages(state["read"])
        found = await in_thread(_found, state, passages)
        emit("find_support", sentences=len(found), evidence=found)
        trace = state["trace"] or [trace_step(1, state["question"], state["thought"])]
        return {"evidence": [*state["evidence"], *found], "trace": trace}


def _found(state: FindSupportInput, passages: Sequence[Record]) -> list[Evidence]:
    """Return the sentences that are no evidence yet, each once; one with the answer only where none has it."""
    last = len(state["trace"]) or 1
    thoughts = [*enumerate(state.get("thoughts", []), start=1), (last, state["thought"])]
    found = [entry for step, thought in thoughts for entry in supporting_evidence(thought, passages, step)]
    if not any(has_answer(entry, state["answer"]) for entry in [*state["evidence"], *found]):
        found += answering_evidence(state["question"], state["answer"], passages, last)
    return new_evidence(found, state["evidence"])
