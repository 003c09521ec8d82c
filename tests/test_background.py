"""Coroutines that serve synchronous callers."""

import asyncio
import inspect
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait

import pytest

from langgraph_rag.concurrency.background import BackgroundLoop, _cancel, run_in_background


def test_a_coroutine_that_would_wait_for_itself_is_told_so() -> None:
    async def inner() -> None: ...

    async def outer() -> None:
        run_in_background(inner())

    with pytest.raises(RuntimeError, match="await the method's coroutine"):
        run_in_background(outer())


def test_a_coroutine_may_call_synchronously_in_a_thread() -> None:
    async def inner() -> str:
        return "done"

    async def outer() -> str:
        return await asyncio.to_thread(lambda: run_in_background(inner()))

    assert run_in_background(outer()) == "done"


@pytest.mark.parametrize("ending", [SystemExit, KeyboardInterrupt])
def test_a_coroutine_that_would_end_the_program_ends_only_its_callers_call(ending: type[BaseException]) -> None:
    async def ends() -> None:
        raise ending

    async def in_a_task_of_its_own() -> None:
        await asyncio.gather(ends())

    async def inner() -> str:
        return "done"

    loop = BackgroundLoop()
    for coroutine in (ends(), in_a_task_of_its_own()):
        with pytest.raises(ending):
            loop.run(coroutine)
    assert loop.run(inner()) == "done"


INTERRUPTED = """
import asyncio, signal, threading
from langgraph_rag.concurrency.background import run_in_background

signal.signal(signal.SIGINT, signal.default_int_handler)  # also in the background
async def wait_long() -> None:
    try:
        while True:  # Python sleeps through a signal that comes in the instant before it waits
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            await asyncio.sleep(5)
    finally:
        await asyncio.sleep(0.1)
        print("called off")

try:
    run_in_background(wait_long())
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_calls_off_what_was_under_way() -> None:
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=30)

    assert (ended.stdout, ended.stderr) == ("called off\ninterrupted\n", "")


@pytest.mark.parametrize("handed_over", [True, False])
def test_ctrl_c_while_handing_over_calls_it_off(handed_over: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = BackgroundLoop()
    hand_over = loop._loop.call_soon_threadsafe
    started, seen = threading.Event(), []

    async def wait_long() -> None:
        try:
            started.set()
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("called off")
            raise

    def interrupted(callback: Callable[[], None]) -> None:
        monkeypatch.undo()
        if handed_over:
            hand_over(callback)
            assert started.wait(10)
        raise KeyboardInterrupt

    async def inner() -> str:
        return "done"

    coroutine = wait_long()
    monkeypatch.setattr(loop._loop, "call_soon_threadsafe", interrupted)
    with pytest.raises(KeyboardInterrupt):
        loop.run(coroutine)

    assert loop.run(inner()) == "done"
    assert seen == (["called off"] if handed_over else [])
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED


def test_who_waits_for_what_was_called_off_is_told() -> None:
    done: Future[None] = Future()

    _cancel(done)

    assert wait([done], 0).done == {done}


def test_threads_wait_each_for_their_own() -> None:
    async def twice(number: int) -> int:
        await asyncio.sleep(0.01)
        return 2 * number

    found: dict[int, int] = {}
    threads = [
        threading.Thread(target=lambda number=number: found.update({number: run_in_background(twice(number))}))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert found == {number: 2 * number for number in range(8)}


LEFT = """
import asyncio, atexit

@atexit.register
def called_last():
    try:
        run_in_background(asyncio.sleep(0))
    except RuntimeError as error:
        print(error)

from langgraph_rag.concurrency.background import run_in_background

run_in_background(asyncio.sleep(0))
"""


def test_a_call_while_the_program_is_left_does_not_wait_for_good() -> None:
    ended = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, timeout=30)

    assert ended.stdout == "Event loop is closed\n", ended.stderr
