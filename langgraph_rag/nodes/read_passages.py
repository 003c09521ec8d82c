"""The reader: answers from the best passages (KiRAG, section 3.3; MGranRAG; DualRAG; the baselines)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from langgraph_rag.context import Settings, context
from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.prompts.answering import Answer, passage_texts
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Candidate, ScoredPassage, ids_of
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.retrieve.retriever import Retriever


class ReadInput(TypedDict):
    """The question, the ranking, the first retrieval, which is used if the ranking is empty, and KiRAG's chain."""

    question: str
    ranking: list[ScoredPassage]
    first_retrieval: list[ScoredPassage]
    chain: NotRequired[list[Candidate]]


def passages_alone(state: ReadInput) -> dict[str, Any]:
    """Show the reader nothing but passages."""
    return {}


def with_chain(state: ReadInput) -> dict[str, Any]:
    """Show the reader the chain that led to the passages, too (KiRAG)."""
    return {"chain": [link["name"] if link["triple"] else link["text"] for link in state.get("chain", [])]}


@dataclass(frozen=True)
class ReadPassages:
    """Answer from the best `read_k` passages, or from `top_k` if the method has no `read_k`."""

    llm: ChatModel
    prompt: Prompt[Answer]
    kb: Retriever
    defaults: Settings
    more: Callable[[ReadInput], dict[str, Any]] = passages_alone

    async def __call__(self, state: ReadInput) -> dict[str, Any]:
        """Return the answer, its thought, and the ids of the passages read."""
        settings = context(self.defaults)
        ranked = state["ranking"] or state["first_retrieval"][: settings.top_k]
        best = ranked[: settings.read_k or settings.top_k]
        records = await self.kb.apassages(ids_of(best))
        values = {"question": state["question"], "passages": passage_texts(records), **self.more(state)}
        reply = await ask(self.llm, self.prompt, **values)
        emit(
            "read_passages",
            titles=[record["title"] for record in records],
            thought=reply.thought,
            answer=reply.answer,
            sufficient=not is_refusal(reply.answer),
        )
        answered = {"answer": reply.answer} if reply.answer else {}  # otherwise an earlier answer remains
        return {**answered, "thought": reply.thought, "read": ids_of(reply.shown(records))}
