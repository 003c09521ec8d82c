"""KiRAG's aligner (section 3.2): a bi-encoder tells how well each piece of knowledge continues a chain."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from langchain_core.embeddings import Embeddings

from langgraph_rag.records import Candidate
from langgraph_rag.tasks import gather
from langgraph_rag.tools.embeddings import embed_queries, embed_texts
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.vectors import Matrix

_CONTEXT = 0.3  # what the passage counts, the triple the rest

Queries = Callable[[str, Sequence[Candidate]], list[str]]
"""Makes of a question and a chain what knowledge is compared with; the query most like a piece counts."""


def chain_query(question: str, chain: Sequence[Candidate]) -> str:
    """Return the question with the chain (section 3.2, q_i)."""
    return f"{question} knowledge triples: {'. '.join(link['text'] for link in chain)}" if chain else question


def in_words(question: str, chain: Sequence[Candidate]) -> str:
    """Return the question with the chain for an embedder that was trained on neither label nor brackets."""
    return " ".join([question, *(f"{link['name'] if link['triple'] else link['text']}." for link in chain)])


def whole_chain(question: str, chain: Sequence[Candidate]) -> list[str]:
    """Return the one query that a trained aligner has learnt to read."""
    return [chain_query(question, chain)]


def each_link(question: str, chain: Sequence[Candidate]) -> list[str]:
    """Return the question alone and with each link of the chain.

    An embedder that was not trained on chains finds nearest to a long one what says the same again.
    """
    return [question, *(in_words(question, [link]) for link in chain)]


class Aligner(Protocol):
    """Whatever tells how well knowledge continues a chain."""

    async def score(self, question: str, chain: Sequence[Candidate], knowledge: Sequence[Candidate]) -> list[float]:
        """Return a score for each piece, higher is better."""


class OwnAligner:
    """The embedder of the knowledge base (table 4, "w/o training"); its vectors of triples and passages are kept there.

    It was not trained on triples, out of context least of all: each counts together with the passage that states it.
    Nor on queries of different lengths: what is near to one of them is measured by what is nearest to it.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb

    async def score(self, question: str, chain: Sequence[Candidate], knowledge: Sequence[Candidate]) -> list[float]:
        """Return of each triple its highest share, for the question alone or with a link, of the best one's cosines."""
        near = await gather(self._nearness(query, knowledge) for query in each_link(question, chain))
        return [max(shares) for shares in zip(*map(_shares, near), strict=True)]

    async def _nearness(self, query: str, knowledge: Sequence[Candidate]) -> list[float]:
        """Return the cosine of each triple with a query, mixed with that of the passage that states it."""
        stating = [[source["passage_id"] for source in candidate["sources"]] for candidate in knowledge]
        passages = await self._kb.apassage_cosines(query, {id_ for ids in stating for id_ in ids})
        triples = await self._kb.atriple_cosines(query, [candidate["triple"] for candidate in knowledge])
        return [
            (1 - _CONTEXT) * cosine + _CONTEXT * max(passages.get(id_, 0.0) for id_ in ids)  # some deleted meanwhile
            for cosine, ids in zip(triples, stating, strict=True)
        ]


class BiEncoder:
    """Any embedder, e.g. a trained aligner; what was embedded once is remembered while this object lives."""

    def __init__(self, embeddings: Embeddings, queries: Queries = whole_chain) -> None:
        self._embeddings, self._queries = embeddings, queries
        self._vectors: dict[str, Matrix] = {}

    async def score(self, question: str, chain: Sequence[Candidate], knowledge: Sequence[Candidate]) -> list[float]:
        """Return the highest cosine of each text with a query."""
        texts = [candidate["text"] for candidate in knowledge]
        return await asyncio.to_thread(self._score, self._queries(question, chain), texts)

    def _score(self, queries: list[str], texts: list[str]) -> list[float]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, embed_texts(self._embeddings, new), strict=True))
        vectors = np.stack([self._vectors[text] for text in texts])
        cosines = vectors @ embed_queries(self._embeddings, queries).T
        scores: list[float] = cosines.max(axis=1).tolist()
        return scores


def _shares(cosines: list[float]) -> list[float]:
    best = max(cosines)
    return [cosine / best for cosine in cosines] if best > 0 else cosines
