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
from langgraph_rag.tools.retrieve.ranking import in_turn


class HandOverInput(TypedDict):
    """The question and all that is known."""

    question: str
    read: list[str]
    asked: list[str]
    missing: list[str]
    evidence: list[Evidence]
    ranked: list[ScoredPassage]
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
        asked = set(map(normalise, state["asked"]))
        known = {
            "evidence": evidence,
            "read": state["read"],
            "trace": state["trace"],
            "step": steps,
            "query": next((text for text in state["missing"] if normalise(text) not in asked), state["question"]),
            "first_retrieval": state["ranked"],
            "outline": _outline(evidence),
            "vain": [text for text in state["missing"] if normalise(text) in asked],
        }
        emit("hand_over", step=steps, passages=len(state["ranked"]), evidence=evidence)
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
    ranked: list[ScoredPassage]


def cited_first(state: Any) -> list[str]:
    """Return the passages of the evidence in the order in which they were found, then all others by their ranks.

    Without an answer, the evidence may be beside the point: its passages and the best of the searches take turns.
    """
    found = cast(RankedInput, state)
    cited = list(dict.fromkeys(entry["passage_id"] for entry in found["evidence"]))
    others = [*ids_of(found.get("ranking", [])), *ids_of(found["ranked"])]
    return in_turn([cited, others]) if is_refusal(found["answer"]) else [*cited, *others]
