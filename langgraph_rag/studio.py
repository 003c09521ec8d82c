"""What `langgraph.json` serves: each method over the knowledge bases and the model that the environment names.

LANGGRAPH_RAG_KB is the folder of the knowledge base (./kb), or several, separated as in PATH (`a:b`, on Windows `a;b`):
the setting `knowledge_base` of a run then names the one to ask, by default the first. LANGGRAPH_RAG_EMBEDDINGS is the
embedder they were made with (all-MiniLM-L6-v2), LANGGRAPH_RAG_MODEL the model (offline). Without a knowledge base, the
server does not start. Each method is there twice: taking a question, and taking messages (`_chat`). PAR RAG is there
twice more, waiting for a person to approve its plan. The graphs are compiled without a checkpointer: the server brings
its own.
"""

import os
from collections.abc import Mapping
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any, Literal, get_type_hints

from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import get_runtime
from typing_extensions import TypedDict

from langgraph_rag.context import Context
from langgraph_rag.conversation import with_messages
from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.machine import Machine
from langgraph_rag.methods import METHODS, create
from langgraph_rag.models.loading import load_model
from langgraph_rag.naming import expect_name
from langgraph_rag.tools.ingest.embeddings import MINILM, load_embeddings
from langgraph_rag.tools.knowledge_base import KnowledgeBase


def _opened(folder: str) -> KnowledgeBase:
    base = KnowledgeBase.open(folder, _embeddings, read_only=True)
    base.warm_up()  # else the first question's deadline may pass while the embedder is loaded
    return base


def _served(
    method: str, title: str = "", *, chat: bool = False, **options: Any
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return a method over the knowledge base, or over the one that the setting `knowledge_base` names."""
    graphs: dict[str, Machine[Any, Any, Any, Any]] = {}
    for name, base in _bases.items():
        graph = create(method, _llm, base, **options)
        graphs[name] = with_messages(graph, _llm) if chat else graph
    (served,) = graphs.values() if len(graphs) == 1 else [_choosing(graphs)]
    return served.compile(name=title or served.title)


def _choosing(graphs: Mapping[str, Machine[Any, Any, Any, Any]]) -> Machine[Any, Any, Any, Any]:
    """Return a graph that runs the one of the knowledge base that the run names; each question replaces the last."""
    first = next(iter(graphs.values()))
    takes = get_type_hints(first.input_schema, include_extras=True)
    gives = {**get_type_hints(first.output_schema), **takes}  # only messages are added up
    names = tuple(graphs)
    settings = make_dataclass(
        "Context", [("knowledge_base", Literal[names], names[0])], bases=(Context,), frozen=True, kw_only=True
    )
    whole: Machine[Any, Any, Any, Any] = Machine(
        _typed("Chosen", gives),
        context_schema=settings,
        input_schema=first.input_schema,
        output_schema=_typed("Answered", {name: gives[name] for name in get_type_hints(first.output_schema)}),
    )
    whole.title = first.title
    for name, graph in graphs.items():
        whole.add_node(name, graph.compile())
        whole.add_edge(name, END)
    whole.add_conditional_edges(START, _chosen, list(names))
    return whole


def _typed(name: str, fields: dict[str, Any]) -> Any:
    return TypedDict(name, fields)  # type: ignore[operator]


def _chosen(_: object) -> str:
    named = getattr(get_runtime(Context).context, "knowledge_base", None)
    if named is not None:
        expect_name("knowledge base", named, _bases)
    return str(named or next(iter(_bases)))


_embeddings = load_embeddings(os.environ.get("LANGGRAPH_RAG_EMBEDDINGS", MINILM))
_folders = [folder for folder in os.environ.get("LANGGRAPH_RAG_KB", "kb").split(os.pathsep) if folder]
_bases = {Path(folder).resolve().name: _opened(folder) for folder in _folders}
if len(_bases) < len(_folders):
    raise KnowledgeBaseError(f"expected folders with names that differ in LANGGRAPH_RAG_KB, got {_folders}")
_llm = load_model(os.environ.get("LANGGRAPH_RAG_MODEL", "offline"))

globals().update({name: _served(name) for name in METHODS})
globals().update({f"{name}_chat": _served(name, chat=True) for name in METHODS})

par_rag_approve_plan = _served("par_rag", "PAR RAG approve plan", approve_plan=True)
par_rag_approve_plan_chat = _served("par_rag", "PAR RAG approve plan chat", chat=True, approve_plan=True)
