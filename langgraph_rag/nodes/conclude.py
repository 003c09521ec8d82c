"""Round a run off: the passages behind the answer, best first, filled up from the first retrieval and by meaning."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from langgraph_rag.conclusions import concluded
from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.errors import EmbeddingsMismatchError
from langgraph_rag.metering import stopped
from langgraph_rag.models.streaming import show_answer
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import first_of_each
from langgraph_rag.prompts.par_rag import PlanStep, Trajectory
from langgraph_rag.records import LISTED, Evidence, ScoredPassage, TraceStep, ids_of, reciprocal_ranks
from langgraph_rag.refusals import UNANSWERABLE, begins_as_refusal, is_refusal
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.language.support import traced_back
from langgraph_rag.tools.round_robin import round_robin

UNASKED = "unknown"


class ConcludeInput(TypedDict):
    """The question and what the run found."""

    question: str
    answer: str
    evidence: list[Evidence]
    first_retrieval: list[ScoredPassage]
    trace: list[TraceStep]
    plan: NotRequired[list[PlanStep]]
    trajectories: NotRequired[list[Trajectory]]
    ranking: NotRequired[list[ScoredPassage]]


def evidence_first(state: ConcludeInput) -> list[str]:
    """List the passages of the triples that the method kept, in the order it found them."""
    return [evidence["passage_id"] for evidence in state["evidence"] if evidence["triple"]]


def evidence_round_robin(state: ConcludeInput) -> list[str]:
    """List the passages that each step cites first, then those that each cites second, and so on."""
    return round_robin(state["evidence"])


def as_ranked(state: ConcludeInput) -> list[str]:
    """List the passages as the method ranked them in `ranking`."""
    return ids_of(state.get("ranking", []))


def thought_last(state: ConcludeInput) -> str:
    """Return the answer that the last thought of the run gives, empty where it gives none."""
    return concluded(next((step["thought"] for step in reversed(state["trace"]) if step["thought"]), ""))


def planned(state: ConcludeInput) -> str:
    """Return the answer to the last step of the plan, empty where it has none: what came before answers only a part."""
    last = len(state["plan"]) - 1
    answers = [found["answer"] for found in state["trajectories"] if found["place"] == last]
    return next((answer for answer in reversed(answers) if not is_refusal(answer)), "")


@dataclass(frozen=True)
class Conclude:
    """List the passages the method gathered, in its own order, then the rest of the first retrieval.

    Where these are fewer than ten, as when words find few, the passages most like the question come after them.
    An answer that a model left empty is said to be none. Evidence gets the triples and sources that are stored for it.
    Where the budget left no room to ask for the answer, it is the one that the run had come to before, else "unknown".
    """

    kb: KnowledgeBase
    gathered: Callable[[ConcludeInput], list[str]] = evidence_first
    reached: Callable[[ConcludeInput], str] = thought_last

    async def __call__(self, state: ConcludeInput) -> dict[str, Any]:
        """Return the answer, its evidence, and passages whose scores fall by place: 1, 1/2, 1/3, ..."""
        unasked = stopped() and not state["answer"]
        reached = self.reached(state) if unasked else ""
        answer = reached or state["answer"] or (UNASKED if unasked else UNANSWERABLE)
        found = self.gathered(state) + ids_of(state["first_retrieval"])
        ranked = await self._filled_up(state["question"], list(dict.fromkeys(found)))
        traced = await self._traced_back(state["question"], answer, state["evidence"])
        evidence = list(first_of_each(traced, _what_it_says).values())
        if reached or begins_as_refusal(answer):  # which no model's reply has shown
            show_answer(answer)
        emit("conclude", answer=answer, evidence=evidence)
        return {"answer": answer, "evidence": evidence, "passages": reciprocal_ranks(ranked)}

    async def _filled_up(self, question: str, ranked: list[str]) -> list[str]:
        """Return at least ten passages, where the knowledge base has them and an embedder to find them with."""
        if len(ranked) >= LISTED:
            return ranked
        with suppress(EmbeddingsMismatchError):  # a search by words goes without the embedder
            nearest = await self.kb.arank(question, LISTED, by="dense")
            return [*ranked, *(passage["id"] for passage in nearest if passage["id"] not in ranked)][:LISTED]
        return ranked

    async def _traced_back(self, question: str, answer: str, evidence: list[Evidence]) -> list[Evidence]:
        ids = [entry["passage_id"] for entry in evidence]
        records = await self.kb.apassages(ids)
        triples = await self.kb.astored_triples(ids)
        return await in_thread(traced_back, evidence, records, triples, question, answer)


def _what_it_says(evidence: Evidence) -> tuple[object, ...]:
    """Return what is the same for evidence that two steps found."""
    return (*evidence["triple"], evidence["sentence"], evidence["passage_id"])
