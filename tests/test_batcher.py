"""Simultaneous calls share a batch; each gets its own result or its own error."""

import asyncio
import contextvars
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.batcher import Batcher, RequestQueue, began


class Doubling:
    """Doubles numbers and keeps the batches; a batch begun while `go` is cleared waits for it."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.go, self.begun = threading.Event(), threading.Event()
        self.go.set()

    def __call__(self, numbers: list[int]) -> list[int]:
        self.batches.append(numbers)
        self.begun.set()
        assert self.go.wait(10)
        if 13 in numbers:
            raise ValueError("13 cannot be doubled")
        return [2 * number for number in numbers]


@pytest.fixture
def work() -> Doubling:
    return Doubling()


@pytest.fixture
def batcher(work: Doubling) -> Iterator[Batcher[int, int]]:
    batcher = Batcher(work, largest=4)
    yield batcher
    work.go.set()
    batcher.close()


def busy_with(batcher: Batcher[int, int], work: Doubling, request: int) -> "Future[int]":
    """Have the worker begin a batch of one request that it cannot finish yet."""
    work.go.clear()
    work.begun.clear()
    future = batcher.submit(request)
    assert work.begun.wait(10)
    return future


def test_one_request_is_answered_without_waiting_for_company(batcher: Batcher[int, int]) -> None:
    assert batcher.submit(21).result(10) == 42


def test_what_gathers_while_a_batch_is_worked_on_is_the_next_batch(batcher: Batcher[int, int], work: Doubling) -> None:
    first = busy_with(batcher, work, 1)
    others = [batcher.submit(number) for number in (2, 3, 4)]
    work.go.set()

    assert [future.result(10) for future in (first, *others)] == [2, 4, 6, 8]
    assert work.batches == [[1], [2, 3, 4]]


def test_a_batch_is_never_larger_than_allowed(batcher: Batcher[int, int], work: Doubling) -> None:
    busy_with(batcher, work, 0)
    futures = [batcher.submit(number) for number in range(1, 11)]
    work.go.set()

    assert [future.result(10) for future in futures] == [2 * number for number in range(1, 11)]
    assert work.batches == [[0], [1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]


def test_the_question_that_began_first_is_served_first(batcher: Batcher[int, int], work: Doubling) -> None:
    def submit(request: int, beginning: float) -> "Future[int]":
        began.set(beginning)
        return batcher.submit(request)

    busy_with(batcher, work, 0)
    futures = [
        contextvars.copy_context().run(submit, request, beginning)
        for request, beginning in [(1, 30.0), (2, 10.0), (3, 20.0), (4, 10.0), (5, 40.0)]
    ]
    work.go.set()

    assert [future.result(10) for future in futures] == [2, 4, 6, 8, 10]
    assert work.batches == [[0], [2, 4, 3, 1], [5]]


def test_of_batchers_that_share_a_queue_the_one_of_the_lowest_rank_is_served_first() -> None:
    work, shared = Doubling(), RequestQueue()
    searches, cosines = Batcher(work, largest=2, queue=shared, rank=1), Batcher(work, queue=shared, rank=0)
    busy_with(searches, work, 0)
    waiting = [batcher.submit(number) for number in (1, 2, 3) for batcher in (searches, cosines)]
    work.go.set()

    assert [future.result(10) for future in waiting] == [2, 2, 4, 4, 6, 6]
    assert work.batches == [[0], [1, 2, 3], [1, 2], [3]]
    shared.close()
    with pytest.raises(KnowledgeBaseError, match="was closed"):
        cosines.submit(4)


def test_an_error_reaches_whose_it_is_and_nobody_else_in_its_batch(batcher: Batcher[int, int], work: Doubling) -> None:
    first = busy_with(batcher, work, 1)
    lucky, unlucky, also_lucky = (batcher.submit(number) for number in (2, 13, 3))
    work.go.set()

    assert [future.result(10) for future in (first, lucky, also_lucky)] == [2, 4, 6]
    with pytest.raises(ValueError, match="13 cannot be doubled"):
        unlucky.result(10)
    assert batcher.submit(4).result(10) == 8
    assert work.batches == [[1], [2, 13, 3], [2], [13], [3], [4]]


def test_a_request_called_off_in_time_is_not_worked_on(batcher: Batcher[int, int], work: Doubling) -> None:
    busy_with(batcher, work, 1)
    unwanted, wanted = batcher.submit(2), batcher.submit(3)
    assert unwanted.cancel()
    work.go.set()

    assert wanted.result(10) == 6
    assert work.batches == [[1], [3]]


async def test_asking_does_not_block_the_event_loop(batcher: Batcher[int, int], work: Doubling) -> None:
    work.go.clear()
    asking = asyncio.gather(batcher.ask(1), batcher.ask(2))
    await asyncio.sleep(0)

    work.go.set()  # only reached because the loop runs on while the worker waits

    assert tuple(await asking) == (2, 4)


async def test_a_coroutine_called_off_leaves_the_others_their_answers(
    batcher: Batcher[int, int], work: Doubling
) -> None:
    busy_with(batcher, work, 0)
    unwanted, wanted = asyncio.ensure_future(batcher.ask(1)), asyncio.ensure_future(batcher.ask(2))
    await asyncio.sleep(0)
    unwanted.cancel()
    await asyncio.sleep(0)
    work.go.set()

    assert await wanted == 4
    assert unwanted.cancelled()


def test_many_threads_each_get_their_own_answer(batcher: Batcher[int, int], work: Doubling) -> None:
    numbers = range(100, 400)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: batcher.submit(number).result(10), numbers))

    assert answers == [2 * number for number in numbers]
    assert sorted(number for batch in work.batches for number in batch) == list(numbers)


def test_any_request_is_answered_also_none() -> None:
    batcher: Batcher[None, str] = Batcher(lambda requests: ["answered"] * len(requests))

    assert [batcher.submit(None).result(10) for _ in range(2)] == ["answered"] * 2
    batcher.close()


def test_after_a_thread_could_not_be_started_the_next_request_tries_again(
    batcher: Batcher[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as short_of_threads:
        short_of_threads.setattr(threading.Thread, "start", refused)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            batcher.submit(1)

    assert batcher.submit(2).result(10) == 4


def test_closing_finishes_what_waits(work: Doubling) -> None:
    batcher = Batcher(work, largest=2)
    busy_with(batcher, work, 1)
    waiting = [batcher.submit(number) for number in (2, 3, 4)]
    work.go.set()

    batcher.close()

    assert [future.result(0) for future in waiting] == [4, 6, 8]


def test_closing_twice_or_unused_is_fine(work: Doubling) -> None:
    for used in (False, True):
        batcher = Batcher(work)
        if used:
            assert batcher.submit(1).result(10) == 2
        batcher.close()
        batcher.close()


def test_one_that_was_closed_takes_no_requests_and_starts_no_thread(work: Doubling) -> None:
    batcher = Batcher(work)
    batcher.close()
    before = threading.active_count()

    with pytest.raises(KnowledgeBaseError, match="was closed: open it again"):
        batcher.submit(1)

    assert threading.active_count() == before


def test_closed_while_others_ask_it_ends_and_leaves_nobody_without_an_answer(work: Doubling) -> None:
    def ask_until_closed(batcher: Batcher[int, int]) -> None:
        with pytest.raises(KnowledgeBaseError):
            while True:
                assert batcher.submit(1).result(10) == 2

    with ThreadPoolExecutor(4) as pool:
        for _ in range(100):
            batcher = Batcher(work)
            asking = [pool.submit(ask_until_closed, batcher) for _ in range(4)]
            batcher.close()
            for asked in asking:
                asked.result(10)


LEFT = """
import threading, time
from langgraph_rag.concurrency import workers
from langgraph_rag.tools.batcher import Batcher

def work(requests):
    begun.set()
    time.sleep(requests[0])
    print("worked for", requests[0])
    return requests

workers._EXIT_TIMEOUT, begun, batcher = {patience}, threading.Event(), Batcher(work, largest=1)
for seconds in ({seconds}, 0):
    batcher.submit(seconds)
begun.wait()
"""


@pytest.mark.parametrize(
    ("seconds", "patience", "told"), [(0.5, 30, "worked for 0.5\n"), (60, 0.5, "")], ids=["finished", "given up"]
)
def test_a_program_that_is_left_waits_shortly_for_the_batch_in_hand(seconds: float, patience: float, told: str) -> None:
    program = LEFT.format(seconds=seconds, patience=patience)

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, told, "")
