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
    """A `StateGraph` whose steps can be changed until it is compiled; each `create_...` function returns one.

    LangChain's default recursion limit of 25 steps does not end it half-way, also when `batch`, a chain (`|`) or an
    agent hands that limit on. Any other limit counts. `title` is its name in traces and as a node.
    """

    title = "LangGraph"

    def compile(
        self, checkpointer: Checkpointer = None, **options: Any
    ) -> CompiledStateGraph[StateT, ContextT, InputT, OutputT]:
        """Compile the graph, so that it can be run.

        Args:
            checkpointer: keeps the steps, so that a stopped run can go on; as LangGraph takes it.
            options: those of `StateGraph.compile`; `name` is by default the `title` of the graph.

        Returns:
            A LangGraph graph with `invoke`, `ainvoke`, `stream` and `astream`; the input is a `QuestionInput`.
        """
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
        """Return the step of a node, for example to see its prompt and its model.

        Args:
            node: the name of a node that is in this graph; `graph.nodes` has all.

        Returns:
            A dataclass, whose fields `change` can replace.

        Raises:
            UnknownNameError: when there is no such node, or it is not one of this package.
        """
        return self._ours(node).step

    def change(self, node: str, /, **changes: Any) -> None:
        """Give the step of a node another prompt, model or other part, before the graph is compiled.

            asking = graph.step("read_passages").prompt
            graph.change("read_passages", prompt=replace(asking, instructions=f"{asking.instructions} Say please."))

        Args:
            node: the name of a node, as for `step`.
            changes: new values for fields of its step, such as `prompt` or `llm`.

        Raises:
            UnknownNameError: when there is no such node, it is not one of this package, or its step has no such field.
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
