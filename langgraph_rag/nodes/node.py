"""What makes a step a LangGraph node: one coroutine that serves both sides, its cost, its events."""

import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from langchain_core.runnables import RunnableLambda
from langgraph.config import get_stream_writer

from langgraph_rag.background import run_in_background
from langgraph_rag.llm import metered

EVENT_VERSION = 1

State = TypeVar("State", contravariant=True)
Update = dict[str, Any]


def as_node(step: Callable[[State], Awaitable[Update]]) -> RunnableLambda[State, Update]:
    """Wrap a step: `invoke` runs it on the background loop, and its cost is added to the state's `usage`."""

    async def run(state: State) -> Update:
        started = time.perf_counter()
        with metered() as usage:
            update = await step(state)
        usage["seconds"] = time.perf_counter() - started
        return {"usage": usage, **update}

    def run_sync(state: State) -> Update:
        coroutine: Coroutine[Any, Any, Update] = run(state)
        return run_in_background(coroutine)

    return RunnableLambda(run_sync, afunc=run, name=type(step).__name__)


def emit(node: str, **what: object) -> None:
    """Send a custom event: what a node did, in words and numbers."""
    get_stream_writer()({"v": EVENT_VERSION, "node": node, **what})
