"""Citations in a text: numbers of sources in square brackets, also in the wide ones of Chinese and Japanese."""

import re

from langgraph_rag.matching import resolve_numbers
from langgraph_rag.metering import count_dropped

_SOURCE = r"(?:(?:(?:source|passage|document)s?|no\.?|#|\^)\s{0,3}:?\s{0,3})?\d{1,2}"  # [1990] is a year
_OPEN, _CLOSE = r"\[\u3010\uff3b", r"\]\u3011\uff3d"
_TO = rf"[{_CLOSE}] ?[-\u2013] ?[{_OPEN}]"  # as in "[2]-[4]"
_SOURCES = rf"{_SOURCE}(?:(?:[\s,;&\u2013\u3001\uff0c\uff1b-]|and|{_TO})+{_SOURCE})*"
_TITLE = rf"(?:[.:|\u2020][^{_CLOSE}]{{0,200}})?"  # of the source, which some models repeat
_CITATION = re.compile(
    rf"(?<!\s)\s*(?P<bold>\*\*)?"
    rf"(?:[{_OPEN}]{{1,2}}\s*(?P<sources>{_SOURCES})\s*{_TITLE}[{_CLOSE}]{{1,2}}|\((?P<named>(?:source|passage)s?\s+{_SOURCES})\))"
    rf"(?(bold)\*\*)",
    re.IGNORECASE,
)
_MARK = "\ufffc"  # stands for a citation
_SERIES = rf"{_MARK}(?:(?:[\s,;&\u3001\uff0c]|and|or)*{_MARK})*"
_ATTRIBUTION = (
    rf"\b(?:according to|as stated in){_SERIES},?\s*"
    rf"|(?:\b(?:source|passage|document)s?)?{_SERIES} (?:state|say|mention|confirm|show|indicate)s? (?:that )?"
)
_CITING = re.compile(rf"{_ATTRIBUTION}|\s?\({_SERIES}\)|{_SERIES}", re.IGNORECASE)
UNCITED = 3


def cited(text: str, sources: int, *, otherwise: int = 0) -> list[int]:
    """Return the positions of the sources that a text cites, in its order, each once (the paper's f_cite).

    Numbers without a source are dropped and counted. For a text without citations, the first `otherwise` sources are
    returned.
    """
    numbers = "; ".join(found["sources"] or found["named"] for found in _CITATION.finditer(text))
    positions, dropped = resolve_numbers(re.sub(_TO, "-", numbers), sources)
    count_dropped(dropped)
    return positions or list(range(min(otherwise, sources)))


def uncited(text: str) -> str:
    """Return a text without its citations and the words that introduce them, such as "according to"."""
    return _CITING.sub("", _CITATION.sub(_MARK, text)).strip()
