"""`langgraph-rag info`: shows what a knowledge base contains."""

import json
from typing import Annotated

import typer

from langgraph_rag.cli.options import EmbeddingsName, KbFolder, embedder
from langgraph_rag.cli.properties import show_properties
from langgraph_rag.naming import counted
from langgraph_rag.records import Record
from langgraph_rag.tools.knowledge_base import Info, KnowledgeBase


def info(
    kb: KbFolder,
    sources: Annotated[
        bool, typer.Option("--sources", help="List where passages come from, too, and how many from each.")
    ] = False,
    ids: Annotated[bool, typer.Option("--ids", help="List the ids of passages with titles and sources, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON and nothing else.")] = False,
    embeddings: EmbeddingsName = None,
) -> None:
    """Show the contents of a knowledge base and how it was made."""
    with KnowledgeBase.open(kb, embedder(embeddings), read_only=True) as base:
        known = ["", *base.sources()] if sources else []
        numbers = {source: number for source in known if (number := len(base.ids(source)))}
        passages = [_listed(record) for record in base.passages(base.ids() if ids else [])]
        if as_json:
            listings = {**({"sources": numbers} if sources else {}), **({"ids": passages} if ids else {})}
            typer.echo(json.dumps({**base.info(), **listings}, ensure_ascii=False, indent=2))
            return
        show_info(base.info())
        for source, number in numbers.items():
            typer.echo(f"{counted(number, 'passage'):>16} from {source or 'no source'}")
        for passage in passages:
            typer.echo("\t".join(passage.values()))


def show_info(held: Info) -> None:
    """Print what a knowledge base contains and how it was made."""
    rest = held["passages_to_extract"]
    more = f", not read by {held['extractor']} yet: run index again" if rest else ""
    otherwise = f"{held['passages_split_otherwise']:,}: index --update splits their files anew"
    shown = {
        **held,
        "passages_to_extract": f"{rest}{more}",
        "aligner": "trained",
        "passages_split_otherwise": otherwise,
    }
    none = {name for name in ("aligner", "passages_split_otherwise") if not dict(held)[name]}
    show_properties({name: value for name, value in shown.items() if name not in none})


def _listed(record: Record) -> dict[str, str]:
    return {"id": record["id"], "title": record["title"], "source": record.get("source", "")}
