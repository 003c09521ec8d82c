"""Parallel coroutines, and their cancellation."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")
Item = TypeVar("Item")


async def gather(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines in parallel and return their results in order; if one fails, cancel the others.

    With `asyncio.gather`, the others would continue.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except ExceptionGroup as errors:
        first = errors.exceptions[0]
        raise first from first.__cause__
    return [task.result() for task in tasks]


async def map_limited(work: Callable[[Item], Awaitable[T]], items: Iterable[Item], at_once: int) -> list[T]:
    """Do the work of each item, at most so many at once, and return the results in order."""
    free = asyncio.Semaphore(at_once)

    async def done(item: Item) -> T:
        async with free:
            return await work(item)

    return await gather(map(done, items))


def is_own_cancellation(error: BaseException) -> bool:
    """Return whether an error is the cancellation of the current task, and not of something that it awaits."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and bool(task.cancelling())
