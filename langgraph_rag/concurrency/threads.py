"""Runs blocking work for coroutines: short work in the package's own threads, long work in a new one.

Long calls such as `add` may occupy all threads of the event loop (`asyncio.to_thread`), and would block all questions.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
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


async def in_new_thread(function: Callable[[], T]) -> T:
    """Run a function that may block for long, or forever, in a daemon thread, in the caller's context.

    An event loop has few threads and waits for them at its end, and Python waits for all threads that are not daemons.
    """
    context, result = copy_context(), Future[T]()

    def work() -> None:
        try:
            result.set_result(context.run(function))
        except StopIteration as error:  # a future cannot raise it
            result.set_exception(RuntimeError(f"StopIteration was raised: {error}").with_traceback(error.__traceback__))
        except BaseException as error:  # noqa: BLE001 - raised again by await
            result.set_exception(error)

    result.set_running_or_notify_cancel()
    threading.Thread(target=work, name="langgraph-rag", daemon=True).start()
    return await asyncio.wrap_future(result)
