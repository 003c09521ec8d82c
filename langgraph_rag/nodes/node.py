"""Makes steps LangGraph nodes: sync and async calls, measured cost, and events."""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, get_type_hints

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import set_config_context
from langgraph.config import get_stream_writer
from pydantic import PydanticUserError, TypeAdapter, ValidationError

from langgraph_rag.arguments import expect
from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.errors import StateError
from langgraph_rag.metering import metered


@contextmanager
def form_blamed(given: Mapping[str, Any], schema: type | None, step: str) -> Iterator[None]:
    """Raise a `StateError` instead of the errors that fields of another form cause in the block.

    Without a schema, the errors stay as they are.
    """
    try:
        yield
    except (TypeError, AttributeError, LookupError):
        if schema:
            _check_form(given, schema, step)
        raise


def _check_form(given: Mapping[str, Any], schema: type, step: str) -> None:
    """Check the fields of a state that have a schema."""
    for name, kind in get_type_hints(schema).items():
        if name not in given:
            continue
        try:
            with suppress(PydanticUserError):  # a class that Pydantic cannot check
                TypeAdapter(kind).validate_python(given[name])
        except ValidationError as error:
            wrong = error.errors()[0]
            raise StateError(
                f"{step}: the field {name!r} of the state has another form than expected, with "
                f"{wrong['input']!r:.200} in it: {wrong['msg']}"
            ) from error


EVENT_VERSION = 1

Update = dict[str, Any]


class Node(Runnable[Any, Update]):
    """A step as a LangGraph node, with `invoke` and `ainvoke`.

    Unlike a `RunnableLambda`, it does not inspect its function in each call.

    Attributes:
        fields: the fields of the graph's state, set when the graph is compiled.
        state: its schema, set then, too.

    Raises:
        TypeError: when the `llm` of the step is not a chat model; when a run of the step returns a field that is not in
            the state, as LangGraph would ignore it.
        StateError: when a run of the step fails because the state was edited and has another form.
    """

    fields: Collection[str] | None = None
    state: type | None = None

    def __init__(self, step: Callable[[Any], Awaitable[Update]]) -> None:
        llm = getattr(step, "llm", self)
        expect(Runnable, llm, "a chat model", "load_model(NAME) returns one")
        self.step, self.name = step, type(step).__name__

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the step and return its update with the `usage`."""
        with metered(input.get("usage")) as usage, form_blamed(input, self.state, self.get_name()):
            update = await self.step(input)
        if self.fields is not None and (lost := [name for name in update if name not in self.fields]):
            raise TypeError(f"{self.name} returned {', '.join(lost)}, which the state has no field for")
        return {"usage": usage, **{name: _storable(value) for name, value in update.items()}}

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the step on the background loop in the caller's context, for streaming and settings."""
        return run_in_background(self.ainvoke(input, config))


def _storable(value: Any) -> Any:
    """Remove NUL from a text: documents and models may return it, and Postgres cannot store it."""
    return value.replace("\0", "") if isinstance(value, str) else value


class Choice(Runnable[Any, Any]):
    """A function that chooses the next node; LangGraph would run a plain function in a new thread at each step.

    The edge must list the possible nodes.

    Attributes:
        state: the schema of the graph's state, set when the graph is compiled.

    Raises:
        StateError: when the choice fails because the state was edited and has another form.
    """

    state: type | None = None

    def __init__(self, choose: Callable[[Any], Any]) -> None:
        self.choose, self.name = choose, getattr(choose, "__name__", "choose")

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the name of the next node, or `Send` objects."""
        return self.invoke(input, config)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the name of the next node, or `Send` objects."""
        with set_config_context(config or {}) as settings, form_blamed(input, self.state, self.get_name()):
            return settings.run(self.choose, input)


def emit(node: str, **what: object) -> None:
    """Send a custom event about what a node did."""
    get_stream_writer()({"v": EVENT_VERSION, "node": node, **what})
