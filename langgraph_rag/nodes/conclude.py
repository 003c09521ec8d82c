"""The last step of every method: completes the answer, its evidence and the list of passages."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from langgraph_rag.conclusions import concluded
from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.context import context
from langgraph_rag.errors import EmbeddingsMismatchError
from langgraph_rag.metering import asked, never_answered, stopped
from langgraph_rag.models.streaming import show_answer
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import first_of_each
from langgraph_rag.offline.support import support_of
from langgraph_rag.prompts.par_rag import PlanStep, Trajectory
from langgraph_rag.records import (
    LISTED,
    Evidence,
    Record,
    ScoredPassage,
    Supported,
    TraceStep,
    Triple,
    ids_of,
    new_evidence,
    reciprocal_ranks,
)
from langgraph_rag.refusals import UNANSWERABLE, begins_as_refusal, is_refusal
from langgraph_rag.tools.retrieve.ranking import has_answer, round_robin, traced_back
from langgraph_rag.tools.retrieve.retriever import Retriever

UNASKED = "unknown"
CAVEATS: Mapping[Supported, str] = {
    "yes": "",
    "partly": "Only a part of this is borne out by what was found.",
    "no": "Nothing that was found bears this out.",
}
"""What to tell people about an answer, by whether it stands in what was shown."""


class ConcludeInput(TypedDict):
    """The question and what the run found."""

    question: str
    answer: str
    evidence: list[Evidence]
    read: NotRequired[list[str]]
    first_retrieval: list[ScoredPassage]
    trace: list[TraceStep]
    plan: NotRequired[list[PlanStep]]
    trajectories: NotRequired[list[Trajectory]]
    ranking: NotRequired[list[ScoredPassage]]
    so_far: NotRequired[str]


def evidence_first(state: ConcludeInput) -> list[str]:
    """Return the passages of the selected triples, in the order in which they were found."""
    return [evidence["passage_id"] for evidence in state["evidence"] if evidence["triple"]]


def evidence_round_robin(state: ConcludeInput) -> list[str]:
    """Return the first cited passage of each step, then the second of each, and so on."""
    return round_robin(state["evidence"])


def as_ranked(state: ConcludeInput) -> list[str]:
    """Return the passages in the method's own `ranking`."""
    return ids_of(state["ranking"])


def thought_last(state: ConcludeInput) -> str:
    """Return the answer in the last thought of the run; empty if there is none."""
    return concluded(next((step["thought"] for step in reversed(state["trace"]) if step["thought"]), ""))


def planned(state: ConcludeInput) -> str:
    """Return the answer to the last step of the plan; empty if there is none, as earlier answers are only partial."""
    last = len(state["plan"]) - 1
    answers = [found["answer"] for found in state["trajectories"] if found["place"] == last]
    return next((answer for answer in reversed(answers) if not is_refusal(answer)), "")


@dataclass(frozen=True)
class Conclude:
    """Complete the result of a run.

    The passages are those that the method gathered, in its own order, then the rest of the first retrieval. If these
    are fewer than ten, the passages most similar to the question follow. The evidence gets the triples and sources that
    the knowledge base stores for it. Whether the answer is supported is told from the passages of the evidence and
    those that the reader read; if no evidence has it, the sentences in which it stands are added. A refusal gives way
    to the answer `so_far`, if there is one, and an empty answer becomes a refusal. If the budget was spent before the
    answer, it is the last one that the run had `reached`, or else "unknown"; if it was spent before the first call, the
    answer says so.
    """

    kb: Retriever
    gathered: Callable[[ConcludeInput], list[str]] = evidence_first
    reached: Callable[[ConcludeInput], str] = thought_last

    async def __call__(self, state: ConcludeInput) -> dict[str, Any]:
        """Return the answer, whether it is supported, its evidence, and the passages with scores 1, 1/2, 1/3, ..."""
        unasked = stopped() and not state["answer"]
        reached = self.reached(state) if unasked else ""
        given = state.get("so_far") if is_refusal(state["answer"]) else state["answer"]
        answer = reached or given or state["answer"] or (UNASKED if unasked else UNANSWERABLE)
        if (limit := never_answered()) and is_refusal(answer):
            own = getattr(context(), limit)
            named = f"the {limit} of the run around it" if own is None else f"{limit}={own}"
            missed = "replied" if asked() else "was asked"
            answer = f"This question cannot be answered: {named} was reached before the model {missed}."
        found = self.gathered(state) + ids_of(state["first_retrieval"])
        ranked = await self._filled_up(state["question"], list(dict.fromkeys(found)))
        ids = [*(entry["passage_id"] for entry in state["evidence"]), *state.get("read", [])]
        shown = await self.kb.apassages_with_triples(list(dict.fromkeys(ids)))
        supported, evidence = await in_thread(_grounds, state, answer, *shown)
        if reached or begins_as_refusal(answer):  # which was not streamed yet
            show_answer(answer)
        emit("conclude", answer=answer, supported=supported, evidence=evidence)
        return {
            "answer": answer,
            "supported": supported,
            "evidence": evidence,
            "passages": reciprocal_ranks(ranked),
        }

    async def _filled_up(self, question: str, ranked: list[str]) -> list[str]:
        """Return at least ten passages, if the knowledge base has them and an embedder that fits it."""
        if len(ranked) >= LISTED:
            return ranked
        with suppress(EmbeddingsMismatchError):  # BM25 works without the embedder
            nearest = await self.kb.arank(question, LISTED, by="dense")
            return [*ranked, *(passage["id"] for passage in nearest if passage["id"] not in ranked)][:LISTED]
        return ranked


def _grounds(
    state: ConcludeInput, answer: str, shown: Sequence[Record], triples: Sequence[Triple]
) -> tuple[Supported, list[Evidence]]:
    """Return whether an answer is supported by the passages that were shown, and all evidence, each piece once."""
    last = len(state["trace"]) or 1
    supported, standing = support_of(state["question"], answer, shown, last)
    told = any(has_answer(entry, answer) for entry in state["evidence"])
    evidence = [*state["evidence"], *([] if told else new_evidence(standing, state["evidence"]))]
    traced = traced_back(evidence, shown, triples, state["question"], answer)
    return supported, list(first_of_each(traced, _what_it_says).values())


def _what_it_says(evidence: Evidence) -> tuple[object, ...]:
    """Return the key of a piece of evidence that several steps may have found."""
    return (*evidence["triple"], evidence["sentence"], evidence["passage_id"])
