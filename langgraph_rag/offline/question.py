"""What a question asks: its kind, the names in it, its content words, and what it compares."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from langgraph_rag.offline.words import name_words, stem, stems
from langgraph_rag.tools.spans import spot

Asks = Literal["who", "when", "where", "how many", "yes or no", "which of two", "what"]
Compared = Literal["birth", "death", "age", "number", "date"]


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(text.split())})\b", re.IGNORECASE)


_YES_NO = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will)\b", re.IGNORECASE)
_HOW_MUCH = re.compile(r"\bhow (?:many|much|old|long|tall|large|far|big|high)\b|\bpopulation\b", re.IGNORECASE)
_WHEN = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|decade|century)\b|\bdate of\b|\bbirthday\b", re.IGNORECASE
)
_WHERE = re.compile(r"\bplace of\b", re.IGNORECASE)
_ALTERNATIVES = (
    re.compile(r"[,:]\s*(?:the\s+\w+\s+)?(?P<one>[^,:]+?),?\s+or\s+(?P<other>[^?]+?)\s*\??\s*$"),
    re.compile(r"\bbetween\s+(?P<one>.+?)\s+and\s+(?P<other>[^?]+?)\s*(?:\?|,|$)"),
)
_PAIR = re.compile(r"^\w+\s+(?:both\s+)?(?:the\s+)?(?P<one>.+?),?\s+and\s+(?P<other>.+?)\s*\??$")
_LEAST = _words(
    "older oldest elder earlier earliest first before smaller smallest fewer fewest less lower shorter shortest"
)
_MOST = _words(
    "younger youngest later latest last recent recently after newer larger largest bigger more most higher highest "
    "longer longest taller tallest greater"
)
_COMPARED: tuple[tuple[Compared, re.Pattern[str]], ...] = (
    ("age", re.compile(r"\blive[ds]? (?:longer|shorter)\b", re.IGNORECASE)),
    ("birth", _words("born birth older younger oldest youngest elder")),
    ("death", _words("die died death dead")),
    ("date", _words("released recently earlier later earliest latest founded established started opened published")),
    ("number", _words("larger bigger smaller taller higher lower population members inhabitants area length more fewer "
                      "longer shorter longest")),
)  # fmt: skip
_COMPARING = frozenset(
    stem(word) for word in "older younger earlier later first recently released came longer shorter larger".split()
)
_NOUN = r"((?:[a-z]+\s+){0,3}?[a-z]+)\b"
_ASKED_NOUNS = (
    re.compile(rf"\bhow many\s+{_NOUN}(?=\s+(?:is|was|are|were|did|does|do|has|had|have|in|of|there))", re.IGNORECASE),
    re.compile(r"\bsame\s+([a-z]+)"),
    re.compile(
        rf"\b(?:what|which)\s+{_NOUN}(?=\s+(?:is|was|are|were|did|does|do|has|had|that|who|whose|in|of|on|at|by|from|where"
        r"|with|the|[A-Z]))",
        re.IGNORECASE,
    ),
)


@dataclass(frozen=True)
class Question:
    """A question taken apart.

    `names` are the things it mentions. `words` are the stems of its other content words, those nearest to a name first,
    and `spelled` the same words as they stand in it. `noun` is the kind of thing asked for, `pair` the two things
    compared, `least` whether the smaller or earlier one is wanted, `same` whether both must share what is asked.
    """

    asks: Asks
    names: tuple[str, ...]
    words: tuple[str, ...]
    spelled: tuple[str, ...]
    noun: str
    pair: tuple[str, str] | None
    compared: Compared
    least: bool
    same: bool

    @property
    def compares(self) -> bool:
        """Tell whether the question is about two things and one attribute of both."""
        return self.pair is not None and self.asks in {"which of two", "yes or no"}

    def with_names(self, names: tuple[str, ...]) -> "Question":
        """Return the question with other names, and without the words that are part of them."""
        inside = {stem(word) for name in names for word in name_words(name)}
        kept = [(word, s) for word, s in zip(self.words, self.spelled, strict=True) if word not in inside]
        words, spelled = tuple(word for word, _ in kept), tuple(s for _, s in kept)
        return replace(self, names=names, words=words, spelled=spelled)


@lru_cache(maxsize=1024)
def analyse(text: str) -> Question:
    """Take a question apart; what stands in parentheses only tells things of one name apart."""
    text = re.sub(r"\s*\([^()]*\)", "", text)
    pair = _pair(text)
    names = list(dict.fromkeys([*(pair or ()), *_names(text, pair)]))
    spelled = _spelled(text, names)
    least, most = _LEAST.search(text), _MOST.search(text)
    return Question(
        asks=_kind(text, pair),
        names=tuple(names),
        words=tuple(spelled),
        spelled=tuple(spelled.values()),
        noun=_noun(text),
        pair=pair,
        compared=next((name for name, pattern in _COMPARED if pattern.search(text)), "date"),
        least=least is not None and (most is None or most.start() < least.start()),
        same=re.search(r"\bsame\b", text) is not None,
    )


def is_comparing(word: str) -> bool:
    """Tell whether a stem only says what is compared, not what the compared things are to each other."""
    return word in _COMPARING or word in {"birth", "death", "release"}


def _kind(text: str, pair: tuple[str, str] | None) -> Asks:
    chooses = pair is not None and (" or " in text or "between" in text.lower())
    if chooses:
        return "which of two"
    if _YES_NO.match(text.strip()):
        return "yes or no"
    if _HOW_MUCH.search(text):
        return "how many"
    if _WHEN.search(text):
        return "when"
    first = re.search(r"\b(?:who|whom|whose|where|what|which)\b", text, re.IGNORECASE)
    word = first[0].lower() if first else "what"
    if word in {"who", "whom"}:
        return "who"
    return "where" if word == "where" or _WHERE.search(text) else "what"


def _pair(text: str) -> tuple[str, str] | None:
    for pattern in _ALTERNATIVES:
        if found := pattern.search(text):
            return _clean(found["one"]), _clean(found["other"])
    if " or " in text:
        middle = text.index(" or ")
        before = [span.text for span in spot(text) if span.kind == "name" and span.end <= middle]
        after = [span.text for span in spot(text) if span.kind == "name" and span.start > middle]
        return (before[-1], after[0]) if before and after else None
    if _YES_NO.match(text) and (found := _PAIR.match(text)):
        one, other = ([span.text for span in spot(found[side]) if span.kind == "name"] for side in ("one", "other"))
        return (one[-1], other[0]) if one and other else None
    return None


def _clean(name: str) -> str:
    return name.strip(" \"'“”?.,")


def _names(text: str, pair: tuple[str, str] | None) -> list[str]:
    inside = name_words(" ".join(pair)) if pair else frozenset()
    spans = [span for span in spot(text) if span.kind == "name" or (span.kind == "date" and span.start > 0)]
    return [span.text for span in spans if not name_words(span.text) <= inside]


def _spelled(text: str, names: list[str]) -> dict[str, str]:
    """Return the content words that are not in names: spelling by stem, nearest to a name first."""
    in_names = {stem(word) for name in names for word in name_words(name)}
    starts = [(text.lower().find(name.lower()), len(name)) for name in names]
    places = [(start, start + length) for start, length in starts if start >= 0]
    found: dict[str, tuple[int, str]] = {}
    for match in re.finditer(r"\w+(?:['’-]\w+)*", text):
        spelling = re.sub(r"['’]s$", "", match[0].lower())
        gap = min([max(match.start() - end, start - match.end()) for start, end in places], default=0)
        for word in stems(spelling) if gap >= 0 else ():
            if word not in in_names:
                found.setdefault(word, (gap, spelling))
    return {word: spelling for word, (_, spelling) in sorted(found.items(), key=lambda item: item[1][0])}


def _noun(text: str) -> str:
    found = next((match for pattern in _ASKED_NOUNS if (match := pattern.search(text))), None)
    return stem(found[1].lower().split()[-1]) if found else ""
