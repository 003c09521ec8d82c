"""Analyses a question: its kind, its names, its content words, and the things that it compares."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from langgraph_rag.offline.words import name_words, stem, stems
from langgraph_rag.tools.ingest.spans import JOINED_WORD, Span, spot, spot_names, stop_words

Wants = Literal[
    "person", "place", "date", "year", "number", "reason", "nationality", "phrase", "thing", "yes or no", "which of two"
]
Compared = Literal["birth", "death", "age", "number", "date"]


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, text.split()))


PERSONS = _stems(
    "actor actress architect artist author brother character coach composer child daughter director drummer engineer "
    "emperor father founder guitarist husband king leader man manager member mother musician novelist "
    "performer person philosopher physicist player playwright poet politician president producer queen rapper "
    "scientist screenwriter singer sister son sibling spouse wife woman writer"
)
PLACES = _stems(
    "capital city continent country county district island lake location mountain place province region river state "
    "strait street town village"
)
DATES, _NUMBERS = _stems("year date day month birthday decade"), _stems("number population")
_PHRASES = _stems("profession occupation position role genre instrument job kind type sort")


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(text.split())})\b", re.IGNORECASE)


_YES_NO = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will)\b", re.IGNORECASE)
_WHY = re.compile(
    r"\s*why\b|.*\b(?:cause|reason) of\b.* death\b|.*\bcause of death\b|.*\bdied? (?:of|from)\W*$", re.IGNORECASE
)
_BEING = re.compile(r"(?:is|are|was|were)\b", re.IGNORECASE)
_ALTERNATIVES = (
    re.compile(
        r"[,:]\s*(?:the\s+[a-z]+\s+)?(?P<one>(?:the\s+)?[^a-z\s][^?]*?|[^,:?]+?),?\s+or\s+(?P<other>[^?]+?)\s*(?:\?.*)?$"
    ),
    re.compile(r"\bbetween\s+(?P<one>.+?)\s+and\s+(?P<other>[^?]+?)\s*(?:\?|,|$)"),
)
_NAME = re.compile(r"(?:the\s+)?[^a-z\s]")
_ASKS_LEAST = _words(
    "older oldest elder earlier earliest first before smaller smallest fewer fewest less lower shorter shortest"
)
_ASKS_MOST = _words(
    "younger youngest later latest last recent recently after newer larger largest bigger more most higher highest "
    "longer longest taller tallest greater"
)
_COMPARED: tuple[tuple[Compared, re.Pattern[str]], ...] = (
    ("age", re.compile(r"\blive[ds]? (?:a )?(?:longer|shorter)\b", re.IGNORECASE)),
    ("birth", _words("born birth older younger oldest youngest elder")),
    ("death", _words("die died death dead")),
    ("date", _words("released recently earlier later earliest latest founded established started opened published")),
    ("number", _words("larger bigger smaller taller higher lower population members inhabitants area length more fewer "
                      "longer shorter longest")),
)  # fmt: skip
_ASKING = re.compile(
    r"\b(?:how (?:many|much|old|long|tall|large|far|big|high|deep|wide)|what|which|whose|who|whom|when|where)\b",
    re.IGNORECASE,
)
_MEASURES = re.compile(r"how (?!many|much)\w+", re.IGNORECASE)
_ASKED = re.compile(
    r"(?! (?:is|was)(?: (?-i:[^\W\d_a-z])[\w-]*)+ (?-i:[a-z]))"  # "what is Kell made of" does not ask for a Kell
    r"(?:['’]s| is| was| are| were)?(?: (?:the|an?)\b)?(?: (?:full |first |last )?(?:names?|title) of)?"
    r"(?: (?:the|an?|this|these)\b)?((?: [\w’'-]+)*)",
    re.IGNORECASE,
)
_ASKS_SAME = re.compile(r"\bsame ([a-z]+)")
_LONGEST_KIND = 4
_BIRTHPLACE = re.compile(r"\bbirth ?place\b")
_TITLE_FOLLOWS = re.compile(r", \d+(?:st|nd|rd|th) ")
_LED = re.compile(r"^\w+ of (?:the )?(?=\S)")  # "CEO of Google" is about Google, like "head of Google"
_LETTERS = 25  # distance at which the nearness to the question word is one half


@dataclass(frozen=True)
class Question:
    """The parts of a question.

    `names` are the things that it mentions. `words` are its other content words, as written by stem, those nearest to a
    name first. `kinds` are the stems for the kind of thing that it asks for.
    `nearness` is, from 0 to 1, how near each content word is to the question word. `pair` are the two compared things
    (or more, or none). `least` is whether the smaller or earlier one is wanted, `same` whether all must share the
    attribute, `ordered` whether they are put in order. `told` is the statement about both ("are A and B both
    directors"). `measures` is whether the wanted number has a unit ("how long").
    """

    wants: Wants
    names: tuple[str, ...]
    words: Mapping[str, str]
    kinds: frozenset[str]
    nearness: Mapping[str, float]
    pair: tuple[str, ...]
    compared: Compared
    least: bool
    same: bool
    ordered: bool
    told: frozenset[str]
    measures: bool

    @property
    def compares(self) -> bool:
        """Return whether the question compares one attribute of two or more things."""
        return bool(self.pair) and self.wants in {"which of two", "yes or no"}

    @property
    def given(self) -> tuple[str, ...]:
        """Return the names that an answering text must have: no years, and no names of the kind ("which Kell town")."""
        return tuple(name for name in self.names if not name.isdigit() and self.kinds.isdisjoint(stems(name)))

    def with_names(self, names: tuple[str, ...]) -> "Question":
        """Return the question with other names, and without the words in these names."""
        inside = {stem(word) for name in names for word in name_words(name)}
        words = {word: spelled for word, spelled in self.words.items() if word not in inside}
        return replace(self, names=names, words=words)


@lru_cache(maxsize=1024)
def analyse(text: str) -> Question:
    """Analyse a question; parentheses are ignored, as they only distinguish things with the same name."""
    text = _BIRTHPLACE.sub("place of birth", re.sub(r"\s*\([^()]*\)", "", text))
    pair = _pair(text)
    names = list(dict.fromkeys([*pair, *_names(text, pair)]))
    asking = asking_word(text)
    kinds = _kinds(text, asking)
    bare = text
    for name in pair:
        bare = bare.replace(name, " ")  # "Which is older, First Light or After Dark?"
    least, most = _ASKS_LEAST.search(bare), _ASKS_MOST.search(bare)
    return Question(
        wants=_wanted(text, asking[0].lower() if asking else "what", kinds, pair),
        names=tuple(names),
        words=_words_outside(names, text),
        kinds=kinds,
        nearness=_nearness(text, asking),
        pair=pair,
        compared=next((name for name, pattern in _COMPARED if pattern.search(bare)), "date"),
        least=least is not None and (most is None or most.start() < least.start()),
        ordered=least is not None or most is not None,
        told=frozenset(stems(text.partition(pair[-1])[2])) if pair and _BEING.match(text) else frozenset(),
        same=_ASKS_SAME.search(text) is not None,
        measures=asking is not None and _MEASURES.fullmatch(asking[0]) is not None,
    )


def _wanted(text: str, asking: str, kinds: frozenset[str], pair: tuple[str, ...]) -> Wants:
    if pair and (" or " in text or "between" in text.lower()):
        return "which of two"
    if _YES_NO.match(text.strip()):
        return "yes or no"
    if _WHY.match(text):
        return "reason"
    if asking.startswith("how"):
        return "number"
    if asking == "when" or kinds & DATES:
        return "year" if "year" in kinds else "date"
    if kinds & _NUMBERS:
        return "number"
    if asking in {"who", "whom"} or kinds & PERSONS:
        return "person"
    if "nationality" in text.lower().split():
        return "nationality"
    if asking == "where" or kinds & PLACES:
        return "place"
    return "phrase" if kinds & _PHRASES else "thing"


def asking_word(text: str) -> re.Match[str] | None:
    """Find the question word: one at the beginning, else "what", else one before a kind of thing."""
    found = list(_ASKING.finditer(text))
    return max(found, key=lambda match: (_asks(text, match), -match.start()), default=None)


def _asks(text: str, match: re.Match[str]) -> int:
    """Return how likely a word is the question word and does not only join clauses."""
    before, after = text[: match.start()].split(), text[match.end() :].split()
    if (
        len(before) <= 2
        and before[:1] not in (["The"], ["A"], ["An"])
        and not any(word[0].isupper() for word in before[1:])
    ):
        return 4
    word, following = match[0].lower(), after[0].lower().strip("?") if after else ""
    if word in {"what", "whom"} or word.startswith("how"):
        return 3
    if word == "which" and following not in stop_words() and not following.endswith("ed"):
        return 2
    return 0 if following else 1


def _kinds(text: str, asking: re.Match[str] | None) -> frozenset[str]:
    """Return the stems of the words for the wanted kind of thing ("what Danish football club", "same island")."""
    if same := _ASKS_SAME.search(text):
        return frozenset({stem(same[1])})
    if asking is None or asking[0].lower() in {"who", "whom", "when", "where"}:
        return frozenset()
    following = _ASKED.match(text, asking.end())
    words: list[str] = []
    for word in following[1].lower().split() if following else ():
        if word in stop_words() or len(words) == _LONGEST_KIND or (words and word.endswith("ed")):
            break
        words.append(stem(re.sub(r"['’]s$", "", word)))
        if asking[0].lower() == "which" and word.endswith(("'s", "’s")):
            break
    return frozenset(words)


def _nearness(text: str, asking: re.Match[str] | None) -> dict[str, float]:
    start, end = asking.span() if asking else (0, 0)
    near: dict[str, float] = {}
    for match in JOINED_WORD.finditer(text):
        value = 1 / (1 + max(match.start() - end, start - match.end(), 0) / _LETTERS)
        for word in stems(match[0]):
            near[word] = max(near.get(word, 0.0), value)
    return defaultdict(float, near)


def _pair(text: str) -> tuple[str, ...]:
    for pattern in _ALTERNATIVES:
        if found := pattern.search(text):
            return *_enumerated(found), _clean(found["other"])
    word = " or " if " or " in text else " and "
    if word not in text or not (word == " or " or _YES_NO.match(text)):
        return ()
    middle = text.index(word)
    before = [name.text for name in spot_names(text) if name.end <= middle]
    after = [name.text for name in spot_names(text) if name.start > middle]
    return (before[-1], after[0]) if before and after else ()


def _enumerated(found: re.Match[str]) -> list[str]:
    """Return the alternatives before the last one: several, unless they may be one name like "Kell, Norland"."""
    names, last = [_clean(name) for name in found["one"].split(", ")], _clean(found["other"])
    enumerated = found.string[found.end("one")] == "," or all(" " in name for name in [*names, last])
    several = enumerated and "," not in last and all(map(_NAME.match, names))
    return names if several else [_clean(found["one"])]


def _clean(name: str) -> str:
    return name.strip(" \"'“”?!.,*")


def names_in(text: str) -> list[Span]:
    """Return the names in a text, each with a numbered title after it ("Ada Renk, 2nd Countess of Kell")."""
    names: list[Span] = []
    for name in spot_names(text):
        titled = names and _TITLE_FOLLOWS.fullmatch(text[names[-1].end : name.start])
        names.append(joined(text, names.pop(), name) if titled else name)
    return names


def joined(text: str, one: Span, other: Span) -> Span:
    """Return two names in a text, and the text between them, as one span."""
    end = other.start + len(other.text)
    return Span(one.start, other.end, text[one.start : end], "name")


def _names(text: str, pair: tuple[str, ...]) -> list[str]:
    inside = name_words(" ".join(pair))
    dates = [span for span in spot(text) if span.kind == "date" and span.start > 0]
    spans = sorted([*names_in(text), *dates], key=lambda span: span.start)
    names = [span.text for span in spans if not name_words(span.text) <= inside]
    return [_LED.sub("", name) if stem(name.split()[0].lower()) == "lead" else name for name in names]


def _words_outside(names: list[str], text: str) -> dict[str, str]:
    """Return the content words outside names, as written by stem, nearest to a name first."""
    in_names = {stem(word) for name in names for word in name_words(name)}
    starts = [(text.lower().find(name.lower()), len(name)) for name in names]
    places = [(start, start + length) for start, length in starts if start >= 0]
    found: dict[str, tuple[int, str]] = {}
    for match in JOINED_WORD.finditer(text):
        spelling = re.sub(r"['’]s$", "", match[0].lower())
        gap = min([max(match.start() - end, start - match.end()) for start, end in places], default=0)
        for word in stems(spelling) if gap >= 0 else ():
            if word not in in_names:
                found.setdefault(word, (gap, spelling))
    return {word: spelling for word, (_, spelling) in sorted(found.items(), key=lambda item: item[1][0])}
