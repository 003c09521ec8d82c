"""Reranking by stored vectors or by any compressor, also one that filters or invents passages."""

from collections.abc import Sequence
from typing import Any

import pytest
from fakes import ArithmeticEmbeddings
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document

from langgraph_rag.errors import RerankerError
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.retrieve.ranking import EmbeddingReranker, rerank


class Fixed(BaseDocumentCompressor):
    """Returns what it was made with."""

    ids: list[str]

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        return [Document(page_content="", metadata={"id": id_}) for id_ in self.ids]


async def test_embeddings_keep_an_order_that_is_theirs_and_embed_only_the_query(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings
) -> None:
    query = "Who directed The Salt Road?"
    expected = [passage["id"] for passage in kb.search(query, 8, by="dense")]
    records = await kb.apassages(expected)
    embeddings.batches.clear()

    assert await rerank(EmbeddingReranker(kb=kb), query, records, most=8, least=3) == expected
    assert set(embeddings.embedded) <= {query}


async def test_what_a_search_found_first_is_kept_though_its_vector_is_the_farthest(kb: KnowledgeBase) -> None:
    query = "Who directed The Salt Road?"
    *nearer, farthest = [passage["id"] for passage in kb.search(query, 8, by="dense")]
    records = await kb.apassages([farthest, *nearer])

    best = await rerank(EmbeddingReranker(kb=kb), query, records, most=3, least=3)

    assert best == [*nearer[:2], farthest]


def test_it_can_be_used_as_any_compressor_without_an_event_loop(kb: KnowledgeBase) -> None:
    documents = [Document(id=id_, page_content=id_) for id_ in ("salt-road", "deleted", "heron")]

    ordered = EmbeddingReranker(kb=kb).compress_documents(documents, "The Salt Road")

    assert [document.id for document in ordered] == ["salt-road", "heron"]


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (["barrow", "vint"], ["barrow", "vint", "heron"]),
        ([], ["heron", "vint", "holm"]),
        (["barrow", "nobody", "barrow", "holm", "vint", "heron"], ["barrow", "holm", "vint", "heron"]),
    ],
)
async def test_a_compressor_may_filter_but_never_below_the_least(
    kb: KnowledgeBase, returned: list[str], expected: list[str]
) -> None:
    records = await kb.apassages(["heron", "vint", "holm", "barrow"])

    assert await rerank(Fixed(ids=returned), "anything", records, most=4, least=3) == expected


class Failing(BaseDocumentCompressor):
    """Returns no documents, or makes them anew under their ids."""

    returned: Any

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        if isinstance(self.returned, Exception):
            raise self.returned
        found: Sequence[Document] = self.returned
        return found


@pytest.mark.parametrize(
    ("returned", "told"),
    [(None, "TypeError: 'NoneType'"), (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero")],
)
async def test_a_compressor_that_fails_is_named(kb: KnowledgeBase, returned: Any, told: str) -> None:
    records = await kb.apassages(["heron", "vint"])

    with pytest.raises(RerankerError, match=f"reranker Failing gave no documents: {told}"):
        await rerank(Failing(returned=returned), "anything", records, most=1, least=1)


async def test_documents_made_anew_are_known_by_their_ids(kb: KnowledgeBase) -> None:
    records, anew = await kb.apassages(["heron", "vint"]), [Document(id="vint", page_content="")]

    assert await rerank(Failing(returned=anew), "anything", records, most=1, least=1) == ["vint"]


async def test_most_is_kept_and_nothing_of_nothing(kb: KnowledgeBase) -> None:
    records = await kb.apassages(["heron", "vint", "holm"])

    assert await rerank(Fixed(ids=["holm", "heron"]), "anything", records, most=1, least=1) == ["holm"]
    assert await rerank(Fixed(ids=[]), "anything", [], most=4, least=3) == []
