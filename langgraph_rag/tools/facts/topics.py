"""What a text is about: its topic from the title or the first sentence, and dates of birth and death after a name."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from langgraph_rag.normal_forms import WORD, half_words
from langgraph_rag.tools.ingest.spans import DATE, Span, is_code, spot, stop_words

_LONGEST_HEADING = 12  # words
_LONGEST_TITLE = 300  # characters
_OPENING = 300  # characters of a text that are searched for an opening name
_BEFORE_NAMES = frozenset({"", "the", "a", "an", "“", '"'})
_DEFINED = re.compile(r"(?:\s*\([^()]*\))*,?\s+(?:is|was|are|were)\s+(?:an?|the|one of)\b")
"""The text after a subject that is defined: ` (1911) was a`."""
_SUBJECT = re.compile(rf"(?:(?:[Tt]he|[Aa]n?)\s+(?=\S))?(?P<subject>[^.;:()\n]{{2,80}}?){_DEFINED.pattern}")
_OF_PROGRAMS = ("#!", "/*", "=head", "=pod")
_HEADER = re.compile(r"^(\S+)(?:\t| {3}).*(?:\t| {3})\1$")  # of a manual page: "LS(1)      User Commands      LS(1)"
_FIELDS = re.compile(r"(?:[^\W\d_][\w-]{0,30}:[ \t].*(?:\n[ \t]+.*)*(?:\n|$)){2,}")
_NAME_FIELD = re.compile(r"^(?:[\w-]+-)?(?:title|name|package|subject):[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_APPOSED = re.compile(r",\s*(?=[a-z])")  # "Kell Halden, known as ..."
_SENTENCE_END = re.compile("[.!?:…。！？｡：।۔؟։][\"'”’»“」』）)]*$")
_GOES_ON = re.compile(r",?\s+[a-z]|\s*\(")  # like a sentence, unlike "Present: ..."
_LABEL_OR_ITEM = re.compile(r"\s*(?:(?:[-*+•]|1[.)])\s|[^\W\d_a-z][\w -]{0,30}:(?:\s|$))")
_UNFINISHED = re.compile(
    r"\b(?:is|am|are|was|were|be|been|has|have|had|will|would|can|could|did|does)\b"
    r"|\b(?:an?|the|and|or|but|of|in|on|at|by|to|for|from|with|as|that|which|who|whose)$"
)
"""What a first line of a sentence has, unlike most titles; those that do have capitals ("Life Is Short")."""
_ENGLISH = 1 / 6  # minimum share of stop words in English text
_NO_SUBJECT = re.compile(
    r"(?:in|on|at|by|from|with|for|as|since|during|after|before|when|while|although|because|if)\b"
    r"|.*\b(?:he|she|it|they|we|this|these|there|that|which|who|his|her|its|their)\b",
    re.IGNORECASE | re.DOTALL,
)


def topic_of(title: str) -> str:
    """Return a title without its disambiguation: `Mercury (planet)` -> `Mercury`."""
    return re.sub(r"\s*\([^()]*\)\s*$", "", title).strip() or title.strip()


def loosely(name: str) -> str:
    """Return a regex of a name as texts write it, also `Jon- ah` for `Jon-ah`."""
    return re.escape(name).replace(r"\-", r"-\s?").replace("'", "['’]")


def opening_of(text: str) -> str:
    """Return the opening of a text as its title: a first line of its own, or else its subject; empty if it has neither.

    The subject is the term that the first sentence defines ("Out of the Harbour is a novel"), or else a name.
    """
    text = text.strip()
    if is_code(text) or text.startswith(_OF_PROGRAMS):
        return ""
    if named := _named_field(text):
        return named
    first, *others = text.splitlines() or [""]
    first = _HEADER.sub(r"\1", first.strip())
    if (
        others
        and (_stands_alone(first, others[0]) or _is_above_prose(first, others))
        and (others[0].startswith(first) or not _SENTENCE_END.search(first))
        and half_words(first) <= 2 * _LONGEST_HEADING
        and any(map(str.isalpha, first))  # unlike a page number or a drawn line
        and not first.startswith("- ")
    ):
        return first.strip("#*_ ")[:_LONGEST_TITLE]
    acting = _acting(first[:_OPENING])
    return _defined(first)[:_LONGEST_TITLE] or (acting if " " in acting or _is_english(text[:_OPENING]) else "")


def _named_field(text: str) -> str:
    """Return the value of the field with the name of what is described, of a text that begins with fields."""
    fields = _FIELDS.match(text)
    found = fields and _NAME_FIELD.search(fields[0])
    return found[1].strip()[:_LONGEST_TITLE] if found else ""


def _stands_alone(line: str, below: str) -> bool:
    if line.startswith("#") or not below.strip():
        return True
    return _LABEL_OR_ITEM.match(below) is not None and not _LABEL_OR_ITEM.match(line)


def _is_above_prose(line: str, below: Sequence[str]) -> bool:
    """Return whether a line is much shorter than those below it, and neither a sentence nor the first line of one."""
    first, width = below[0].strip(), max(map(len, below))
    word = first.split()[0] if " " in first else ""  # unlike in Chinese
    return (
        2 * len(line) <= width
        and len(line) + len(word) < width  # it could have been longer
        and not (line[:1].islower() or first[0].islower() or line.endswith((",", ";")))
        and not (_UNFINISHED.search(line) or _LABEL_OR_ITEM.match(line))
    )


def _is_english(text: str) -> bool:
    words = WORD.findall(text.lower())
    return sum(len(word) > 1 and word in stop_words() for word in words) >= _ENGLISH * len(words)


def opening_name(sentence: str, begin: int = 0) -> Span | None:
    """Return the name at the beginning of a sentence, or at a position in it, possibly after an article."""
    spans = spot(sentence)
    span = next(iter(spans[bisect_left(spans, begin, key=lambda span: span.start) :]), None)
    opens = span and span.kind == "name" and sentence[begin : span.start].strip().lower() in _BEFORE_NAMES
    return span if opens else None


def _defined(sentence: str) -> str:
    found = _SUBJECT.match(sentence)
    subject = found["subject"] if found else ""
    named = any(word[0].isupper() for word in subject.split())
    return _APPOSED.split(subject)[0].strip("\"“”' ") if named and not _NO_SUBJECT.match(subject) else ""


def _acting(sentence: str) -> str:
    name = opening_name(sentence)
    return name.text if name and _GOES_ON.match(sentence, name.end) else ""


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
