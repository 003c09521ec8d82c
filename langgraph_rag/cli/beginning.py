"""What every process of the command line begins with."""

import logging

import typer

from langgraph_rag.methods import register_installed


class _Shown(logging.Handler):
    """Shows what the package logs as commands show their own warnings."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(f"{record.levelname.lower()}: {self.format(record)}", err=True)


_shown = _Shown(logging.WARNING)


def begin() -> None:
    """Show what the package logs, and know the methods of installed packages."""
    logging.getLogger("langgraph_rag").addHandler(_shown)
    register_installed()
