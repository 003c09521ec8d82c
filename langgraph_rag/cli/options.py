"""The options that several commands share."""

import functools
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from langchain_core.embeddings import Embeddings

from langgraph_rag.context import Context, Search
from langgraph_rag.methods import METHODS
from langgraph_rag.models import MODEL_FORMS
from langgraph_rag.tools.embeddings import embed_queries, last_embedder, load_embeddings
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.sentence_embeddings import CPU, MINILM

KbFolder = Annotated[Path, typer.Option("--kb", help="Folder of the knowledge base.")]
_METHODS = f"One of: {', '.join(METHODS)}"
MethodName = Annotated[str, typer.Option("--method", help=f"{_METHODS}.")]
MethodOrAblation = Annotated[
    str, typer.Option("--method", help=f"{_METHODS}; or an ablation of one, such as cirag/only-triples.")
]
ModelName = Annotated[str, typer.Option("--model", help=f"One of: {'; '.join(MODEL_FORMS)}.")]
SearchName = Annotated[Search, typer.Option("--search", help="How passages are found.")]
EmbeddingsName = Annotated[
    str | None,
    typer.Option(
        "--embeddings",
        help="Embedder by name, folder or PROVIDER:MODEL; all-MiniLM-L6-v2 by default. Always the same one.",
    ),
]
TopK = Annotated[int, typer.Option("--top-k", min=1, help="Passages retrieved per query.")]
MaxSteps = Annotated[
    int | None, typer.Option("--max-steps", min=1, help="Rounds at most; the method's own number by default.")
]
MaxModelCalls = Annotated[int | None, typer.Option("--max-model-calls", min=1, help="Model calls per question.")]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", min=1, help="Tokens per question, read and written.")]
Cache = Annotated[Path | None, typer.Option("--cache", help="File that keeps the model's replies.")]
Deadline = Annotated[float | None, typer.Option("--deadline", min=0.001, help="Seconds per question.")]

DEFAULTS = Context()


def with_context(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a run in place of its argument `context`, which is made of them."""
    of_run = inspect.signature(_context).parameters
    parameters = inspect.signature(command).parameters.values()
    shown = [p for own in parameters for p in (of_run.values() if own.name == "context" else [own])]

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        context = _context(**{name: given.pop(name) for name in of_run})
        command(**given, context=context)

    with_options.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    with_options.__annotations__ = {p.name: p.annotation for p in shown}
    return with_options


def _context(
    search: SearchName = DEFAULTS.search,
    top_k: TopK = DEFAULTS.top_k,
    max_steps: MaxSteps = DEFAULTS.max_steps,
    max_model_calls: MaxModelCalls = DEFAULTS.max_model_calls,
    max_tokens: MaxTokens = DEFAULTS.max_tokens,
    deadline: Deadline = DEFAULTS.deadline_s,
) -> Context:
    return Context(
        search=search,
        top_k=top_k,
        max_steps=max_steps,
        max_model_calls=max_model_calls,
        max_tokens=max_tokens,
        deadline_s=deadline,
    )


def embedder(name: str | None, device: str = CPU) -> Embeddings | None:
    """Load the embedder of that name for a device; with neither given, the default is left to the knowledge base."""
    return load_embeddings(name or MINILM, device) if name or device != CPU else None


_PROBE = "Are you there?"


def embedder_of(kb: Path, name: str | None = None, device: str = CPU) -> Embeddings | None:
    """Load an embedder to index with; for a new folder ask it first, as one that fails should leave none behind."""
    given = embedder(name, device)
    if not kb.exists():
        given = given or last_embedder(None)
        embed_queries(given, [_PROBE])
    return given


def warm_up(base: KnowledgeBase, context: Context) -> None:
    """Have the embedder loaded, and the graph built that is searched, before the clock of the first question starts."""
    if sys.stderr.isatty():
        typer.echo("loading ...", err=True)
    embed_queries(base.embeddings, [_PROBE])
    base.search(_PROBE, 1, by=context.search)
