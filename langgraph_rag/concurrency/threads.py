"""Short work off the event loop, in threads of the package's own.

Those of the loop (`asyncio.to_thread`) may all be taken by long calls, such as `add`: no question would go on then.
"""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

_MOST = min(32, (os.cpu_count() or 1) + 4)  # as many as a loop has
_threads: ThreadPoolExecutor


def _begin() -> None:
    global _threads
    _threads = ThreadPoolExecutor(_MOST, thread_name_prefix="langgraph-rag")


_begin()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_begin)  # threads do not survive a fork


async def in_thread(work: Callable[..., T], *values: Any) -> T:
    """Do work of milliseconds without blocking the event loop; long work would keep others waiting."""
    run = partial(copy_context().run, work, *values)
    return await asyncio.get_running_loop().run_in_executor(_threads, run)
