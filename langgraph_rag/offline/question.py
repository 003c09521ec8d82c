"""What a question asks: its kind, the names in it, its content words, and what it compares."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from langgraph_rag.offline.words import name_words, stem, stems
from langgraph_rag.tools.spans import spot

Asks = Literal["who", "when", "where", "how many", "yes or no", "which of two", "what"]

_YES_NO = re.compile(r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will)\b", re.IGNORECASE)
_ALTERNATIVES = (
    re.compile(r"[,:]\s*(?:the\s+\w+\s+)?(?P<one>[^,:]+?),?\s+or\s+(?P<other>[^?]+?)\s*\??\s*$"),
    re.compile(r"\bbetween\s+(?P<one>.+?)\s+and\s+(?P<other>[^?]+?)\s*(?:\?|,|$)"),
)
_PAIR = re.compile(r"^\w+\s+(?:both\s+)?(?:the\s+)?(?P<one>.+?),?\s+and\s+(?P<other>.+?)\s*\??$")
_LEAST = re.compile(
    r"\b(?:older|oldest|elder|earlier|earliest|first|before|smaller|smallest|fewer|fewest|less|lower|shorter|shortest)\b",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"\b(?:younger|youngest|later|latest|last|recent|recently|after|newer|larger|largest|bigger|more|most|higher|highest"
    r"|longer|longest|taller|tallest|greater)\b",
    re.IGNORECASE,
)
_COMPARED = (
    ("birth", re.compile(r"\b(?:born|birth|older|younger|oldest|youngest|elder)\b", re.IGNORECASE)),
    ("death", re.compile(r"\b(?:die|died|death|dead)\b", re.IGNORECASE)),
    ("number", re.compile(r"\b(?:larger|bigger|smaller|taller|higher|lower|population|members|inhabitants|area|length"
                          r"|more|fewer|longer|shorter|longest)\b", re.IGNORECASE)),
)  # fmt: skip
_COMPARING = {stem(word) for word in "older younger earlier later first recently released came longer shorter larger".split()}
_NOUN_ASKED = re.compile(r"\b(?:what|which)\s+((?:[a-z]+\s+){0,3}?[a-z]+)\b(?=\s+(?:is|was|are|were|did|does|do|has|had|"
                         r"that|who|whose|in|of|on|at|by|from|where|with|the|[A-Z]))", re.IGNORECASE)  # fmt: skip


_SHARED = re.compile(r"\bsame\s+([a-z]+)")
_COUNTED = re.compile(r"\bhow many\s+((?:[a-z]+\s+){0,2}?[a-z]+)\b(?=\s+(?:is|was|are|were|did|does|do|has|had|have|in|of|there))",
                      re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True)
class Question:
    """A question taken apart.

    `names` are the things it mentions; `words` the stems of its other content words, those nearest to a name first,
    `spelled` as they stand in the question; `noun` the kind of
    thing asked for; `pair` the two things compared; `least` whether the smaller or earlier one is wanted, `same` whether both must share what is asked.
    """

    asks: Asks
    names: tuple[str, ...]
    words: tuple[str, ...]
    spelled: tuple[str, ...]
    noun: str
    pair: tuple[str, str] | None
    compared: Literal["birth", "death", "number", "date"]
    least: bool
    same: bool


@lru_cache(maxsize=1024)
def analyse(text: str) -> Question:
    """Take a question apart."""
    pair = _pair(text)
    names = list(dict.fromkeys([*(pair or ()), *_names(text, pair)]))
    in_names = {stem(word) for name in names for word in name_words(name)}
    spelled = _spelled(text, in_names, names)
    words = tuple(spelled)
    least, most = _LEAST.search(text), _MOST.search(text)
    return Question(
        asks=_kind(text, pair),
        names=tuple(names),
        words=words,
        spelled=tuple(spelled.values()),
        noun=_noun(text),
        pair=pair,
        compared=_compared(text),
        same=re.search(r"\bsame\b", text) is not None,
        least=bool(least) and not (most and most.start() > least.start() and "birth" not in words),
    )


def _spelled(text: str, in_names: set[str], names: list[str]) -> dict[str, str]:
    """Return the content words that are not in names: spelling by stem, nearest to a name first."""
    lowered = text.lower()
    places = [(lowered.find(name.lower()), lowered.find(name.lower()) + len(name)) for name in names]
    found: dict[str, tuple[int, str]] = {}
    for match in re.finditer(r"\w+(?:['’-]\w+)*", text):
        if any(start <= match.start() < end for start, end in places if start >= 0):
            continue
        for word in stems(match[0]):
            gap = min([min(abs(match.start() - end), abs(start - match.end())) for start, end in places], default=0)
            if word not in in_names:
                found.setdefault(word, (gap, re.sub(r"['’]s$", "", match[0].lower())))
    return {word: spelling for word, (_, spelling) in sorted(found.items(), key=lambda item: item[1][0])}


def _kind(text: str, pair: tuple[str, str] | None) -> Asks:
    lowered = text.lower().strip()
    if _YES_NO.match(lowered):
        return "which of two" if pair and " or " in lowered else "yes or no"
    if pair and (" or " in lowered or "between" in lowered):
        return "which of two"
    if re.search(r"\bhow (?:many|much|old|long|tall|large|far|big|high)\b|\bpopulation\b", lowered):
        return "how many"
    if re.search(r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|decade|century)\b|\bdate of\b|\bbirthday\b", lowered):
        return "when"
    first = re.search(r"\b(?:who|whom|whose|where|what|which)\b", lowered)
    word = first[0] if first else "what"
    if word in {"who", "whom"}:
        return "who"
    return "where" if word == "where" or "place of" in lowered else "what"


def _pair(text: str) -> tuple[str, str] | None:
    for pattern in _ALTERNATIVES:
        if found := pattern.search(text):
            return _clean(found["one"]), _clean(found["other"])
    if " or " in text:
        names = [span for span in spot(text) if span.kind == "name"]
        middle = text.index(" or ")
        before, after = [n for n in names if n.end <= middle], [n for n in names if n.start > middle]
        if before and after:
            return before[-1].text, after[0].text
    if _YES_NO.match(text) and (found := _PAIR.match(text)):
        names = [span.text for span in spot(found["other"]) if span.kind == "name"]
        first = [span.text for span in spot(found["one"]) if span.kind == "name"]
        if names and first:
            return first[-1], names[0]
    return None


def _clean(name: str) -> str:
    return name.strip(" \"'“”?.,")


def _names(text: str, pair: tuple[str, str] | None) -> list[str]:
    inside = set().union(*(name_words(name) for name in pair)) if pair else set()
    spans = [span for span in spot(text) if span.kind == "name" or (span.kind == "date" and span.start > 0)]
    return [span.text for span in spans if not name_words(span.text) <= inside]


def _noun(text: str) -> str:
    found = _COUNTED.search(text) or _SHARED.search(text) or _NOUN_ASKED.search(text)
    return stem(found[1].lower().split()[-1]) if found else ""


def _compared(text: str) -> Literal["birth", "death", "number", "date"]:
    for name, pattern in _COMPARED:
        if pattern.search(text):
            return name  # type: ignore[return-value]
    return "date"


def is_comparing(word: str) -> bool:
    """Tell whether a stem only says what is compared, not what the compared things are to each other."""
    return word in _COMPARING or word in {"birth", "death", "release"}
