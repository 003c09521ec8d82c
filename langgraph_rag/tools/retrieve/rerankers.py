"""Rerankers of passages, and KiRAG's aligner of triples (Fang et al. 2025, section 3.4)."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langgraph.errors import GraphBubbleUp
from pydantic import ConfigDict

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.concurrency.tasks import gather
from langgraph_rag.errors import RagError, RerankerError
from langgraph_rag.records import Candidate, Record, reciprocal_ranks, titled_text
from langgraph_rag.tools.ingest.embedder import embed_queries, embed_texts
from langgraph_rag.tools.retrieve.fusion import TOP_HEAVY, fuse
from langgraph_rag.tools.retrieve.retriever import Retriever
from langgraph_rag.tools.stores.vectors import Matrix


class EmbeddingReranker(BaseDocumentCompressor):
    """Ranks passages of a knowledge base by their stored vectors and by their given order (reciprocal rank fusion).

    Only the query is embedded. The given order counts because a search finds by names and by the triple graph what
    vectors alone lose: a rare name has a vector much like that of any other name.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    kb: Retriever

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Return the documents, best first; those that are not in the knowledge base are left out."""
        return run_in_background(self.acompress_documents(documents, query, callbacks))

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Rerank like `compress_documents`; concurrent calls share batches."""
        cosines = await self.kb.apassage_cosines([query], [str(document.id) for document in documents])
        known = {str(document.id): document for document in documents if document.id in cosines}
        near = sorted(known, key=lambda id_: (-cosines[id_][0], id_))
        fused = fuse([reciprocal_ranks(known), reciprocal_ranks(near)], constant=TOP_HEAVY)
        return [known[passage["id"]] for passage in fused]


async def rerank(
    reranker: BaseDocumentCompressor, query: str, records: Sequence[Record], *, most: int, least: int
) -> list[str]:
    """Return the ids of at most `most` records, best first according to a reranker.

    If the reranker returns fewer than `least`, the first of the other records follow, in the given order.

    Raises:
        RerankerError: when it fails, or returns no documents.
    """
    documents = [
        Document(
            id=record["id"],
            page_content=titled_text(record),
            metadata={"id": record["id"], "title": record["title"]},
        )
        for record in records
    ]
    kept = await _asked(reranker, query, documents) if documents else []
    given = dict.fromkeys(record["id"] for record in records)
    best = dict.fromkeys(id_ for id_ in kept if id_ in given)
    others = [id_ for id_ in given if id_ not in best]
    return [*best, *others[: max(0, least - len(best))]][:most]


async def _asked(reranker: BaseDocumentCompressor, query: str, documents: Sequence[Document]) -> list[Any]:
    """Return the ids of the documents that a reranker returns; they may be in the metadata or in the id."""
    try:
        kept = await reranker.acompress_documents(documents, query)
        return [document.metadata.get("id") or document.id for document in kept]
    except (RagError, GraphBubbleUp):
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise RerankerError(f"reranker {type(reranker).__name__} gave no documents: {told}") from error


_CONTEXT = 0.3  # weight of the passage; the triple has the rest
_LED_TO = 0.9  # weight of the names that a chain leads to; the question, alone and with the chain, has 1
_REMEMBERED = 50_000  # vectors

Queries = Callable[[str, Sequence[Candidate]], list[str]]
"""Returns the queries for a question and a chain; the score of a piece is its highest cosine with one of them."""


def in_words(question: str, chain: Sequence[Candidate]) -> str:
    """Return the question and the chain as plain text, for embedders that were not trained on a special format."""
    return " ".join([question, *(f"{link['name'] if link['triple'] else link['text']}." for link in chain)])


def whole_chain(question: str, chain: Sequence[Candidate]) -> list[str]:
    """Return the query in the format that aligners are trained on (section 3.2, q_i)."""
    return [f"{question}. knowledge triples: {'. '.join(link['text'] for link in chain)}" if chain else question]


def with_and_without_chain(question: str, chain: Sequence[Candidate]) -> list[str]:
    """Return the question alone, and with the chain, as the first and the present retrieval had them."""
    return list(dict.fromkeys([question, in_words(question, chain)]))


