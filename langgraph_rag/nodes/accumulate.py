"""Collects the sentences and passages that state the triples of a step (CIRAG, Eqs. 3 and 4; KiRAG)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import triple_key
from langgraph_rag.records import Evidence, Record, Triple, evidence_at
from langgraph_rag.tools.retrieve.ranking import nearest_evidence


class AccumulateInput(TypedDict):
    """The knowledge that this step selected, and the evidence so far."""

    step: int
    core: list[Triple]
    evidence: list[Evidence]


@dataclass(frozen=True)
class Accumulate:
    """Add each selected piece of knowledge to the evidence, with every sentence that states it.

    The paper's sets C, S and D are the distinct triples, sentences and passages of the evidence. `read` returns the
    passages and their knowledge as they are now, because documents may be updated while a question is answered. If a
    passage no longer states a piece, its most similar sentence becomes the evidence.
    """

    read: Callable[[Sequence[str]], Awaitable[tuple[Sequence[Record], Sequence[Triple]]]]

    async def __call__(self, state: AccumulateInput) -> dict[str, Any]:
        """Return all evidence, in the order in which it was found."""
        ids = list(dict.fromkeys(source["passage_id"] for entry in state["core"] for source in entry["sources"]))
        records, pieces = await self.read(ids)
        passages = {record["id"]: record for record in records}
        places = {
            (_key(piece), source["passage_id"]): source["sentences"] for piece in pieces for source in piece["sources"]
        }
        found: list[Evidence] = []
        for entry in state["core"]:
            for id_ in (source["passage_id"] for source in entry["sources"]):
                if passage := passages.get(id_):  # it may have been deleted
                    told = evidence_at(places.get((_key(entry), id_), []), passage, state["step"], entry["triple"])
                    found += told or nearest_evidence(_text(entry), passage, state["step"])
        emit("accumulate", step=state["step"], evidence=found)
        return {"evidence": [*state["evidence"], *found]}


def _text(piece: Mapping[str, Any]) -> str:
    return " ".join(piece["triple"]) or str(piece["text"])


def _key(piece: Mapping[str, Any]) -> str:
    """Return the key of a piece of knowledge: that of its triple, or its text if it has none."""
    return triple_key(piece["triple"]) or piece["text"]
