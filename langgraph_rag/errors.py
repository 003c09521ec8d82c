"""Typed errors: each message says what was expected and what was received."""

from typing import Any

from langgraph_rag.records import Limit


class RagError(Exception):
    """Base class of all errors of this package."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without `__init__`, whose arguments differ from `args`."""
        return type(self).__new__, (type(self), *self.args), vars(self)


class DocumentError(RagError):
    """A document or a file of documents cannot be taken as it is."""


class DuplicateIdError(DocumentError):
    """One passage id stands for two different texts."""


class KnowledgeBaseError(RagError):
    """A knowledge base cannot be opened or used as asked."""


class EmbeddingsMismatchError(KnowledgeBaseError):
    """A knowledge base was made with another embedding model."""


class EmbedderError(RagError):
    """An embedder could not be set up or asked, or returned no vectors that can be used."""


class StoreServerError(KnowledgeBaseError):
    """A server that holds a knowledge base cannot be reached, or lost the connection; the same call can be repeated."""


class VectorServerError(StoreServerError):
    """A Chroma server cannot be reached, or does not answer in time."""


class EmptyKnowledgeBaseError(KnowledgeBaseError):
    """A question was asked of a knowledge base that holds nothing."""


# errors of those who ask are ValueErrors, too, whose messages LangGraph's server shows its clients
class QuestionError(RagError, ValueError):
    """A question is empty or too long."""


class FilterError(RagError, ValueError):
    """A filter on passages cannot be read, or does not fit any of them."""


class PlanError(RagError):
    """A plan edited by a person cannot be read."""


class ModelCallError(RagError):
    """A model could not be asked: no connection, a refusal by its server, a time-out, a reply that is none."""


class ModelAccessError(ModelCallError):
    """A model's server refuses whoever asks like this: a wrong key, no permission, no such model or address."""


class RequestRefusedError(ModelCallError):
    """A model refused one request for what it holds: it is too long, or the server's rules forbid it."""


class ModelOutputError(RagError):
    """A model's replies stayed unusable after every repair."""


class RerankerError(RagError):
    """A reranker could not be asked, or returned no documents."""


class ResponseCacheError(RagError):
    """A file of cached replies cannot be used."""


class PictureError(RagError):
    """A picture of facts cannot be drawn."""


class CheckpointsError(RagError):
    """A file of checkpoints cannot be used."""


class ResumeError(RagError, ValueError):
    """A run cannot be resumed by this graph."""


class StateError(RagError, ValueError):
    """A state, for example an edited one, does not have the form that a step expects."""


class BudgetReachedError(RagError):
    """A question's budget, `limit`, leaves no room for another model call; every method here answers all the same."""

    def __init__(self, limit: Limit, value: float) -> None:
        super().__init__(f"the budget, {limit}={value}, leaves no room for another model call")
        self.limit = limit


class UnknownNameError(RagError, ValueError):
    """A method, model, search or other named choice does not exist."""

    def __init__(self, kind: str, given: object, known: list[str]) -> None:
        super().__init__(f"unknown {kind} {given!r}: expected one of {', '.join(known)}")


class ProcessEndedError(RagError):
    """A process that was asked ended by itself, such as one killed for lack of memory."""


class ClusterError(RagError):
    """A Ray cluster cannot be reached, has no room for the work, or all that is asked of it fails."""


class AddressError(RagError):
    """An address cannot be listened on: it is taken, or not this machine's."""


class MissingExtraError(RagError, ImportError):
    """An optional package is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs an optional package: pip install 'langgraph-rag[{extra}]' "
            f"(in a clone: pip install -e '.[{extra}]')"
        )


def retry_on(error: Exception) -> bool:
    """Return whether a retry of a node may succeed, for LangGraph's `RetryPolicy(retry_on=retry_on)`.

    It may if a model or the server of a knowledge base could not be reached, but not after a refusal or a wrong
    argument.
    """
    refused = isinstance(error, ModelAccessError | RequestRefusedError)
    return isinstance(error, ModelCallError | StoreServerError) and not refused
