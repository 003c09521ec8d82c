"""`langgraph-rag ask` and `demo`: show the steps of a question while it runs, and the answer with its evidence."""

import asyncio
import json
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from langgraph_rag.characters import is_text
from langgraph_rag.checkpoints import checkpoints_in
from langgraph_rag.cli.describing import show_properties
from langgraph_rag.cli.options import (
    DEFAULTS,
    Cache,
    EmbeddingsName,
    KbFolder,
    MethodOrAblation,
    ModelName,
    Parts,
    embedder,
    embedder_of,
    load_parts,
    part_names,
    path_option,
    tell_loading,
    with_context,
)
from langgraph_rag.context import Context
from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.evaluation.metrics import exact_match
from langgraph_rag.evaluation.questions import load_questions
from langgraph_rag.filters import Where
from langgraph_rag.methods import create
from langgraph_rag.models.loading import load_model
from langgraph_rag.narration import narrate, narrate_cost, narrate_end
from langgraph_rag.nodes.conclude import CAVEATS
from langgraph_rag.normal_forms import first_of_each
from langgraph_rag.records import Evidence, Record, ids_of, origin_of, page_of
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.documents.files import read_documents
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


_DEMO_QUESTIONS = ("q01", "q05", "q08", "q10", "q04")  # one or two of each type with an answer
_SAMPLE = "the sample corpus"  # as a source; not its path


@with_context
def ask(
    question: Annotated[str, typer.Argument(help="The question; `-` reads it from standard input.")],
    kb: KbFolder,
    method_name: MethodOrAblation = "adaptive",
    model: ModelName = "offline",
    parts: Parts = None,
    embeddings: EmbeddingsName = None,
    context: Context = DEFAULTS,
    cache: Cache = None,
    checkpoints: Annotated[
        Path | None,
        path_option(help="File to keep the steps in (SQLite), so that a stopped question can go on."),
    ] = None,
    thread: Annotated[
        str | None, typer.Option(help="Name of the question in that file; asked again, it goes on where it stopped.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Answer a question: show the steps while it runs, then the answer with its evidence."""
    if (checkpoints is None) != (thread is None):
        raise typer.BadParameter("--checkpoints and --thread go together: give both or none")
    if thread is not None and not is_text(thread):
        raise typer.BadParameter(f"--thread must be text, got {ascii(thread)}")
    if question == "-":
        question = sys.stdin.read().strip() if sys.stdin else ""  # None where it is closed
    named = part_names(parts, [method_name])
    with KnowledgeBase.open(kb, embedder(embeddings), read_only=True) as base:
        graph = create(method_name, load_model(model, cache=cache), base, **load_parts(named, cache))

        async def answered() -> dict[str, Any]:
            if checkpoints is None or thread is None:
                return await _run(graph.compile(), question, context, show=not as_json)
            async with checkpoints_in(checkpoints) as saver:
                kept = graph.compile(checkpointer=saver)
                return await _run(kept, question, context, show=not as_json, thread=f"{method_name}/{thread}")

        if question.strip():  # an empty one, as from an unset variable, is refused without loading
            tell_loading()
            base.warm_up(context.search, filter=context.filter)
        result = asyncio.run(answered())
        records = records_behind(result, base, context.filter)
    if as_json:
        typer.echo(json.dumps(with_origins(result, records), ensure_ascii=False, indent=2))
    else:
        show_answer(result, records)


def demo(kb: Annotated[Path, path_option("--kb", help="Folder of the knowledge base.")] = Path("demo_kb")) -> None:
    """Index the sample corpus, and answer five of its questions step by step, with CIRAG and the offline model.

    The offline model answers best from single facts, which CIRAG shows it.
    """
    with resources.as_file(resources.files("langgraph_rag") / "sample") as folder:
        corpus, questions = read_documents([folder / "corpus.jsonl"]), load_questions(folder / "questions.jsonl")
    chosen = [question for id_ in _DEMO_QUESTIONS for question in questions if question["id"] == id_]
    sample = [{**document, "source": _SAMPLE} for document in corpus]
    right = 0
    with KnowledgeBase.open(kb, embedder_of(kb)) as base:
        _check_only_sample(base, sample)
        base.update(sample)
        show_properties(dict(base.info()))
        tell_loading()
        base.warm_up()
        graph = create("cirag", load_model("offline"), base).compile()
        for asked in chosen:
            typer.secho(f"\n{'-' * 100}\nQuestion: {asked['question']}", bold=True)
            result = asyncio.run(_run(graph, asked["question"], None, show=True))
            show_answer(result, records_behind(result, base))
            fits = exact_match(result["answer"], asked["answers"]) == 1
            right += fits
            typer.echo(f"Expected: {' / '.join(asked['answers'])} ({'right' if fits else 'wrong'})")
    typer.echo(f"\n{right} of {len(chosen)} answers are right. Ask your own: langgraph-rag ask QUESTION --kb {kb}")


def _check_only_sample(base: KnowledgeBase, sample: Sequence[dict[str, Any]]) -> None:
    """Refuse a knowledge base of other documents, as those with the ids of the sample would be replaced."""
    elsewhere = {id_ for source in ["", *base.sources()] if source != _SAMPLE for id_ in base.ids(source)}
    same = {document["id"] for document in sample}.difference(base.contested(sample))  # also indexed by its path
    if not elsewhere <= same:
        raise KnowledgeBaseError(
            f"{base.path} holds documents other than those of a demo: choose another folder with --kb"
        )


async def _run(
    graph: Any, question: str, context: Context | None, *, show: bool, thread: str | None = None
) -> dict[str, Any]:
    """Ask as a coroutine, because Ctrl-C cancels it at once; threads would wait for the model."""
    asked: dict[str, str] | None = {"question": question}
    options: dict[str, Any] = {"context": context, "stream_mode": ["custom", "values"]}
    if thread is not None:
        options |= {"config": {"configurable": {"thread_id": thread}}, "durability": "sync"}
        stopped = await graph.aget_state(options["config"])
        if stopped.next and str(stopped.values.get("question")).split() == question.split():  # spaces may differ
            asked = None
            if show:
                typer.echo(f"Going on with {', '.join(stopped.next)}.")
    result: dict[str, Any] = {}
    async for mode, chunk in graph.astream(asked, output_keys=graph.output_channels, **options):
        if mode == "values":
            result = chunk
        elif show and (line := narrate(chunk)):
            typer.echo(line)
    return result
