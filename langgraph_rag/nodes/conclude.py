"""Round a run off: the passages behind the answer, best first, filled up from the first retrieval."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.node import emit
from langgraph_rag.records import Evidence, ScoredPassage


class ConcludeInput(TypedDict):
    """What the run found."""

    answer: str
    evidence: list[Evidence]
    first_retrieval: list[ScoredPassage]


@dataclass(frozen=True)
class Conclude:
    """List the passages the method gathered, in the order it found them, then the rest of the first retrieval."""

    async def __call__(self, state: ConcludeInput) -> dict[str, Any]:
        """Return passages whose scores fall by place: 1, 1/2, 1/3, ..."""
        gathered = [evidence["passage_id"] for evidence in state["evidence"]]
        ranked = dict.fromkeys(gathered + [passage["id"] for passage in state["first_retrieval"]])
        emit("conclude", answer=state["answer"], evidence=state["evidence"])
        return {"passages": [ScoredPassage(id=id_, score=1 / place) for place, id_ in enumerate(ranked, start=1)]}
