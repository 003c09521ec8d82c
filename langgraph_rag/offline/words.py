"""Compares words for the offline model: crude stems, families of related words, names, dates and numbers."""

import re
import unicodedata
from functools import lru_cache
from itertools import filterfalse

from langgraph_rag.normal_forms import normalise
from langgraph_rag.tools.ingest.spans import DATE, MONTHS, NAME_CONNECTORS, NUMBER, stop_words

_SUFFIXES = (
    "ations", "ation", "ings", "ing", "ions", "ion", "ments", "ment", "ors", "or", "ers", "er", "ress", "ed", "es",
    "ly", "s", "e",
)  # fmt: skip
_FAMILIES = {
    "birth": "born birth birthday birthplace birthdate older younger oldest youngest",
    "death": "die died death dead deceased killed passed",
    "spouse": "wife husband spouse married marry marriage wed wedding widow",
    "parent": "father mother parent parents son daughter child children",
    "sibling": "brother sister sibling siblings half-brother half-sister",
    "write": "author wrote written writer novelist write writes penned",
    "perform": "performer singer sang sung sing performed recorded vocalist",
    "act": "actor actress star starring starred stars cast played plays portrayed",
    "found": "founder founded established establish formed creator created started co-founded",
    "lead": "leader led head president chief ruler ceo chairman captain mayor",
    "build": "build built",
    "place": "located location situated lies based headquartered",
    "release": "released release came published premiered aired debut debuted",
    "school": "educated study studied studies studying attended graduated alumnus university college school",
    "work": "employer employed worked works work",
    "own": "owner owned owns parent-company",
    "nation": "country nationality national nation citizenship citizen",
    "die_place": "buried burial",
    "flow": "flows flow empties tributary mouth",
    "border": "borders border bordering shares",
    "occupation": "occupation profession job",
    "state": "state",  # so that it differs from "States", which loses its final e
    "inhabitants": "population inhabitants residents people",
    "film": "film films movie movies",
    "song": "song songs single track",
    "band": "band group bands",
}
FAMILIES = frozenset(_FAMILIES)
_FORMS = (  # each word with its irregular forms
    "begin began begun, break broke broken, bring brought, buy bought buys buying buyer, catch caught, choose chose "
    "chosen, draw drew drawn, drink drank drunk, drive drove driven, fall fell fallen, fight fought, fly flew flown "
    "flies flying, freeze froze frozen, grow grew grown, hang hung, hide hid hidden, hold held, keep kept, know "
    "knew known, leave left, lend lent, lose lost losing, meet met, pay paid pays paying, ride rode ridden riding, "
    "rise rose risen rising, run ran runs running, seek sought, sell sold, send sent, shoot shot, shrink shrank "
    "shrunk, sink sank sunk, speak spoke spoken, spend spent, stand stood, steal stole stolen, strike struck, swim "
    "swam swum swimming, teach taught, tell told, think thought, throw threw thrown, wear wore worn, win won wins "
    "winning winner, deep depth, high height tall, long length, wide width"
)
_FAMILY = {word: family for family, words in _FAMILIES.items() for word in words.split()}
_ASKING = frozenset(
    "who whom whose what which when where why how many much name named called known type kind year date day place time "
    "people person same first later earlier last one two both more following".split()
)
DEMONYM = re.compile(
    r"[^\W\d_](?:ish|[ai]an|(?<!Vat)ican|ese|[fn]ch|tch|-born)$"
    r"|^(?:Czech|Filipino|German|Greek|Iraqi|Israeli|Pakistani|Soviet|Swiss|Thai|Turk|Welsh)$"
)
_POSSESSIVE = re.compile(r"['’]s\b")
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MONTH_NUMBER = {month: number for number, month in enumerate(MONTHS, start=1)}
_NUMBER_WORDS = {word: value for value, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve".split())}  # fmt: skip
_TENS = {word: value for value, word in enumerate(
    "twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)}  # fmt: skip
_SCALE = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9,
          "kilomet": 1e3, "centimet": 0.01, "metre": 1.0, "meter": 1.0, "mile": 1609.3, "feet": 0.3048,
          "yard": 0.9144}  # fmt: skip
_UNITS = {"km": 1e3, "cm": 0.01, "mm": 0.001, "mi": 1609.3, "ft": 0.3048, "foot": 0.3048, "yd": 0.9144}
_SCALES = re.compile(rf"\b(?:{'|'.join(_SCALE)})", re.IGNORECASE)
_UNIT = re.compile(rf"[\s-]?({'|'.join(_UNITS)})\b")
_MEASURED = re.compile(rf"\d(?:{_UNIT.pattern}|[\s-]?{_SCALES.pattern})", re.IGNORECASE)
DENIAL = re.compile(r"\b(?:not|never|no longer)\b|n['’]t\b")


def _without_ending(word: str) -> str:
    endings = (suffix for suffix in _SUFFIXES if word.endswith(suffix) and len(word) - len(suffix) >= 4)
    return word.removesuffix(next(endings, ""))


_FORM = {form: _without_ending(base) for base, *forms in map(str.split, _FORMS.split(", ")) for form in forms}


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the family of a word, or else the word, or the base of an irregular form, without its ending."""
    left = _without_ending(word)
    return _FAMILY.get(word) or _FORM.get(word) or _FAMILY.get(left, left)


@lru_cache(maxsize=65_536)
def stems(text: str) -> tuple[str, ...]:
    """Return the stems of the content words of a text, in order, each once."""
    empty = (stop_words() | _ASKING) - {"formerly"}
    words = (word for word in plain(_POSSESSIVE.sub("", text)).split() if len(word) > 1 and word not in empty)
    return tuple(dict.fromkeys(stem(word) for word in words))


@lru_cache(maxsize=65_536)
def plain(name: str) -> str:
    """Return a name in normal form without accents, as these are often omitted: "Emile", "Émile"."""
    return "".join(filterfalse(unicodedata.combining, unicodedata.normalize("NFD", normalise(name))))


@lru_cache(maxsize=65_536)
def name_words(name: str) -> frozenset[str]:
    """Return the words that are used to compare names."""
    words = frozenset(plain(name).split())
    return words - (stop_words() - _NUMBER_WORDS.keys()) - {"s"} or words


LIKELY, SURE = 0.7, 0.9
"""The likeness of names of which one has all words of the other: one word, or several."""


@lru_cache(maxsize=262_144)
def name_likeness(one: str, other: str) -> float:
    """Return how likely two names refer to the same thing, from 0 to 1."""
    a, b = name_words(one), name_words(other)
    if not a or not b:
        return 0.0
    if a == b:
        return 1.0
    shared = len(a & b)
    if shared == min(len(a), len(b)):
        return SURE if shared > 1 else LIKELY
    return 0.6 if shared / len(a | b) >= 0.6 else 0.0


def is_name(text: str) -> bool:
    """Return whether a text looks like a name: capitalised, no date, no number, no "Norwegian band"."""
    text = text.strip()
    if not text or not text[0].isupper() or DATE.fullmatch(text) or NUMBER.fullmatch(text):
        return False
    words = text.split()
    described = len(words) < 6 and any(word.islower() and word not in NAME_CONNECTORS for word in words)
    return not described and (len(words) > 1 or not DEMONYM.search(text))


def date_of(text: str) -> tuple[int, int, int] | None:
    """Return the first date with a year as (year, month, day); an unknown month or day is 0."""
    for found in DATE.finditer(text):
        if iso := _ISO.fullmatch(found[0]):
            return int(iso[1]), int(iso[2]), int(iso[3])
        words = normalise(found[0]).split()
        year = next((int(word[:4]) for word in words if re.fullmatch(r"\d{4}s?", word)), None)
        if year:
            month = next((_MONTH_NUMBER[word] for word in words if word in _MONTH_NUMBER), 0)
            day = next((int(match[1]) for word in words if (match := re.fullmatch(r"(\d{1,2})\D*", word))), 0)
            return year, month, day if month else 0  # the month of 3/4/1911 is ambiguous
    return None


def number_of(text: str) -> float | None:
    """Return the first number, in digits or words, with its scale; lengths are in metres."""
    if found := re.search(r"\d[\d,]*(?:\.\d+)?", text):
        value, rest = float(found[0].replace(",", "")), text[found.end() :]
    else:
        value, rest = _in_words(normalise(text).split()), text
    if value < 0:
        return None
    if unit := _UNIT.match(rest):
        return value * _UNITS[unit[1]]
    scale = _SCALES.search(rest)
    return value * (_SCALE[scale[0].lower()] if scale else 1.0)


def _in_words(words: list[str]) -> float:
    """Return the first number among words: "seventy", "four" is 74; -1 if there is none."""
    place = next((place for place, word in enumerate(words) if word in _TENS or word in _NUMBER_WORDS), None)
    if place is None:
        return -1.0
    one, following = words[place], [*words, ""][place + 1]
    if one in _TENS:
        ones = _NUMBER_WORDS.get(following, 0)
        return 10.0 * _TENS[one] + ones % 10
    return float(_NUMBER_WORDS[one])


def is_measured(text: str) -> bool:
    """Return whether a number in a text has a unit of length or a scale, such as "million"."""
    return bool(_MEASURED.search(text))
