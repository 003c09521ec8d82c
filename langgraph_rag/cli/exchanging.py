"""`langgraph-rag export`, `import` and `copy`: carry passages, vectors and facts to and from other places."""

from pathlib import Path
from typing import Annotated

import typer

from langgraph_rag.cli.options import EmbeddingsName, KbFolder, embedder, embedder_of, named_path
from langgraph_rag.exchange import Form, copy, export, import_from
from langgraph_rag.naming import counted
from langgraph_rag.tools.knowledge_base import KnowledgeBase


def export_to(
    to: Annotated[Path, typer.Argument(help="Folder to write; a file for graphml. It must not exist yet.")],
    kb: KbFolder,
    form: Annotated[
        Form, typer.Option("--format", help="JSON lines, Parquet, or the graph of facts alone as GraphML.")
    ] = "jsonl",
    embeddings: EmbeddingsName = None,
) -> None:
    """Write passages, vectors and facts to files for other systems, or for `import`."""
    with KnowledgeBase.open(kb, embedder(embeddings), read_only=True) as base:
        written = export(base, to, form)
    typer.echo(f"{to}: {', '.join(f'{number:,} {what}' for what, number in written.items())}")


def import_into(
    given: Annotated[
        Path, typer.Argument(help="A folder from `export`, or a file of facts: JSON lines, Parquet, OpenIE results.")
    ],
    kb: KbFolder,
    name: Annotated[str, typer.Option(help="Who read the facts of a file; by default the name of the file.")] = "",
    embeddings: EmbeddingsName = None,
) -> None:
    """Add an export, or facts that were read elsewhere; those that the passages do not state are dropped."""
    with KnowledgeBase.open(kb, embedder_of(kb, embeddings)) as base:
        added = import_from(base, given, name=name)
        version = base.extractor.version
    told = [
        f"{counted(added['added'], 'passage')} added",
        f"{counted(added['dropped'], 'fact')} dropped, as not stated",
    ]
    left = f"; {counted(added['failed'], 'passage')} without facts" if added["failed"] else ""
    typer.echo(f"{', '.join(told)}{left}; the facts are those of {version}")


def copy_to(
    source: Annotated[
        Path,
        typer.Argument(parser=named_path, help="Knowledge base: a folder, or postgresql://USER@HOST/DATABASE#NAME."),
    ],
    target: Annotated[
        Path,
        typer.Argument(parser=named_path, help="The same: a new one, or an earlier copy, which is brought up to date."),
    ],
) -> None:
    """Copy a knowledge base between folders and Postgres; nothing is embedded again. Repeat it to go on."""
    copied = copy(source, target)
    typer.echo(f"{counted(copied, 'passage')} copied; {target} is equal to {source} now.")
