"""A context variable that has a value for as long as a block runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")


@contextmanager
def having(variable: ContextVar[Any], value: T) -> Iterator[T]:
    """Give a variable a value inside the block; that is handed on, too."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)
