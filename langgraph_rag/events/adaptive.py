"""Events of our own method."""

from typing import Literal

from langgraph_rag.events.base import AnswerEvent, StepEvent, TitledRetrievalEvent
from langgraph_rag.records import Evidence, Supported


class QuestionSearched(TitledRetrievalEvent):
    """Passages were retrieved for the question."""

    node: Literal["search"]


class GapLookedUp(TitledRetrievalEvent):
    """Passages were retrieved for one of the things that were missing."""

    node: Literal["look_up"]


class PassagesReadOnce(StepEvent, AnswerEvent):
    """Passages that were not read before were read, for an answer or for what is missing."""

    node: Literal["read"]
    titles: list[str]
    """Titles of these passages."""
    missing: list[str]
    """What has to be looked up before the question can be answered."""
    evidence: list[Evidence]
    """The sentences that the answer, or what is known so far, rests on."""


class Assessed(StepEvent):
    """The gate measured what a reading gave, and decided how the question goes on."""

    node: Literal["assess"]
    way: Literal["look_up", "hand_over", "conclude"]
    """The next step."""
    look_ups: list[str]
    """What is open and was not looked up yet."""
    supported: Supported
    """Whether there is an answer that stands in the passages that were read."""
    why: str
    """What was measured, and what follows from it."""


class HandedOver(StepEvent):
    """The question was handed over to another method, which begins with what is known."""

    node: Literal["hand_over"]
    passages: int
    """Number of passages found so far."""
    evidence: list[Evidence]
    """The sentences that the other method begins with."""


AdaptiveEvent = QuestionSearched | GapLookedUp | PassagesReadOnce | Assessed | HandedOver
"""Any event of our own method."""
