"""Hands a question over to another method, which begins with what is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from typing_extensions import TypedDict

from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.receive_question import initial_state
from langgraph_rag.normal_forms import normalise
from langgraph_rag.prompts.dualrag import OutlineEntry
from langgraph_rag.records import Evidence, ScoredPassage, TraceStep, ids_of, origin_of
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.retrieve.ranking import weighted

_LOOKED_UP = 0.5  # weight of a look-up's passages, against those of the search
_UNANSWERED = 0.5  # weight of the passages of the evidence, if there is no answer


class HandOverInput(TypedDict):
    """The question and all that is known."""

    question: str
    read: list[str]
    asked: list[str]
    missing: list[str]
    evidence: list[Evidence]
    first_retrieval: list[ScoredPassage]
    looked_up: list[ScoredPassage]
    trace: list[TraceStep]


@dataclass(frozen=True)
class HandOver:
    """Begin the method whose state is `state` as if it had found the evidence and taken the steps so far.

    Methods that keep an outline (DualRAG) get the evidence as one; a query is what was found missing last.
    """

    state: type

    async def __call__(self, state: HandOverInput) -> dict[str, Any]:
        """Return the initial state of the method with what is known."""
        evidence, steps = state["evidence"], len(state["trace"])
        ranked = weighted([(1, ids_of(state["first_retrieval"])), (_LOOKED_UP, ids_of(state["looked_up"]))])
        asked = set(map(normalise, state["asked"]))
        known = {
            "evidence": evidence,
            "read": state["read"],
            "trace": state["trace"],
            "step": steps,
            "query": next((text for text in state["missing"] if normalise(text) not in asked), state["question"]),
            "first_retrieval": ranked,
            "outline": _outline(evidence),
            "vain": [text for text in state["missing"] if normalise(text) in asked],
        }
        emit("hand_over", step=steps, passages=len(ranked), evidence=evidence)
        initial = initial_state(self.state)
        kept = {name: value for name, value in known.items() if name in initial}
        del initial["question"], initial["usage"]
        return {**initial, **kept, "effort": "high"}


def _outline(evidence: Sequence[Evidence]) -> list[OutlineEntry]:
    """Return evidence as an outline: the sentences of each page under its title, with the passages read for it."""
    pages: dict[str, list[Evidence]] = {}
    for entry in evidence:
        pages.setdefault(origin_of(entry), []).append(entry)
    return [
        OutlineEntry(
            entity=title,
            fragments=[entry["sentence"] for entry in told],
            read=list(dict.fromkeys(entry["passage_id"] for entry in told)),
        )
        for title, told in pages.items()
    ]


class RankedInput(TypedDict):
    """The answer, and what the run found: its evidence, and the rankings of the other method and of the searches."""

    answer: str
    evidence: list[Evidence]
    ranking: list[ScoredPassage]
    first_retrieval: list[ScoredPassage]
    looked_up: list[ScoredPassage]


def cited_and_found(state: Any) -> list[str]:
    """Rank the passages of the evidence, of the search (or the other method) and of the look-ups together.

    A passage that was found by the search and cited is surer than one of which only one is true. A look-up may ask for
    the wrong thing, and without an answer the evidence may be beside the point: these count less.
    """
    found = cast(RankedInput, state)
    rankings = [
        (_UNANSWERED if is_refusal(found["answer"]) else 1, [entry["passage_id"] for entry in found["evidence"]]),
        (1, ids_of(found.get("ranking") or found["first_retrieval"])),
        (_LOOKED_UP, ids_of(found["looked_up"])),
    ]
    return ids_of(weighted(rankings))
