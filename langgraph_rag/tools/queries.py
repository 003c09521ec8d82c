"""Checks of what a knowledge base is asked for: ids, sources and queries."""

from collections.abc import Iterable

from langgraph_rag.arguments import expect_list
from langgraph_rag.characters import is_blank, is_text
from langgraph_rag.errors import QuestionError


def names_among(given: Iterable[object], what: str) -> list[str]:
    """Return ids or sources as stored: numbers as strings, like `add`, and without strings that are not text.

    Raises:
        TypeError: when a single one is passed instead of a list.
    """
    expect_list(given, what)
    return list(filter(is_text, map(str, given)))


def expect_queries(queries: Iterable[object], what: str = "queries") -> None:
    """Check that each item of a list is text.

    Raises:
        TypeError: when a single query is passed instead of a list.
        QuestionError: when an item is not text.
    """
    expect_list(queries, what)
    for query in queries:
        expect_query(query)


def expect_query(query: object) -> None:
    """Check that a query is text.

    Raises:
        QuestionError: when it is not.
    """
    if not isinstance(query, str) or not is_text(query):
        raise QuestionError(f"the query must be text, got {ascii(query)[:80]}")


def expect_words(query: object) -> None:
    """Check that a query has something to search for.

    Raises:
        QuestionError: when it is blank or not text.
    """
    expect_query(query)
    if is_blank(str(query)):
        raise QuestionError(f"expected words to search for, got {query!r:.80}")
