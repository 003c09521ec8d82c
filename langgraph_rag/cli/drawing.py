"""`langgraph-rag graph`: draws the facts around an entity."""

from pathlib import Path
from typing import Annotated

import typer

from langgraph_rag.cli.options import EmbeddingsName, Filter, KbFolder, embedder, path_option
from langgraph_rag.errors import PictureError
from langgraph_rag.graph_pictures import draw_facts
from langgraph_rag.naming import counted, meant_names
from langgraph_rag.records import Triple
from langgraph_rag.tools.knowledge_base import KnowledgeBase


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
