"""Reads dates and places of birth and death from the parentheses after a name: `(Kell, 3 May 1900 – 1971)`."""

import re
from collections.abc import Iterator

from langgraph_rag.tools.language.spans import DATE, spot

_LIFE_DATES = re.compile(r"\(([^()]*\d{4}[^()]*)\)")
_DASH = re.compile(r"\s*[–—]\s*|(?:\s+|(?<=\d))-(?=[\s\d])\s*")
_BORN, _DIED = re.compile(r"\bborn\b|\bb\."), re.compile(r"\bdied\b|\bdead\b|\bd\.")
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
    inside = _OTHER_TIMES.split(match[1], maxsplit=1)[0]
    lived, died = _THEN_DIED.split(inside, maxsplit=1), _DASH.split(inside, maxsplit=1)
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
        dates = [span.start for span in spot(text) if span.kind == "date"]
        for span in spot(text):
            named = dates and span.kind == "name" and 0 < span.start < dates[0]  # "born John Smith, 3 May 1900"
            if span.kind != "number" and not named:
                yield f"{event} {'on' if span.kind == 'date' else 'in'}", span.text


def _is_birth(half: str) -> bool:
    """Return whether the text before a dash is a date of birth, and not of a reign or an office."""
    date = DATE.search(half)
    last = _WORD_OR_MARK.findall(half, 0, date.start())[-1:] if date else []
    return date is not None and all(not word[0].islower() or word in _BEFORE_BIRTH for word in last)
