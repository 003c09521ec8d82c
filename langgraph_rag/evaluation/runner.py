"""Asks a graph many questions, a limited number at once, and writes each outcome as soon as it is there."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from langgraph.graph.state import CompiledStateGraph

from langgraph_rag.arguments import expect_count
from langgraph_rag.concurrency.tasks import is_own_cancellation
from langgraph_rag.context import Context, as_context
from langgraph_rag.errors import RagError
from langgraph_rag.evaluation.origin import beginning
from langgraph_rag.evaluation.outcomes import (
    OUTCOMES,
    Configuration,
    Outcome,
    answered_before,
    begun_with,
    keep_settings,
)
from langgraph_rag.evaluation.questions import Question, as_questions
from langgraph_rag.evaluation.run_folder import CircuitBreaker, alone, keeping, work_through
from langgraph_rag.evaluation.scoring import answered, scored, unanswered


class Graph(Protocol):
    """The part of a compiled LangGraph graph that is needed."""

    def ainvoke(self, input: Any, /, *, context: Any = None) -> Awaitable[Any]:
        """Run the graph on `{"question": ...}`."""


_OTHER_VERSION = (
    "the run in %s was begun with version %s of this package and goes on with version %s, which may answer otherwise; "
    "give another folder for outcomes of one version"
)
_OTHER_PROMPTS = (
    "the outcomes in %s are of a graph with other steps or prompts, and are kept; give another folder, or delete this "
    "one, to ask all questions with the prompts of now"
)
_log = logging.getLogger(__name__)


async def evaluate(
    graph: Graph,
    questions: Iterable[Mapping[str, Any]],
    out: str | Path,
    *,
    context: Context | dict[str, Any] | None = None,
    configuration: Configuration | None = None,
    concurrency: int = 1,
    on_result: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Ask each question without an answer in the folder, and return all outcomes in the order of the questions.

    Another call with the same arguments continues a stopped run and asks failed questions again. Stored answers are
    scored again, because gold answers and supporting ids may have been corrected.

    Args:
        graph: returns `answer`, `passages` (best first), `trace`, `usage` and optionally `evidence` and `granularity`.
        questions: the questions, in any form that `load_questions` reads.
        out: the folder of one run, for `outcomes.jsonl` and `run.json`.
        context: the graph's run-time settings.
        configuration: method, model, knowledge base and its fingerprint, so that a folder never mixes two
            configurations; by default only the name of the graph.
        concurrency: how many questions are asked at once.
        on_result: called with each new outcome after it is written.

    Raises:
        OutcomesError: when the folder is damaged, holds outcomes of another run, is in use by another run, or cannot
            be written to.
        ModelCallError: when the model denies access, or could not be called for ten questions in a row.
        TypeError: when the graph is not compiled, or the context is neither a `Context` nor a dict of settings.
        ValueError: when the concurrency is not a whole number of at least 1, a setting has an invalid value, an item
            is not a question, or two questions have the same id.
    """
    expect_count(concurrency, "concurrency")
    out, read = Path(out), as_questions(questions)
    if not hasattr(graph, "ainvoke"):
        raise TypeError(f"expected a compiled graph, got a {type(graph).__name__}: call its method compile()")
    if isinstance(graph, CompiledStateGraph):
        context, graph = as_context(context, graph.context_schema), graph.copy({"checkpointer": None})
    asked = {question["id"]: question for question in read}
    named = Configuration(method=getattr(graph, "name", ""), model="", knowledge_base="")
    settings = _settings(context, configuration or named)
    with alone(out):
        kept = {outcome["id"]: outcome for outcome in answered_before(out, read, settings)}
        now = beginning(graph)
        begun = begun_with(out) if kept else now
        outcomes = {id_: scored(outcome, asked[id_]) if id_ in asked else outcome for id_, outcome in kept.items()}
        keep_settings(out, settings, begun)
        left = [question for question in read if question["id"] not in outcomes]
        if left and begun["version"] != now["version"]:
            _log.warning(_OTHER_VERSION, out, begun["version"], now["version"])
        if begun["prompts"] and begun["prompts"] != now["prompts"]:
            _log.warning(_OTHER_PROMPTS, out)
        with keeping(out / OUTCOMES, outcomes.values()) as keep:
            found = await work_through(left, _Asker(graph, context), concurrency, keep, on_result)
    outcomes |= {outcome["id"]: outcome for outcome in found}
    return [outcomes[question["id"]] for question in read]


def check_folder(
    out: Path, questions: Sequence[Question], context: Context | dict[str, Any] | None, configuration: Configuration
) -> None:
    """Refuse a folder that `evaluate` would refuse, before anything is loaded."""
    with alone(out):
        answered_before(out, questions, _settings(context, configuration))


def _settings(context: Context | dict[str, Any] | None, configuration: Configuration) -> dict[str, Any]:
    """Return the settings of outcomes in the form that is stored with them."""
    used = asdict(as_context(context) or Context())
    return {**configuration, "context": used}


@dataclass
class _Asker:
    """Asks questions until the model is lost: it denies access, or is unreachable for long."""

    graph: Graph
    context: Context | dict[str, Any] | None
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)

    async def __call__(self, question: Question) -> Outcome:
        outcome, started = unanswered(question), time.perf_counter()
        try:
            found = await self.graph.ainvoke({"question": question["question"]}, context=self.context)
            outcome["wall_seconds"] = round(time.perf_counter() - started, 4)
            self.breaker.reset()
            return scored(answered(outcome, found), question)
        except (Exception, asyncio.CancelledError) as error:
            if is_own_cancellation(error) or self.breaker.trips(error):
                raise
            outcome["wall_seconds"] = round(time.perf_counter() - started, 4)
            if not isinstance(error, RagError):
                _log.debug("question %s failed", question["id"], exc_info=error)
            return {**outcome, "error": _told(error)}


def _told(error: BaseException) -> str:
    """Return an error as text; errors of other packages with LangGraph's note, which names the node that raised it."""
    notes = [] if isinstance(error, RagError) else getattr(error, "__notes__", [])
    nodes = [note.partition(" and id ")[0] for note in notes]  # the id differs each time
    return "; ".join([f"{type(error).__name__}: {error}", *nodes])
