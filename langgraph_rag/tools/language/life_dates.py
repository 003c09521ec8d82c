"""Reads dates and places of birth and death from the parentheses after a name: `(Kell, 3 May 1900 – 1971)`."""

import re
from collections.abc import Iterator, Sequence

from langgraph_rag.tools.language.spans import DATE, Span, spot

_LIFE_DATES = re.compile(r"\(((?:[^()]|\([^()]*\))*\d{4}(?:[^()]|\([^()]*\))*)\)")
_NESTED = re.compile(r"\s*\([^()]*\)")
_DASH = re.compile(r"\s*[–—]\s*|(?:\s+|(?<=\d))-(?=[\s\d])\s*")
_RANGE = re.compile(r"\d[–-]$")
_SPACED = re.compile(r"\s+[–—-]\s+")
_BORN, _DIED = re.compile(r"\bborn\b|\bb\."), re.compile(r"\bdied\b|\bdead\b|\bd\.")
_LIVED = re.compile(rf"{_BORN.pattern}|{_DIED.pattern}|{_DASH.pattern}")
_THEN_DIED = re.compile(r"(?:\s*[,;–—-])?\s+(?=died\b|dead\b|d\.)")
_TWO_DATES = re.compile(
    rf"\s*{DATE.pattern.replace('(?P<mark>', '(').replace('(?P=mark)', '[/.]')}\s+{DATE.pattern}\s*"
)
_OTHER_TIMES = re.compile(r"[,;]\s*(?:(?:r|fl)\.|reigned|ruled|in office)")
_WORD_OR_MARK = re.compile(r"\w+|[^\w\s.]")
_BEFORE_BIRTH = frozenset(
    "born b c ca circa about around before bef bf after aft between early late or née né in on of by "
    "baptised baptized christened bap bapt possibly probably perhaps likely".split()
)


def life_dates(brackets: str) -> Iterator[tuple[str, str]]:
    """Read the dates and places of birth and death, each with its relation, from the parentheses after a name."""
    match = _LIFE_DATES.match(brackets[:250])
    if not match:
        return
    inside = _of_life(_OTHER_TIMES.split(_NESTED.sub("", match[1]), maxsplit=1)[0])
    lived, died = _THEN_DIED.split(inside, maxsplit=1), _dash_of(inside).split(inside, maxsplit=1)
    if len(lived) == 2 and (_BORN.search(lived[0]) or DATE.search(lived[0])):
        events = [("born", lived[0]), ("died", lived[1])]
    elif len(died) == 2 and _is_birth(died[0]) and DATE.search(died[1]):
        events = [("born", died[0]), ("died", died[1])]
    elif _TWO_DATES.fullmatch(inside) and len([*DATE.finditer(inside)]) == 2:
        events = list(zip(("born", "died"), (date[0] for date in DATE.finditer(inside)), strict=True))
    elif _BORN.search(inside):
        events = [("born", inside)]
    elif _DIED.search(inside):
        events = [("died", inside)]
    else:
        return
    for event, text in events:
        dates = [span for span in spot(text) if span.kind == "date" and not _RANGE.search(text[: span.start])]
        names = [span for span in spot(text) if span.kind == "name"]
        for date in dates:
            yield f"{event} on", date.text
        places = [name for name in names if not (dates and 0 < name.start < dates[0].start)]  # no "born Jon Ray, 1900"
        if places and places[0].text[0].isupper():
            yield f"{event} in", whole_place(places, text)


def _of_life(inside: str) -> str:
    """Return the parts of brackets that tell of birth and death."""
    parts = inside.split(";")
    told = ";".join([part for part in parts if _LIVED.search(part)] or parts)
    dated = [part for part in parts if DATE.search(part)]
    return f"born {dated[0]}" if dated and not DATE.search(told) else told  # "born Jon Ray; 1947 in Ost"


def whole_place(names: Sequence[Span], text: str) -> str:
    """Return the first of some names with those that it lies in: `Ost, Norland`."""
    end = names[0].end
    for name in names[1:]:
        if text[end : name.start] == ", ":
            end = name.end
    return text[names[0].start : end]


def _dash_of(inside: str) -> re.Pattern[str]:
    """Return what parts birth and death: the dash with spaces, if there is one, unlike in `1–9 May 1900 – 1971`."""
    return _SPACED if _SPACED.search(inside) else _DASH


def _is_birth(half: str) -> bool:
    """Return whether the text before a dash is a date of birth, and not of a reign or an office."""
    date = DATE.search(half)
    last = _WORD_OR_MARK.findall(half, 0, date.start())[-1:] if date else []
    return date is not None and all(not word[0].islower() or word in _BEFORE_BIRTH for word in last)
