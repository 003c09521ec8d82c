"""Trajectories: whole runs of a method on training questions, with each call of the model, to learn from."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.messages import convert_to_openai_messages
from langgraph.config import get_config
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from langgraph_rag.concurrency.context_variables import override
from langgraph_rag.context import Context
from langgraph_rag.evaluation.outcomes import Configuration, Outcome, read_outcomes
from langgraph_rag.evaluation.run_folder import OutcomesError
from langgraph_rag.evaluation.runner import evaluate
from langgraph_rag.llm import Asked, recorder


class Message(TypedDict):
    """A message as it is sent to an OpenAI-compatible server."""

    role: str
    content: str


class Call(TypedDict):
    """A prompt in a run.

    `messages` are the first ones that were sent, `replies` all that the model wrote, with `repairs` after the first;
    `reply` is what was read of the last, None if nothing could be. `left_out` and `dropped` count, for all calls of the
    same run of the `node`, the items that its prompts had no room for, and those of its replies that it did not use.
    """

    node: str
    prompt: str
    values: dict[str, Any]
    messages: list[Message]
    replies: list[str]
    reply: dict[str, Any] | None
    repairs: int
    left_out: int
    dropped: int


@dataclass(frozen=True)
class Recorded:
    """A compiled graph whose result also has the `calls` of the run, in their order, and its `events`."""

    graph: CompiledStateGraph[Any, Any, Any, Any]

    @property
    def name(self) -> str:
        """The name of the graph."""
        return self.graph.name

    @property
    def builder(self) -> Any:
        """The steps of the graph, whose prompts are noted with the outcomes."""
        return self.graph.builder

    async def ainvoke(self, input: Any, /, *, context: Any = None) -> Any:
        """Run the graph."""
        asked, events = list[tuple[str, Asked]](), list[Any]()
        result: Any = {}

        def note(one: Asked) -> None:
            asked.append((get_config().get("metadata", {}).get("langgraph_node", ""), one))

        with override(recorder, note):
            run = self.graph.astream(
                input, context=context, stream_mode=["custom", "values"], output_keys=self.graph.output_channels
            )
            async for mode, chunk in run:
                if mode == "custom":
                    events.append(chunk)
                else:
                    result = chunk
        return {**result, "calls": [_call(node, one) for node, one in asked], "events": events}


def _call(node: str, asked: Asked) -> Call:
    """Return what was asked; only after the run does the usage of its node tell what was dropped."""
    return Call(
        node=node,
        prompt=asked.prompt.name,
        values=dict(asked.values),
        messages=convert_to_openai_messages(asked.messages),  # type: ignore[typeddict-item]
        replies=asked.replies,
        reply=asked.reply.model_dump() if asked.reply else None,
        repairs=len(asked.replies) - 1,
        left_out=asked.usage["left_out"],
        dropped=asked.usage["dropped"],
    )


async def record_trajectories(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    questions: Iterable[Mapping[str, Any]],
    out: str | Path,
    *,
    context: Context | dict[str, Any] | None = None,
    configuration: Configuration | None = None,
    concurrency: int = 1,
    on_result: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Run a method on questions, and write each run to a folder, with its calls, its result and its scores.

    A stopped run goes on from there, and failed questions are asked again: this is `evaluation.evaluate`, whose
    arguments and errors it has, and its folder can be judged and reported like one of an evaluation.

    Raises:
        OutcomesError: as `evaluate`, and when the folder holds outcomes of runs that were not recorded.
    """
    read = list(questions)
    outcomes = await evaluate(
        Recorded(graph),
        read,
        out,
        context=context,
        configuration=configuration,
        concurrency=concurrency,
        on_result=on_result,
    )
    _check_recorded(outcomes, Path(out))
    return outcomes


def read_trajectories(out: str | Path) -> list[Outcome]:
    """Read the runs in a folder.

    Raises:
        OutcomesError: when there are none, they were not recorded, or the file cannot be read.
    """
    outcomes = read_outcomes(out)
    _check_recorded(outcomes, Path(out))
    return outcomes


def _check_recorded(outcomes: Iterable[Outcome], out: Path) -> None:
    for outcome in outcomes:
        if outcome["error"] is None and "calls" not in outcome:
            raise OutcomesError(
                f"expected runs with their calls in {out}, as `langgraph-rag train trajectories` records them, got an "
                f"outcome without for question {outcome['id']!r}: give another folder"
            )
