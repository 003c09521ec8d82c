"""Sets a context variable during a block."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")


@contextmanager
def override(variable: ContextVar[Any], value: T) -> Iterator[T]:
    """Set a context variable to a value, and yield the value; the old value is restored at the end."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)
