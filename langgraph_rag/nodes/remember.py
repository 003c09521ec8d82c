"""MGranRAG's evidence memory: the sentences found so far, each once, with its confidence (Eq. 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.extract_evidence import EvidenceUnit
from langgraph_rag.nodes.node import emit
from langgraph_rag.records import Evidence

_FULL, _PARTIAL = 1.0, 0.5  # g in Eq. 1; without support it is 0


class RememberInput(TypedDict):
    """The memory and the evidence of this round."""

    subqueries: list[str]
    memory: list[EvidenceUnit]
    found: list[EvidenceUnit]


def confidence(full: Sequence[int], partial: Sequence[int], subqueries: int) -> float:
    """Return the support for the main question plus the mean support for the sub-queries (Eq. 1)."""
    worth = dict.fromkeys(partial, _PARTIAL) | dict.fromkeys(full, _FULL)
    others = [worth.get(number, 0.0) for number in range(1, 1 + subqueries)]
    return worth.get(0, 0.0) + (sum(others) / len(others) if others else 0.0)


@dataclass(frozen=True)
class Remember:
    """Add the new evidence; labels and phrases of a repeated sentence are merged."""

    async def __call__(self, state: RememberInput) -> dict[str, Any]:
        """Return the memory, how many of its sentences are new, and the memory as evidence."""
        memory = {(unit["passage_id"], unit["sentence"]): unit for unit in state["memory"]}
        for unit in state["found"]:
            key = unit["passage_id"], unit["sentence"]
            united = _united(memory[key], unit) if key in memory else unit
            score = confidence(united["full"], united["partial"], len(state["subqueries"]))
            memory[key] = EvidenceUnit({**united, "score": score})
        fresh = len(memory) - len(state["memory"])
        evidence = [
            Evidence(triple=[], sentence=u["sentence"], passage_id=u["passage_id"], title=u["title"], step=u["step"])
            for u in memory.values()
        ]
        emit("remember", fresh=fresh, known=len(memory), evidence=evidence)
        return {"memory": list(memory.values()), "fresh": fresh, "evidence": evidence}


def _united(one: EvidenceUnit, other: EvidenceUnit) -> EvidenceUnit:
    full = sorted({*one["full"], *other["full"]})
    partial = sorted({*one["partial"], *other["partial"]}.difference(full))
    phrases = list(dict.fromkeys([*one["phrases"], *other["phrases"]]))
    return EvidenceUnit({**one, "full": full, "partial": partial, "phrases": phrases})
