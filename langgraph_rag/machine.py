"""A state machine whose steps can be changed, and are bounded by its own settings, however it is called."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NoReturn

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer
from langgraph.typing import ContextT, InputT, OutputT, StateT

from langgraph_rag.context import Context, as_context
from langgraph_rag.naming import expect_name
from langgraph_rag.nodes.node import Node

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
        for node in self.nodes.values():
            if isinstance(node.runnable, Node):
                node.runnable.fields = self.channels.keys()
        compiled = super().compile(checkpointer, **{"name": self.title, **options})
        compiled.__class__ = _CompiledMachine  # the class is fixed in StateGraph.compile
        return compiled

    if not TYPE_CHECKING:  # to which a class with this method has any attribute

        def __getattr__(self, name: str) -> NoReturn:
            """Tell who asks a graph before it is compiled what to do."""
            hint = f": compile the graph first, graph.compile().{name}" if hasattr(CompiledStateGraph, name) else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    def step(self, node: str) -> Any:
        """Return the step of a node, a dataclass: what it asks with which prompt and model.

        Raises:
            UnknownNameError: when no step of ours has that name.
        """
        return self._ours(node).step

    def change(self, node: str, /, **changes: Any) -> None:
        """Give the step of a node another `prompt`, `llm` or whatever else it has, before the graph is compiled.

            asking = graph.step("read_passages").prompt
            graph.change("read_passages", prompt=replace(asking, instructions=f"{asking.instructions} Say please."))

        Raises:
            UnknownNameError: when no step of ours has that name, or the step has no such field.
            TypeError: when a new `llm` is no model.
        """
        ours = self._ours(node)
        step: Any = ours.step
        for name in changes:
            expect_name(f"field of {node}", name, [field.name for field in fields(step)])
        self.nodes[node].runnable = type(ours)(replace(step, **changes))

    def _ours(self, node: str) -> Node:
        ours = {name: spec.runnable for name, spec in self.nodes.items() if isinstance(spec.runnable, Node)}
        expect_name("node", node, ours)
        return ours[node]


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
