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
from langgraph_rag.normal_forms import stands_in, words_of
from langgraph_rag.prompts.answering import Answer, passage_texts
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Candidate, Record, ScoredPassage, ids_of, titled_text
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.language.spans import spot_names
from langgraph_rag.tools.language.topics import topic_of
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

    Those that have no name of the question come last, unless one that has, or that such a one leads to, leads to them:
    it mentions what they are about, or is of the same document.
    """
    kept = list[Record]()
    for passage in passages:
        if not _LISTS.search(passage["text"][:_OPENING]) and not any(_alike(passage, other) for other in kept):
            kept.append(passage)
    names = [set(words_of(name.text)) for name in spot_names(question)]
    said = [set(words_of(titled_text(passage))) for passage in kept]
    near = {place for place, words in enumerate(said) if not names or any(name <= words for name in names)}
    added = near
    while added:
        before = [kept[place] for place in added]
        added = {place for place, passage in enumerate(kept) if place not in near and _is_led_to(passage, before)}
        near = near | added
    return [kept[place] for place in sorted(range(len(kept)), key=lambda place: place not in near)]


def _is_led_to(passage: Record, others: Sequence[Record]) -> bool:
    document, topic = passage.get("document"), topic_of(passage["title"])
    return any((document and document == other.get("document")) or stands_in(topic, other["text"]) for other in others)


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
