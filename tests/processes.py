"""Processes that tests start and kill, forked from one in which slow imports are done already."""

import os
import signal
import sys
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TextIO

from langgraph_rag.cli import main

_context = get_context("forkserver")
_context.set_forkserver_preload(
    "chromadb langchain_openai langgraph_rag.cli langgraph_rag.methods nicegui pytest spacy.lang.en torch".split()
)


def start(work: Callable[..., object], *arguments: Any) -> BaseProcess:
    """Run a function of a module in a process of its own."""
    process = _context.Process(target=work, args=arguments, daemon=True)
    process.start()
    return process


def start_command(
    *arguments: str, prepare: Callable[[], object] | None = None, **environment: str
) -> tuple[BaseProcess, TextIO]:
    """Run `langgraph-rag` with these arguments in a process of its own, in which `prepare` is called before.

    Returns:
        The process and what it will print.
    """
    receiving, sending = _context.Pipe(duplex=False)
    with receiving, sending:
        process = start(_command, arguments, prepare, environment, sending)
        return process, os.fdopen(os.dup(receiving.fileno()))


def _command(
    arguments: tuple[str, ...],
    prepare: Callable[[], object] | None,
    environment: dict[str, str],
    printed: Connection,
) -> None:
    for stream in (sys.stdout, sys.stderr):
        os.dup2(printed.fileno(), stream.fileno())
    printed.close()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background
    os.environ.update(environment)
    sys.argv = ["langgraph-rag", *arguments]
    if prepare:
        prepare()
    main()
