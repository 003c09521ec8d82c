"""The `StateGraph` of all methods: its steps can be changed, and only its own settings limit their number."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Container, Generator, Iterator, Mapping
from contextlib import aclosing, closing
from dataclasses import fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer, Command, StateSnapshot
from langgraph.typing import ContextT, InputT, OutputT, StateT

from langgraph_rag.context import Context, as_context
from langgraph_rag.errors import ResumeError
from langgraph_rag.metering import Account, charged, new_account, running
from langgraph_rag.naming import expect_name
from langgraph_rag.nodes.node import Choice, Node

_LANGCHAIN_DEFAULT = 25
_BEGUN_BY = "langgraph_rag"  # the field with the title of the graph in the metadata of checkpoints
_END = object()
STEPS = 10_000  # more than any settings allow: `max_steps` and the budgets end a run


class Machine(StateGraph[StateT, ContextT, InputT, OutputT]):
    """A `StateGraph` whose steps can be changed before it is compiled; each `create_...` function returns one.

    It ignores LangChain's default recursion limit of 25 steps, also if `batch`, a chain (`|`) or an agent passes it on.
    Any other limit applies. `title` is its name in traces and as a node.
    """

    title = "LangGraph"

    def compile(
        self, checkpointer: Checkpointer = None, **options: Any
    ) -> CompiledStateGraph[StateT, ContextT, InputT, OutputT]:
        """Compile the graph, so that it can be run.

        Args:
            checkpointer: stores each step, so that a stopped run can continue; as in LangGraph.
            options: those of `StateGraph.compile`; `name` is by default the `title` of the graph.

        Returns:
            A LangGraph graph with `invoke`, `ainvoke`, `stream` and `astream`; the input is a `QuestionInput`.
        """
        for node in self.nodes.values():
            if isinstance(node.runnable, Node):
                node.runnable.fields, node.runnable.state = self.channels.keys(), self.state_schema
        for branch in chain.from_iterable(branches.values() for branches in self.branches.values()):
            if isinstance(branch.path, Choice):
                branch.path.state = self.state_schema
        compiled = super().compile(checkpointer, **{"name": self.title, **options})
        compiled.__class__ = _CompiledMachine  # the class is fixed in StateGraph.compile
        compiled.config = merge_configs(compiled.config, {"metadata": {_BEGUN_BY: self.title}})
        return compiled

    if not TYPE_CHECKING:  # to type checkers, a class with this method has every attribute

        def __getattr__(self, name: str) -> NoReturn:
            """Explain what to do when a graph is called that was not compiled."""
            hint = f": compile the graph first, graph.compile().{name}" if hasattr(CompiledStateGraph, name) else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    def step(self, node: str) -> Any:
        """Return the step of a node, for example to look at its prompt or its model.

        Args:
            node: the name of a node of this graph; `graph.nodes` lists them.

        Returns:
            A dataclass. Use `change` to replace its fields.

        Raises:
            UnknownNameError: when the node does not exist or is not from this package.
        """
        return self._ours(node).step

    def change(self, node: str, /, **changes: Any) -> None:
        """Change the prompt, the model or another field of a node's step, before the graph is compiled.

            asking = graph.step("read_passages").prompt
            graph.change("read_passages", prompt=replace(asking, instructions=f"{asking.instructions} Say please."))

        Args:
            node: the name of a node, as for `step`.
            changes: new values for fields of its step, such as `prompt` or `llm`.

        Raises:
            UnknownNameError: when the node does not exist or is not from this package, or its step has no such field.
            TypeError: when a new `llm` is not a chat model.
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
    """A compiled graph; all methods that run one call `stream` or `astream`."""

    def stream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Iterator[Any]:
        if self._resumes(input):
            self._check_resumable(self.get_state(config or {}))
        run = super().stream(input, self._without_default_limit(config), **self._checked(options))
        return _paid(run, new_account())

    def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> AsyncIterator[Any]:
        run = super().astream(input, self._without_default_limit(config), **self._checked(options))
        return self._apaid(run, new_account(), (config or {}) if self._resumes(input) else None)

    async def _apaid(
        self, run: AsyncIterator[Any], account: Account, resumed: RunnableConfig | None
    ) -> AsyncIterator[Any]:
        if resumed is not None:
            self._check_resumable(await self.aget_state(resumed))
        async with aclosing(cast(AsyncGenerator[Any, None], run)):
            with running(account):
                while True:
                    with charged(account):
                        part = await anext(run, _END)
                    if part is _END:
                        return
                    yield part

    def _resumes(self, input: Any) -> bool:
        return (input is None or isinstance(input, Command)) and isinstance(self.checkpointer, BaseCheckpointSaver)

    def _check_resumable(self, stopped: StateSnapshot) -> None:
        """Check that a run stopped in this graph: LangGraph would go on with the state of another, or end at once."""
        title = cast("Machine[Any, Any, Any, Any]", self.builder).title
        if (begun_by := (stopped.metadata or {}).get(_BEGUN_BY, title)) != title:
            raise ResumeError(f"expected a run of {title} to resume, got one of {begun_by}: resume it there")
        if stopped.values and not stopped.next and not stopped.values.get("answer"):
            raise ResumeError(
                f"expected a run of {title} that stopped at one of its steps, got one without an answer and without a "
                "step to resume: ask again"
            )

    def _without_default_limit(self, config: RunnableConfig | None) -> RunnableConfig | None:
        if ensure_config(merge_configs(self.config, config))["recursion_limit"] != _LANGCHAIN_DEFAULT:
            return config
        return {**(config or {}), "recursion_limit": STEPS}

    def _checked(self, options: dict[str, Any]) -> dict[str, Any]:
        """Convert the settings of a run to a `Context`; other objects would be ignored, with their limits."""
        ours = self.context_schema is Context and "context" in options
        return {**options, "context": as_context(options["context"])} if ours else options


