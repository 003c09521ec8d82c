"""`langgraph-rag delete`: removes passages from a knowledge base."""

from collections.abc import Sequence
from typing import Annotated

import typer

from langgraph_rag.cli.options import EmbeddingsName, KbFolder, embedder
from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.naming import counted, meant_sources
from langgraph_rag.tools.knowledge_base import KnowledgeBase


def delete(
    kb: KbFolder,
    sources: Annotated[
        list[str] | None, typer.Option("--source", help="Where passages came from, as it was indexed; may be repeated.")
    ] = None,
    ids: Annotated[list[str] | None, typer.Option("--id", help="Id of a passage; may be repeated.")] = None,
    embeddings: EmbeddingsName = None,
) -> None:
    """Delete passages and all data derived from them; passages that also come from another source are kept."""
    if not sources and not ids:
        raise typer.BadParameter("expected what to delete: --source SOURCE or --id ID")
    with KnowledgeBase.open(kb, embedder(embeddings), create=False) as base:
        _check_known(base, sources or [], ids or [])
        typer.echo(f"{counted(base.delete(ids or [], sources=sources or []), 'passage')} deleted.")


def _check_known(base: KnowledgeBase, sources: Sequence[str], ids: Sequence[str]) -> None:
    """Warn of unknown sources and ids; raise an error if all are unknown."""
    known, there = base.sources(), {record["id"] for record in base.passages(ids)}
    unknown = [f"source {source!r}{meant_sources(source, known)}" for source in sources if source not in known]
    unknown += [f"id {id_!r}" for id_ in ids if id_ not in there]
    if len(unknown) == len(sources) + len(ids):
        listing = "; `info --sources` lists the sources" if sources else ""
        raise KnowledgeBaseError(f"{base.path} has no passage of {', '.join(unknown)}: nothing was deleted{listing}")
    for what in unknown:
        typer.echo(f"warning: there is no passage of {what}.", err=True)
