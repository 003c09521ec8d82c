"""The reader: answers from the best passages (KiRAG, section 3.3; MGranRAG; DualRAG; the baselines)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.context import Settings, context
from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import words_of
from langgraph_rag.prompts.answering import Answer, passage_texts
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Candidate, Record, ScoredPassage, ids_of
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.retrieve.ranking import led_first
from langgraph_rag.tools.retrieve.retriever import Retriever

_AHEAD = 3  # times as many passages as are read, from which they are chosen
_ALIKE = 0.85  # share of the words of two passages that both have, if they are near-duplicates
_LISTS = re.compile(r"\b(?:may|can|could) (?:also )?refer to\b")
_OPENING = 200  # characters


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


Choose = Callable[[str, Sequence[Record]], Sequence[Record]]
"""Returns, for a question, which of the ranked passages to read first."""


def as_given(question: str, passages: Sequence[Record]) -> Sequence[Record]:
    """Read passages in the order of their ranking."""
    return passages


def worth_reading(question: str, passages: Sequence[Record]) -> list[Record]:
    """Return passages without near-duplicates and pages that only list what a name may mean, in a better order.

    Those to which no name of the question leads come last.
    """
    kept = list[Record]()
    for passage in passages:
        if not _LISTS.search(passage["text"][:_OPENING]) and not any(_alike(passage, other) for other in kept):
            kept.append(passage)
    return led_first(question, kept)


def _alike(one: Record, other: Record) -> bool:
    words, others = set(words_of(one["text"])), set(words_of(other["text"]))
    return len(words & others) >= _ALIKE * len(words | others)


@dataclass(frozen=True)
class ReadPassages:
    """Answer from the best `read_k` passages, or from `top_k` if the method has no `read_k`."""

    llm: ChatModel
    prompt: Prompt[Answer]
    kb: Retriever
    defaults: Settings
    more: Callable[[ReadInput], dict[str, Any]] = passages_alone
    choose: Choose = worth_reading

    async def __call__(self, state: ReadInput) -> dict[str, Any]:
        """Return the answer, its thought, and the ids of the passages read."""
        settings = context(self.defaults)
        ranked = state["ranking"] or state["first_retrieval"][: settings.top_k]
        many = settings.read_k or settings.top_k
        ahead = await self.kb.apassages(ids_of(ranked[: _AHEAD * many]))
        records = (await in_thread(self.choose, state["question"], ahead))[:many]
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
