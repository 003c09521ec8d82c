"""`langgraph-rag methods`: lists the methods."""

import inspect
from tempfile import TemporaryDirectory

import typer

from langgraph_rag.cli.properties import show_properties
from langgraph_rag.methods import METHODS, create
from langgraph_rag.models.loading import load_model
from langgraph_rag.tools.knowledge_base import KnowledgeBase


def show_methods() -> None:
    """List the methods with their cases, papers, nodes, options and ablations."""
    with TemporaryDirectory() as folder, KnowledgeBase.open(folder) as base:
        for name, method in METHODS.items():
            graph = create(name, load_model("offline"), base)
            options = list(inspect.signature(method.create).parameters)[2:]
            typer.secho(name, bold=True)
            show_properties(
                {
                    "case": method.case,
                    "paper": method.paper,
                    "nodes": ", ".join(graph.nodes),
                    "options": ", ".join(options) or "none",
                    "ablations": ", ".join(method.ablations) or "none",
                },
                indent=2,
            )
