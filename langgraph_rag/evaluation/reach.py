"""When it is plain that asking on is of no use: who asks is refused or has ended, or the model stays out of reach."""

from dataclasses import dataclass

from langgraph_rag.errors import ModelAccessError, ModelCallError, ProcessEndedError, RequestRefusedError

_MOST_UNREACHED = 10  # requests in a row for which the model could not be asked


@dataclass
class Reach:
    """Counts for how many questions or answers in a row a model could not be asked."""

    unreached: int = 0

    def succeeded(self) -> None:
        """Note that the model was asked, and replied."""
        self.unreached = 0

    def is_lost(self, error: BaseException) -> bool:
        """Note an error, and tell whether all that is asked after it would end in it, too."""
        reached = not isinstance(error, ModelCallError) or isinstance(error, RequestRefusedError)
        self.unreached = 0 if reached else self.unreached + 1
        return isinstance(error, ModelAccessError | ProcessEndedError) or self.unreached >= _MOST_UNREACHED
