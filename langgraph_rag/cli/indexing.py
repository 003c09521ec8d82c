"""`langgraph-rag index` and `delete`: add documents to a knowledge base, and remove passages from it."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from langchain_core.embeddings import Embeddings

from langgraph_rag.characters import without_controls
from langgraph_rag.cli.describing import show_info
from langgraph_rag.cli.distributing import Opened, index_on_ray, refuse_on_ray
from langgraph_rag.cli.options import (
    ENGINES,
    Address,
    Cache,
    EmbeddingsName,
    EngineName,
    KbFolder,
    embedder,
    embedder_of,
    named_path,
    on_ray,
)
from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.context import Context
from langgraph_rag.distributed.indexing import Job
from langgraph_rag.errors import DocumentError, DuplicateIdError, KnowledgeBaseError, ModelOutputError, RagError
from langgraph_rag.metering import metered
from langgraph_rag.models.bindings import model_name
from langgraph_rag.models.loading import load_model
from langgraph_rag.naming import counted, first_few, first_problems, meant_sources
from langgraph_rag.nodes.extract_triples import ModelExtractor, as_shown
from langgraph_rag.prompts.cirag import SentencesOf
from langgraph_rag.records import Passage, Usage, titled_text
from langgraph_rag.tools.documents.files import (
    MARKUP,
    NAMED,
    READABLE,
    Read,
    empty_folders,
    left_out,
    otherwise_named,
    read_what_can_be,
    vanished,
)
from langgraph_rag.tools.documents.rows import SETS, FieldNames
from langgraph_rag.tools.facts.extraction import PlaceholderExtractor, RuleExtractor, TripleExtractor
from langgraph_rag.tools.ingest.embeddings import CPU
from langgraph_rag.tools.ingest.indexing import Added
from langgraph_rag.tools.ingest.splitting import Splitter, Splitting, tokens_of
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores.opening import is_address

_KINDS = 8  # the most that messages name


def index(
    context: typer.Context,
    sources: Annotated[
        list[Path],
        typer.Argument(
            parser=named_path,
            help=f"Files ({', '.join(READABLE)}; others as plain text) or folders, without their JSON.",
        ),
    ],
    kb: KbFolder,
    model: Annotated[
        str | None,
        typer.Option(
            help="Model that extracts triples from the passages; by default, or as `rules`, rules for English."
        ),
    ] = None,
    pipeline: Annotated[
        str | None,
        typer.Option(
            help="spaCy pipeline that finds phrases and facts, such as en_core_web_sm, or `rules`; by default the last."
        ),
    ] = None,
    cache: Cache = None,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Only estimate the calls and tokens that --model takes, with --engine ray also passages, batches and "
            "time; ask and store nothing.",
        ),
    ] = False,
    max_calls: Annotated[
        int | None, typer.Option(min=1, help="Most calls of --model; then end, and say how to go on.")
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Most tokens of --model, read and written.")] = None,
    embeddings: EmbeddingsName = None,
    device: Annotated[str, typer.Option(help="Where an embedder in this process runs, such as cuda.")] = CPU,
    chroma: Annotated[
        str | None,
        typer.Option(help="Chroma server for the vectors, or `folder`; by default where they were kept last."),
    ] = None,
    embed_triples: Annotated[
        bool, typer.Option("--embed-triples", help="Embed the triples now instead of when they are first needed.")
    ] = False,
    update: Annotated[
        bool,
        typer.Option("--update", help="Also remove passages of earlier versions, and of files gone from the folders."),
    ] = False,
    size: Annotated[
        int | None,
        typer.Option(
            help="Most tokens of a passage, as the embedder counts them; by default as last, at first "
            f"{Splitting.size}. --update splits what was split otherwise anew."
        ),
    ] = None,
    overlap: Annotated[
        int | None, typer.Option(help="Most tokens that a passage repeats of the one before; by default as last.")
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Warn of files and JSON lines that cannot be read, and index the rest.")
    ] = False,
    text_field: Annotated[str, typer.Option(help="Field of JSON lines, or column of tables, with the text.")] = "text",
    title_field: Annotated[str, typer.Option(help="Field that has the title.")] = "title",
    id_field: Annotated[str, typer.Option(help="Field that has the id.")] = "id",
    format: Annotated[
        str,
        typer.Option(
            help=f"Set that JSON and tables are of ({', '.join(SETS)}), or markup of .txt and the like "
            f"({', '.join(MARKUP)}); by default told by their form."
        ),
    ] = "",
    engine: EngineName = ENGINES[0],
    address: Address = None,
) -> None:
    """Add documents to a knowledge base, which is created if it is missing; run again to continue a stopped run."""
    names = {"text": text_field, "title": title_field, "id": id_field}
    if on_ray(engine):
        of_calls = {"--cache": cache, "--max-calls": max_calls, "--max-tokens": max_tokens}
        refuse_on_ray({**of_calls, "--embed-triples": embed_triples})
        index_on_ray(
            sources,
            kb,
            Job(device=device, names=names, format=format, update=update),
            Opened(model, embeddings, chroma, pipeline, size, overlap),
            address,
            dry=estimate,
            skip_bad=skip_bad,
        )
        return
    _check_for_model(
        {"--cache": cache, "--estimate": estimate, "--max-calls": max_calls, "--max-tokens": max_tokens}, model
    )
    given = {name: number for name, number in {"size": size, "overlap": overlap}.items() if number is not None}
    splitting = _splitting(Splitting(), {"overlap": 0, **given})
    emptied = _emptied(sources, kb) if update else []
    filled = [source for source in sources if source not in emptied]
    read = _read(filled, names, format, skip_bad=skip_bad)
    _tell_left_out(sources, kb)
    extractor = _extractor(model, cache)
    embedder = embedder_of(kb, embeddings, device)
    _check_size(splitting, embedder)
    if estimate and isinstance(extractor, ModelExtractor):
        with TemporaryDirectory() as nowhere:
            there = kb if _is_there(kb) else Path(nowhere) / "kb"
            with KnowledgeBase.open(there, embedder, read_only=_is_there(kb)) as base:
                if given:
                    base.splitting = _splitting(base.splitting, given)
                typer.echo(_told(extractor, _to_read(base, base.split(read.documents), extractor)))
        return
    with KnowledgeBase.open(kb, embedder, extractor=extractor, chroma=chroma, pipeline=pipeline) as base:
        _check_extractor(base)
        if given:
            base.splitting = _splitting(base.splitting, given)
        passages = base.split(_without_taken(base, read, sources, skip_bad=skip_bad))
        if isinstance(extractor, ModelExtractor):
            typer.echo(_told(extractor, _to_read(base, passages, extractor)), err=True)
        with _spending(base, context, max_calls, max_tokens):
            added = _update(base, passages, sources) if update else _add(base, passages, sources)
        _tell_known_otherwise(base, sources)
        if embed_triples:
            base.embed_triples()
        _tell_failed(added)
        found = base.info()
        show_info(found)
        if added["failed"] and found["passages_to_extract"] == found["passages"]:
            raise ModelOutputError(f"{found['extractor']} could read none of the passages; they have no facts")


def _check_for_model(given: Mapping[str, object], model: str | None) -> None:
    if model in (None, RuleExtractor.NAME) and (named := [name for name, value in given.items() if value]):
        raise typer.BadParameter(f"{', '.join(named)} goes with --model: the sentence rules ask no model")


def _to_read(base: KnowledgeBase, passages: Sequence[Passage], extractor: TripleExtractor) -> list[SentencesOf]:
    """Return the passages that a model has not read: new ones, those with another text, and stored ones."""
    given = {passage["id"]: passage for passage in passages}
    known = base.passages([*given])
    same = {record["id"] for record in known if titled_text(record) == titled_text(given[record["id"]])}
    stored = [id_ for id_ in base.ids() if id_ not in given or id_ in same]
    unread = base.passages(run_in_background(base.aunread(stored, extractor)))
    new = [passage for id_, passage in given.items() if id_ not in same]
    return [*unread, *(as_shown(passage["title"], passage["text"]) for passage in new)]


def _told(extractor: ModelExtractor, passages: Sequence[SentencesOf]) -> str:
    cost = extractor.cost(passages)
    return (
        f"To read: {counted(len(passages), 'passage')}, in about {counted(cost.calls, 'call')} of "
        f"{model_name(extractor.llm)} with {cost.input_tokens:,} tokens, and {cost.output_tokens:,} in its replies."
    )


@contextmanager
def _spending(
    base: KnowledgeBase, context: typer.Context, max_calls: int | None, max_tokens: int | None
) -> Iterator[None]:
    """Keep the model within a budget, and say what it took, and after a failure what is stored and how to go on."""
    with metered(most=Context(max_model_calls=max_calls, max_tokens=max_tokens)) as spent:
        try:
            yield
        except (RagError, KeyboardInterrupt):
            _tell_stored(base, context)
            raise
        finally:
            if spent["calls"]:
                _tell_spent(spent)


def _tell_spent(spent: Usage) -> None:
    about = f", {counted(spent['estimated_tokens'], 'token')} estimated" if spent["estimated_tokens"] else ""
    typer.echo(
        f"The model took {counted(spent['calls'], 'call')} with {spent['input_tokens']:,} tokens, and "
        f"{spent['output_tokens']:,} in its replies{about}; {counted(spent['repairs'], 'repair')}, "
        f"{counted(spent['dropped'], 'fact')} dropped, {spent['seconds']:.0f} s.",
        err=True,
    )


def _tell_stored(base: KnowledgeBase, context: typer.Context) -> None:
    held = base.info()
    read = held["passages"] - held["passages_to_extract"]
    typer.echo(
        f"Stored so far: {counted(held['passages'], 'passage')}, of which {read:,} are read, with "
        f"{counted(held['triples'], 'fact')}; {held['passages_to_extract']:,} are still unread. To go on:\n"
        f"  {_command(context)}",
        err=True,
    )


def _command(context: typer.Context) -> str:
    """Return this call of the command as it goes on, without its budget."""
    words = ["langgraph-rag", str(context.info_name)]
    for option in context.command.params:
        value = context.params.get(option.name or "")
        if option.name in ("max_calls", "max_tokens") or value == option.get_default(context):
            continue
        if option.param_type_name == "argument":
            words += map(str, value or [])
        else:
            words += [option.opts[0]] if value is True else [option.opts[0], str(value)]
    return shlex.join(words)


def _read(sources: Iterable[Path], names: FieldNames, format: str, *, skip_bad: bool) -> Read:
    read = read_what_can_be(sources, names, format=format)
    if read.problems and not (skip_bad and read.documents):
        left = "nothing can be read" if skip_bad else "--skip-bad leaves out what cannot be"
        raise DocumentError(f"{first_problems(read.problems)}\nNothing was indexed; {left}.")
    _tell_bad(read.problems)
    return read


def _check_size(splitting: Splitting, embedder: Embeddings | None) -> None:
    """Refuse a size that the embedder cannot read, before a folder is created."""
    if embedder is not None:
        try:
            Splitter(tokens_of(embedder), splitting)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error


def _splitting(last: Splitting, given: Mapping[str, int]) -> Splitting:
    try:
        return replace(last, **given)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _check_extractor(base: KnowledgeBase) -> None:
    if isinstance(base.extractor, PlaceholderExtractor):
        raise KnowledgeBaseError(
            f"the triples in {base.path} were read by {base.extractor.version}: name that model with --model, or add "
            "documents in Python, if it is an extractor of your own (`KnowledgeBase.open(PATH, extractor=...)`), or "
            f"give `--model {RuleExtractor.NAME}` to have all passages read by rules"
        )


def _tell_failed(added: Added) -> None:
    if added["failed"]:
        failed = counted(added["failed"], "passage")
        typer.echo(f"warning: {failed} could not be read: index again to try again.", err=True)


def _extractor(model: str | None, cache: Path | None) -> TripleExtractor | None:
    if model == RuleExtractor.NAME:
        return RuleExtractor()
    return ModelExtractor(load_model(model, cache=cache)) if model else None


def _is_there(kb: Path) -> bool:
    return is_address(kb) or kb.exists()


def _emptied(folders: Iterable[Path], kb: Path) -> list[Path]:
    """Return the folders without readable files from which a knowledge base has passages."""
    empty = empty_folders(folders)
    if not empty or not _is_there(kb):
        return []
    with KnowledgeBase.open(kb, read_only=True) as base:
        return [folder for folder in empty if vanished(base.sources(), [folder])]


def _tell_bad(problems: Iterable[str]) -> None:
    for problem in problems:
        typer.echo(f"warning: left out {without_controls(problem)}", err=True)


def _tell_left_out(given: Iterable[Path], kb: Path) -> None:
    others, blank, linked = left_out(given)
    others = [file for file in others if not file.resolve().is_relative_to(kb.resolve())]
    kinds = [kind for kind, _ in Counter(file.suffix.lower() or "no ending" for file in others).most_common()]
    if others:
        found = f"{counted(len(others), 'file')} of other kinds ({without_controls(first_few(kinds, _KINDS))})"
        typer.echo(f"Left out: {found}; {NAMED}.", err=True)
    if blank:
        names = without_controls(first_few(list(map(str, blank)), _KINDS))
        typer.echo(f"Left out: {counted(len(blank), 'file')} without text ({names}).", err=True)
    if linked:
        names = without_controls(first_few([str(folder) for folder in linked], _KINDS))
        typer.echo(f"Left out: {counted(len(linked), 'linked folder')} ({names}); name those to be read.", err=True)


def _add(base: KnowledgeBase, passages: Sequence[Passage], given: Sequence[Path]) -> Added:
    added = base.add(passages)
    typer.echo(f"{counted(added['added'], 'passage')} added, {added['unchanged']:,} there already{_dropped(added)}.")
    if outdated := base.outdated(passages):
        left = counted(len(outdated), "passage")
        typer.echo(f"warning: {left} of earlier versions still there: --update removes such.", err=True)
    if gone := _gone(base, passages, given):
        typer.echo(f"warning: {_files_gone(gone)}: --update removes what came from there.", err=True)
    return added


def _update(base: KnowledgeBase, passages: Sequence[Passage], given: Sequence[Path]) -> Added:
    updated = base.update(passages)
    typer.echo(
        f"{counted(updated['added'], 'passage')} added, {updated['unchanged']:,} there already, "
        f"{updated['removed']:,} of earlier versions removed{_dropped(updated)}."
    )
    if gone := _gone(base, passages, given):
        typer.echo(f"{_files_gone(gone)}: {counted(base.delete(sources=gone), 'passage')} removed.")
    return updated


def _dropped(added: Added) -> str:
    number = added["dropped"]
    return f"; {counted(number, 'fact')} dropped that no sentence bears out" if number else ""


def _files_gone(gone: Sequence[str]) -> str:
    return f"{counted(len(gone), 'file')} gone ({without_controls(first_few(gone, _KINDS))})"


def _gone(base: KnowledgeBase, passages: Iterable[Passage], given: Iterable[Path]) -> list[str]:
    """Return the sources gone from the given folders, except those that passages name: these may be no files."""
    named = _sources(passages)
    return [source for source in vanished(base.sources(), given) if source not in named]


def _sources(passages: Iterable[Passage]) -> set[str]:
    return {passage.get("source", "") for passage in passages}


def _without_taken(base: KnowledgeBase, read: Read, given: Sequence[Path], *, skip_bad: bool) -> list[Passage]:
    """Return the passages without those that would replace a text of another source: refuse these, or warn of each."""
    taken = _taken(base, read, given)
    if taken and not skip_bad:
        raise DuplicateIdError(f"{first_problems([*taken.values()])}\nNothing was changed; --skip-bad leaves out such.")
    _tell_bad(taken.values())
    return [document for document in read.documents if document["id"] not in taken]


def _taken(base: KnowledgeBase, read: Read, given: Sequence[Path]) -> dict[str, str]:
    """Return the ids that have other texts in sources that are neither given nor gone, with a message for each."""
    contested = set(base.contested(read.documents))
    if not contested:
        return {}
    known = base.sources()
    still_there = {"", *known}.difference(otherwise_named(known, given), vanished(known, given))
    return {
        id_: (
            f"{read.places[id_]}: id {id_!r} is already stored with another text or title, from "
            f"{source or 'no source'}, which would be lost: give it another id, or index both sources at "
            f"once if it moved, or delete that one first (`langgraph-rag delete --kb {base.path} --id {id_}`)"
        )
        for source in sorted(still_there - _sources(read.documents))
        for id_ in sorted(contested.intersection(base.ids(source)))
    }


def _tell_known_otherwise(base: KnowledgeBase, given: Sequence[Path]) -> None:
    if twice := otherwise_named(base.sources(), given):
        first = without_controls(twice[0])
        typer.echo(
            f"warning: {counted(len(twice), 'file')} known by another path, too (such as {first}), and what came "
            "by that path stays: index files by one path, and delete what came by the other (--source).",
            err=True,
        )


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
