"""CIRAG's integration phase (section 3.3, Eq. 1): selects core triples and asks for missing information."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.context import Settings, context
from langgraph_rag.llm import ask
from langgraph_rag.matching import resolve_triples
from langgraph_rag.metering import count_dropped, tokens_in
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import first_of_each, normalise, triple_key
from langgraph_rag.prompts.cirag import HistoryStep, Integration, history_text
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import TraceStep, Triple, evidence_at, trace_step
from langgraph_rag.refusals import asks_nothing
from langgraph_rag.tools.retrieve.retriever import Retriever

_SAME_QUESTION = 0.97  # cosine
_UNTELLING = set("a an the is are was were be been has have had does did in on at of".split())  # in comparisons
_SAME_WORD = {"what": "which", "whom": "who"}


class IntegrateInput(TypedDict):
    """The question, the current query with its candidates, and the earlier steps."""

    question: str
    query: str
    step: int
    candidates: list[Triple]
    offered: list[Triple]
    history: list[HistoryStep]
    trace: list[TraceStep]


Remember = Callable[[list[list[str]]], list[list[str]]]
"""Returns which of the candidates of a step later steps see."""


def all_candidates(shown: list[list[str]]) -> list[list[str]]:
    """Remember all candidates, as published."""
    return shown


def kept_alone(shown: list[list[str]]) -> list[list[str]]:
    """Remember none of the candidates, but what was kept of them."""
    return []


Show = Callable[[Retriever, Sequence[Triple]], Awaitable[list[list[str]]]]
"""Returns what the integrator sees of candidates."""


async def facts_alone(kb: Retriever, candidates: Sequence[Triple]) -> list[list[str]]:
    """Show head, relation and tail."""
    return [entry["triple"] for entry in candidates]


async def facts_with_sentences(kb: Retriever, candidates: Sequence[Triple]) -> list[list[str]]:
    """Show, after the tail, the sentences of a fact's first source, if they still exist."""
    sources = [entry["sources"][0] for entry in candidates]
    passages = {record["id"]: record for record in await kb.apassages([source["passage_id"] for source in sources])}
    told = [evidence_at(source["sentences"], passages.get(source["passage_id"]), 0, []) for source in sources]
    return [
        [*entry["triple"], *([" ".join(one["sentence"] for one in found)] if found else [])]
        for entry, found in zip(candidates, told, strict=True)
    ]


@dataclass(frozen=True)
class Integrate:
    """Ask the integrator for a thought, the core triples and the next question."""

    llm: ChatModel
    prompt: Prompt[Integration]
    kb: Retriever
    defaults: Settings
    remember: Remember
    show: Show = facts_alone

    async def __call__(self, state: IntegrateInput) -> dict[str, Any]:
        """Return the core triples and the next question as `query`, empty if the search ends.

        The model may also select candidates of earlier steps that it sees in the history.
        """
        history = _shortened(state["history"])
        reply = await ask(
            self.llm,
            self.prompt,
            question=state["question"],
            history=history,
            query=state["query"],
            facts=await self.show(self.kb, state["candidates"]),
            is_last=state["step"] >= context(self.defaults).max_steps,
        )
        candidates = [*reply.shown(state["candidates"])]
        kept = _kept(
            [fact[:3] for fact in reply.facts], [*candidates, *_seen(state["offered"], history)], state["history"]
        )
        core = [entry["triple"] for entry in kept]
        asked = [step["query"] for step in state["history"]] + [state["query"]]
        following = await self._unasked(reply.question or "", asked)
        emit(
            "integrate",
            step=state["step"],
            thought=reply.thought,
            kept=core,
            dropped=sum(entry not in kept for entry in state["candidates"]),
            next_question=following,
        )
        shown = self.remember([entry["triple"] for entry in candidates])
        done = HistoryStep(query=state["query"], candidates=shown, thought=reply.thought, facts=core)
        step = trace_step(state["step"], state["query"], reply.thought, core_triples=core, next_question=following)
        return {
            "core": kept,
            "offered": list(first_of_each([*candidates, *state["offered"]], _key).values()),
            "query": following,
            "history": [*state["history"], done],
            "trace": [*state["trace"], step],
        }

    async def _unasked(self, question: str, asked: list[str]) -> str:
        """Return the question; empty if there is none or it was asked before."""
        if asks_nothing(question) or normalise(question) in map(normalise, asked):
            return ""
        likeness = await self.kb.acosines(question, asked)
        alike = [other for other, cosine in zip(asked, likeness, strict=True) if cosine >= _SAME_QUESTION]
        return "" if _content(question) in map(_content, alike) else question.strip()


def _seen(offered: Sequence[Triple], history: Sequence[HistoryStep]) -> list[Triple]:
    """Return the offered triples that a history shows."""
    seen = {triple_key(triple) for step in history for triple in (*step["candidates"], *step["facts"])}
    return [entry for entry in offered if _key(entry) in seen]


def _kept(facts: Sequence[Sequence[str]], offered: Sequence[Triple], history: Sequence[HistoryStep]) -> list[Triple]:
    """Return the offered triples that a reply selects, without those of earlier steps, which some models repeat."""
    positions, dropped = resolve_triples(facts, [entry["triple"] for entry in offered])
    count_dropped(dropped)
    known = {triple_key(fact) for step in history for fact in step["facts"]}
    selected = [offered[position] for position in positions]
    return [entry for entry in selected if _key(entry) not in known]


def _key(entry: Triple) -> str:
    return triple_key(entry["triple"])


def _content(question: str) -> list[str]:
    """Return the words of a question that matter for comparison, in order.

    They distinguish questions that are nearly equal to a bi-encoder, such as those about Philip I and Philip II, with
    when and where, or "who beat Chelsea" and "whom Chelsea beat".
    """
    words = (_SAME_WORD.get(word, word) for word in normalise(question).split())
    return [word for word in words if word not in _UNTELLING]


def _shortened(history: list[HistoryStep]) -> list[HistoryStep]:
    """Remove the candidates of the oldest steps until the history is short enough; core triples always stay."""
    shortened = list(history)
    for position, step in enumerate(history):
        if tokens_in(history_text(shortened)) <= context().max_history_tokens:
            break
        shortened[position] = HistoryStep({**step, "candidates": []})
    return shortened
