"""The knowledge base as a LangChain retriever, for chains and other components."""

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, PositiveInt

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.context import DEFAULT_SEARCH, Search
from langgraph_rag.filters import Where, joined
from langgraph_rag.records import FoundPassage
from langgraph_rag.tools.retrieve.retriever import Retriever


class KnowledgeBaseRetriever(BaseRetriever):
    """Finds the `k` best passages with one search `by` meaning, words or the triple graph, without a model.

    A `filter` lets through the passages whose metadata, title or source meet its conditions, as in `kb.search`. All
    three can also be set for a single query: `retriever.invoke(query, k=3)`; then both filters hold. A document has the
    metadata that it was added with, its title and source, and its `score`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    kb: Retriever
    k: PositiveInt = 10
    by: Search = DEFAULT_SEARCH
    filter: dict[str, Any] | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **settings: Any
    ) -> list[Document]:
        return run_in_background(self._found(query, **settings))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **settings: Any,
    ) -> list[Document]:
        return await self._found(query, **settings)

    async def _found(
        self, query: str, *, k: int | None = None, by: Search | None = None, filter: Where | None = None
    ) -> list[Document]:
        where = joined(self.filter, filter)
        found = await self.kb.asearch(query, self.k if k is None else k, by=by or self.by, filter=where)
        return list(map(_document, found))


def _document(passage: FoundPassage) -> Document:
    origin = {"title": passage["title"], "source": passage.get("source", "")}
    metadata = {**passage.get("metadata", {}), **{name: text for name, text in origin.items() if text}}
    metadata["score"] = passage["score"]
    return Document(passage["text"], id=passage["id"], metadata=metadata)
