"""The command line, `langgraph-rag`; each command has a function in one of these modules."""

import errno
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Annotated

import typer

from langgraph_rag.characters import without_controls
from langgraph_rag.cli.asking import ask, demo
from langgraph_rag.cli.describing import draw_graph, info, show_methods
from langgraph_rag.cli.evaluating import compare_runs, evaluate_methods
from langgraph_rag.cli.exchanging import copy_to, export_to, import_into
from langgraph_rag.cli.indexing import delete, index
from langgraph_rag.cli.options import begin
from langgraph_rag.cli.page import chat
from langgraph_rag.cli.training import train, train_kirags_aligner
from langgraph_rag.errors import RagError
from langgraph_rag.evaluation.origin import this_version

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False)
_INTERRUPTED = 130  # typer's exit code after Ctrl-C


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(this_version())
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[  # handled while options are parsed
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Multi-hop question answering over your own documents."""
    begin()


app.command()(index)
app.command()(delete)
app.command()(ask)
app.command()(chat)
app.command()(info)
app.command("graph")(draw_graph)
app.command("export")(export_to)
app.command("import")(import_into)
app.command("copy")(copy_to)
app.command("methods")(show_methods)
app.command("eval")(evaluate_methods)
app.command("compare")(compare_runs)
app.command("train-aligner")(train_kirags_aligner)
app.add_typer(train, name="train")
app.command()(demo)


def main() -> None:
    """Run the command line; errors of this package end it with a message and exit code 2."""
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(errors="replace")  # characters that the encoding lacks
    color = False if os.environ.get("NO_COLOR") else None  # https://no-color.org; typer obeys it only in help texts
    try:
        app(color=color)
    except RagError as error:
        typer.secho(f"error: {without_controls(str(error))}", fg="red", err=True, color=color)
        sys.exit(2)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        typer.secho(f"error: no room for what this writes: {error.strerror}", fg="red", err=True, color=color)
        os._exit(2)  # sys.exit would flush again, and Python would report the error in its own way
    except SystemExit as ended:
        if ended.code == _INTERRUPTED:
            typer.echo(f"stopped{_going_on(sys.argv[1:])}", err=True)
        raise


def _going_on(command: Sequence[str]) -> str:
    goes_on = (["index"], ["eval"], ["train", "trajectories"], ["train", "fit"])
    kept = any(command[: len(one)] == one for one in goes_on) or any(
        word.startswith("--checkpoints") for word in command
    )
    return "; run again, it goes on from here" if kept else ""
