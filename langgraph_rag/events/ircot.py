"""Events of IRCoT."""

from typing import Literal

from langgraph_rag.events.base import StepEvent


class Thought(StepEvent):
    """One more sentence of reasoning, which is also the next query."""

    node: Literal["think"]
    thought: str
    """The sentence."""
    goes_on: bool
    """Whether passages are retrieved with it."""
