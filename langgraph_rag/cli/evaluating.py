"""`langgraph-rag eval` and `compare`: evaluate methods on questions with gold answers, and compare runs."""

import asyncio
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from datetime import date
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer
from tqdm.auto import tqdm

from langgraph_rag.cli.options import (
    DEFAULTS,
    ENGINES,
    Address,
    Cache,
    EmbeddingsName,
    EngineName,
    KbFolder,
    ModelName,
    Parts,
    begin,
    embedder,
    load_parts,
    named_path,
    on_ray,
    part_names,
    path_option,
    tell_loading,
    with_context,
)
from langgraph_rag.context import Context
from langgraph_rag.distributed import cluster, graphs_on_ray
from langgraph_rag.errors import MissingExtraError, RagError
from langgraph_rag.evaluation.comparison import compare
from langgraph_rag.evaluation.judging import JUDGEMENTS, Judgement, judge, judgements_of, read_judgements, told_by_judge
from langgraph_rag.evaluation.origin import Origin, model_by_name, this_version
from langgraph_rag.evaluation.outcomes import OUTCOMES, Configuration, Outcome, begun_with, read_outcomes
from langgraph_rag.evaluation.pictures import draw_comparison
from langgraph_rag.evaluation.places import located
from langgraph_rag.evaluation.processes import OpenGraphs, RemoteGraph, worker_processes
from langgraph_rag.evaluation.questions import Question, load_questions
from langgraph_rag.evaluation.report import REPORTS, differences, overview, write_report
from langgraph_rag.evaluation.run_folder import OutcomesError, alone, writing
from langgraph_rag.evaluation.runner import Graph, check_folder, evaluate
from langgraph_rag.evaluation.summary import Summary, by_type, summarise
from langgraph_rag.methods import create, parse_methods
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.models.loading import load_model
from langgraph_rag.naming import first_few
from langgraph_rag.progress import hidden
from langgraph_rag.tools.documents.rows import SETS
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores.opening import RECORDS


def check_free(out: Path) -> None:
    """Refuse a folder that holds a knowledge base, or a report without outcomes."""
    if (out / RECORDS).exists():
        raise OutcomesError(f"expected a folder for outcomes, got {out}, which holds a knowledge base")
    folders = [out, *(out / name for name in parse_methods("ablations"))]
    reports = [name for name in REPORTS if (out / name).exists()]
    if reports and not any((folder / OUTCOMES).exists() for folder in folders):
        raise OutcomesError(f"expected a folder for outcomes, got {out} with another {reports[0]}, and no outcomes")


def check_kind(out: Path, names: list[str]) -> None:
    """Refuse a comparison's folder for the outcomes of one method, and vice versa."""
    compared = _compared_in(out)
    if len(names) == 1 and compared:
        raise OutcomesError(
            f"expected a folder for {names[0]} alone, got {out} with a comparison of {', '.join(compared)}; give "
            f"{out / names[0]} or another folder, or several methods to compare"
        )
    if len(names) > 1 and (out / OUTCOMES).exists():
        raise OutcomesError(
            f"expected a folder for a comparison, got {out} with the outcomes of one method; give another folder, or "
            "delete this one to start again"
        )


def _compared_in(out: Path) -> list[str]:
    return [name for name in parse_methods("ablations") if (out / name / OUTCOMES).exists()]


def tell_other_methods(out: Path, names: list[str]) -> None:
    """Warn that the folder holds outcomes of other methods, from an earlier comparison."""
    if others := [name for name in _compared_in(out) if name not in names]:
        typer.echo(
            f"warning: {out} also holds outcomes of {', '.join(others)}, which this report leaves out: name them as "
            "well, and nothing is asked twice.",
            err=True,
        )


def tell_other_judgements(folders: dict[str, Path]) -> None:
    """Warn that an earlier run had a judge."""
    if judged := [name for name, folder in folders.items() if (folder / JUDGEMENTS).exists()]:
        typer.echo(
            f"warning: this report leaves out what a judge said of {', '.join(judged)}: give --judge as before, and "
            "nothing is judged twice.",
            err=True,
        )


