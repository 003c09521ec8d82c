"""Threads: for blocking and long work of coroutines, for maps in order; and a cache of results for all.

Short work of coroutines runs in the package's own threads, long work in a new one: long calls such as `add` may occupy
all threads of the event loop (`asyncio.to_thread`), and would block all questions.
"""

import asyncio
import atexit
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def thread_safe_cache(function: Callable[P, T]) -> Callable[P, T]:
    """Cache like `functools.cache`, but call the function only once if several threads need the same result."""
    lock, cached = threading.Lock(), cache(function)
    lock_of = cache(lambda *_, **__: threading.Lock())  # one for each result, so that slow ones do not block others

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with lock:
            own_lock = lock_of(*args, **kwargs)  # type: ignore[arg-type]
        with own_lock:
            return cached(*args, **kwargs)  # type: ignore[arg-type]

    return call


_EXIT_TIMEOUT = 5.0  # seconds


class Worker(threading.Thread):
    """A daemon thread that is stopped when the interpreter exits, within 5 seconds.

    A thread that is still in C++ code (torch, Chroma) would otherwise abort the process.
    """

    def __init__(self, serve: Callable[[], None], stop: Callable[[], None], name: str) -> None:
        super().__init__(target=serve, name=name, daemon=True)
        self.stop = stop


@atexit.register
def _end_all() -> None:
    until = time.monotonic() + _EXIT_TIMEOUT
    workers = [thread for thread in threading.enumerate() if isinstance(thread, Worker)]
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.join(max(0.0, until - time.monotonic()))


Made = TypeVar("Made")
Done = TypeVar("Done")

_AHEAD = 16  # items submitted in advance for each thread


def parallel_map(
    work: Callable[[T], Made], finish: Callable[[T, Made], Done], items: Iterable[T], threads: int
) -> Iterator[Done]:
    """Work on items in several threads and finish them one after the other; yield the results in order.

    Only a few items are submitted in advance. After an error, or when the generator is closed, the other items are
    dropped, and no item after a failed one is finished.
    """

    def done(item: T, before: Future[Done] | None) -> Done:
        made = work(item)
        if before:
            before.result()  # submitted earlier, so it is done or running
        return finish(item, made)

    pending: deque[Future[Done]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for item in items:
            pending.append(pool.submit(done, item, pending[-1] if pending else None))
            if len(pending) > _AHEAD * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


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
