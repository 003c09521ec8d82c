"""`langgraph-rag train-aligner`: trains an aligner for KiRAG on questions about a knowledge base."""

from pathlib import Path
from typing import Annotated

import typer

from langgraph_rag.cli.options import Cache, EmbeddingsName, KbFolder, ModelName, embedder, path_option
from langgraph_rag.evaluation.places import located
from langgraph_rag.evaluation.questions import Question, load_questions
from langgraph_rag.models.loading import load_model
from langgraph_rag.naming import counted
from langgraph_rag.tools.ingest.embedder import CPU, MINILM
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.training.aligner import Trained, train_aligner


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
