"""The folder of `langgraph-rag eval`: what it must not hold before a run, and what its report leaves out."""

from pathlib import Path

import typer

from langgraph_rag.evaluation.judging import JUDGEMENTS
from langgraph_rag.evaluation.outcomes import OUTCOMES
from langgraph_rag.evaluation.report import REPORTS
from langgraph_rag.evaluation.run_folder import OutcomesError
from langgraph_rag.methods import parse_methods
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
