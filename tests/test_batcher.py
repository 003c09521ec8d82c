"""Simultaneous calls share a batch; each gets its own result or its own error."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.retrieve.search import Batcher, RequestQueue


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


async def gather(*asking: "asyncio.Task[int]") -> list[int]:
    return await asyncio.wait_for(asyncio.gather(*asking), 10)


async def busy_with(batcher: Batcher[int, int], work: Doubling, request: int) -> "asyncio.Task[int]":
    """Have the worker begin a batch of one request that it cannot finish yet."""
    work.go.clear()
    work.begun.clear()
    (asking,) = await asked(batcher.ask(request))
    assert await asyncio.to_thread(work.begun.wait, 10)
    return asking


async def asked(*requests: Coroutine[Any, Any, int]) -> "list[asyncio.Task[int]]":
    """Put requests into their queues in order, and return while they wait."""
    asking = [asyncio.create_task(request) for request in requests]
    await asyncio.sleep(0)
    return asking


async def test_one_request_is_answered_without_waiting_for_company(batcher: Batcher[int, int]) -> None:
    assert await batcher.ask(21) == 42


async def test_what_gathers_while_a_batch_is_worked_on_is_the_next_batch(
    batcher: Batcher[int, int], work: Doubling
) -> None:
    first = await busy_with(batcher, work, 1)
    others = await asked(*map(batcher.ask, (2, 3, 4)))
    work.go.set()

    assert await gather(first, *others) == [2, 4, 6, 8]
    assert work.batches == [[1], [2, 3, 4]]


async def test_a_batch_is_never_larger_than_allowed(batcher: Batcher[int, int], work: Doubling) -> None:
    await busy_with(batcher, work, 0)
    others = await asked(*map(batcher.ask, range(1, 11)))
    work.go.set()

    assert await gather(*others) == [2 * number for number in range(1, 11)]
    assert work.batches == [[0], [1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]


async def test_of_batchers_that_share_a_queue_the_one_of_the_lowest_rank_is_served_first() -> None:
    work, shared = Doubling(), RequestQueue()
    searches, cosines = Batcher(work, largest=2, queue=shared, rank=1), Batcher(work, queue=shared, rank=0)
    await busy_with(searches, work, 0)
    waiting = await asked(*(batcher.ask(number) for number in (1, 2, 3) for batcher in (searches, cosines)))
    work.go.set()

    assert await gather(*waiting) == [2, 2, 4, 4, 6, 6]
    assert work.batches == [[0], [1, 2, 3], [1, 2], [3]]
    shared.close()
    with pytest.raises(KnowledgeBaseError, match="was closed"):
        await cosines.ask(4)


async def test_an_error_reaches_whose_it_is_and_nobody_else_in_its_batch(
    batcher: Batcher[int, int], work: Doubling
) -> None:
    first = await busy_with(batcher, work, 1)
    lucky, unlucky, also_lucky = await asked(*map(batcher.ask, (2, 13, 3)))
    work.go.set()

    assert await gather(first, lucky, also_lucky) == [2, 4, 6]
    with pytest.raises(ValueError, match="13 cannot be doubled"):
        await unlucky
    assert await batcher.ask(4) == 8
    assert work.batches == [[1], [2, 13, 3], [2], [13], [3], [4]]


async def test_a_request_called_off_in_time_is_not_worked_on(batcher: Batcher[int, int], work: Doubling) -> None:
    await busy_with(batcher, work, 1)
    unwanted, wanted = await asked(batcher.ask(2), batcher.ask(3))
    assert unwanted.cancel()
    await asyncio.sleep(0)
    work.go.set()

    assert await gather(wanted) == [6]
    assert work.batches == [[1], [3]]


async def test_a_request_called_off_while_it_is_worked_on_leaves_the_others_their_answers(
    batcher: Batcher[int, int], work: Doubling
) -> None:
    unwanted = await busy_with(batcher, work, 1)
    (wanted,) = await asked(batcher.ask(2))
    unwanted.cancel()
    work.go.set()

    assert await gather(wanted) == [4]
    assert unwanted.cancelled() and work.batches == [[1], [2]]


async def test_asking_does_not_block_the_event_loop(batcher: Batcher[int, int], work: Doubling) -> None:
    work.go.clear()
    asking = await asked(batcher.ask(1), batcher.ask(2))

    work.go.set()  # only reached because the loop runs on while the worker waits

    assert await gather(*asking) == [2, 4]


def test_coroutines_of_many_event_loops_each_get_their_own_answer(batcher: Batcher[int, int], work: Doubling) -> None:
    numbers = range(100, 400)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: asyncio.run(batcher.ask(number)), numbers))

    assert answers == [2 * number for number in numbers]
    assert sorted(number for batch in work.batches for number in batch) == list(numbers)


async def test_any_request_is_answered_also_none() -> None:
    batcher: Batcher[None, str] = Batcher(lambda requests: ["answered"] * len(requests))

    assert [await batcher.ask(None) for _ in range(2)] == ["answered"] * 2
    batcher.close()


async def test_after_a_thread_could_not_be_started_the_next_request_tries_again(
    batcher: Batcher[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as short_of_threads:
        short_of_threads.setattr(threading.Thread, "start", refused)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            await batcher.ask(1)

    assert await batcher.ask(2) == 4


async def test_closing_finishes_what_waits(work: Doubling) -> None:
    batcher = Batcher(work, largest=2)
    first = await busy_with(batcher, work, 1)
    waiting = await asked(*map(batcher.ask, (2, 3, 4)))
    work.go.set()

    batcher.close()

    assert work.batches == [[1], [2, 3], [4]]
    assert await gather(first, *waiting) == [2, 4, 6, 8]


async def test_closing_twice_or_unused_is_fine(work: Doubling) -> None:
    for used in (False, True):
        batcher = Batcher(work)
        if used:
            assert await batcher.ask(1) == 2
        batcher.close()
        batcher.close()


async def test_one_that_was_closed_takes_no_requests_and_starts_no_thread(work: Doubling) -> None:
    batcher = Batcher(work)
    batcher.close()
    before = threading.active_count()

    with pytest.raises(KnowledgeBaseError, match="was closed: open it again"):
        await batcher.ask(1)

    assert threading.active_count() == before


def test_closed_while_others_ask_it_ends_and_leaves_nobody_without_an_answer(work: Doubling) -> None:
    async def ask_until_closed(batcher: Batcher[int, int]) -> None:
        with pytest.raises(KnowledgeBaseError):
            while True:
                assert await asyncio.wait_for(batcher.ask(1), 10) == 2

    with ThreadPoolExecutor(4) as pool:
        for _ in range(100):
            batcher = Batcher(work)
            asking = [pool.submit(asyncio.run, ask_until_closed(batcher)) for _ in range(4)]
            batcher.close()
            for one in asking:
                one.result(10)


LEFT = """
import asyncio, threading, time
from langgraph_rag.concurrency import threads
from langgraph_rag.tools.retrieve.search import Batcher

def work(requests):
    begun.set()
    time.sleep(requests[0])
    print("worked for", requests[0])
    return requests

threads._EXIT_TIMEOUT, begun, batcher = {patience}, threading.Event(), Batcher(work, largest=1)

async def main():
    asking = [asyncio.create_task(batcher.ask(seconds)) for seconds in ({seconds}, 0)]
    await asyncio.to_thread(begun.wait)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("seconds", "patience", "told"), [(0.5, 30, "worked for 0.5\n"), (60, 0.5, "")], ids=["finished", "given up"]
)
def test_a_program_that_is_left_waits_shortly_for_the_batch_in_hand(seconds: float, patience: float, told: str) -> None:
    program = LEFT.format(seconds=seconds, patience=patience)

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, told, "")
