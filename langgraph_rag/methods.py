"""The methods by name, for the command line, the evaluation and LangGraph Studio."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from langgraph_rag.errors import UnknownNameError
from langgraph_rag.graphs.cirag import create_cirag


@dataclass(frozen=True)
class Method:
    """A published method: `create(llm, kb, **options)` builds its graph."""

    create: Callable[..., Any]
    paper: str


METHODS = {
    "cirag": Method(create_cirag, "Wei et al. 2025, Construction-Integration Retrieval and Adaptive Generation"),
}


def method(name: str) -> Method:
    """Return a method by name.

    Raises:
        UnknownNameError: when there is no such method.
    """
    if name not in METHODS:
        raise UnknownNameError("method", name, list(METHODS))
    return METHODS[name]
