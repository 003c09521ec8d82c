"""`langgraph-rag index --engine ray`: indexes files on the machines of a Ray cluster."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import typer
from langchain_core.embeddings import Embeddings

from langgraph_rag.characters import without_controls
from langgraph_rag.cli.describing import show_info
from langgraph_rag.cli.options import embedder, embedder_of
from langgraph_rag.distributed import Engine, Estimate, Job, Report, cluster, estimate, index
from langgraph_rag.errors import DocumentError, KnowledgeBaseError
from langgraph_rag.models.loading import load_model
from langgraph_rag.naming import counted, first_problems
from langgraph_rag.nodes.extract_triples import ModelExtractor
from langgraph_rag.tools.documents.files import vanished
from langgraph_rag.tools.facts.extraction import PlaceholderExtractor, RuleExtractor, TripleExtractor
from langgraph_rag.tools.ingest.embeddings import CPU, MiniLMEmbeddings
from langgraph_rag.tools.knowledge_base import KnowledgeBase

ENGINE = "vllm-engine:"  # before the name of a model that runs on the GPUs of the cluster


class Opened(NamedTuple):
    """The options that say how a knowledge base is opened."""

    model: str | None
    embeddings: str | None
    chroma: str | None
    pipeline: str | None
    size: int | None
    overlap: int | None


def refuse_on_ray(given: Mapping[str, object]) -> None:
    """Refuse options of the local engine."""
    if named := [name for name, value in given.items() if value]:
        raise typer.BadParameter(f"{', '.join(named)} goes with --engine local only")


def index_on_ray(
    sources: Sequence[Path],
    kb: Path,
    job: Job,
    opened: Opened,
    address: str | None,
    *,
    dry: bool,
    skip_bad: bool,
) -> None:
    """Index files on a cluster, or estimate what that takes, and say what was done and what failed."""
    reader = _reader(opened.model)
    with ExitStack() as stack:
        stack.enter_context(cluster(address))
        place = kb if kb.exists() or not dry else Path(stack.enter_context(TemporaryDirectory())) / "kb"
        base = stack.enter_context(_open(place, opened, reader, read_only=dry and kb.exists()))
        made = partial(_embedder, opened.embeddings, job.device)
        job = replace(job, embeddings=made, extractor=reader if isinstance(reader, Engine) else reader and reader.make)
        if dry:
            _tell_estimate(estimate(base, sources, job))
            return
        report = index(base, sources, job)
        gone = vanished(base.sources(), sources)
        if gone and job.update:
            report.removed += base.delete(sources=gone)
        elif gone:
            typer.echo(f"warning: {counted(len(gone), 'file')} gone: --update removes what came from there.", err=True)
        _tell(report)
        show_info(base.info())
    if report.failed and not skip_bad:
        raise DocumentError(
            f"{counted(len(report.failed), 'row')} failed; all others are stored. Run again to try these again; "
            "--skip-bad makes this a warning"
        )


class _ByModel(NamedTuple):
    name: str

    def make(self) -> TripleExtractor:
        """Return the extractor, on a worker or here."""
        return ModelExtractor(load_model(self.name))


def _reader(model: str | None) -> "_ByModel | Engine | None":
    if model is None or model == RuleExtractor.NAME:
        return None
    if model.startswith(ENGINE):
        return Engine(model.removeprefix(ENGINE))
    return _ByModel(model)


def _open(kb: Path, opened: Opened, reader: "_ByModel | Engine | None", *, read_only: bool) -> KnowledgeBase:
    extractor: TripleExtractor | None = RuleExtractor() if opened.model == RuleExtractor.NAME else None
    if isinstance(reader, Engine):
        extractor = PlaceholderExtractor(reader.version)
    elif reader:
        extractor = reader.make()
    given = embedder_of(kb, opened.embeddings)
    base = KnowledgeBase.open(
        kb, given, extractor=extractor, chroma=opened.chroma, pipeline=opened.pipeline, read_only=read_only
    )
    try:
        if isinstance(base.extractor, PlaceholderExtractor) and not reader:
            raise KnowledgeBaseError(f"the facts in {kb} were read by {base.extractor.version}: name it with --model")
        changed = {name: value for name in ("size", "overlap") if (value := getattr(opened, name)) is not None}
        if changed:
            base.splitting = replace(base.splitting, **changed)
    except ValueError as error:
        base.close()
        raise typer.BadParameter(str(error)) from error
    except BaseException:
        base.close()
        raise
    return base


def _embedder(name: str | None, device: str) -> Embeddings:
    return embedder(name, device) or MiniLMEmbeddings(CPU)


def _tell_estimate(found: Estimate) -> None:
    typer.echo(
        f"{counted(found.files, 'file')} with {counted(found.passages, 'passage')}, of which {found.new:,} are new, "
        f"in {found.batches:,} batches, about {found.seconds:,.0f} s on {counted(found.cpus, 'CPU')}, "
        "as timed on a few."
    )
    if found.cost.calls:
        cost = found.cost
        typer.echo(
            f"The model then reads them in about {counted(cost.calls, 'call')} with {cost.input_tokens:,} tokens, and "
            f"{cost.output_tokens:,} in its replies."
        )
    if found.failed:
        typer.echo(f"warning: {counted(found.failed, 'file or row')} cannot be read.", err=True)


def _tell(report: Report) -> None:
    there = report.passages - report.added - report.replaced
    typer.echo(
        f"{counted(report.added, 'passage')} added, {report.replaced:,} replaced, {there:,} there already, "
        f"{report.removed:,} removed; {counted(report.dropped, 'fact')} dropped that no sentence bears out."
    )
    if calls := int(report.counts.get("calls", 0)):
        read, written = (int(report.counts.get(name, 0)) for name in ("input_tokens", "output_tokens"))
        typer.echo(f"The model took {counted(calls, 'call')} with {read:,} tokens, and {written:,} in its replies.")
    if report.unread:
        unread = counted(report.unread, "passage")
        typer.echo(f"warning: {unread} could not be read: index again to try again.", err=True)
    if report.failed:
        told = [without_controls(f"{source}: {error}") for source, error in report.failed]
        typer.echo(f"warning: {counted(len(told), 'row')} failed:\n{first_problems(told)}", err=True)
