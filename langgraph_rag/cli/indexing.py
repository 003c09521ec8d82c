"""`langgraph-rag index` and `info`: making a knowledge base, and what it holds."""

from pathlib import Path
from typing import Annotated

import typer

from langgraph_rag.cli.options import EmbeddingsName, KbFolder, embedder
from langgraph_rag.cli.properties import show_properties
from langgraph_rag.models import load_model
from langgraph_rag.nodes.extract_triples import ModelExtractor
from langgraph_rag.tools.documents import to_passages
from langgraph_rag.tools.extraction import TripleExtractor
from langgraph_rag.tools.files import READABLE, read_documents
from langgraph_rag.tools.knowledge_base import KnowledgeBase


def index(
    sources: Annotated[list[Path], typer.Argument(help=f"Files ({', '.join(READABLE)}) or folders of such files.")],
    kb: KbFolder,
    model: Annotated[
        str | None, typer.Option(help="Model that reads triples out of the passages; sentence rules by default.")
    ] = None,
    embeddings: EmbeddingsName = None,
    embed_triples: Annotated[
        bool, typer.Option("--embed-triples", help="Embed the triples now instead of when they are first needed.")
    ] = False,
) -> None:
    """Add documents to a knowledge base, making it if need be; an interrupted run goes on where it stopped."""
    documents = to_passages(read_documents(sources))  # before the folder is made: bad documents leave nothing behind
    extractor: TripleExtractor | None = ModelExtractor(load_model(model)) if model else None
    with KnowledgeBase.open(kb, embedder(embeddings), extractor=extractor) as base:
        added = base.add(documents)
        if embed_triples:
            base.embed_triples()
        typer.echo(f"{added['added']} passages added, {added['unchanged']} were there already.")
        for number, what in ((added["without_triples"], "gave no triples"), (added["failed"], "could not be read")):
            if number:
                typer.echo(f"warning: {number} passages {what}.", err=True)
        show_properties(dict(base.info()))


def info(kb: KbFolder, embeddings: EmbeddingsName = None) -> None:
    """Show what a knowledge base holds and how it was made."""
    with KnowledgeBase.open(kb, embedder(embeddings), create=False) as base:
        show_properties(dict(base.info()))
