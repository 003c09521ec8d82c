"""Events of KiRAG."""

from typing import Annotated, Literal

from pydantic import Field

from langgraph_rag.events.base import BaseEvent, StepEvent


class KnowledgeDecomposed(BaseEvent):
    """The retrieved passages were decomposed into pieces of knowledge: triples, sentences or documents."""

    node: Literal["decompose_knowledge"]
    passages: int
    """Number of passages."""
    pieces: int
    """Number of pieces."""


class _Identified(StepEvent):
    query: Annotated[str, Field(description="The question with the chain so far.")]
    candidates: Annotated[int, Field(description="How many pieces the constructor is shown.")]


class CandidatesIdentified(_Identified):
    """The aligner selected the pieces that may continue the chain."""

    node: Literal["identify_candidates"]


class IdentifiedInWholeGraph(_Identified):
    """The aligner selected these pieces from the whole knowledge base (ablation without retriever)."""

    node: Literal["identify_in_whole_graph"]


class ChainConstructed(StepEvent):
    """The constructor completed the chain; its new pieces were taken, or as published the first."""

    node: Literal["construct_chain"]
    thought: str
    """The conclusion of the completed chain."""
    taken: str
    """The pieces that were taken, one to a line; empty if there were none."""
    refused: str
    """A proposed piece that is not among the candidates; else empty."""
    answered: bool
    """Whether the chain ended because it contains the answer."""


class DocumentsRanked(BaseEvent):
    """The documents were ranked by the candidates of all steps."""

    node: Literal["rank_documents"]
    passages: int
    """Number of documents."""


KiragEvent = KnowledgeDecomposed | CandidatesIdentified | IdentifiedInWholeGraph | ChainConstructed | DocumentsRanked
