"""Finds the terms that a passage explains, such as the settings, options, commands and codes of a manual."""

import re
from itertools import pairwise

from langgraph_rag.tools.language.stop_words import stop_words

_BULLET = re.compile(r"(?:[-*•+]|\d+[.)])\s+")
_PROSE = re.compile(r"[A-Z]?[^\W\d_A-Z]*(?:['’][a-z]+)?|I|A")
_LONGEST = 4  # words of a term on a line of its own: "-t timeout", "beginning-of-line (C-a)"
_ENDS = (".", "!", "?", ":", ";")


def terms_of(text: str) -> list[str]:
    """Return the terms that begin a paragraph or an item of a list and are explained there or in the next one.

    A term stands on a line of its own (`HISTFILE`), before a colon (`fields.E304: ...`), or before a sentence (`dotglob
    If set, ...`). Names of which nothing is said, as in a list of settings, are no terms.
    """
    lines = [line.strip() for line in text.splitlines()]
    begins = [not before or _BULLET.match(line) is not None for before, line in pairwise(["", *lines])]
    stated = [(line, begin) for line, begin in zip(lines, begins, strict=True) if line]
    terms = (_term(line, following) for (line, begin), (following, _) in pairwise([*stated, ("", True)]) if begin)
    return list(dict.fromkeys(filter(None, terms)))


def _term(line: str, following: str) -> str:
    """Return the term that a line begins with, if any; `following` is the next line."""
    bullet = _BULLET.match(line)
    words = line[bullet.end() if bullet else 0 :].split()
    if _alone(line) and following and not bullet and not _alone(following):
        return line
    if len(words) < 2:
        return ""
    first, second = words[0], words[1]
    named = first.rstrip(":")
    if not any(map(str.isalpha, named)) or named.lower() in stop_words():
        return ""
    in_prose = _PROSE.fullmatch(named) is not None
    before_colon = first.endswith(":") and not in_prose
    before_sentence = second[0].isupper() and (named[0].islower() or not in_prose)
    return named if before_colon or before_sentence else ""


def _alone(line: str) -> bool:
    return (
        any(map(str.isalpha, line)) and len(line.split()) <= _LONGEST and not line.endswith(_ENDS) and ": " not in line
    )
