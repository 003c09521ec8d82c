"""Searches that callbacks and tracers, such as LangSmith's, see as runs of a retriever below the node that searches."""

from langchain_core.documents import Document
from langchain_core.runnables.config import ensure_config, get_async_callback_manager_for_config

from langgraph_rag.context import Search
from langgraph_rag.records import Record, ScoredPassage, ids_of
from langgraph_rag.tools.retrieve.retriever import Retriever


async def search(kb: Retriever, query: str, k: int, by: Search) -> list[ScoredPassage]:
    """Return the `k` best passages for a query, best first.

    Where callbacks listen, they get the query, and the passages as documents with their id, title, source and score.
    """
    callbacks = get_async_callback_manager_for_config(ensure_config())
    if not any(not handler.ignore_retriever for handler in callbacks.handlers):
        return await kb.arank(query, k, by=by)
    run = await callbacks.on_retriever_start(None, query, name=f"search by {by}")
    try:
        found = await kb.arank(query, k, by=by)
        documents = [_document(record, scored) for record, scored in await _with_records(kb, found)]
    except BaseException as error:
        await run.on_retriever_error(error)
        raise
    await run.on_retriever_end(documents)
    return found


async def _with_records(kb: Retriever, found: list[ScoredPassage]) -> list[tuple[Record, ScoredPassage]]:
    """Return the passages that still exist, each with its score."""
    scored = {passage["id"]: passage for passage in found}
    return [(record, scored[record["id"]]) for record in await kb.apassages(ids_of(found))]


def _document(record: Record, scored: ScoredPassage) -> Document:
    origin = {"title": record["title"], "source": record.get("source", ""), "score": scored["score"]}
    return Document(record["text"], id=record["id"], metadata=origin)
