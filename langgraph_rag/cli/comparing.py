"""`langgraph-rag compare`: compares runs in several folders, question by question."""

from pathlib import Path
from typing import Annotated

import typer

from langgraph_rag.cli.options import named_path
from langgraph_rag.evaluation.comparison import compare
from langgraph_rag.evaluation.judging import judgements_of
from langgraph_rag.evaluation.outcomes import read_outcomes
from langgraph_rag.evaluation.report import differences, overview
from langgraph_rag.evaluation.summary import summarise


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
