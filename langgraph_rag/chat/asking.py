"""Runs one question and yields its steps, the text of the answer, the plan and the result."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_rag.checkpoints import strict_serializer
from langgraph_rag.context import Context
from langgraph_rag.narration import narrate
from langgraph_rag.prompts.par_rag import PlanStep


@dataclass(frozen=True)
class Told:
    """A node has finished; `text` describes what it did."""

    text: str


@dataclass(frozen=True)
class Restated:
    """A follow-up is taken in the sense that `text` states."""

    text: str


@dataclass(frozen=True)
class Written:
    """The answer so far; it starts again after a reply that cannot be used."""

    text: str


@dataclass(frozen=True)
class Planned:
    """A plan waits for approval by `resume`; `problem` says why the last edited plan cannot be used."""

    plan: list[PlanStep]
    problem: str


@dataclass(frozen=True)
class Answered:
    """The run has ended."""

    result: dict[str, Any]


Happening = Told | Restated | Written | Planned | Answered


class Asking:
    """One run of a graph, whose state is in memory while a plan waits for approval."""

    def __init__(self, graph: Any, given: Mapping[str, Any], context: Context) -> None:
        checkpoints = InMemorySaver(serde=strict_serializer())
        self._graph, self._given, self._context = graph.compile(checkpointer=checkpoints), given, context
        self._thread: RunnableConfig = {"configurable": {"thread_id": "question"}}

    def ask(self) -> AsyncIterator[Happening]:
        """Run until the answer, or until a plan waits for approval."""
        return self._stream(self._given)

    def resume(self, plan: list[PlanStep]) -> AsyncIterator[Happening]:
        """Continue with the approved or edited plan, until the answer or until it must be edited again."""
        return self._stream(Command(resume=plan))

    async def _stream(self, given: Any) -> AsyncIterator[Happening]:
        modes = ["custom", "messages", "updates"]
        written: dict[str | None, str] = {}
        async for mode, chunk in self._graph.astream(given, self._thread, context=self._context, stream_mode=modes):
            if mode == "custom" and (text := narrate(chunk)):
                yield Restated(text) if chunk["node"] == "restate_question" else Told(text)
            elif mode == "messages" and (text := chunk[0].text):
                written[chunk[0].id] = written.get(chunk[0].id, "") + text
                yield Written(written[chunk[0].id])
            elif mode == "updates" and "__interrupt__" in chunk:
                waiting = chunk["__interrupt__"][0].value
                yield Planned(waiting["plan"], waiting.get("problem", ""))
                return
        yield Answered((await self._graph.aget_state(self._thread)).values)
