"""One background event loop, so that code written once as a coroutine also serves synchronous callers."""

import asyncio
import contextvars
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


class BackgroundLoop:
    """An event loop in a daemon thread.

    Model clients bind their connections to the first loop that uses them; one loop for all synchronous calls keeps
    them alive between calls.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="langgraph-rag", daemon=True).start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run to completion in the caller's context, so that streaming and run-time settings reach the coroutine."""
        context, done = contextvars.copy_context(), Future[T]()

        def finish(task: "asyncio.Task[T]") -> None:
            if task.cancelled():
                done.cancel()
            elif error := task.exception():
                done.set_exception(error)
            else:
                done.set_result(task.result())

        def start() -> None:
            self._loop.create_task(coroutine, context=context).add_done_callback(finish)

        self._loop.call_soon_threadsafe(start)
        return done.result()


@cache
def _background() -> BackgroundLoop:
    return BackgroundLoop()


def run_in_background(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine from synchronous code, also where the calling thread already runs an event loop."""
    return _background().run(coroutine)
