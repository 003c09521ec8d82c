"""Finds the topic of a text: its title, or else its first line or subject."""

import re
from bisect import bisect_left
from collections.abc import Sequence

from langgraph_rag.normal_forms import WORD, half_words
from langgraph_rag.tools.language.code import is_code
from langgraph_rag.tools.language.spans import Span, spot
from langgraph_rag.tools.language.stop_words import stop_words

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
