"""Batches the requests of concurrent callers, in an order that keeps questions out of lockstep."""

import asyncio
import math
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar

from langgraph_rag.concurrency.workers import Worker
from langgraph_rag.errors import KnowledgeBaseError

Request = TypeVar("Request")
Result = TypeVar("Result")

_number = count()


@dataclass
class _Asked(Generic[Request, Result]):
    """A request whose result a coroutine awaits."""

    batcher: "Batcher[Request, Result]"
    request: Request
    result: "asyncio.Future[Result]"

    def settle(self, settle: Callable[[Any], None], outcome: Any) -> None:
        """Set the result, or an error, from the thread of the worker."""
        with suppress(RuntimeError):  # the event loop was closed
            self.result.get_loop().call_soon_threadsafe(self._settle, settle, outcome)

    def _settle(self, settle: Callable[[Any], None], outcome: Any) -> None:
        if not self.result.done():  # it may have been cancelled
            settle(outcome)


class _Waiting(NamedTuple):
    rank: float
    number: int  # in the order of arrival
    asked: _Asked[Any, Any] | None


class RequestQueue:
    """A queue of requests with one worker thread, which several batchers may share.

    The requests of the batcher with the lowest rank come first, in the order of their arrival. If batchers that serve
    the last stages of a step have the lowest ranks, the first questions wait for the model while the others compute.
    Otherwise, many concurrent questions would run in lockstep: all compute, then all wait.
    """

    def __init__(self) -> None:
        self._waiting: queue.PriorityQueue[_Waiting] = queue.PriorityQueue()
        self._worker: Worker | None = None
        self._closed, self._lock = False, threading.Lock()

    def put(self, waiting: _Waiting) -> None:
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
            self._waiting.put(_Waiting(rank, next(_number), None))

    def _serve(self) -> None:
        while first := self._waiting.get().asked:
            batcher, batch = first.batcher, [first]
            while len(batch) < batcher.largest and not self._waiting.empty():
                following = self._waiting.get()
                if not following.asked or following.asked.batcher is not batcher:
                    self._waiting.put(following)
                    break
                batch.append(following.asked)
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

    async def ask(self, request: Request) -> Result:
        """Add a request to the next batch and await its result.

        Raises:
            KnowledgeBaseError: when the queue was closed.
        """
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._queue.put(_Waiting(self._rank, next(_number), _Asked(self, request, result)))
        return await result

    def close(self) -> None:
        """Close the queue."""
        self._queue.close()

    def answer(self, batch: list[_Asked[Request, Result]]) -> None:
        """Process a batch of requests, without those that were cancelled."""
        if wanted := [asked for asked in batch if not asked.result.cancelled()]:
            self._answer(wanted)

    def _answer(self, batch: list[_Asked[Request, Result]]) -> None:
        try:
            results = self._work([asked.request for asked in batch])
        except BaseException as error:  # the callers get it, the worker lives on
            if len(batch) == 1:
                batch[0].settle(batch[0].result.set_exception, error)
                return
            for asked in batch:  # alone, so that a failing request does not affect the others
                self._answer([asked])
            return
        for asked, result in zip(batch, results, strict=True):
            asked.settle(asked.result.set_result, result)


def one_at_a_time() -> Batcher[Callable[[], Any], Any]:
    """Return a batcher that runs one function at a time; waiting callers occupy no thread."""
    return Batcher(lambda works: [work() for work in works], largest=1)
