"""Events of several methods."""

from typing import Literal

from langgraph_rag.events.base import AnswerEvent, BaseEvent, StepEvent, TitledRetrievalEvent
from langgraph_rag.records import Evidence, Supported


class QuestionReceived(BaseEvent):
    """A question was received; the state of an earlier one on this thread was cleared."""

    node: Literal["receive_question"]
    question: str
    """The question that will be answered."""


class QuestionRestated(BaseEvent):
    """A follow-up question of a conversation was rewritten as a standalone question (`with_messages`)."""

    node: Literal["restate_question"]
    asked: str
    """The original question."""
    question: str
    """The question that will be answered; the same if it was standalone already."""
    understood: bool
    """Whether a model read it together with the conversation; if not, the original question is answered."""
    others: list[str]
    """What else a word of the original question may have meant, such as a second person who was named before."""


class PassagesRetrieved(TitledRetrievalEvent):
    """Passages were retrieved for a query."""

    node: Literal["retrieve"]


class PassagesRead(AnswerEvent):
    """The reader gave an answer from the best passages."""

    node: Literal["read_passages"]
    titles: list[str]
    """Titles of the passages it read."""


class Concluded(BaseEvent):
    """The run has ended: the answer with all its evidence."""

    node: Literal["conclude"]
    answer: str
    """The answer."""
    supported: Supported
    """Whether it stands in what was shown."""
    evidence: list[Evidence]
    """The facts, sentences and passages that support it, each with the step that found it."""


class EvidenceAccumulated(StepEvent):
    """The triples kept in this step were mapped to the sentences that state them (CIRAG, KiRAG)."""

    node: Literal["accumulate"]
    evidence: list[Evidence]
    """The evidence that this step adds."""


class PassagesRanked(BaseEvent):
    """The passages of all retrievals so far were merged into one ranking (baselines)."""

    node: Literal["rank_passages"]
    passages: int
    """Number of passages in the ranking."""


class SupportFound(BaseEvent):
    """The sentences that support the thoughts and the answer were found in the passages that were read."""

    node: Literal["find_support"]
    sentences: int
    """Number of these sentences that are new evidence."""
    evidence: list[Evidence]
    """These sentences."""


SharedEvent = (
    QuestionReceived
    | QuestionRestated
    | PassagesRetrieved
    | PassagesRead
    | Concluded
    | EvidenceAccumulated
    | PassagesRanked
    | SupportFound
)
