"""Decides when to stop a run: access is denied, a process has ended, or the model stays unreachable."""

from dataclasses import dataclass

from langgraph_rag.errors import ModelAccessError, ModelCallError, ProcessEndedError, RequestRefusedError

_MOST_UNREACHED = 10  # failed calls in a row


@dataclass
class CircuitBreaker:
    """Counts for how many questions or answers in a row a model could not be called."""

    unreached: int = 0

    def reset(self) -> None:
        """Record that the model replied."""
        self.unreached = 0

    def trips(self, error: BaseException) -> bool:
        """Record an error, and return whether all later calls would fail, too."""
        reached = not isinstance(error, ModelCallError) or isinstance(error, RequestRefusedError)
        self.unreached = 0 if reached else self.unreached + 1
        return isinstance(error, ModelAccessError | ProcessEndedError) or self.unreached >= _MOST_UNREACHED
