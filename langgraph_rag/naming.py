"""Names and numbers in messages, and the check of named choices."""

from collections.abc import Collection, Sequence

from langgraph_rag.errors import UnknownNameError


def expect_name(kind: str, given: object, known: Collection[str]) -> None:
    """Check that a named choice exists.

    Raises:
        UnknownNameError: when it does not.
    """
    if not isinstance(given, str) or given not in known:
        raise UnknownNameError(kind, given, list(known))


def first_few(names: Sequence[str], most: int) -> str:
    """Join the first names; `...` stands for the others."""
    return ", ".join([*names[:most], *(["..."] if len(names) > most else [])])


def counted(number: int, what: str) -> str:
    """Return a number with its noun: "1 fact", "2,000 facts"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def spoken(setting: str) -> str:
    """Return the name of a setting in words: "max tokens", "deadline"."""
    return setting.replace("_", " ").removesuffix(" s")
