"""KiRAG's aligner (section 3.2): a bi-encoder tells how well each piece of knowledge continues a chain."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from langchain_core.embeddings import Embeddings

from langgraph_rag.records import Candidate
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.vectors import Matrix, unit


class Aligner(Protocol):
    """Whatever tells how well knowledge continues what a query says."""

    async def score(self, query: str, knowledge: Sequence[Candidate]) -> list[float]:
        """Return a score for each piece, higher is better."""


class OwnAligner:
    """The embedder of the knowledge base (table 4, "w/o training"); triple vectors are kept there."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb

    async def score(self, query: str, knowledge: Sequence[Candidate]) -> list[float]:
        """Return the cosine of each triple with the query."""
        return await self._kb.rank(query, [candidate["triple"] for candidate in knowledge])


class BiEncoder:
    """Any embedder, e.g. a trained aligner; what was embedded once is remembered while this object lives."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        self._vectors: dict[str, Matrix] = {}

    async def score(self, query: str, knowledge: Sequence[Candidate]) -> list[float]:
        """Return the cosine of each text with the query."""
        return await asyncio.to_thread(self._score, query, [candidate["text"] for candidate in knowledge])

    def _score(self, query: str, texts: list[str]) -> list[float]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, unit(self._embeddings.embed_documents(new)), strict=True))
        vector = unit([self._embeddings.embed_query(query)])[0]
        scores: list[float] = (np.stack([self._vectors[text] for text in texts]) @ vector).tolist()
        return scores