_NAMED = 5  # ids or places at most
_SHOWN = 100  # characters of a place


@with_context
def evaluate_methods(
    kb: KbFolder,
    questions: Annotated[
        Path,
        path_option(help="JSON lines with id, question, answers, supporting_ids or gold; or a published set as it is."),
    ],
    out: Annotated[Path, path_option(help="Folder for the outcomes and the report.")],
    method_names: Annotated[
        str,
        typer.Option("--method", help="Methods, separated by commas; or all; or ablations: all methods with theirs."),
    ] = "adaptive",
    model: ModelName = "offline",
    parts: Parts = None,
    embeddings: EmbeddingsName = None,
    context: Context = DEFAULTS,
    cache: Cache = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Number of questions to ask, from the first on.")] = None,
    format: Annotated[
        str, typer.Option(help=f"Set that the questions are of, by default told by their form: {', '.join(SETS)}.")
    ] = "",
    concurrency: Annotated[int, typer.Option(min=1, help="Questions asked at once in each process.")] = 1,
    processes: Annotated[
        int,
        typer.Option(
            min=1,
            help="Processes that ask, of Ray on all machines; each loads the embedder, and a model of its own.",
        ),
    ] = 1,
    judge_name: Annotated[
        str | None, typer.Option("--judge", help="Model that judges the answers (Acc†); none by default.")
    ] = None,
    engine: EngineName = ENGINES[0],
    address: Address = None,
) -> None:
    """Ask many questions, and score the answers and the passages; run again to continue a stopped run."""
    on_ray(engine)  # refuses another name before anything is read
    read, names = load_questions(questions, limit, format=format), parse_methods(method_names)
    named = part_names(parts, names)
    with writing(out):
        check_free(out)
        check_kind(out, names)
    folders = {name: out if len(names) == 1 else out / name for name in names}
    outcomes: dict[str, list[Outcome]] = {}
    judgements: dict[str, list[Judgement]] = {}
    with KnowledgeBase.open(kb, embedder(embeddings), read_only=True) as base:
        llm = load_model(model, cache=cache)
        judging = (load_model(judge_name, cache=cache), judge_name) if judge_name is not None else None
        asked = located(read, base)
        tell_unknown_passages(base, asked)
        models, configurations = load_parts(named, cache), configurations_of(names, model, kb, base, named)
        with alone(out) if len(names) > 1 else nullcontext():  # `evaluate` locks the folder of a single method
            for name, folder in folders.items():  # refuse all unusable folders before the first question
                check_folder(folder, asked, context, configurations[name])
            for folder in folders.values() if judging else ():
                read_judgements(folder)
            opened = partial(_opened, kb.absolute(), embeddings, model, named, cache, context)
            with _graphs(llm, models, base, context, processes, opened, engine, address) as graph:
                for name, folder in folders.items():
                    outcomes[name] = ask_all(
                        evaluate, graph(name), asked, folder, context, configurations[name], concurrency * processes
                    )
                    _check_unchanged(base, configurations[name], folder)
                    judgements[name] = _judge(*judging, outcomes[name], folder, concurrency) if judging else []
            configuration, at_once = configurations[names[0]], concurrency * processes
            origin = _origin(configuration, questions, context, at_once, judge_name, folders)
            _report(outcomes, judgements, out, questions.stem, origin)
    tell_other_methods(out, names)
    if not judging:
        tell_other_judgements(folders)
    if failed := [text for name in names for text in _failures(name, outcomes[name], judgements[name])]:
        raise RagError("; ".join(failed))


def configurations_of(
    names: list[str], model: str, kb: Path, base: KnowledgeBase, parts: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Configuration]:
    """Return the names that are stored with the outcomes of each method."""
    common = Configuration(
        method="", model=model, knowledge_base=str(kb), knowledge_base_fingerprint=base.fingerprint()
    )
    if parts:
        common["options"] = {"parts": dict(parts)}
    return {name: {**common, "method": name} for name in names}


