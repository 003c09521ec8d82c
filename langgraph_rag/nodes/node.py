"""What makes a step a LangGraph node: one coroutine that serves both sides, its cost, its events."""

import time
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import set_config_context
from langgraph.config import get_stream_writer

from langgraph_rag.arguments import expect
from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.metering import metered
from langgraph_rag.tools.batcher import began

EVENT_VERSION = 1

Update = dict[str, Any]


class Node(Runnable[Any, Update]):
    """A step as LangGraph runs it, by `invoke` and `ainvoke`.

    Unlike a `RunnableLambda` it does not inspect its function at each call.

    Attributes:
        fields: what the state of its graph has, set when that is compiled: what a step returns besides would be lost.

    Raises:
        TypeError: when what the step has for a model, as `llm`, is not one; as it runs, when the step returns what the
            state has no field for.
    """

    fields: Collection[str] | None = None

    def __init__(self, step: Callable[[Any], Awaitable[Update]]) -> None:
        llm = getattr(step, "llm", self)
        expect(Runnable, llm, "a chat model", "load_model(NAME) returns one")
        self.step, self.name = step, type(step).__name__

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the step and add what it cost to the state's `usage`."""
        before = input.get("usage")
        began.set(time.monotonic() - (before["seconds"] if before else 0.0))
        with metered(before) as usage:
            update = await self.step(input)
        if self.fields is not None and (lost := [name for name in update if name not in self.fields]):
            raise TypeError(f"{self.name} returned {', '.join(lost)}, which the state has no field for")
        return {"usage": usage, **{name: _storable(value) for name, value in update.items()}}

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the step on the background loop, with the caller's context: streaming and settings reach it."""
        return run_in_background(self.ainvoke(input, config))


def _storable(value: Any) -> Any:
    """Leave NUL out of a text: Postgres cannot keep it, and documents and models may have it."""
    return value.replace("\0", "") if isinstance(value, str) else value


class Choice(Runnable[Any, Any]):
    """A function that chooses where to go on, as LangGraph runs it: a plain one would get a thread at each step.

    The edge must name the nodes it chooses from.
    """

    def __init__(self, choose: Callable[[Any], Any]) -> None:
        self.choose, self.name = choose, getattr(choose, "__name__", "choose")

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the name of the next node, or what to send to which."""
        return self.invoke(input, config)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the name of the next node, or what to send to which."""
        with set_config_context(config or {}) as settings:
            return settings.run(self.choose, input)


def emit(node: str, **what: object) -> None:
    """Send a custom event: what a node did, in words and numbers."""
    get_stream_writer()({"v": EVENT_VERSION, "node": node, **what})
