"""PAR RAG's action module (section 3.5): answers the question of a step from numbered sources, with citations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.context import Settings, context
from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.citations import UNCITED, cited, uncited
from langgraph_rag.nodes.node import emit
from langgraph_rag.prompts.answering import passage_texts
from langgraph_rag.prompts.par_rag import CitedAnswer
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Evidence, Record, ScoredPassage, ids_of
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.language.support import nearest_evidence, supporting_evidence


class ActInput(TypedDict):
    """The question of this step and the passages retrieved for it."""

    query: str
    step: int
    retrieved: list[ScoredPassage]


@dataclass(frozen=True)
class Act:
    """Answer from the first `read_k` passages; the cited passages become the evidence."""

    llm: ChatModel
    prompt: Prompt[CitedAnswer]
    kb: KnowledgeBase
    defaults: Settings

    async def __call__(self, state: ActInput) -> dict[str, Any]:
        """Return the interim answer without its citations, and the sentences of the cited passages that support it."""
        shown = ids_of(state["retrieved"][: context(self.defaults).read_k])
        records = await self.kb.apassages(shown)
        reply = await ask(self.llm, self.prompt, question=state["query"], sources=passage_texts(records))
        passages = reply.shown(records)
        answer = uncited(reply.answer)
        refused = is_refusal(answer)
        positions = cited(reply.answer, len(passages), otherwise=0 if refused else UNCITED)
        sources = [passages[position] for position in positions]
        evidence = await in_thread(_supporting, sources, state["query"], answer, state["step"])
        emit("act", step=state["step"], question=state["query"], answer=answer, cited=[e["title"] for e in evidence])
        return {"interim": answer, "cited": evidence, "status": "NOT REVIEWED", "doubt": ""}


def _supporting(passages: Sequence[Record], question: str, answer: str, step: int) -> list[Evidence]:
    """Return the sentences of each passage that support the answer, or the one most similar to question and answer."""
    return [
        entry
        for passage in passages
        for entry in supporting_evidence(answer, [passage], step)
        or nearest_evidence(f"{question} {answer}", passage, step)
    ]
