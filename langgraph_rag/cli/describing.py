"""`langgraph-rag info`, `methods` and `graph`: show a knowledge base, the methods, and facts as a picture."""

import inspect
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from langgraph_rag.cli.options import EmbeddingsName, Filter, KbFolder, embedder, path_option
from langgraph_rag.errors import PictureError
from langgraph_rag.graph_pictures import draw_facts
from langgraph_rag.methods import METHODS, create
from langgraph_rag.models.loading import load_model
from langgraph_rag.naming import counted, meant_names
from langgraph_rag.records import Record, Triple
from langgraph_rag.tools.knowledge_base import Info, KnowledgeBase


def show_properties(properties: dict[str, Any], indent: int = 0) -> None:
    """Print the names and values of properties, one per line."""
    width = max(map(len, properties))
    for name, value in properties.items():
        typer.echo(f"{' ' * indent}{name.replace('_', ' '):<{width}}  {value}")


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


def draw_graph(
    kb: KbFolder,
    entity: Annotated[str, typer.Option(help="One of its names.")],
    out: Annotated[Path, path_option("--out", help="File to write: .html, .svg or .png.")] = Path("graph.html"),
    hops: Annotated[int, typer.Option(min=1, help="How far to go: 2 also draws the facts of what its facts name.")] = 1,
    most: Annotated[int, typer.Option(min=1, help="Most facts, nearest first.")] = 60,
    filter: Filter = None,  # noqa: A002 - as in Python
    embeddings: EmbeddingsName = None,
) -> None:
    """Draw the facts around an entity, with the sentences that state them."""
    with KnowledgeBase.open(kb, embedder(embeddings), read_only=True) as base:
        facts = base.facts_about(entity, hops=hops, most=most, filter=filter)
        if not facts:
            names = (str(about["name"]) for _, about in base.graph.networkx.nodes(data=True))
            raise PictureError(f"{base.path} has no fact about {entity!r}{meant_names(entity, names)}")
        draw_facts(facts, out, entity=entity, sentences=_sentences(base, facts))
    typer.echo(f"{counted(len(facts), 'fact')} drawn: {out}")


def _sentences(base: KnowledgeBase, facts: list[Triple]) -> dict[str, str]:
    """Return the sentences that state each fact, with the title of their passage, by the words of the fact."""
    records = {one["id"]: one for one in base.passages({fact["sources"][0]["passage_id"] for fact in facts})}
    told: dict[str, str] = {}
    for fact in facts:
        source = fact["sources"][0]
        record = records[source["passage_id"]]
        stated = " ".join(record["sentences"][place] for place in source["sentences"])
        told[" | ".join(fact["triple"])] = f"{record['title'] or record['id']}: {stated}"
    return told
