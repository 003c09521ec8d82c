"""`langgraph-rag train-aligner` and `train ...`: from questions with answers to models that take steps."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from langgraph_rag.cli.evaluating import ask_all, configurations_of, tell_unknown_passages
from langgraph_rag.cli.options import (
    DEFAULTS,
    Cache,
    EmbeddingsName,
    KbFolder,
    MethodOrAblation,
    ModelName,
    embedder,
    named_path,
    path_option,
    tell_loading,
    with_context,
)
from langgraph_rag.context import Context
from langgraph_rag.errors import RagError
from langgraph_rag.evaluation.judging import Judgement, judgements_of
from langgraph_rag.evaluation.origin import model_by_name
from langgraph_rag.evaluation.outcomes import Outcome
from langgraph_rag.evaluation.places import located
from langgraph_rag.evaluation.questions import Question, load_questions
from langgraph_rag.evaluation.run_folder import is_new
from langgraph_rag.evaluation.runner import check_folder
from langgraph_rag.methods import create
from langgraph_rag.models.loading import load_model
from langgraph_rag.naming import counted, expect_name
from langgraph_rag.tools.ingest.embeddings import CPU, MINILM
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.training.aligner import Trained, train_aligner
from langgraph_rag.training.examples import in_words, prepare
from langgraph_rag.training.recipe import RECIPES, read_recipe, recipe_text
from langgraph_rag.training.rows import (
    FILTERS,
    PROMPTS,
    RowSet,
    SetReport,
    Source,
    gold_of,
    is_right,
    judged_right,
    report_of,
    write_sets,
)
from langgraph_rag.training.sets import SETS, rows_of_set
from langgraph_rag.training.trajectories import read_trajectories, record_trajectories


def train_kirags_aligner(
    kb: KbFolder,
    questions: Annotated[
        Path, path_option(help="Questions with answers and supporting_ids or gold, as `eval` reads them.")
    ],
    model: ModelName = "offline",
    cache: Cache = None,
    embeddings: EmbeddingsName = None,
    out: Annotated[
        Path | None,
        path_option(help="Folder for the aligner; by default in the knowledge base, where KiRAG finds it."),
    ] = None,
    base: Annotated[str, typer.Option(help="Embedder to start from: name or folder.")] = MINILM,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over all steps of the chains.")] = 10,
    device: Annotated[str, typer.Option(help="Where to train, such as cuda.")] = CPU,
    concurrency: Annotated[int, typer.Option(min=1, help="Questions asked at once.")] = 1,
) -> None:
    """Train KiRAG's aligner on chains of triples that the model builds from questions to their answers.

    Do not use the questions on which the method will be evaluated.
    """
    read = load_questions(questions)
    with KnowledgeBase.open(kb, embedder(embeddings), read_only=True) as opened:
        asked = [_with_ids(question) for question in located(read, opened)]
        llm = load_model(model, cache=cache)
        trained = train_aligner(
            llm, opened, asked, out, base=base, epochs=epochs, device=device, concurrency=concurrency
        )
    _show(trained, opened.aligner)


def _with_ids(question: Question) -> Question:
    """Return a question with the first passage at each of its places as its supporting passages."""
    first = [ids[0] for ids in question.get("places", []) if ids]
    return {**question, "supporting_ids": first} if first else question


def _show(trained: Trained, found: Path) -> None:
    """Print the results; `found` is the folder where KiRAG looks for an aligner."""
    typer.echo(
        f"{counted(trained.chains, 'chain')} of {counted(trained.questions, 'question')} came to the answer, "
        f"with {counted(trained.lessons, 'step')} to learn from. Of those held back,"
    )
    before, after = trained.before, trained.after
    typer.echo("the right triple is              before   after")
    for what, was, now in [
        ("first among the candidates", before.first, after.first),
        ("among the first 20", before.shown, after.shown),
    ]:
        typer.echo(f"  {what:<30}{was:>6.0%}  {now:>6.0%}")
    typer.echo(f"  {'mean reciprocal rank':<30}{before.reciprocal:>6.3f}  {after.reciprocal:>6.3f}")
    by_itself = trained.folder.resolve() == found.resolve()
    use = "kirag uses it from now on" if by_itself else f'give it to create_kirag as aligner="{trained.folder}"'
    typer.echo(f"The aligner is in {trained.folder}: {use}.")


train = typer.Typer(no_args_is_help=True, help="Train small models to take steps of a method.")
Questions = Annotated[
    Path, path_option("--questions", help="Questions with answers and supporting_ids or gold, as `eval` reads them.")
]


@train.command("trajectories")
@with_context
def record(
    kb: KbFolder,
    questions: Questions,
    out: Annotated[Path, path_option(help="Folder for the trajectories; run again to go on with a stopped run.")],
    method: MethodOrAblation = "cirag",
    model: ModelName = "offline",
    embeddings: EmbeddingsName = None,
    context: Context = DEFAULTS,
    cache: Cache = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Number of questions to ask, from the first on.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Questions asked at once.")] = 1,
) -> None:
    """Let a teacher answer questions by a method, and record each call of the model with the result and its scores.

    Do not use the questions on which the method will be evaluated.
    """
    read = load_questions(questions, limit)
    with KnowledgeBase.open(kb, embedder(embeddings), read_only=True) as base:
        llm = load_model(model, cache=cache)
        asked = located(read, base)
        tell_unknown_passages(base, asked)
        configuration = configurations_of([method], model, kb, base)[method]
        check_folder(out, asked, context, configuration)
        graph = create(method, llm, base).compile()
        tell_loading()
        runs = ask_all(record_trajectories, graph, asked, out, context, configuration, concurrency)
    failed = [run for run in runs if run["error"] is not None]
    calls, right = sum(len(run.get("calls", [])) for run in runs), sum(run["em"] == 1 for run in runs)
    typer.echo(
        f"{counted(len(runs), 'run')} with {counted(calls, 'call')}: {right:,} with the right answer, "
        f"{len(failed):,} failed. They are in {out / 'outcomes.jsonl'}."
    )
    if len(failed) == len(runs):
        raise RagError(f"{method} answered no question; the first one failed with {failed[0]['error']}")


@train.command("rows")
def rows(
    kb: KbFolder,
    questions: Questions,
    trajectories: Annotated[list[Path], path_option(help="Folder of trajectories; may be given several times.")],
    out: Annotated[Path, path_option(help="Folder for the sets of rows.")],
    set_names: Annotated[
        list[str],
        typer.Option(
            "--set",
            help=f"One of: {', '.join(SETS)}; or the name of a prompt, whose replies are learned as the teacher wrote "
            "them; may be given several times.",
        ),
    ],
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", help=f"One of: {', '.join(FILTERS)}; none for all runs. May be given several times."),
    ] = None,
    embeddings: EmbeddingsName = None,
) -> None:
    """Make sets of rows to learn from trajectories: filtered, labelled, and with each rejected turn and its reason."""
    chosen = [name for name in filters if name != "none"] if filters else ["right"]
    for name in chosen:
        expect_name("filter", name, [*FILTERS, "none"])
    for name in set_names:
        expect_name("set", name, [*SETS, *PROMPTS])
    if not is_new(out):  # rows.json tells of the sets of one call only, and goes into the cards of models
        raise RagError(f"expected a new folder for the sets, got {out}")
    read = load_questions(questions)
    runs, judgements, sources = list[Outcome](), list[Judgement](), list[Source]()
    for folder in trajectories:
        of_folder = read_trajectories(folder)
        runs += of_folder
        judgements += judgements_of(of_folder, folder)
        sources.append(_source(folder, of_folder, judgements))
    _check_asked(runs, read, questions)
    with KnowledgeBase.open(kb, embedder(embeddings), read_only=True) as base:
        asked = located(read, base)
        tell_unknown_passages(base, asked)
        gold = gold_of(asked, base)
        made = {
            name: asyncio.run(rows_of_set(name, runs, gold, base, chosen, judgements))  # type: ignore[arg-type]
            for name in set_names
        }
    sets = {name: RowSet(found, rejected, report_of(found, rejected)) for name, (found, rejected) in made.items()}
    for name, one in sets.items():
        if not one.rows and not one.rejected:
            methods = ", ".join(dict.fromkeys(source["method"] for source in sources))
            raise RagError(f"expected trajectories with turns of the set {name!r}, got none in those of {methods}")
    write_sets(out, sets, sources, chosen)
    for name, one in sets.items():
        _tell_set(name, one.report, out)


def _check_asked(runs: Sequence[Outcome], read: Sequence[Question], file: Path) -> None:
    """Check that the questions are those that were asked: the gold passages of others would label the turns."""
    texts = {question["id"]: question["question"] for question in read}
    for run in runs:
        if (text := texts.get(run["id"])) != run["question"]:
            raise RagError(
                f"expected the questions of the trajectories in {file}, such as {run['question']!r} ({run['id']!r}), "
                f"got {'no such id' if text is None else repr(text)}"
            )


def _source(folder: Path, runs: Sequence[Outcome], judgements: Sequence[Judgement]) -> Source:
    settings: Mapping[str, Any] = json.loads((folder / "run.json").read_bytes())
    judged = judged_right(judgements)
    return Source(
        method=settings["method"],
        model=model_by_name(settings["model"]),
        knowledge_base=Path(settings["knowledge_base"]).name,
        passages=settings.get("knowledge_base_fingerprint", ""),
        questions=len(runs),
        right=sum(is_right(run, judged) for run in runs),
    )


def _tell_set(name: str, report: SetReport, out: Path) -> None:
    typer.echo(f"{name}: {counted(report['rows'], 'row')} in {out / name}.jsonl")
    for label, number in report["labels"].items():
        typer.echo(f"  {number:>7,}  {label}")
    for reason, number in report["rejects"].items():
        typer.echo(f"  {number:>7,}  rejected: {reason}")


@train.command("recipe")
def show_recipe(
    name: Annotated[str, typer.Argument(help=f"One of: {', '.join(RECIPES)}; or a YAML file.")] = "cirag",
) -> None:
    """Print all settings of a training run as a YAML file, with what each means: to be changed, and given to `fit`."""
    typer.echo(recipe_text(read_recipe(name)), nl=False)


@train.command("fit")
def fit(
    files: Annotated[
        list[Path], path_option("--rows", help="File of rows, or of pairs; several if one model learns several sets.")
    ],
    base: Annotated[str, typer.Option(help="Model to train: its folder, or its name at Hugging Face.")],
    out: Annotated[Path, path_option(help="Folder for the model; run again to go on with a stopped run.")],
    recipe: Annotated[str, typer.Option(help=f"Settings: {', '.join(RECIPES)}, or a YAML file.")] = "cirag",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell rows, tokens, memory and time, measured with some rows.")
    ] = False,
) -> None:
    """Train a model on rows: an adapter or all weights, by TRL and PEFT."""
    settings = read_recipe(recipe)
    tell_loading()
    from langgraph_rag.training.fine_tuning import check_free, fine_tune, rehearse

    if not dry_run:
        check_free(out)  # before rows are rendered, which can take minutes
    examples = prepare(files, base, settings, progress=True)
    data = examples.data
    typer.echo(
        f"{in_words(data)}; {data['tokens']:,} tokens, {data['learned']:,} with loss, longest {data['longest']:,}"
    )
    if dry_run:
        would = rehearse(examples)
        took = timedelta(seconds=round(would.seconds))
        typer.echo(f"{counted(would.steps, 'step')} in about {took} and at most {would.memory} GiB on this machine")
        return
    figures = fine_tune(examples, out)["figures"]
    assert figures is not None
    for name, value in figures["before"].items():
        typer.echo(f"{name} on rows held back: {value:.3f} before, {figures['after'][name]:.3f} after")
    typer.echo(f'The model is in {out}: load_model("transformers:{out}"). Its card is README.md there.')


@train.command("merge")
def merge_adapter(
    adapter: Annotated[Path, typer.Argument(help="Folder of the adapter.", parser=named_path, metavar="<path>")],
    out: Annotated[Path, path_option(help="New folder for the whole model.")],
) -> None:
    """Merge an adapter into its base, as a model of its own."""
    from langgraph_rag.training.fine_tuning import merge

    merge(adapter, out)
    typer.echo(f'The model is in {out}: load_model("transformers:{out}").')