def names_led_to(question: str, chain: Sequence[Candidate]) -> list[str]:
    """Return the names at the ends of a chain's triples that the question does not have."""
    ends = dict.fromkeys(end for link in chain for end in link["triple"][::2])
    return [end for end in ends if any(map(str.isupper, end)) and end.lower() not in question.lower()]


class Aligner(Protocol):
    """Scores how well knowledge continues a chain."""

    async def score(self, question: str, chain: Sequence[Candidate], knowledge: Sequence[Candidate]) -> list[float]:
        """Return a score for each piece; higher is better."""


class OwnAligner:
    """The embedder of the knowledge base, with its stored vectors of triples and passages.

    It was not trained on triples without context, so the passage that states a triple contributes to its score. It was
    not trained on queries of different lengths either, so cosines are divided by the highest one for the same query,
    among all knowledge and the chain: once a link is taken, the next best for its query does not take its place.
    And it was not trained on chains: to it the question outweighs what a chain leads to: those names are queries, too.
    """

    def __init__(self, kb: Retriever) -> None:
        self._kb = kb

    async def score(self, question: str, chain: Sequence[Candidate], knowledge: Sequence[Candidate]) -> list[float]:
        """Return the highest score of each triple over all queries, relative to the best one for the same query."""
        asked, names = with_and_without_chain(question, chain), names_led_to(question, chain)
        queries, weights = [*asked, *names], [1.0] * len(asked) + [_LED_TO] * len(names)
        compared = [*knowledge, *chain]
        triples, passages = await gather(
            [
                self._kb.atriple_cosines(queries, [candidate["triple"] for candidate in compared]),
                self._of_passages(queries, compared),
            ]
        )
        near = (1 - _CONTEXT) * triples + _CONTEXT * passages
        best = near.max(axis=0)
        scores: list[float] = (weights * near / np.where(best > 0, best, 1)).max(axis=1).tolist()
        return scores[: len(knowledge)]

    async def _of_passages(self, queries: Sequence[str], knowledge: Sequence[Candidate]) -> Matrix:
        """Return the highest cosine of the passages that state each triple; shape: triples x queries.

        It is 0 if the passage was deleted in the meantime.
        """
        stating = [source["passage_id"] for candidate in knowledge for source in candidate["sources"]]
        passages = {id_: place for place, id_ in enumerate(dict.fromkeys(stating))}
        found = await self._kb.apassage_cosines(queries, list(passages))
        unknown = np.zeros(len(queries), np.float32)
        cosines = np.stack([found.get(id_, unknown) for id_ in passages])
        firsts = np.cumsum([0, *(len(candidate["sources"]) for candidate in knowledge[:-1])])
        highest: Matrix = np.maximum.reduceat(cosines[[passages[id_] for id_ in stating]], firsts)
        return highest


class BiEncoder:
    """Any embedder, such as a trained aligner, with a cache of recent vectors."""

    def __init__(self, embeddings: Embeddings, queries: Queries = whole_chain) -> None:
        self._embeddings, self._queries = embeddings, queries
        self._vectors: dict[str, Matrix] = {}

    async def score(self, question: str, chain: Sequence[Candidate], knowledge: Sequence[Candidate]) -> list[float]:
        """Return the highest cosine of each text with a query."""
        texts = [candidate["text"] for candidate in knowledge]
        return await asyncio.to_thread(self._score, self._queries(question, chain), texts)

    def _score(self, queries: list[str], texts: list[str]) -> list[float]:
        known = {text: vector for text in texts if (vector := self._vectors.get(text)) is not None}
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(new, embed_texts(self._embeddings, new), strict=True))
        if len(self._vectors) + len(new) > _REMEMBERED:
            self._vectors = {}
        self._vectors.update(known)
        vectors = np.stack([known[text] for text in texts])
        cosines = vectors @ embed_queries(self._embeddings, queries).T
        scores: list[float] = cosines.max(axis=1).tolist()
        return scores
