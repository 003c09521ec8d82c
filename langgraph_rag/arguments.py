"""Arguments of the wrong kind are refused where they are given, not where they would fail later."""

from collections.abc import Iterable, Mapping
from types import UnionType

from pydantic import BaseModel


def expect(kind: type | UnionType, given: object, what: str, hint: str) -> None:
    """Check that an argument is of its kind.

    Args:
        kind: the class that it has to be of; with `| None` for one that may be left out.
        given: the argument.
        what: what is expected, in words.
        hint: how to come by it.

    Raises:
        TypeError: when it is not.
    """
    if not isinstance(given, kind):
        raise TypeError(f"expected {what}, got {repr(given)[:80]}: {hint}")


def expect_flags(**given: object) -> None:
    """Check that arguments are true or false.

    Raises:
        TypeError: when one is something else, such as a word for it.
    """
    for name, flag in given.items():
        expect(bool, flag, f"{name} as True or False", "any text counts as true")


def expect_list(given: object, what: str) -> None:
    """Check that several are given, and not one that can itself be iterated over: a string, a dict, a `Document`.

    Raises:
        TypeError: when it is one, or nothing to iterate over.
    """
    if isinstance(given, str):
        raise TypeError(f"expected a list of {what}, got the string {repr(given)[:80]}")
    if isinstance(given, Mapping | BaseModel):
        raise TypeError(f"expected a list of {what}, got one {type(given).__name__}: put it into a list")
    if not isinstance(given, Iterable):
        raise TypeError(f"expected a list of {what}, got {repr(given)[:80]}")


def expect_count(given: object, name: str) -> None:
    """Check that an argument is a whole number of at least 1.

    Raises:
        ValueError: when it is no whole number, or less than 1.
    """
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {given!r}")
