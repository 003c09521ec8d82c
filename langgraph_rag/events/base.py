"""What events have in common."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from langgraph_rag.records import ScoredPassage


# Pydantic ignores attribute docstrings in the bases of a TypedDict, so their fields are described by `Field`.
@with_config(ConfigDict(use_attribute_docstrings=True, extra="forbid"))
class BaseEvent(TypedDict):
    """Any event."""

    v: Annotated[Literal[1], Field(description="Version of the schema.")]


class StepEvent(BaseEvent):
    """Of one retrieval round."""

    step: Annotated[int, Field(description="The retrieval round this belongs to: 1, 2, ...")]


class RetrievalEvent(StepEvent):
    """Passages were found."""

    query: Annotated[str, Field(description="What was searched for.")]
    passages: Annotated[list[ScoredPassage], Field(description="The passages found, best first.")]


class TitledRetrievalEvent(RetrievalEvent):
    """Passages were found, and are told by their titles."""

    titles: Annotated[list[str], Field(description="Their titles, in the same order.")]


class AnswerEvent(BaseEvent):
    """A model gave an answer."""

    thought: Annotated[str, Field(description="The reasoning behind the answer.")]
    answer: Annotated[
        str, Field(description="The answer, or a refusal in the model's words; empty if no model was asked.")
    ]
    sufficient: Annotated[bool, Field(description="Whether it is an answer and no refusal.")]
