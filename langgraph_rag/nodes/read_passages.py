"""The reader: answer from the best passages of a method (KiRAG, section 3.3; MGranRAG; DualRAG; the baselines)."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.context import Settings, context
from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.prompts.answering import Answer, passage_texts
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import ScoredPassage, ids_of
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.knowledge_base import KnowledgeBase


class ReadInput(TypedDict):
    """The question, the passages found, best first, and the first retrieval for when there are none."""

    question: str
    ranking: list[ScoredPassage]
    first_retrieval: list[ScoredPassage]


@dataclass(frozen=True)
class ReadPassages:
    """Answer from the best `read_k` passages, or `top_k` where the method reads as many as it retrieves."""

    llm: ChatModel
    prompt: Prompt[Answer]
    kb: KnowledgeBase
    defaults: Settings

    async def __call__(self, state: ReadInput) -> dict[str, Any]:
        """Return the answer, unless there is none, the thought that led to it, and the ids of the passages read."""
        settings = context(self.defaults)
        ranked = state["ranking"] or state["first_retrieval"][: settings.top_k]
        best = ranked[: settings.read_k or settings.top_k]
        records = await self.kb.apassages(ids_of(best))
        reply = await ask(self.llm, self.prompt, question=state["question"], passages=passage_texts(records))
        emit(
            "read_passages",
            titles=[record["title"] for record in records],
            thought=reply.thought,
            answer=reply.answer,
            sufficient=not is_refusal(reply.answer),
        )
        answered = {"answer": reply.answer} if reply.answer else {}  # else what was said without them stands
        return {**answered, "thought": reply.thought, "read": ids_of(reply.shown(records))}
