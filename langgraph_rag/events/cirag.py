"""Events of CIRAG."""

from typing import Literal

from langgraph_rag.events.base import AnswerEvent, BaseEvent, StepEvent


class TriplesExtracted(BaseEvent):
    """A model extracted triples from newly retrieved passages (the variant `triples="online"`)."""

    node: Literal["extract_triples"]
    triples: int
    """Number of triples of the retrieved passages."""


class CandidatesConstructed(StepEvent):
    """The candidates for the query were selected from the triples of the retrieved passages."""

    node: Literal["construct"]
    triples: int
    """Number of triples of these passages."""
    candidates: int
    """Number of triples that the integrator is shown."""


class TriplesIntegrated(StepEvent):
    """The integrator selected the core triples and named what is missing."""

    node: Literal["integrate"]
    thought: str
    """Its reasoning."""
    kept: list[list[str]]
    """The core triples, each as head, relation, tail."""
    dropped: int
    """Number of candidates that were not kept."""
    next_question: str
    """The next question; empty if nothing is missing."""


class AnsweredFromTriples(AnswerEvent):
    """First level of the cascade."""

    node: Literal["answer_from_triples"]


class AnsweredFromSentences(AnswerEvent):
    """Second level of the cascade: the triples did not suffice."""

    node: Literal["answer_from_sentences"]


class AnsweredFromPassages(AnswerEvent):
    """Third level of the cascade: the sentences did not suffice, either."""

    node: Literal["answer_from_passages"]


CiragEvent = (
    TriplesExtracted
    | CandidatesConstructed
    | TriplesIntegrated
    | AnsweredFromTriples
    | AnsweredFromSentences
    | AnsweredFromPassages
)
