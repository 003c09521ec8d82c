"""Runs short work in the package's own threads.

Long calls such as `add` may occupy all threads of the event loop (`asyncio.to_thread`), and would block all questions.
"""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

_MOST = min(32, (os.cpu_count() or 1) + 4)  # the same number as an event loop has
_threads: ThreadPoolExecutor


def _begin() -> None:
    global _threads
    _threads = ThreadPoolExecutor(_MOST, thread_name_prefix="langgraph-rag")


_begin()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_begin)  # threads do not survive a fork


async def in_thread(work: Callable[..., T], *values: Any) -> T:
    """Run work of milliseconds without blocking the event loop; longer work would block others."""
    run = partial(copy_context().run, work, *values)
    return await asyncio.get_running_loop().run_in_executor(_threads, run)
