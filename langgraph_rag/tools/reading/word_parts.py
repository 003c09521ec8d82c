"""Rewrites the parts of a .docx file so that mammoth, which converts it, finds all of its text and headings."""

import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from lxml import etree

TITLE, HEADING = "read-title", "read-heading"  # ids of styles; headings have their level at the end
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_TEXTS = re.compile(r"word/(?:document|footnotes|endnotes)\d*\.xml")
_STYLES = "word/styles.xml"
_UNREAD = ("word/media/", "word/embeddings/")
_LARGEST = 30_000_000  # bytes of text, which need a hundred times as much memory
_WRAPPERS = ("fldSimple", "bdo", "dir", "smartTag")
_NAMED_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_LEVELS = range(1, 6)


def rewritten(written: bytes) -> BytesIO:
    """Return the file with plain runs and line breaks, and the title and headings in styles of their own.

    Raises:
        ValueError: when it has over 30 MB of text.
        Exception: when it is no .docx file.
    """
    out = BytesIO()
    with ZipFile(BytesIO(written)) as given, ZipFile(out, "w") as taken:
        parts = [part for part in given.infolist() if not part.filename.startswith(_UNREAD)]
        if (size := sum(part.file_size for part in parts)) > _LARGEST:  # a small file may unpack to any size
            raise ValueError(f"it has {size:,} bytes of text")
        styles = dict(_styles(given.read(_STYLES))) if _STYLES in given.namelist() else {}
        for part in parts:
            content = given.read(part)
            taken.writestr(part, _simplified(content, styles) if _TEXTS.fullmatch(part.filename) else content)
    return out


def _parsed(part: bytes) -> Any:
    return etree.fromstring(part, etree.XMLParser(resolve_entities=False, no_network=True))


def _styles(part: bytes) -> Iterator[tuple[str, str]]:
    """Yield the ids of the styles of titles and headings, also of those based on them, with our ids."""
    defined = {style.get(f"{_W}styleId", ""): style for style in _parsed(part).iter(f"{_W}style")}
    for id_ in defined:
        at, seen, meant = id_, set[str](), None
        while at in defined and at not in seen and (meant := _meant(defined[at])) is None:
            seen.add(at)
            at = _value(defined[at], "basedOn")
        if meant:
            yield id_, meant


def _meant(style: Any) -> str | None:
    """Return the id of our style, empty if it is one of plain text; None if that depends on what it is based on."""
    name = _value(style, "name")
    if named := _NAMED_HEADING.fullmatch(name):
        return _heading(int(named[1]))
    return TITLE if name.lower() == "title" else _outlined(style)


def _outlined(element: Any) -> str | None:
    """Return the id of our style for an outline level, which begins with 0; 9 stands for plain text."""
    level = _value(element, "pPr/{*}outlineLvl")
    return _heading(int(level) + 1) if level.isdecimal() else None


def _heading(level: int) -> str:
    return f"{HEADING}{level}" if level in _LEVELS else ""


def _value(element: Any, name: str) -> str:
    found = element.find(f"{_W}{name}")
    return "" if found is None else str(found.get(f"{_W}val", ""))


def _simplified(part: bytes, styles: Mapping[str, str]) -> bytes:
    root = _parsed(part)
    for wrapper in [*root.iter(*(f"{_W}{name}" for name in _WRAPPERS), f"{_M}oMathPara")]:
        _replace(wrapper, list(wrapper))
    for formula in [*root.iter(f"{_M}oMath")]:
        run = etree.Element(f"{_W}r")
        etree.SubElement(run, f"{_W}t").text = "".join(text.text or "" for text in formula.iter(f"{_M}t"))
        _replace(formula, [run])
    for run in {ruby.getparent() for ruby in root.iter(f"{_W}ruby")}:
        _replace(run, [*run.iterfind(f"{_W}ruby/{_W}rubyBase/*")])
    for end in root.iter(f"{_W}cr", f"{_W}ptab", f"{_W}br"):
        end.tag = f"{_W}br"
        end.attrib.clear()  # those of a page or a column join the words around them
    for paragraph in root.iter(f"{_W}p"):
        _name_style(paragraph, styles)
    return bytes(etree.tostring(root))


def _replace(element: Any, others: list[Any]) -> None:
    parent, place = element.getparent(), element.getparent().index(element)
    parent[place : place + 1] = others


def _name_style(paragraph: Any, styles: Mapping[str, str]) -> None:
    """Give a title or heading, which a paragraph may be by itself, our style."""
    own = _outlined(paragraph)
    if style := styles.get(_value(paragraph, "pPr/{*}pStyle"), "") if own is None else own:
        properties = paragraph.find(f"{_W}pPr")
        for named in properties.findall(f"{_W}pStyle"):
            properties.remove(named)
        properties.insert(0, etree.Element(f"{_W}pStyle", {f"{_W}val": style}))
