"""DualRAG's progressive knowledge outline (section 3.1.2, Eq. 10): merges new fragments by entity."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.retrieve_for_entity import Found, demand_text, query_texts
from langgraph_rag.nodes.select_documents import Reading
from langgraph_rag.nodes.summarize import Fragment
from langgraph_rag.normal_forms import normalise
from langgraph_rag.prompts.dualrag import OutlineEntry
from langgraph_rag.records import Evidence, ScoredPassage, TraceStep, ids_of, new_evidence, reciprocal_ranks, trace_step
from langgraph_rag.tools.retrieve.ranking import best_of, fuse


class UpdateInput(TypedDict):
    """The findings and fragments of this step, and the results of earlier steps."""

    step: int
    thoughts: list[str]
    found: list[Found]
    readings: list[Reading]
    fragments: list[Fragment]
    vain: list[str]
    outline: list[OutlineEntry]
    evidence: list[Evidence]
    ranking: list[ScoredPassage]
    first_retrieval: list[ScoredPassage]
    fruitless: int
    trace: list[TraceStep]


Ranking = Callable[[list[ScoredPassage], list[Found], list[Evidence]], list[ScoredPassage]]
"""Adds the passages of a step, and their evidence, to the ranking of earlier steps."""


@dataclass(frozen=True)
class UpdateOutline:
    """Add each fragment to its entity, with the passages read for it.

    Passages without a fragment do not count as read: they are read again if the entity is looked up again, with other
    documents or another thought. `ranked` ranks passages.
    """

    ranked: Ranking

    async def __call__(self, state: UpdateInput) -> dict[str, Any]:
        """Return the outline, its evidence, queries without a result, and how many steps in a row were fruitless."""
        outline, added = _merged(state["outline"], state["fragments"])
        evidence = [entry for fragment in state["fragments"] for entry in fragment["evidence"]]
        new = new_evidence(evidence, state["evidence"])
        entities = [entry["entity"] for entry in outline]
        emit("update_outline", step=state["step"], added=added, entities=entities, evidence=new)
        query = "; ".join(demand_text(found) for found in state["found"])
        return {
            "outline": outline,
            "vain": _vain(state),
            "evidence": [*state["evidence"], *new],
            "ranking": self.ranked(state["ranking"], state["found"], evidence),
            "first_retrieval": state["first_retrieval"] or _first(state["found"]),
            "fruitless": 0 if added else state["fruitless"] + 1,
            "trace": [*state["trace"], trace_step(state["step"], query, state["thoughts"][-1])],
        }


def _merged(outline: list[OutlineEntry], fragments: list[Fragment]) -> tuple[list[OutlineEntry], int]:
    """Return the union of outline and fragments (Eq. 10), the latest entries last, and how many fragments were new."""
    merged = {
        entry["entity"]: OutlineEntry(
            entity=entry["entity"], fragments=list(entry["fragments"]), read=list(entry["read"])
        )
        for entry in outline
    }
    added = 0
    for fragment in fragments:
        empty = OutlineEntry(entity=fragment["entity"], fragments=[], read=[])
        entry = merged.setdefault(fragment["entity"], empty)
        entry["read"] += [id_ for id_ in fragment["read"] if id_ not in entry["read"]]
        if normalise(fragment["text"]) not in map(normalise, entry["fragments"]):
            entry["fragments"].append(fragment["text"])
            merged[fragment["entity"]] = merged.pop(fragment["entity"])
            added += 1
    return list(merged.values()), added


def _vain(state: UpdateInput) -> list[str]:
    """Return the queries whose passages were read without a finding.

    A finding may stand under a name that was found with it: then only the reader can tell what stayed open.
    """
    told = {fragment["entity"] for fragment in state["fragments"]}
    elsewhere = not told.issubset(reading["entity"] for reading in state["readings"])
    searched = {
        text: elsewhere or reading["entity"] in told for reading in state["readings"] for text in query_texts(reading)
    }
    return [text for text in dict.fromkeys([*state["vain"], *searched]) if not searched.get(text)]


def append_support(ranking: list[ScoredPassage], found: list[Found], evidence: list[Evidence]) -> list[ScoredPassage]:
    """Append the passages that support the fragments of this step, by their rank in it."""
    support = {entry["passage_id"] for entry in evidence}
    places = fuse([reciprocal_ranks(id_ for id_ in f["passages"] if id_ in support) for f in found])
    return reciprocal_ranks(dict.fromkeys(ids_of([*ranking, *places])))


def merge_all(ranking: list[ScoredPassage], found: list[Found], _: list[Evidence]) -> list[ScoredPassage]:
    """Rank all passages by their best rank in any step; ties keep the order of the steps."""
    kept = fuse([reciprocal_ranks(f["passages"]) for f in found])
    return best_of([ranking, reciprocal_ranks(ids_of(kept))])


def _first(found: list[Found]) -> list[ScoredPassage]:
    """Rank all passages of the first step: first those that the reranker kept, then the others."""
    kept = fuse([reciprocal_ranks(f["passages"]) for f in found])
    recalled = fuse([f["recalled"] for f in found])
    return reciprocal_ranks(dict.fromkeys(ids_of([*kept, *recalled])))