def _paid(run: Iterator[Any], account: Account) -> Iterator[Any]:
    """Charge each step of a run to its account; between them, other code of the caller runs."""
    with closing(cast(Generator[Any, None, None], run)), running(account):
        while True:
            with charged(account):
                part = next(run, _END)
            if part is _END:
                return
            yield part


AnyGraph = StateGraph[Any, Any, Any, Any]


def copy_nodes(
    source: AnyGraph, target: AnyGraph, state: type[Any], made: Callable[[Any], Node], without: Container[str] = ()
) -> None:
    """Copy the nodes of a graph, but those `without`, with their settings, such as retries.

    Args:
        source: the graph that has the nodes.
        target: the graph that gets them.
        state: the schema of its state.
        made: makes the node of a step.
        without: names of nodes that are left out.

    Raises:
        ValueError: when a node is not of this package, or the target has one of its name; the message names it.
    """
    for name, node in source.nodes.items():
        if name in without:
            continue
        if not isinstance(node.runnable, Node):
            raise ValueError(
                f"expected the nodes that a create_* function adds, got {name} as well: add it to the graph that this "
                "call returns, or put it in a graph around that"
            )
        if name in target.nodes:
            raise ValueError(f"expected nodes with other names than those that are there, got {name}")
        target.nodes[name] = replace(node, runnable=made(node.runnable.step), input_schema=state)
    target._node_defaults = source._node_defaults  # LangGraph has no public way to copy them


def copy_edges(
    source: AnyGraph,
    target: AnyGraph,
    begins: Mapping[str, str],
    ends: Mapping[str, str],
    without: Container[str] = (),
) -> None:
    """Copy the edges of a graph, but those that begin at nodes `without`.

    Args:
        source: the graph that has the edges.
        target: the graph that gets them.
        begins: other nodes for the beginnings of edges.
        ends: other nodes for their ends.
        without: names of nodes whose edges are left out.

    Raises:
        ValueError: when an edge does not name the nodes that it chooses from.
    """
    for begin, end in source.edges:
        if begin not in without:
            target.add_edge(begins.get(begin, begin), ends.get(end, end))
    for several, end in source.waiting_edges:
        target.add_edge([begins.get(begin, begin) for begin in several], ends.get(end, end))
    for begin, branches in source.branches.items():
        for name, branch in branches.items():
            if branch.ends is None:
                raise ValueError(f"expected edges that name the nodes they choose from, got {name} after {begin}")
            chosen = {choice: ends.get(end, end) for choice, end in branch.ends.items()}
            target.add_conditional_edges(begins.get(begin, begin), branch.path, chosen)
