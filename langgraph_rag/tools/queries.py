"""Checks of what a knowledge base is asked for: ids, sources, queries and names of entities."""

from collections.abc import Iterable, Mapping

from langgraph_rag.arguments import expect, expect_list
from langgraph_rag.characters import is_blank, is_text
from langgraph_rag.context import MAX_QUERY_CHARS
from langgraph_rag.errors import QuestionError
from langgraph_rag.normal_forms import normalise


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


def checked_names(names: Mapping[str, str]) -> dict[str, str]:
    """Return the entities of names, which are words and not the same.

    Raises:
        TypeError: when they are not a mapping.
        ValueError: when a name or an entity has no letters or digits, or a name is its own entity or given twice.
    """
    expect(Mapping, names, "the entity of each name", 'such as {"KH": "Kestrel Holdings"}')
    forms: dict[str, str] = {}
    for name, entity in names.items():
        for text in (name, entity):
            if not isinstance(text, str) or not is_text(text) or not normalise(text):
                raise ValueError(f"names: expected words as names and entities, got {ascii(text)[:80]}")
        if normalise(name) == normalise(entity):
            raise ValueError(f"names: expected another name of {entity!r}, got {name!r}, which counts as the same")
        if (other := forms.setdefault(normalise(name), name)) != name:
            raise ValueError(f"names: expected each name once, got {other!r} and {name!r}, which count as the same")
    return dict(names)
