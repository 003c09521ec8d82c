"""What makes a step a LangGraph node: one coroutine that serves both sides, its cost, its events."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.config import get_stream_writer

from langgraph_rag.background import run_in_background
from langgraph_rag.metering import metered
from langgraph_rag.tools.coalescer import began

EVENT_VERSION = 1

State = TypeVar("State", contravariant=True)
Update = dict[str, Any]


class Node(Runnable[Any, Update]):
    """A step as LangGraph runs it; unlike a `RunnableLambda` it does not inspect its function at each call."""

    def __init__(self, step: Callable[[Any], Awaitable[Update]]) -> None:
        self.step, self.name = step, type(step).__name__

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the step and add what it cost to the state's `usage`."""
        before = input.get("usage")
        began.set(time.monotonic() - (before["seconds"] if before else 0.0))
        with metered(before) as usage:
            update = await self.step(input)
        return {"usage": usage, **update}

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the step on the background loop, with the caller's context: streaming and settings reach it."""
        return run_in_background(self.ainvoke(input, config))


def as_node(step: Callable[[State], Awaitable[Update]]) -> Node:
    """Wrap a step so that it serves `invoke` and `ainvoke`."""
    return Node(step)


def emit(node: str, **what: object) -> None:
    """Send a custom event: what a node did, in words and numbers."""
    get_stream_writer()({"v": EVENT_VERSION, "node": node, **what})
