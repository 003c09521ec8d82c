"""Citations in a text: the numbers of sources in square brackets."""

import re

from langgraph_rag.metering import count_dropped

_SOURCE = r"(?:sources?\s*)?\d{1,2}"  # [1990] is a year
_CITATION = re.compile(rf"\s*\[\s*({_SOURCE}(?:(?:[\s,;&\u2013-]|and)+{_SOURCE})*)\s*\]", re.IGNORECASE)
_RANGE = re.compile(r"(\d+)(?:\s*[\u2013-]\s*(\d+))?")
UNCITED = 3


def cited(text: str, sources: int, *, otherwise: int = 0) -> list[int]:
    """Return the positions of the sources that a text cites, in its order, each once (the paper's f_cite).

    Numbers of no source are dropped and counted. A text that cites none is taken to rest on the first `otherwise`.
    """
    ranges = [found for group in _CITATION.findall(text) for found in _RANGE.findall(group)]
    numbers = [number for first, last in ranges for number in range(int(first), int(last or first) + 1)]
    known = [number - 1 for number in dict.fromkeys(numbers) if 1 <= number <= sources]
    count_dropped(len(dict.fromkeys(numbers)) - len(known))
    return known or list(range(min(otherwise, sources)))


def uncited(text: str) -> str:
    """Return a text without its citations."""
    return _CITATION.sub("", text).strip()
