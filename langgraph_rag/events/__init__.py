"""The custom events of the graphs (`stream_mode="custom"`).

After each run, a node sends one event, a plain JSON object; in PAR RAG one for each question acted on. `node` names the
kind of event; each method has a module of its kinds. All of them together are version 1. A version may add fields; if a
field is removed or changes its meaning, there is a new version.
"""

from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from langgraph_rag.events.adaptive import AdaptiveEvent
from langgraph_rag.events.cirag import CiragEvent
from langgraph_rag.events.dualrag import DualragEvent
from langgraph_rag.events.ircot import Thought
from langgraph_rag.events.kirag import KiragEvent
from langgraph_rag.events.mgranrag import MgranragEvent
from langgraph_rag.events.par_rag import ParRagEvent
from langgraph_rag.events.shared import SharedEvent

Event = Annotated[
    SharedEvent | AdaptiveEvent | CiragEvent | KiragEvent | Thought | DualragEvent | MgranragEvent | ParRagEvent,
    Field(discriminator="node"),
]
"""Any event."""

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def event_schema() -> dict[str, Any]:
    """Return the JSON schema of an event; unlike `check_event`, it allows further fields."""
    schema = _EVENT.json_schema()
    for part in schema["$defs"].values():
        part.pop("additionalProperties", None)
    return schema


def check_event(event: object) -> Event:
    """Return a received event, typed by its `node`.

    Raises:
        pydantic.ValidationError: when it is not an event of this version.
    """
    return _EVENT.validate_python(event, strict=True)
