"""Checks of arguments, so that a wrong one is reported where it is passed and not later."""

from collections.abc import Iterable, Mapping
from types import UnionType

from pydantic import BaseModel


def expect(kind: type | UnionType, given: object, what: str, hint: str) -> None:
    """Check the type of an argument.

    Args:
        kind: the expected class; with `| None` if the argument is optional.
        given: the argument.
        what: the expected object, in words.
        hint: how to get one.

    Raises:
        TypeError: when the argument is of another type.
    """
    if not isinstance(given, kind):
        raise TypeError(f"expected {what}, got {repr(given)[:80]}: {hint}")


def expect_flags(**given: object) -> None:
    """Check that arguments are booleans.

    Raises:
        TypeError: when one is not, for example a string.
    """
    for name, flag in given.items():
        expect(bool, flag, f"{name} as True or False", "any text counts as true")


def expect_list(given: object, what: str) -> None:
    """Check that an argument is a list or another iterable of items, and not a string, a dict or a `Document`.

    Raises:
        TypeError: when it is not.
    """
    if isinstance(given, str):
        raise TypeError(f"expected a list of {what}, got the string {repr(given)[:80]}")
    if isinstance(given, Mapping | BaseModel):
        raise TypeError(f"expected a list of {what}, got one {type(given).__name__}: put it into a list")
    if not isinstance(given, Iterable):
        raise TypeError(f"expected a list of {what}, got {repr(given)[:80]}")


def expect_count(given: object, name: str, *, least: int = 1) -> None:
    """Check that an argument is a whole number of at least `least`.

    Raises:
        ValueError: when it is not.
    """
    if not isinstance(given, int) or isinstance(given, bool) or given < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {given!r}")
