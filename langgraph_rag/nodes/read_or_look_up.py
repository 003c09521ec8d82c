"""Our own method's reader: answers from passages that were not read before, or says what has to be looked up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.context import Settings, context
from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.extract_evidence import numbered, sentences_meant
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.retrieve_for_entity import Found
from langgraph_rag.prompts.adaptive import Reading
from langgraph_rag.prompts.answering import evidence_texts
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import (
    Evidence,
    Record,
    ScoredPassage,
    Usage,
    evidence_of,
    ids_of,
    new_evidence,
)
from langgraph_rag.refusals import asks_nothing, is_refusal
from langgraph_rag.tools.retrieve.ranking import (
    answering_evidence,
    best_of,
    has_answer,
    in_turn,
    nearest_evidence,
    supporting_evidence,
)
from langgraph_rag.tools.retrieve.retriever import Retriever

_BEST = 3  # passages of a look-up of which a sentence is shown if they were read before
_FEWEST = 4  # passages read after look-ups, however many are shown in part already
_ROUNDS = {"low": 1, "medium": 3, "high": 2}
"""How often passages are read by effort; at "medium" more while bridges are found, at "high" another method follows."""


class ReadInput(TypedDict):
    """The question, what was found for it and for the look-ups of this round, and what was read and asked before."""

    question: str
    step: int
    retrieved: list[ScoredPassage]
    found: list[Found]
    looked_up: list[ScoredPassage]
    read: list[str]
    asked: list[str]
    bridged: bool
    evidence: list[Evidence]
    usage: Usage


@dataclass(frozen=True)
class ReadOrLookUp:
    """Read the best passages that were not read before, with the sentences that earlier readings rest on.

    A reading is of `read_k` passages; after look-ups from each of them in turn, and fewer by those that are shown in
    part, as sentences of theirs were cited. Of passages that were read before and that a look-up finds again, the
    sentence nearest to it is shown: it may tell something of a name that was not known then. If nothing new is left,
    the answer has to come from the sentences. The evidence is the sentences that the reply names by number, and if the
    answer stands in none of them, one that has it.
    """

    llm: ChatModel
    prompt: Prompt[Reading]
    kb: Retriever
    defaults: Settings

    async def __call__(self, state: ReadInput) -> dict[str, Any]:
        """Return the answer, its evidence, and what is missing."""
        settings, step, known = context(self.defaults), state["step"], state["evidence"]
        records = await self.kb.apassages(_unread(state, settings))
        met = await self.kb.apassages([id_ for ids in _met_again(state).values() for id_ in ids])
        again = new_evidence(await in_thread(_told_again, state, met), known)
        last = not records or not goes_on(settings, step, state["usage"]["calls"] + 1, state["bridged"])
        reply = await ask(
            self.llm,
            self.prompt,
            known=evidence_texts([*known, *again]),
            passages=numbered(records),
            question=state["question"],
            looked_up=state["asked"],
            last=last,
        )
        shown = reply.shown(records)
        found = new_evidence(await in_thread(_evidence, state["question"], reply, shown, met, known, step), known)
        missing = [] if last else [text for text in reply.missing if not asks_nothing(text)]
        emit(
            "read",
            step=step,
            titles=[record["title"] for record in shown],
            thought=reply.thought,
            missing=missing,
            evidence=found,
            answer=reply.answer,
            sufficient=not is_refusal(reply.answer),
        )
        return {
            **({"answer": reply.answer} if reply.answer else {}),  # otherwise an earlier answer remains
            "thought": reply.thought,
            "missing": missing,
            "evidence": [*known, *found],
            "read": [*state["read"], *ids_of(shown)],
            "looked_up": best_of([state["looked_up"], *(each["recalled"] for each in state["found"])]),
        }


def goes_on(settings: Settings, step: int, calls: int, bridged: bool) -> bool:
    """Return whether anything may follow `step` readings and `calls` calls: a reading, or another method."""
    most = settings.max_model_calls
    allowed = settings.effort == "high" or reads_on(settings, step, bridged)
    return allowed and (most is None or calls < most)


def reads_on(settings: Settings, step: int, bridged: bool) -> bool:
    """Return whether there may be another reading; after the usual number, only if the last one had a bridge to go by.

    A bridge is a name that one reading found and the next was to look up, as from hop to hop of a long chain.
    """
    usual = step < _ROUNDS[settings.effort] or (settings.effort == "medium" and bridged)
    return usual and step < settings.max_steps


def _unread(state: ReadInput, settings: Settings) -> list[str]:
    """Return the passages of this round that were not read before."""
    most = settings.read_k or settings.top_k
    if not state["found"]:
        return ids_of(state["retrieved"])[:most]
    cited = len({entry["passage_id"] for entry in state["evidence"]})
    new = [[id_ for id_ in found["passages"] if id_ not in state["read"]] for found in state["found"]]
    return in_turn(new)[: max(most - cited, min(most, _FEWEST))]


def _met_again(state: ReadInput) -> dict[str, list[str]]:
    """Return for each look-up those of its best passages that were read before."""
    read = set(state["read"])
    return {
        "; ".join(found["queries"]): [id_ for id_ in found["passages"][:_BEST] if id_ in read]
        for found in state["found"]
    }


def _told_again(state: ReadInput, met: Sequence[Record]) -> list[Evidence]:
    """Return of each passage that was met again the sentence that comes nearest to the look-up."""
    by_id = {record["id"]: record for record in met}
    return [
        entry
        for query, ids in _met_again(state).items()
        for id_ in ids
        if id_ in by_id
        for entry in nearest_evidence(query, by_id[id_], state["step"])
    ]


def _evidence(
    question: str,
    reply: Reading,
    records: Sequence[Record],
    met: Sequence[Record],
    known: Sequence[Evidence],
    step: int,
) -> list[Evidence]:
    """Return the sentences named in a reply; if none is, those that support its thought, and one with the answer."""
    sources = [record for record in records for _ in record["sentences"]]
    sentences = [sentence for record in records for sentence in record["sentences"]]
    places = dict.fromkeys(place for given in reply.sentences for place in sentences_meant(given, sentences))
    found = [evidence_of(sources[place], sentences[place], step) for place in places]
    found = found or supporting_evidence(reply.thought, records, step)
    if is_refusal(reply.answer) or any(has_answer(entry, reply.answer) for entry in [*known, *found]):
        return found
    return [*found, *answering_evidence(question, reply.answer, [*records, *met], step)]
