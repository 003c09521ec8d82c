"""Checks of what a knowledge base is asked for: ids, sources and queries."""

from collections.abc import Iterable

from langgraph_rag.arguments import expect_list
from langgraph_rag.characters import is_blank, is_text
from langgraph_rag.context import MAX_QUERY_CHARS
from langgraph_rag.errors import QuestionError


def names_among(given: Iterable[object], what: str) -> list[str]:
    """Return ids or sources as stored: numbers as strings, like `add`, and without strings that are not text.

    Raises:
        TypeError: when a single one is passed instead of a list.
    """
    expect_list(given, what)
    return list(filter(is_text, map(str, given)))


def checked_queries(queries: Iterable[object], what: str = "queries") -> list[str]:
    """Return each query of a list as it is searched.

    Raises:
        TypeError: when a single query is passed instead of a list.
        QuestionError: when an item is not text.
    """
    expect_list(queries, what)
    return list(map(checked_query, queries))


def checked_query(query: object) -> str:
    """Return a query as it is searched: its first `MAX_QUERY_CHARS` characters.

    Raises:
        QuestionError: when it is not text.
    """
    if not isinstance(query, str) or not is_text(query):
        raise QuestionError(f"the query must be text, got {ascii(query)[:80]}")
    return query[:MAX_QUERY_CHARS]


def checked_words(query: object) -> str:
    """Return a query as it is searched, which has something to search for.

    Raises:
        QuestionError: when it is blank or not text.
    """
    words = checked_query(query)
    if is_blank(words):
        raise QuestionError(f"expected words to search for, got {words!r:.80}")
    return words
