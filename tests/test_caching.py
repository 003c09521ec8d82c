"""A value that several threads request is made once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from langgraph_rag.concurrency.threads import thread_safe_cache


def test_what_takes_long_to_make_keeps_nobody_from_what_is_made() -> None:
    go = threading.Event()

    @thread_safe_cache
    def make(name: str) -> str:
        assert name != "slow" or go.wait(10)
        return name

    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(make, "slow")
        assert pool.submit(make, "quick").result(5) == "quick"
        go.set()
        assert slow.result(5) == "slow"


def test_several_threads_that_ask_at_once_get_what_is_made_once() -> None:
    made = []

    @thread_safe_cache
    def make(name: str) -> object:
        made.append(name)
        time.sleep(0.05)
        return object()

    with ThreadPoolExecutor(4) as pool:
        given = list(pool.map(make, ["a"] * 4))

    assert made == ["a"]
    assert len(set(map(id, given))) == 1