def _origin(
    configuration: Configuration,
    questions: Path,
    context: Context,
    at_once: int,
    judge_name: str | None,
    folders: dict[str, Path],
) -> Origin:
    """Return the origin of the report; files and folders by name without their paths, because reports are shared."""
    versions = {begun_with(folder)["version"] for folder in folders.values()} | {this_version()}
    return Origin(
        model=model_by_name(configuration["model"]),
        knowledge_base=Path(configuration["knowledge_base"]).resolve().name,
        passages=configuration.get("knowledge_base_fingerprint", ""),
        questions=questions.name,
        settings=asdict(context),
        judge=model_by_name(judge_name) if judge_name is not None else None,
        at_once=at_once,
        versions=sorted(versions),
        date=date.today().isoformat(),
    )


@contextmanager
def _graphs(
    llm: ChatModel,
    parts: Mapping[str, ChatModel],
    base: KnowledgeBase,
    context: Context,
    processes: int,
    open_graphs: OpenGraphs,
    engine: str,
    address: str | None,
) -> Iterator[Callable[[str], Graph]]:
    """Prepare the graphs, in this process, in several others, or in those of a Ray cluster."""
    tell_loading()
    if on_ray(engine):
        with cluster(address), graphs_on_ray(processes, open_graphs) as ask:
            yield lambda name: RemoteGraph(name, create(name, llm, base, **parts), ask)
        return
    if processes == 1:
        base.warm_up(context.search, filter=context.filter)
        yield lambda name: create(name, llm, base, **parts).compile()
        return
    with worker_processes(processes, open_graphs) as ask:
        yield lambda name: RemoteGraph(name, create(name, llm, base, **parts), ask)


@contextmanager
def _opened(
    kb: Path, embeddings: str | None, model: str, parts: Mapping[str, str], cache: Path | None, context: Context
) -> Iterator[Callable[[str], Graph]]:
    """Open the graphs in a worker process."""
    begin()
    with KnowledgeBase.open(kb, embedder(embeddings), read_only=True) as base:
        llm, models = load_model(model, cache=cache), load_parts(parts, cache)
        base.warm_up(context.search, filter=context.filter)
        yield lambda name: create(name, llm, base, **models).compile()


def _check_unchanged(base: KnowledgeBase, configuration: Configuration, folder: Path) -> None:
    if base.fingerprint() != configuration["knowledge_base_fingerprint"]:
        raise OutcomesError(
            f"{configuration['knowledge_base']} changed while {configuration['method']} was asked: the outcomes in "
            f"{folder} are of more than one state of it; delete that folder and ask again"
        )


def _report(
    outcomes: dict[str, list[Outcome]], judgements: dict[str, list[Judgement]], out: Path, data: str, origin: Origin
) -> None:
    """Write the report of methods, and print its main figures; `data` names the questions in the plots."""
    rows = {name: summarise(of_method, judgements[name]) for name, of_method in outcomes.items()}
    types = {name: by_type(of_method, judgements[name]) for name, of_method in outcomes.items()}
    write_report(rows, out, comparisons=compare(outcomes, _methods_of_ablations(outcomes)), types=types, origin=origin)
    typer.echo(overview(rows))
    if len(rows) > 1:
        _draw(rows, out, data)
    typer.echo(f"All figures with their intervals are in {out / 'report.md'}, each outcome beside it.")


def _methods_of_ablations(names: Collection[str]) -> dict[str, str]:
    """Return the method of each ablation whose method was asked, too."""
    return {name: method for name in names if (method := name.partition("/")[0]) != name and method in names}


def _failures(name: str, outcomes: list[Outcome], judgements: list[Judgement]) -> Iterator[str]:
    """Yield a message if all questions of a method failed, and one if the judge failed at all answers it was asked."""
    if all(outcome["error"] for outcome in outcomes):
        yield f"{name} answered no question; the first one failed with {outcomes[0]['error']}"
    judged = told_by_judge(judgements)
    if judged and all(judgement["correct"] is None for judgement in judged):
        first = judged[0]
        yield f"the judge {first['judge']} judged no answer of {name}; the first one failed with {first['error']}"


