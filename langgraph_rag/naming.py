"""Names, numbers and wrong fields in messages, and the check of named choices."""

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from pathlib import PurePath

from pydantic import ValidationError

from langgraph_rag.errors import UnknownNameError

TOLD = 20  # problems or fields in one message
_MEANT = 3  # names that may have been meant


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


def wrong_field(error: ValidationError, whole: str) -> str:
    """Return the first wrong field and what is wrong with it; without a field, the name of the `whole`."""
    wrong = error.errors()[0]
    return f"{'.'.join(map(str, wrong['loc'])) or whole}: {wrong['msg']}"


def first_problems(problems: list[str]) -> str:
    """Return the first problems, one per line, and the number of others."""
    more = len(problems) - TOLD
    return "\n".join([*problems[:TOLD], *([f"... and {more} more"] if more > 0 else [])])


def meant_sources(source: str, known: Iterable[str]) -> str:
    """Return a suggestion of sources with the same name, inside the given folder, or with similar spelling."""
    known = list(known)
    inside = [one for one in known if source and PurePath(one).is_relative_to(source)]
    namesakes = [one for one in known if PurePath(one).name == PurePath(source).name]
    return _suggested([*namesakes, *inside, *get_close_matches(source, known)])


def meant_names(name: str, known: Iterable[str]) -> str:
    """Return a suggestion of names that share words with a name, or have a similar spelling."""
    words = frozenset(name.casefold().split())
    folded = {one.casefold(): one for one in known}
    sharing = sorted((one for one in folded if words & frozenset(one.split())), key=lambda one: (len(one), one))
    close = get_close_matches(name.casefold(), folded)
    return _suggested(folded[one] for one in [*close, *sharing])


def _suggested(names: Iterable[str]) -> str:
    near = list(dict.fromkeys(names))[:_MEANT]
    return f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
