"""Citations in a text: the numbers of sources in square brackets, as wide ones where a text is Chinese or Japanese."""

import re

from langgraph_rag.metering import count_dropped
from langgraph_rag.normal_forms import numbers_in

_SOURCE = r"(?:(?:(?:source|passage|document)s?|no\.?|#|\^)\s*:?\s*)?\d{1,2}"  # [1990] is a year
_SOURCES = rf"{_SOURCE}(?:(?:[\s,;&\u2013\u3001\uff0c\uff1b-]|and)+{_SOURCE})*"
_CITATION = re.compile(
    rf"(?<!\s)\s*(?P<bold>\*\*)?[\[\u3010\uff3b]\s*(?P<sources>{_SOURCES})\s*[\]\u3011\uff3d](?(bold)\*\*)",
    re.IGNORECASE,
)
UNCITED = 3


def cited(text: str, sources: int, *, otherwise: int = 0) -> list[int]:
    """Return the positions of the sources that a text cites, in its order, each once (the paper's f_cite).

    Numbers of no source are dropped and counted. A text that cites none is taken to rest on the first `otherwise`.
    """
    numbers = dict.fromkeys(number for found in _CITATION.finditer(text) for number in numbers_in(found["sources"]))
    known = [number - 1 for number in numbers if 1 <= number <= sources]
    count_dropped(len(numbers) - len(known))
    return known or list(range(min(otherwise, sources)))


def uncited(text: str) -> str:
    """Return a text without its citations."""
    return _CITATION.sub("", text).strip()
