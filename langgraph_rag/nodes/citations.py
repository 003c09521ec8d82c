"""Citations in a text: the numbers of sources in square brackets."""

import re

from langgraph_rag.metering import count_dropped

_CITATION = re.compile(r"\s*\[\s*(?:sources?\s*)?(\d+(?:\s*[,;]\s*\d+)*)\s*\]", re.IGNORECASE)
UNCITED = 3


def cited(text: str, sources: int, *, otherwise: int = 0) -> list[int]:
    """Return the positions of the sources that a text cites, in its order, each once (the paper's f_cite).

    Numbers of no source are dropped and counted. A text that cites none is taken to rest on the first `otherwise`.
    """
    numbers = [int(number) for group in _CITATION.findall(text) for number in re.findall(r"\d+", group)]
    known = [number - 1 for number in dict.fromkeys(numbers) if 1 <= number <= sources]
    count_dropped(len(dict.fromkeys(numbers)) - len(known))
    return known or list(range(min(otherwise, sources)))


def uncited(text: str) -> str:
    """Return a text without its citations."""
    return _CITATION.sub("", text).strip()
