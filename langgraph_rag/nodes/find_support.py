"""Find the sentences behind thoughts of a model that were not built from given facts."""

import asyncio
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.context import Settings, context
from langgraph_rag.nodes.node import emit
from langgraph_rag.records import Evidence, ScoredPassage, TraceStep
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.support import supporting_evidence


class FindSupportInput(TypedDict):
    """What was thought in each step, the reader's thought, and the passages that were read."""

    question: str
    thoughts: list[str]
    thought: str
    ranking: list[ScoredPassage]
    trace: list[TraceStep]


@dataclass(frozen=True)
class FindSupport:
    """Name as evidence the sentences of the read passages that say what was thought, step by step."""

    kb: KnowledgeBase
    defaults: Settings

    async def __call__(self, state: FindSupportInput) -> dict[str, Any]:
        """Return the evidence; the trace of a run that thought only once, while reading, is that thought."""
        ids = [passage["id"] for passage in state["ranking"][: context(self.defaults).read_k]]
        passages = await self.kb.apassages(ids)
        thoughts = state["thoughts"] or [state["thought"]]
        found: dict[tuple[str, str], Evidence] = {}
        for step, thought in enumerate(thoughts, start=1):
            for evidence in await asyncio.to_thread(supporting_evidence, thought, passages, step):
                found.setdefault((evidence["passage_id"], evidence["sentence"]), evidence)
        emit("find_support", sentences=len(found), evidence=list(found.values()))
        only = TraceStep(step=1, query=state["question"], thought=state["thought"], core_triples=[], next_question="")
        return {"evidence": list(found.values()), "trace": state["trace"] or [only]}
