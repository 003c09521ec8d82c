"""The knowledge base as a LangChain retriever, for chains and for whatever else takes one."""

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import PositiveInt

from langgraph_rag.context import Search
from langgraph_rag.records import Passage
from langgraph_rag.tools.knowledge_base import KnowledgeBase


class KnowledgeBaseRetriever(BaseRetriever):
    """Finds passages with one search and no model; `k` of them, best first, `by` meaning, words or the triple graph.

    The metadata of a document are those it was added with, its title and source, and its `score`.
    """

    kb: KnowledgeBase
    k: PositiveInt = 10
    by: Search = "graph"

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = self.kb.search(query, self.k, by=self.by)
        return [_document(passage, passage["score"]) for passage in found]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        scores = {passage["id"]: passage["score"] for passage in await self.kb.arank(query, self.k, by=self.by)}
        return [_document(record, scores[record["id"]]) for record in await self.kb.apassages(list(scores))]


def _document(passage: Passage, score: float) -> Document:
    origin = {"title": passage["title"], "source": passage.get("source", "")}
    metadata = {**passage.get("metadata", {}), **{name: text for name, text in origin.items() if text}, "score": score}
    return Document(passage["text"], id=passage["id"], metadata=metadata)
