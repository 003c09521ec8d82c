"""The knowledge base as a LangChain retriever."""

from typing import Any

import pytest
from langchain_core.documents import Document
from pydantic import ValidationError

from langgraph_rag import KnowledgeBase, KnowledgeBaseRetriever

MILL = Document(
    "The mill in Kell was built in 1883.", id="mill", metadata={"title": "Mill", "source": "mill.md", "page": 2}
)
PIER = Document("Gulls sleep on the pier.", id="pier")


@pytest.mark.parametrize("by", ["dense", "bm25", "hybrid", "graph"])
async def test_documents_come_back_as_they_were_added(empty_kb: KnowledgeBase, by: Any) -> None:
    empty_kb.add([MILL, PIER], progress=False)
    retriever = KnowledgeBaseRetriever(kb=empty_kb, k=1, by=by)

    (found,) = await retriever.ainvoke("Who built the mill in Kell?")

    assert found.metadata.pop("score") > 0
    assert found == MILL


def test_it_finds_the_same_without_coroutines(kb: KnowledgeBase) -> None:
    retriever = KnowledgeBaseRetriever(kb=kb)

    found = retriever.invoke("Who directed The Salt Road?")

    assert [document.id for document in found] == [
        p["id"] for p in kb.search("Who directed The Salt Road?", by="graph")
    ]


async def test_a_query_may_have_settings_of_its_own(kb: KnowledgeBase) -> None:
    retriever = KnowledgeBaseRetriever(kb=kb)

    found = retriever.invoke("Who directed The Salt Road?", k=1, by="bm25")

    assert [document.id for document in found] == [
        p["id"] for p in kb.search("Who directed The Salt Road?", 1, by="bm25")
    ]
    assert await retriever.ainvoke("Who directed The Salt Road?", k=1, by="bm25") == found
    with pytest.raises(TypeError, match="where"):
        retriever.invoke("Who directed The Salt Road?", where={"page": 2})


@pytest.mark.parametrize("wrong", [{"k": 0}, {"by": "luck"}, {"kb": "kb"}, {"where": {"page": 2}}])
def test_what_it_cannot_do_is_refused(kb: KnowledgeBase, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KnowledgeBaseRetriever(**{"kb": kb, **wrong})


async def test_zero_documents_are_refused_for_a_single_query_too(kb: KnowledgeBase) -> None:
    retriever = KnowledgeBaseRetriever(kb=kb)

    with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
        retriever.invoke("Who directed The Salt Road?", k=0)
    with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
        await retriever.ainvoke("Who directed The Salt Road?", k=0)


def test_a_document_has_its_score_and_nothing_that_is_empty(empty_kb: KnowledgeBase) -> None:
    empty_kb.add([Document("Gulls sleep.", id="pier", metadata={"score": "high", "page": 2})], progress=False)

    (found,) = KnowledgeBaseRetriever(kb=empty_kb, by="bm25").invoke("gulls")

    assert found.metadata.pop("score") != "high"
    assert found.metadata == {"page": 2}
