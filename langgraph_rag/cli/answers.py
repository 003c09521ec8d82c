"""Shows an answer with its evidence and passages, as text and as JSON."""

from collections.abc import Sequence
from typing import Any

import typer

from langgraph_rag.filters import Where
from langgraph_rag.narration import narrate_cost, narrate_end
from langgraph_rag.nodes.conclude import CAVEATS
from langgraph_rag.normal_forms import first_of_each
from langgraph_rag.records import Evidence, Record, ids_of, origin_of, page_of
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores.records import has_own_id

_READ = 10  # passages shown if there is no evidence


def records_behind(result: dict[str, Any], base: KnowledgeBase, filter: Where | None = None) -> dict[str, Record]:
    """Look up the passages of a result, which has only their ids."""
    ids = [evidence["passage_id"] for evidence in result["evidence"]] + ids_of(result["passages"])
    return {record["id"]: record for record in base.passages(ids, filter=filter)}


def with_origins(result: dict[str, Any], records: dict[str, Record]) -> dict[str, Any]:
    """Return a result whose passages have titles and, if known, sources and metadata."""
    return {**result, "passages": [{**p, **_origin(records.get(p["id"]))} for p in result["passages"]]}


def show_answer(result: dict[str, Any], records: dict[str, Record]) -> None:
    """Print the answer, whether it is supported, its evidence, why the run ended, and its cost."""
    refused = is_refusal(result["answer"])
    typer.secho(f"\nAnswer: {result['answer']}", bold=True, fg="yellow" if refused else "green")
    if not refused and (caveat := CAVEATS[result["supported"]]):
        typer.secho(f"  {caveat}", fg="yellow")
    if refused and result["evidence"]:
        typer.echo("  found, but not enough:")
    _show_evidence(result["evidence"], records)
    if not result["evidence"]:
        _show_passages(ids_of(result["passages"]), records)
    typer.echo(f"  {narrate_end(result)}; {narrate_cost(result['usage'])}")


def _show_evidence(found: Sequence[Evidence], records: dict[str, Record]) -> None:
    once = first_of_each(found, lambda evidence: (*evidence["triple"], evidence["sentence"]))
    for number, evidence in enumerate(once.values(), start=1):
        typer.echo(f"  [{number}] {' | '.join(evidence['triple']) or origin_of(evidence)}")
        named = _named(evidence["passage_id"], records)
        typer.echo(f"      {named}, step {evidence['step']}: {evidence['sentence']}")


def _show_passages(ids: Sequence[str], records: dict[str, Record]) -> None:
    """Print the retrieved passages of an answer without evidence, so that it can be checked."""
    typer.echo("  no single fact noted; passages found, best first:" if ids else "  no passage was found")
    for id_ in ids[:_READ]:
        typer.echo(f"      {_named(id_, records)}")
    if len(ids) > _READ:
        typer.echo(f"      and {len(ids) - _READ} more")


def _named(id_: str, records: dict[str, Record]) -> str:
    """Return the title, id, source and page of a passage; without the id if it is a hash and there is a source."""
    record = records.get(id_)
    if record is None:
        return id_
    source = record.get("source", "")
    own_id = "" if source and not has_own_id(record) else id_
    page = f"page {page}" if (page := page_of(record)) else ""
    name, *more = filter(None, [record["title"], own_id, source, page])
    return f"{name} ({', '.join(more)})" if more else name


def _origin(record: Record | None) -> dict[str, Any]:
    return {name: record[name] for name in ("title", "source", "metadata") if name in record} if record else {}
