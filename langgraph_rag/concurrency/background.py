"""Runs coroutines for synchronous callers on one background event loop."""

import asyncio
import contextvars
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, TypeVar

from langgraph_rag.concurrency.threads import Worker, thread_safe_cache

T = TypeVar("T")
_UNWINDING = 1.0  # seconds


class BackgroundLoop:
    """An event loop in a thread of its own.

    Model clients bind their connections to the first loop that uses them; one loop for all synchronous calls keeps
    them alive between calls.
    """

    def __init__(self) -> None:
        self._loop, self._stopped = asyncio.new_event_loop(), False
        self._thread = Worker(self._serve, self._stop, name="langgraph-rag")
        self._thread.start()

    def _serve(self) -> None:
        """Run until stopped; SystemExit and KeyboardInterrupt in a task would otherwise end the loop."""
        while not self._stopped:
            with suppress(SystemExit, KeyboardInterrupt):
                self._loop.run_forever()
        self._loop.close()  # so that later calls raise an error instead of waiting forever

    def _stop(self) -> None:
        self._stopped = True
        self._loop.call_soon_threadsafe(self._loop.stop)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to completion in the caller's context, which has the stream and the run-time settings.

        If the caller is interrupted, for example by Ctrl-C, the coroutine is cancelled and has a second to end.

        Raises:
            RuntimeError: when called by a coroutine on this loop, which would wait for itself.
        """
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError(
                "a coroutine that serves a synchronous caller cannot call synchronously itself: await the method's "
                "coroutine (ainvoke, arank, atriples ...), or call it in a thread (asyncio.to_thread)"
            )
        context, done = contextvars.copy_context(), Future[T]()
        tasks: list[asyncio.Task[T]] = []

        def finish(task: "asyncio.Task[T]") -> None:
            if task.cancelled():
                _cancel(done)
            elif error := task.exception():
                done.set_exception(error)
            else:
                done.set_result(task.result())

        def start() -> None:
            tasks.append(self._loop.create_task(coroutine, context=context))
            tasks[0].add_done_callback(finish)

        def cancel() -> None:
            if tasks:
                tasks[0].cancel()  # no effect if it is done
            else:
                coroutine.close()  # interrupted before it was started
                _cancel(done)

        try:
            self._loop.call_soon_threadsafe(start)
            return done.result()
        except BaseException:
            self._loop.call_soon_threadsafe(cancel)
            wait([done], _UNWINDING)
            raise


def _cancel(done: "Future[Any]") -> None:
    if done.cancel():
        done.set_running_or_notify_cancel()  # wakes the waiting thread


@thread_safe_cache
def _background(process: int) -> BackgroundLoop:
    """Return the loop of a process; threads do not survive a fork."""
    return BackgroundLoop()


def run_in_background(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine from synchronous code, also in a thread that already runs an event loop."""
    return _background(os.getpid()).run(coroutine)
