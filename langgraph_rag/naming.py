"""Names in messages: the first few of however many."""

from collections.abc import Sequence


def first_few(names: Sequence[str], most: int) -> str:
    """Return the first names, and whether there are more."""
    return ", ".join([*names[:most], *(["..."] if len(names) > most else [])])
