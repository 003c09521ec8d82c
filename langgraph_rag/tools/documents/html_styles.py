"""What the style sheets of a page say of its text: what is struck out, and the numbers of headings and items."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString
from soupsieve import SelectorSyntaxError

KINDS = {
    "decimal": "1",
    "decimal-leading-zero": "01",
    "lower-alpha": "a",
    "lower-greek": "α",
    "lower-latin": "a",
    "lower-roman": "i",
    "upper-alpha": "A",
    "upper-latin": "A",
    "upper-roman": "I",
}
"""The first numbers of lists by the names of their styles."""
_ROMAN = dict(m=1000, cm=900, d=500, cd=400, c=100, xc=90, l=50, xl=40, x=10, ix=9, v=5, iv=4, i=1)
_MOST_ROMAN = 4_999
_GREEK = "αβγδεζηθικλμνξοπρστυφχψω"
_NO_RULE = re.compile(r"/\*.*?\*/|<!--|-->|@(?:import|charset)[^;{}]*;", re.DOTALL)
_RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
_PLAIN = re.compile(r"[\w\s.#>*+~-]{1,200}")  # a selector without conditions such as :hover
_OF_SOME = re.compile(r"[.#]([\w-]+)")
_BEFORE = re.compile(r"(?:::?before|::marker)$", re.IGNORECASE)
_OF_LISTS = "list-item"  # the counter that browsers keep themselves
_STRIKES = re.compile(r"text-decoration(?:-line)?\s*:[^;]*\bline-through\b", re.IGNORECASE)
_COUNTS = re.compile(r"\bcounters?\(|\bcounter-(?:reset|set|increment)\s*:|\blist-style(?:-type)?\s*:", re.IGNORECASE)
_DECLARED = re.compile(r"(?:^|;)\s*([\w-]+)\s*:((?:\"[^\"]*\"|'[^']*'|[^;\"'])*)")
_COUNTER = re.compile(r"([a-zA-Z_][\w-]*)(?:\s+(-?\d{1,6}))?")
_SHOWN = re.compile(
    r"(?P<text>\"[^\"]*\"|'[^']*')|(?P<all>counters?)\(\s*(?P<name>[\w-]+)\s*(?:,\s*(?P<between>\"[^\"]*\"|'[^']*')\s*)?"
    r"(?:,\s*(?P<kind>[\w-]+)\s*)?\)",
    re.IGNORECASE,
)
_ESCAPED = re.compile(r"\\([0-9a-fA-F]{1,6})\s?|\\(.)")
_MOST_TRIED = 500_000  # elements, each with each rule
_FEWEST_RULES = 20


def numeral(number: int, kind: str) -> str:
    """Write the number of an item; `kind` is the first one of its list: 1, 01, a, A, i, I or α."""
    if kind in ("a", "A") and number > 0:
        letters = "".join(reversed([*_letters_of(number)]))
    elif kind in ("i", "I"):
        letters = roman(number)
    elif kind == "α" and 0 < number <= len(_GREEK):
        return _GREEK[number - 1]
    else:
        return f"{number:02}" if kind == "01" else str(number)
    return letters.upper() if kind.isupper() else letters


def _letters_of(number: int) -> Iterator[str]:
    while number:
        number, letter = divmod(number - 1, 26)
        yield chr(ord("a") + letter)


def roman(number: int) -> str:
    """Write a number with Roman letters, as far as these go."""
    if not 0 < number <= _MOST_ROMAN:
        return str(number)
    written = ""
    for letters, value in _ROMAN.items():
        written += letters * (number // value)
        number %= value
    return written


def struck_by_style(page: BeautifulSoup) -> list[Tag]:
    """Return the parts of a page that its style sheets strike through: Google Docs names its styles by classes."""
    rules = [selector for selector, _ in _rules(page, _STRIKES) if _OF_SOME.search(selector)]
    return [part for selector in rules for part in _selected(page, selector)]


class _Counting(NamedTuple):
    """What is counted at an element, and before its text, by the properties of style sheets; and what is shown."""

    own: dict[str, str]
    before: dict[str, str]


class _Counter(NamedTuple):
    """A value, which holds for what is in `scope` behind the element that set it."""

    scope: Tag
    value: int


def write_counters(page: BeautifulSoup) -> set[int]:
    """Write what style sheets count before headings and items, as "2.1", and the styles of lists.

    Returns:
        The ids of the elements that have such numbers.
    """
    told = _counting(page)
    if any(_OF_LISTS in found.before.get("content", "") for found in told.values()):
        for part in page.find_all(["ol", "ul", "li"]):
            kind, number = ("increment", "1") if part.name == "li" else ("reset", "0")
            told[id(part)].own.setdefault(f"counter-{kind}", f"{_OF_LISTS} {number}")
    counters: defaultdict[str, list[_Counter]] = defaultdict(list)
    counted = set[int]()
    for tag in page.find_all(True):
        if not (found := told.get(id(tag))):
            continue
        above = {id(parent) for parent in tag.parents}
        for declared in found:
            _count(declared, tag.parent or tag, counters, above)
        if shown := _text_of(found.before.get("content", ""), counters, above):
            first_block(tag).insert(0, NavigableString(f"{shown} "))
            counted.add(id(tag))
        if tag.name == "ol":
            style = found.own.get("list-style-type") or found.own.get("list-style", "")
            tag["style"] = f"{tag.get('style', '')};list-style:{style}"
    return counted


def _count(declared: dict[str, str], within: Tag, counters: dict[str, list[_Counter]], above: set[int]) -> None:
    """Set and increment counters at an element in `within`, whose parents are `above`."""
    for name, value in _COUNTER.findall(declared.get("counter-reset", "")):
        if _known(counters[name], above) and counters[name][-1].scope is within:
            counters[name].pop()
        counters[name].append(_Counter(within, int(value or 0)))
    for name, value in _COUNTER.findall(declared.get("counter-increment", "")):
        last = (_known(counters[name], above) or [_Counter(within, 0)])[-1]
        counters[name][-1:] = [last._replace(value=last.value + int(value or 1))]


def _known(counters: list[_Counter], above: set[int]) -> list[_Counter]:
    """Leave out the counters of parts that have ended."""
    while counters and id(counters[-1].scope) not in above:
        counters.pop()
    return counters


def _text_of(content: str, counters: dict[str, list[_Counter]], above: set[int]) -> str:
    """Return the text that stands before an element, if it has a number."""
    parts = list(_SHOWN.finditer(content))
    if not any(part["name"] for part in parts):
        return ""
    written = ""
    for part in parts:
        if part["text"]:
            written += _unescaped(part["text"])
            continue
        kind = KINDS.get((part["kind"] or "decimal").lower(), "1")
        numbers = [numeral(counter.value, kind) for counter in _known(counters[part["name"]], above)] or ["0"]
        written += _unescaped(part["between"] or "''").join(numbers if part["all"].endswith("s") else numbers[-1:])
    return " ".join(written.split())


def _unescaped(quoted: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16) % 0x110000) if found[1] else found[2], quoted[1:-1])


def _counting(page: BeautifulSoup) -> defaultdict[int, _Counting]:
    """Return what is counted at each element, by its id; the rules for fewer elements come last."""
    found: defaultdict[int, _Counting] = defaultdict(lambda: _Counting({}, {}))
    rules = _rules(page, _COUNTS)
    for selector, declared in sorted(rules, key=lambda rule: (rule[0].count("#"), rule[0].count("."))):
        at = _BEFORE.sub("", selector)
        properties = {name.lower(): value.strip() for name, value in _DECLARED.findall(declared)}
        if not _OF_SOME.search(selector):  # most pages reset lists, and name afterwards what has numbers
            properties = {name: value for name, value in properties.items() if value != "none"}
        for part in _selected(page, at):
            found[id(part)][at != selector].update(properties)
    return found


def _rules(page: BeautifulSoup, kind: re.Pattern[str]) -> list[tuple[str, str]]:
    """Return the selectors of rules of a kind for names that the page has, each with what it declares."""
    rules = [
        (selector.strip(), rule[2])
        for style in page.find_all("style")
        for rule in _RULE.finditer(_NO_RULE.sub("", style.get_text()))
        if kind.search(rule[2])
        for selector in rule[1].split(",")
    ]
    if not rules:
        return []
    parts = page.find_all(True)
    names = {name for part in parts for name in (*part.get_attribute_list("class"), part.get("id"))}
    used = [rule for rule in rules if names.issuperset(_OF_SOME.findall(rule[0]))]
    return used[: max(_FEWEST_RULES, _MOST_TRIED // len(parts))]


def _selected(page: BeautifulSoup, selector: str) -> list[Tag]:
    if not _PLAIN.fullmatch(selector):
        return []
    try:
        return list(page.select(selector))
    except SelectorSyntaxError:
        return []


def first_block(item: Tag) -> Tag:
    """Return where the text of an item begins: in its first paragraph, if it has one."""
    first = next((child for child in item.children if isinstance(child, Tag) or str(child).strip()), None)
    return first_block(first) if isinstance(first, Tag) and first.name in ("p", "div") else item
