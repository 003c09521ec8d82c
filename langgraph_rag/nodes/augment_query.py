"""MGranRAG's evidence-augmented query: the question with the best evidence."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.extract_evidence import EvidenceUnit, best_first
from langgraph_rag.nodes.node import emit


class AugmentInput(TypedDict):
    """The questions and the memory; `trace` has one entry per round."""

    question: str
    subqueries: list[str]
    open: list[str]
    memory: list[EvidenceUnit]
    trace: list[Any]


Augmentation = Callable[[AugmentInput], list[str]]


def with_evidence(state: AugmentInput) -> list[str]:
    """Add the evidence of this round and the best earlier sentences: one for each sub-query, at least one."""
    step = len(state["trace"])
    earlier = [unit for unit in best_first(state["memory"]) if unit["step"] < step][: max(1, len(state["subqueries"]))]
    new = [unit for unit in state["memory"] if unit["step"] == step]
    return [f"{unit['title']}: {unit['sentence']}" for unit in best_first([*earlier, *new])]


def with_open_questions(state: AugmentInput) -> list[str]:
    """Add the open questions, with the names found so far, before the evidence."""
    return [*state["open"], *with_evidence(state)]


def with_subqueries(state: AugmentInput) -> list[str]:
    """Add the sub-queries (ablation without evidence)."""
    return state["subqueries"]


@dataclass(frozen=True)
class AugmentQuery:
    """Append texts to the question, best first: embedders truncate long texts at the end."""

    addition: Augmentation

    async def __call__(self, state: AugmentInput) -> dict[str, Any]:
        """Return the query for the retriever."""
        query = "\n".join([state["question"], *self.addition(state)])
        emit("augment_query", query=query)
        return {"query": query}
