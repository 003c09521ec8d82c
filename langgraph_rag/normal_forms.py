"""Normal forms: names, words and facts with the same normal form count as equal."""

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

_VARIATION_SELECTORS = range(0xFE00, 0xFE10)  # marks that only choose between two looks of a character
_MARKS = "".join(  # vowel signs of Indic scripts, tones of Thai, accents; beyond U+FFFF they would be slow to match
    chr(code)
    for code in range(0x10000)
    if unicodedata.category(chr(code)) in ("Mn", "Mc") and code not in _VARIATION_SELECTORS
)
WORD = re.compile(rf"[\w{_MARKS}]+")
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""A character of Thai, Lao, Burmese, Khmer, Japanese or Chinese, which have no spaces between words."""
POINTS = "".join(chr(code) for code in range(0x591, 0x6EE) if unicodedata.category(chr(code)) == "Mn")
"""The vowel points of Hebrew and Arabic, which are mostly left out."""
_UNTOLD = re.compile(f"[\u0307\u0640{POINTS}]")  # and what folding leaves of a Turkish capital, and a lengthened line
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
_MOST_MARKS = 30  # on one letter
_PILE = re.compile(rf"([{_MARKS}]{{{_MOST_MARKS}}})[{_MARKS}]+")
_BEYOND = re.compile("[\U00010000-\U0010ffff]")
_NOT_WORD = re.compile(rf"[^\w{_MARKS}]+")
_GRADES = r"(?:(?<=\b[A-F])|(?<=\b(?:AA|BB|CC))|(?<=\b(?:AAA|BBB|CCC)))"
SYMBOLS = (
    r"(?<=\w)(?:\+\+|\+(?!\w))|(?<=\b[A-Za-z])#(?!\w)|(?<=\b[a-f])[-\u2212]$"
    rf"|{_GRADES}[-\u2212](?![\w-]|\s[A-Z\d])"  # elsewhere, a hyphen before a space is a slip
)
"""Regex of marks that belong to the name before them: C++ is not C#, and A+ is not A-."""
SIGN = r"(?<![^\s(])(?<!\d\s)[-\u2212](?=\d)"
"""Regex of a minus before a number; after another number it stands for "to"."""
_TELLING = re.compile(rf"(?=[+#\-\u2212])({SYMBOLS}|{SIGN})")  # looking back at each character would take long


def without_piles(text: str) -> str:
    """Remove accents and vowel signs after thirty others: Unicode normalization takes quadratic time for them."""
    if not any(map(unicodedata.combining, _BEYOND.findall(text))):
        return _PILE.sub(r"\1", text)
    kept, marks = [], 0
    for letter in text:
        marks = marks + 1 if unicodedata.combining(letter) or letter in _MARKS else 0
        if marks <= _MOST_MARKS:
            kept.append(letter)
    return "".join(kept)


@lru_cache(maxsize=65_536)  # names and relations are repeated often
def normalise(text: str) -> str:
    """Return the normal form of a text: NFKC, case folded, punctuation replaced by single spaces.

    A minus before a number stays, and so do marks that distinguish names (C++, C#, A-).
    """
    form = unicodedata.normalize("NFKC", text).replace("_", " ")
    if any(mark in form for mark in "+#-\u2212"):
        parts = _TELLING.split(form)
        parts[::2] = [_NOT_WORD.sub(" ", part) for part in parts[::2]]
        return folded("".join(parts).replace("\u2212", "-")).strip()
    return _NOT_WORD.sub(" ", folded(form)).strip()


def words_of(text: str) -> list[str]:
    """Return the words of a text, case folded; in scripts without spaces, each character is a word."""
    return WORD.findall(apart(folded(text)))


def half_words(text: str) -> int:
    """Count half words; in scripts without spaces, each character is one."""
    spaced, unspaced = UNSPACED.subn(" ", text.replace("\u200b", " "))
    return 2 * len(spaced.split()) + unspaced


def stands_in(part: str, text: str) -> bool:
    """Return whether a text contains a part as whole words, in normal form."""
    return f" {normalise(apart(part))} " in f" {normalise(apart(text))} "


def apart(text: str) -> str:
    """Set the characters of scripts without spaces apart, each as a word, with single spaces between all words."""
    return text if text.isascii() else " ".join(UNSPACED.sub(r" \g<0> ", text).split())


def folded(text: str) -> str:
    """Fold the case of a text, and what people write in one way or another: points, digits, the Turkish i."""
    if text.isascii():
        return text.casefold()
    form = _UNTOLD.sub("", unicodedata.normalize("NFKC", text).casefold()).replace("\u0131", "i")
    return _FOREIGN_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), form)


def triple_key(triple: Sequence[str]) -> str:
    """Return the normal form of a triple."""
    return "|".join(map(normalise, triple))


def triple_text(triple: Sequence[str]) -> str:
    """Return a triple as text, as it is embedded."""
    return " ".join(triple)


def first_of_each(items: Iterable[T], key: Callable[[T], K]) -> dict[K, T]:
    """Return the first item for each key, in order."""
    found: dict[K, T] = {}
    for item in items:
        found.setdefault(key(item), item)
    return found
