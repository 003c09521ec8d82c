"""The setup of each process of the command line."""

import logging

import typer

from langgraph_rag.methods import register_installed


class _Shown(logging.Handler):
    """Shows log messages of this package in the format of the commands' warnings."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(f"{record.levelname.lower()}: {self.format(record)}", err=True)


_shown = _Shown(logging.WARNING)


def begin() -> None:
    """Show the log messages of this package, and register the methods of installed packages."""
    logging.getLogger("langgraph_rag").addHandler(_shown)
    register_installed()
