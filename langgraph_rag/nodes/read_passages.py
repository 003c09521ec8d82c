"""The reader: answers from the best passages (KiRAG, section 3.3; MGranRAG; DualRAG; the baselines)."""

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
    """The question, the ranking, and the first retrieval, which is used if the ranking is empty."""

    question: str
    ranking: list[ScoredPassage]
    first_retrieval: list[ScoredPassage]


@dataclass(frozen=True)
class ReadPassages:
    """Answer from the best `read_k` passages, or from `top_k` if the method has no `read_k`."""

    llm: ChatModel
    prompt: Prompt[Answer]
    kb: KnowledgeBase
    defaults: Settings

    async def __call__(self, state: ReadInput) -> dict[str, Any]:
        """Return the answer, its thought, and the ids of the passages read."""
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
        answered = {"answer": reply.answer} if reply.answer else {}  # otherwise an earlier answer remains
        return {**answered, "thought": reply.thought, "read": ids_of(reply.shown(records))}
