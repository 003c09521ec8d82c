"""Questions continue while long calls occupy all threads, and a long call may outlast whoever waits for it."""

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock

import pytest
from langchain_core.outputs import ChatResult

from langgraph_rag import KnowledgeBase, create_mgranrag
from langgraph_rag.concurrency.threads import in_new_thread, in_thread
from langgraph_rag.offline.model import OfflineModel

QUESTION: Any = {"question": "Where was the director of The Salt Road born?"}


class Served(OfflineModel):
    """A model that is asked without a thread, as one behind a server is."""

    async def _agenerate(self, *values: Any, **options: Any) -> ChatResult:
        return self._generate(*values, **options)


async def test_a_question_does_not_wait_for_the_threads_of_the_loop(kb: KnowledgeBase) -> None:
    graph = create_mgranrag(Served(), kb).compile()
    goes_on = threading.Event()
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(2))
    long = [asyncio.create_task(asyncio.to_thread(goes_on.wait, 60)) for _ in range(4)]
    try:
        result = await asyncio.wait_for(graph.ainvoke(QUESTION), 30)
    finally:
        goes_on.set()
    await asyncio.gather(*long)

    assert result["answer"]


async def test_who_waits_until_triples_are_searchable_holds_no_thread(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, make = threading.Event(), kb._triple_embedding.make_searchable

    def slowly(extractor: str) -> None:
        goes_on.wait(60)
        make(extractor)

    monkeypatch.setattr(kb._triple_embedding, "make_searchable", slowly)
    searches = [asyncio.create_task(kb.asearch_triples("born in", 1)) for _ in range(40)]
    try:
        assert await asyncio.wait_for(in_thread(lambda: "done"), 30) == "done"
        assert await asyncio.wait_for(kb.anear_entities(["Orla Vint"], 1), 30)
    finally:
        goes_on.set()

    assert all(await asyncio.gather(*searches))


async def test_an_end_that_no_future_can_hold_ends_the_wait_as_an_error() -> None:
    with pytest.raises(RuntimeError, match="StopIteration was raised: the script is over"):
        await asyncio.wait_for(in_new_thread(Mock(side_effect=StopIteration("the script is over"))), 10)


ENDLESS = """
import asyncio, threading

from langgraph_rag.concurrency.threads import in_new_thread

async def give_up():
    async with asyncio.timeout(0.1):
        await in_new_thread(threading.Event().wait)

asyncio.run(give_up())
"""


def test_the_program_is_left_while_a_call_goes_on_that_nobody_waits_for() -> None:
    ended = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=30)

    assert "TimeoutError" in ended.stderr.splitlines()[-1]
