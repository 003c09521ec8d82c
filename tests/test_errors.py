"""Errors reach their callers, also in another process."""

import pickle
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

import langgraph_rag.evaluation  # noqa: F401  # some errors are defined there
from langgraph_rag.errors import BudgetReachedError, MissingExtraError, RagError, UnknownNameError

ARGUMENTS: dict[type[RagError], tuple[Any, ...]] = {
    BudgetReachedError: ("max_tokens", 100),
    MissingExtraError: ("the chat page", "chat"),
    UnknownNameError: ("method", lambda: "of no name", ["cirag", "kirag"]),
}


def kinds(error: type[RagError] = RagError) -> Iterator[type[RagError]]:
    yield error
    for kind in error.__subclasses__():
        yield from kinds(kind)


@pytest.mark.parametrize("kind", list(kinds()))
def test_an_error_is_the_same_in_another_process(kind: type[RagError]) -> None:
    error = kind(*ARGUMENTS.get(kind, ("expected one thing, got another",)))
    error.add_note("while it was asked")

    for copied in (pickle.loads(pickle.dumps(error)), deepcopy(error)):
        assert (type(copied), str(copied), vars(copied)) == (kind, str(error), vars(error))
