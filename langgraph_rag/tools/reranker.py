"""Reranks passages by relevance to a query, with any LangChain document compressor or with stored vectors."""

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langgraph.errors import GraphBubbleUp
from pydantic import ConfigDict

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.errors import RagError, RerankerError
from langgraph_rag.records import Record, reciprocal_ranks, titled_text
from langgraph_rag.tools.fusion import TOP_HEAVY, fuse
from langgraph_rag.tools.retrieve.retriever import Retriever


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
