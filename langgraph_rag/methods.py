"""The methods by name, for the command line, the evaluation and LangGraph Studio."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel

from langgraph_rag.errors import UnknownNameError
from langgraph_rag.graphs.cirag import create_cirag
from langgraph_rag.tools.knowledge_base import KnowledgeBase


@dataclass(frozen=True)
class Method:
    """A published method: `create(llm, kb, **options)` builds its graph.

    `ablations` names the options that leave a part of the method out, as its paper does.
    """

    create: Callable[..., Any]
    paper: str
    ablations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


METHODS = {
    "cirag": Method(
        create_cirag,
        "Wei et al. 2025, Construction-Integration Retrieval and Adaptive Generation",
        {
            "without-reranker": {"ranking": "none"},
            "without-passages": {"granularities": ("triples", "sentences")},
            "without-triples": {"granularities": ("sentences", "passages")},
            "only-triples": {"granularities": ("triples",)},
            "only-sentences": {"granularities": ("sentences",)},
            "only-passages": {"granularities": ("passages",)},
        },
    ),
}


def create(name: str, llm: BaseChatModel, kb: KnowledgeBase) -> Any:
    """Build the graph of a method ("cirag") or of one of its ablations ("cirag/without-reranker").

    Raises:
        UnknownNameError: when there is no such method or ablation.
    """
    method, _, ablation = name.partition("/")
    if method not in METHODS:
        raise UnknownNameError("method", name, list(METHODS))
    ablations = METHODS[method].ablations
    if ablation and ablation not in ablations:
        raise UnknownNameError(f"ablation of {method}", ablation, list(ablations))
    return METHODS[method].create(llm, kb, **(ablations[ablation] if ablation else {}))


def named(names: str) -> list[str]:
    """Return the methods a comma-separated list names; "all" is every method, "ablations" every one with its ablations.

    Raises:
        UnknownNameError: when there is no such method or ablation.
    """
    chosen: dict[str, None] = {}
    for name in names.split(","):
        if name == "all":
            chosen |= dict.fromkeys(METHODS)
        elif name == "ablations":
            chosen |= {full: None for method in METHODS for full in with_ablations(method)}
        else:
            method = name.strip().partition("/")[0]
            if name.strip() not in (with_ablations(method) if method in METHODS else []):
                raise UnknownNameError("method", name.strip(), [*METHODS, "all", "ablations"])
            chosen[name.strip()] = None
    return list(chosen)


def with_ablations(method: str) -> list[str]:
    """Return a method's name and those of its ablations."""
    return [method, *(f"{method}/{ablation}" for ablation in METHODS[method].ablations)]
