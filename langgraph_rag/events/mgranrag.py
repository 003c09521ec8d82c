"""Events of MGranRAG."""

from typing import Literal

from langgraph_rag.events.base import BaseEvent, StepEvent
from langgraph_rag.nodes.extract_evidence import EvidenceUnit
from langgraph_rag.records import Evidence, ScoredPassage


class QuestionDecomposed(BaseEvent):
    """The question was divided into sub-queries."""

    node: Literal["decompose"]
    thought: str
    """The reasoning."""
    subqueries: list[str]
    """The sub-queries; none if the question has only one part."""


class EvidenceExtracted(StepEvent):
    """Helpful sentences were extracted from the passages."""

    node: Literal["extract_evidence"]
    thought: str
    """The conclusion of the reading."""
    found: list[EvidenceUnit]
    """The sentences with their key phrases and the questions that each supports (0: the main one); without scores."""
    passages: int
    """Number of passages that were read."""


class EvidenceRemembered(BaseEvent):
    """The extracted sentences were added to the memory."""

    node: Literal["remember"]
    fresh: int
    """Number of new sentences."""
    known: int
    """Number of sentences in the memory."""
    evidence: list[Evidence]
    """All sentences in the memory."""


class QueryAugmented(BaseEvent):
    """The query was built from the question and the best evidence."""

    node: Literal["augment_query"]
    query: str
    """The query, one line for each part."""


class PhrasesAligned(BaseEvent):
    """The phrases of the evidence were matched with those of the graph."""

    node: Literal["align_phrases"]
    phrases: list[str]
    """The phrases."""
    new: list[str]
    """The phrases that are not in the graph."""


class PassagesCalibrated(BaseEvent):
    """The passages were ranked by a walk on the graph from the question and the evidence."""

    node: Literal["calibrate"]
    passages: list[ScoredPassage]
    """The best passages."""
    titles: list[str]
    """Their titles, in the same order."""
    seeds: int
    """Number of evidence sentences from which the walk starts."""
    new_phrases: int
    """Number of phrases added to the graph for this question."""
    new_links: int
    """Number of links added to the graph for this question."""


MgranragEvent = (
    QuestionDecomposed | EvidenceExtracted | EvidenceRemembered | QueryAugmented | PhrasesAligned | PassagesCalibrated
)
