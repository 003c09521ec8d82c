"""Share batches between callers that ask at the same moment."""

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

Request = TypeVar("Request")
Result = TypeVar("Result")


class Coalescer(Generic[Request, Result]):
    """Answer requests in batches: while one batch is worked on, the next one gathers. Nobody waits for company.

    Args:
        work: answers a batch of requests, in order, in one worker thread.
        largest: requests per batch at most.
    """

    def __init__(self, work: Callable[[list[Request]], list[Result]], *, largest: int = 64) -> None:
        self._work, self._largest = work, largest
        self._waiting: queue.SimpleQueue[tuple[Request, Future[Result]] | None] = queue.SimpleQueue()
        self._worker: threading.Thread | None = None
        self._lock = threading.Lock()

    def submit(self, request: Request) -> "Future[Result]":
        """Put a request in the next batch."""
        with self._lock:
            if self._worker is None:
                self._worker = threading.Thread(target=self._serve, name="coalescer", daemon=True)
                self._worker.start()
        future: Future[Result] = Future()
        self._waiting.put((request, future))
        return future

    async def ask(self, request: Request) -> Result:
        """Put a request in the next batch and wait for its result without blocking the event loop."""
        return await asyncio.wrap_future(self.submit(request))

    def close(self) -> None:
        """Let the worker finish what waits, then end it."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            self._waiting.put(None)
            worker.join()

    def _serve(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch, closing = [first], False
            while len(batch) < self._largest and not self._waiting.empty():
                following = self._waiting.get()
                if following is None:
                    closing = True
                    break
                batch.append(following)
            self._answer(batch)
            if closing:
                return

    def _answer(self, batch: list[tuple[Request, "Future[Result]"]]) -> None:
        asked = [(request, future) for request, future in batch if future.set_running_or_notify_cancel()]
        if not asked:
            return
        try:
            results = self._work([request for request, _ in asked])
        except BaseException as error:  # noqa: BLE001  the callers get it, the worker lives on
            for _, future in asked:
                future.set_exception(error)
            return
        for (_, future), result in zip(asked, results, strict=True):
            future.set_result(result)
