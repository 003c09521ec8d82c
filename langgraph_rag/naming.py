"""Names: whether there is what one names, and the first few of however many in a message."""

from collections.abc import Collection, Sequence

from langgraph_rag.errors import UnknownNameError


def expect_name(kind: str, given: object, known: Collection[str]) -> None:
    """Check that a named choice exists.

    Raises:
        UnknownNameError: when it does not.
    """
    if given not in known:
        raise UnknownNameError(kind, given, list(known))


def first_few(names: Sequence[str], most: int) -> str:
    """Return the first names, and whether there are more."""
    return ", ".join([*names[:most], *(["..."] if len(names) > most else [])])
