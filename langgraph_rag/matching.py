"""Compare names and facts as written by different hands: normal forms, and resolution against given items."""

import difflib
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_NOT_WORD = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")


@lru_cache(maxsize=65_536)  # names and relations come again and again
def normalise(text: str) -> str:
    """Return the form under which two spellings count as one: NFKC, case folded, punctuation as single spaces."""
    return _NOT_WORD.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def triple_key(triple: Sequence[str]) -> str:
    """Return the form under which two triples count as one."""
    return "|".join(map(normalise, triple))


def triple_text(triple: Sequence[str]) -> str:
    """Return a triple as words, the form that is embedded."""
    return " ".join(triple)


def resolve(returned: Sequence[str], given: Sequence[str], *, cutoff: float = 0.85) -> tuple[list[int], int]:
    """Find which given items a model meant.

    An item is meant if it is equal in normal form, else if it is the most similar one (difflib ratio of the normal
    forms at least `cutoff`) and has the same numbers in it.

    Returns:
        The positions in `given`, without repetition, in the order returned; and how many returned items match none.
    """
    forms = [normalise(item) for item in given]
    positions: dict[int, None] = {}
    dropped = 0
    for item in returned:
        form = normalise(item)
        position = forms.index(form) if form in forms else _closest(form, forms, cutoff)
        if position is None:
            dropped += 1
        else:
            positions[position] = None
    return list(positions), dropped


def _closest(form: str, forms: list[str], cutoff: float) -> int | None:
    numbers = sorted(_DIGITS.findall(form))
    same_numbers = [other for other in forms if sorted(_DIGITS.findall(other)) == numbers]
    closest = difflib.get_close_matches(form, same_numbers, n=1, cutoff=cutoff)
    return forms.index(closest[0]) if closest else None
