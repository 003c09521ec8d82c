"""Batches the requests of concurrent callers, in an order that keeps questions out of lockstep."""

import asyncio
import math
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, Generic, TypeVar

from langgraph_rag.concurrency.workers import Worker
from langgraph_rag.errors import KnowledgeBaseError

Request = TypeVar("Request")
Result = TypeVar("Result")


began: ContextVar[float] = ContextVar("langgraph_rag_began", default=0.0)
"""The time at which the current question began, on any clock."""
_number = count()


@dataclass(order=True)
class _Waiting(Generic[Request, Result]):
    rank: float
    began: float
    number: int
    request: Request = field(compare=False)
    batcher: "Batcher[Request, Result] | None" = field(compare=False)
    future: "Future[Result]" = field(compare=False, default_factory=Future)


class RequestQueue:
    """A queue of requests with one worker thread, which several batchers may share.

    The requests of the batcher with the lowest rank come first, and among them those of the question that began first.
    If batchers that serve the last stages of a step have the lowest ranks, the first questions wait for the model while
    the others compute. Otherwise, many concurrent questions would run in lockstep: all compute, then all wait.
    """

    def __init__(self) -> None:
        self._waiting: queue.PriorityQueue[_Waiting[Any, Any]] = queue.PriorityQueue()
        self._worker: Worker | None = None
        self._closed, self._lock = False, threading.Lock()

    def put(self, waiting: _Waiting[Any, Any]) -> None:
        """Add a request.

        Raises:
            KnowledgeBaseError: when the queue was closed.
        """
        with self._lock:
            if self._closed:
                raise KnowledgeBaseError("the knowledge base was closed: open it again")
            if self._worker is None:
                worker = Worker(self._serve, stop=partial(self._take_no_more, -math.inf), name="batcher")
                worker.start()
                self._worker = worker
            self._waiting.put(waiting)

    def close(self) -> None:
        """Accept no more requests, process the waiting ones, and end the worker."""
        self._take_no_more(math.inf)
        if self._worker is not None:
            self._worker.join()

    def _take_no_more(self, rank: float) -> None:
        """Accept no more requests, and end the worker before those of higher ranks."""
        with self._lock:
            self._closed = True
            self._waiting.put(_Waiting(rank, rank, next(_number), None, None))

    def _serve(self) -> None:
        while batcher := (first := self._waiting.get()).batcher:
            batch = [first]
            while len(batch) < batcher.largest and not self._waiting.empty():
                following = self._waiting.get()
                if following.batcher is not batcher:
                    self._waiting.put(following)
                    break
                batch.append(following)
            batcher.answer(batch)


class Batcher(Generic[Request, Result]):
    """Processes requests in batches: while one batch runs, the next one is collected. No request waits for others.

    Args:
        work: returns the results for a batch of requests, in order, in the worker thread of the queue. If it fails, it
            is called again for each request alone.
        largest: the maximum number of requests in a batch.
        queue: the queue, if it is shared with other batchers.
        rank: the rank in the queue, different from those of the others; the lowest is served first.
    """

    def __init__(
        self,
        work: Callable[[list[Request]], list[Result]],
        *,
        largest: int = 8,
        queue: RequestQueue | None = None,
        rank: int = 0,
    ) -> None:
        self._work, self.largest = work, largest
        self._queue, self._rank = queue or RequestQueue(), rank

    def submit(self, request: Request) -> "Future[Result]":
        """Add a request to the next batch.

        Raises:
            KnowledgeBaseError: when the queue was closed.
        """
        waiting = _Waiting[Request, Result](self._rank, began.get(), next(_number), request, self)
        self._queue.put(waiting)
        return waiting.future

    async def ask(self, request: Request) -> Result:
        """Add a request to the next batch and await its result."""
        return await asyncio.wrap_future(self.submit(request))

    def close(self) -> None:
        """Close the queue."""
        self._queue.close()

    def answer(self, batch: list[_Waiting[Request, Result]]) -> None:
        """Process a batch of requests that waited in the queue."""
        asked = [
            (waiting.request, waiting.future) for waiting in batch if waiting.future.set_running_or_notify_cancel()
        ]
        if asked:
            self._settle(asked)

    def _settle(self, asked: "list[tuple[Request, Future[Result]]]") -> None:
        try:
            results = self._work([request for request, _ in asked])
        except BaseException as error:  # the callers get it, the worker lives on
            if len(asked) == 1:
                asked[0][1].set_exception(error)
                return
            for one in asked:  # alone, so that a failing request does not affect the others
                self._settle([one])
            return
        for (_, future), result in zip(asked, results, strict=True):
            future.set_result(result)


def one_at_a_time() -> Batcher[Callable[[], Any], Any]:
    """Return a batcher that runs one function at a time; waiting callers occupy no thread."""
    return Batcher(lambda works: [work() for work in works], largest=1)
