"""Parts of Open XML files, and the numbers that Word counts."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from zipfile import ZipFile

from lxml import etree

NS = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
}
_STRICT = {
    b"http://purl.oclc.org/ooxml/wordprocessingml/main": NS["w"].encode(),
    b"http://purl.oclc.org/ooxml/officeDocument/math": NS["m"].encode(),
    b"http://purl.oclc.org/ooxml/drawingml/main": NS["a"].encode(),
}  # what Word writes as "Strict Open XML Document"
_OFF = ("0", "false", "off")
_PROTECTED = b"\xd0\xcf\x11\xe0"  # as of files by Office 97
READ = (".xml", ".rels")


def check_format(written: bytes, kind: str) -> None:
    """Check that a file is not of the old form of a kind such as ".docx".

    Raises:
        ValueError: when it is, or is encrypted, which looks the same.
    """
    if written.startswith(_PROTECTED):
        raise ValueError(f"it is a {kind[:-1]} file or wants a password: save it as {kind}, without a password")


def check_size(file: ZipFile, largest: int) -> None:
    """Check that a file unpacks to at most so many bytes of text; a small one may unpack to any size.

    Raises:
        ValueError: when it is larger.
    """
    if (size := sum(part.file_size for part in file.infolist() if part.filename.endswith(READ))) > largest:
        raise ValueError(f"it has {size:,} bytes of text")


def parsed(part: bytes) -> Any:
    """Parse a part of a file; nothing outside it is read."""
    for strict, usual in _STRICT.items():
        part = part.replace(strict, usual)
    return etree.fromstring(part, etree.XMLParser(resolve_entities=False, no_network=True))


def name(prefixed: str) -> str:
    """Return the name of an element or attribute as lxml writes it."""
    prefix, _, own = prefixed.partition(":")
    return f"{{{NS[prefix]}}}{own}"


def value(element: Any, path: str) -> str:
    """Return the value of the element at a path, or ""."""
    found = None if element is None else element.find(path, NS)
    return "" if found is None else str(found.get(name("w:val"), ""))


def is_on(element: Any, path: str) -> bool | None:
    """Return whether a property at a path is switched on; None if it is not there."""
    return None if element.find(path, NS) is None else value(element, path) not in _OFF


NUMBERING = "word/numbering.xml"
_SHOWN = re.compile(r"%([1-9])")
_ROMAN = {
    1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl", 10: "x", 9: "ix", 5: "v",
    4: "iv", 1: "i",
}  # fmt: skip
_MOST = 4_999  # the largest number written with letters
_WRITTEN: dict[str, Callable[[int], str]] = {
    "decimalZero": lambda number: f"{number:02}",
    "lowerLetter": lambda number: _letters(number),
    "upperLetter": lambda number: _letters(number).upper(),
    "lowerRoman": lambda number: _roman(number),
    "upperRoman": lambda number: _roman(number).upper(),
    "ordinal": lambda number: f"{number}{_ending(number)}",
    "bullet": lambda _: "",
    "none": lambda _: "",
}  # others, such as those of other scripts, are written with digits


class Place(NamedTuple):
    """The list that a paragraph or a style belongs to, and its level from "0" on; either may be ""."""

    list_id: str
    level: str


class _Level(NamedTuple):
    start: int
    form: str
    shown: str  # such as "%1.%2"
    restarts: int  # after paragraphs of levels below this one
    in_digits: bool


class _List(NamedTuple):
    counted: str  # lists of one definition are counted together
    levels: Mapping[int, _Level]
    starts: Mapping[int, int]  # where this list begins anew
    by_style: Mapping[str, int]


class Numbering(NamedTuple):
    """The lists of a file by their ids, and the places of styles in them."""

    lists: Mapping[str, _List]
    styles: Mapping[str, Place]


def read_numbering(part: bytes, styles: Mapping[str, Place]) -> Numbering:
    """Read the definitions of lists, given the places of styles."""
    root = parsed(part)
    defined = {found.get(name("w:abstractNumId"), ""): found for found in root.iter(name("w:abstractNum"))}
    instances = {found.get(name("w:numId"), ""): found for found in root.iter(name("w:num"))}
    lists = {}
    for id_, instance in instances.items():
        counted = value(instance, "w:abstractNumId")
        linked = styles.get(value(defined.get(counted), "w:numStyleLink"))
        if linked and linked.list_id in instances:
            counted = value(instances[linked.list_id], "w:abstractNumId")
        if counted in defined:
            lists[id_] = _list(counted, defined[counted], instance)
    return Numbering(lists, styles)


def _list(counted: str, defined: Any, instance: Any) -> _List:
    overriding = {_depth(found): found for found in instance.findall("w:lvlOverride", NS)}
    levels = {_depth(found): found for found in defined.findall("w:lvl", NS)}
    levels |= {depth: own for depth, found in overriding.items() if (own := found.find("w:lvl", NS)) is not None}
    starts = {depth: _whole(value(found, "w:startOverride")) for depth, found in overriding.items()}
    return _List(
        counted,
        {depth: _level(depth, found) for depth, found in levels.items()},
        {depth: start for depth, start in starts.items() if start is not None},
        {style: depth for depth, found in levels.items() if (style := value(found, "w:pStyle"))},
    )


def _level(depth: int, found: Any) -> _Level:
    restarts = _whole(value(found, "w:lvlRestart"))
    return _Level(
        _whole(value(found, "w:start")) or 0,
        value(found, "w:numFmt") or "decimal",
        value(found, "w:lvlText"),
        depth if restarts is None else restarts,
        is_on(found, "w:isLgl") or False,
    )


def _depth(element: Any) -> int:
    return _whole(element.get(name("w:ilvl"), "")) or 0


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def bulleted(part: bytes) -> bytes:
    """Return the definitions of lists with bullets instead of numbers, for paragraphs that have theirs as text."""
    root = parsed(part)
    for form in root.iter(name("w:numFmt")):
        form.set(name("w:val"), "bullet")
    return bytes(etree.tostring(root))


def numbers_of(root: Any, numbering: Numbering) -> list[tuple[Any, str]]:
    """Return the paragraphs with numbers, in order, and the number of each as Word shows it: "2.1" or "(b)"."""
    counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
    begun = set[tuple[str, int]]()
    found = []
    for paragraph, id_, depth in _listed(root, numbering):
        own = numbering.lists[id_]
        count = counts[own.counted]
        for above in range(depth + 1):
            if above in own.starts and (id_, above) not in begun:
                count[above] = own.starts[above] - (above == depth)
                begun.add((id_, above))
            elif above not in count and above in own.levels:
                count[above] = own.levels[above].start - (above == depth)
        count[depth] += 1
        for below in [at for at in count if at > depth and at in own.levels and depth < own.levels[at].restarts]:
            del count[below]
        number = _number(own, depth, count)
        if number and any(text.text for text in paragraph.iter(name("w:t"))):
            found.append((paragraph, number))
    return found


def _listed(root: Any, numbering: Numbering) -> Iterator[tuple[Any, str, int]]:
    """Yield the paragraphs in lists, each with its list and its level."""
    for paragraph in root.iter(name("w:p")):
        style = value(paragraph, "w:pPr/w:pStyle")
        of_style = numbering.styles.get(style, Place("", ""))
        id_ = value(paragraph, "w:pPr/w:numPr/w:numId") or of_style.list_id
        own = numbering.lists.get(id_)
        level = _whole(value(paragraph, "w:pPr/w:numPr/w:ilvl"))
        if own and level is None:
            level = own.by_style.get(style, _whole(of_style.level) or 0)
        if own and level is not None and level in own.levels:
            yield paragraph, id_, level


def _number(own: _List, depth: int, count: Mapping[int, int]) -> str:
    level = own.levels[depth]
    if level.form in ("bullet", "none") and not _SHOWN.search(level.shown):
        return level.shown if level.form == "none" else ""

    def shown(part: re.Match[str]) -> str:
        at = int(part[1]) - 1
        form = own.levels[at].form if at in own.levels else "none"
        form = "decimal" if level.in_digits and form != "decimalZero" else form
        return _WRITTEN.get(form, str)(count.get(at, 0))

    return " ".join(_SHOWN.sub(shown, level.shown).split())


def _letters(number: int) -> str:
    """Write a number as a to z, aa to zz, aaa to zzz."""
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1) if 0 < number <= _MOST else str(number)


def _roman(number: int) -> str:
    if not 0 < number <= _MOST:
        return str(number)
    written = ""
    for worth, letters in _ROMAN.items():
        written += letters * (number // worth)
        number %= worth
    return written


def _ending(number: int) -> str:
    return "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