def _draw(rows: dict[str, Summary], out: Path, data: str) -> None:
    try:
        draw_comparison(rows, out, data)
    except MissingExtraError as error:  # the report is written, and another run can draw the plots
        typer.echo(f"warning: {error}", err=True)


def tell_unknown_passages(base: KnowledgeBase, asked: list[Question]) -> None:
    """Warn of supporting passages that the knowledge base does not have."""
    placed = [question for question in asked if "places" in question]
    wanted = list(
        dict.fromkeys(id_ for question in asked if question not in placed for id_ in question.get("supporting_ids", []))
    )
    known = {record["id"] for record in base.passages(wanted)}
    unknown = [repr(id_) for id_ in wanted if id_ not in known]
    if unknown:
        typer.echo(
            f"warning: {len(unknown)} of {len(wanted)} supporting ids ({first_few(unknown, _NAMED)}) are of no passage "
            f"in {base.path} and can never be found; `info --ids` lists the ids of passages.",
            err=True,
        )
    places = [
        (gold, ids) for question in placed for gold, ids in zip(question["gold"], question["places"], strict=True)
    ]
    lost = [" ".join(map(repr, gold.values())) for gold, ids in places if not ids]
    if lost:
        typer.echo(
            f"warning: {len(lost)} of {len(places)} gold places are in no passage in {base.path} and can never be "
            f"found: {first_few([one[:_SHOWN] for one in lost], _NAMED)}",
            err=True,
        )


def ask_all(
    ask: Any,
    graph: Graph,
    asked: list[Question],
    out: Path,
    context: Context,
    configuration: Configuration,
    concurrency: int,
) -> list[Outcome]:
    """Ask questions by `evaluate`, or what has its arguments, and show the progress."""
    with tqdm(total=len(asked), desc=configuration["method"], unit="question", disable=hidden()) as bar:
        outcomes: list[Outcome] = asyncio.run(
            ask(
                graph,
                asked,
                out,
                context=context,
                configuration=configuration,
                concurrency=concurrency,
                on_result=partial(advance, bar, "failed"),
            )
        )
        bar.update(len(asked) - bar.n)  # questions that an earlier run answered
    return outcomes


def _judge(llm: ChatModel, name: str, outcomes: list[Outcome], out: Path, concurrency: int) -> list[Judgement]:
    with tqdm(desc=f"judged by {name}", unit="answer", disable=hidden()) as bar:
        told = partial(advance, bar, "judge failed")
        return asyncio.run(judge(llm, outcomes, out, name=name, concurrency=concurrency, on_result=told))


def advance(bar: Any, failed: str, entry: Outcome | Judgement) -> None:
    """Move a progress bar on, and show the error of an entry if it has one."""
    bar.update()
    if entry["error"]:
        tqdm.write(f"{failed}: {entry['id']}: {entry['error']}", file=sys.stderr)


def compare_runs(
    first: Annotated[
        Path, typer.Argument(parser=named_path, help="Folder of the run that the others are compared with.")
    ],
    others: Annotated[list[Path], typer.Argument(parser=named_path, help="Folders of the other runs.")],
    judge: Annotated[
        str | None, typer.Option(help="Judge whose judgements count, if there are those of several.")
    ] = None,
) -> None:
    """Compare runs of `eval`, for example with different settings, on the questions that both answered."""
    if first in others:
        raise typer.BadParameter(f"a run cannot be compared with itself: {first}")
    kept = {str(folder): read_outcomes(folder) for folder in (first, *others)}
    typer.echo(overview({name: summarise(of_run, judgements_of(of_run, name, judge)) for name, of_run in kept.items()}))
    typer.echo(f"\n{differences(compare(kept))}")
