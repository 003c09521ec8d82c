"""A state machine whose steps are bounded by its own settings, however it is called."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer
from langgraph.typing import ContextT, InputT, OutputT, StateT

from langgraph_rag.context import Context, as_context

_LANGCHAIN_DEFAULT = 25
STEPS = 10_000  # more than any settings allow: `max_steps` and the budgets end a run


class Machine(StateGraph[StateT, ContextT, InputT, OutputT]):
    """A `StateGraph` that LangChain's default recursion limit does not end half-way.

    `batch`, `abatch`, chains (`|`) and agents run by them hand it on to the graphs inside as if somebody had asked for
    it. Any other limit stands. Its `title` names it in traces and as a node, unless `compile` gets a `name`.
    """

    title = "LangGraph"

    def compile(
        self, checkpointer: Checkpointer = None, **options: Any
    ) -> CompiledStateGraph[StateT, ContextT, InputT, OutputT]:
        """Compile the graph; the options are those of `StateGraph.compile`."""
        compiled = super().compile(checkpointer, **{"name": self.title, **options})
        compiled.__class__ = _CompiledMachine  # the class is fixed in StateGraph.compile
        return compiled


class _CompiledMachine(CompiledStateGraph[Any, Any, Any, Any]):
    """Every way to run a graph ends in one of these two."""

    def stream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Iterator[Any]:
        return super().stream(input, self._unhindered(config), **self._checked(options))

    def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> AsyncIterator[Any]:
        return super().astream(input, self._unhindered(config), **self._checked(options))

    def _unhindered(self, config: RunnableConfig | None) -> RunnableConfig | None:
        if ensure_config(merge_configs(self.config, config))["recursion_limit"] != _LANGCHAIN_DEFAULT:
            return config
        return {**(config or {}), "recursion_limit": STEPS}

    def _checked(self, options: dict[str, Any]) -> dict[str, Any]:
        """Refuse settings of another kind, whose limits would be limits no more.

        Raises:
            TypeError: when the run's `context` is something else, or names a setting that there is not.
        """
        ours = self.context_schema is Context and "context" in options
        return {**options, "context": as_context(options["context"])} if ours else options
