"""Processes that tests start and kill, forked from one that has imported what takes seconds to import."""

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import Any

_context = get_context("forkserver")
_context.set_forkserver_preload(["chromadb", "langgraph_rag.methods", "pytest", "spacy.lang.en"])


def start(work: Callable[..., object], *arguments: Any) -> BaseProcess:
    """Run a function of a module in a process of its own."""
    process = _context.Process(target=work, args=arguments, daemon=True)
    process.start()
    return process
