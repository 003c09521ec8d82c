"""Concurrent coroutines: results are in order, and none continues after one has failed."""

import asyncio

import pytest

from langgraph_rag.concurrency.tasks import gather


async def after(seconds: float, value: int) -> int:
    await asyncio.sleep(seconds)
    return value


async def test_results_come_in_the_order_given() -> None:
    assert await gather(after(seconds, value) for value, seconds in enumerate([0.02, 0.0, 0.01])) == [0, 1, 2]


async def test_where_one_fails_the_others_are_called_off_and_its_error_is_raised_with_its_cause() -> None:
    ended: list[str] = []

    async def fail() -> None:
        raise LookupError("no such thing") from OSError("the line is dead")

    async def go_on() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("called off")

    with pytest.raises(LookupError, match="no such thing") as raised:
        await gather([go_on(), fail(), go_on()])
    assert isinstance(raised.value.__cause__, OSError)
    assert ended == ["called off"] * 2
