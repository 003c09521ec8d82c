"""Rewrites the parts of a .docx file so that mammoth, which converts it, finds all of its text and headings."""

import re
from collections.abc import Mapping
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from lxml import etree

TITLE, HEADING = "read-title", "read-heading"  # ids of styles; headings have their level at the end
_NS = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
}
_STRICT = {
    b"http://purl.oclc.org/ooxml/wordprocessingml/main": _NS["w"].encode(),
    b"http://purl.oclc.org/ooxml/officeDocument/math": _NS["m"].encode(),
}  # what Word writes as "Strict Open XML Document"
_TEXTS = re.compile(r"word/(?:document|footnotes|endnotes)\d*\.xml")
_STYLES = "word/styles.xml"
_READ = (".xml", ".rels")
_LARGEST = 30_000_000  # bytes of text, which need a hundred times as much memory
_WRAPPERS = ("w:fldSimple", "w:hyperlink", "w:bdo", "w:dir", "w:smartTag", "m:oMathPara")
_PICTURES = ("{*}blip", "{*}imagedata")  # of any format; they may be missing from the file
_NAMED_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_LEVELS = range(1, 6)


def rewritten(written: bytes) -> BytesIO:
    """Return the file with plain runs and line breaks, without links and pictures; titles and headings have our styles.

    Raises:
        ValueError: when it has over 30 MB of text.
        Exception: when it is no .docx file.
    """
    out = BytesIO()
    with ZipFile(BytesIO(written)) as given, ZipFile(out, "w") as taken:
        parts = [part for part in given.infolist() if part.filename.endswith(_READ)]
        if (size := sum(part.file_size for part in parts)) > _LARGEST:  # a small file may unpack to any size
            raise ValueError(f"it has {size:,} bytes of text")
        styles = _styles(given.read(_STYLES)) if _STYLES in given.namelist() else {}
        for part in parts:
            content = given.read(part)
            taken.writestr(part, _simplified(content, styles) if _TEXTS.fullmatch(part.filename) else content)
    return out


def _parsed(part: bytes) -> Any:
    for strict, usual in _STRICT.items():
        part = part.replace(strict, usual)
    return etree.fromstring(part, etree.XMLParser(resolve_entities=False, no_network=True))


def _name(prefixed: str) -> str:
    """Return the name of an element or attribute as lxml writes it."""
    prefix, _, name = prefixed.partition(":")
    return f"{{{_NS[prefix]}}}{name}"


def _styles(part: bytes) -> dict[str, str]:
    """Return our ids by those of the styles of titles and headings, also of styles based on them."""
    defined = {style.get(_name("w:styleId"), ""): style for style in _parsed(part).iter(_name("w:style"))}
    ours = {id_: known for id_, style in defined.items() if (known := _our_style(style)) is not None}
    for id_ in defined:
        based, at = dict.fromkeys([id_]), id_
        while at not in ours and (at := _value(defined[at], "w:basedOn")) in defined and at not in based:
            based[at] = None
        ours |= dict.fromkeys(based, ours.get(at, ""))
    return {id_: style for id_, style in ours.items() if style}


def _our_style(style: Any) -> str | None:
    """Return the id of our style, empty if it is one of plain text; None if that depends on what it is based on."""
    name = _value(style, "w:name")
    if named := _NAMED_HEADING.fullmatch(name):
        return _heading(int(named[1]))
    return TITLE if name.lower() == "title" else _outlined(style)


def _outlined(element: Any) -> str | None:
    """Return the id of our style for an outline level, which begins with 0; 9 stands for plain text."""
    level = _value(element, "w:pPr/w:outlineLvl")
    return _heading(int(level) + 1) if level.isdecimal() else None


def _heading(level: int) -> str:
    return f"{HEADING}{level}" if level in _LEVELS else ""


def _value(element: Any, path: str) -> str:
    found = element.find(path, _NS)
    return "" if found is None else str(found.get(_name("w:val"), ""))


def _simplified(part: bytes, styles: Mapping[str, str]) -> bytes:
    root = _parsed(part)
    for wrapper in [*root.iter(*map(_name, _WRAPPERS))]:
        _replace_by(list(wrapper), wrapper)
    for picture in [*root.iter(*_PICTURES)]:
        picture.getparent().remove(picture)
    for ruby in [*root.iter(_name("w:ruby"))]:
        _replace_by(ruby.findall("w:rubyBase/*", _NS), ruby)
    for formula in [*root.iter(_name("m:oMath"))]:
        run = etree.Element(_name("w:r"))
        etree.SubElement(run, _name("w:t")).text = "".join(text.text or "" for text in formula.iter(_name("m:t")))
        _replace_by([run], formula)
    for end in root.iter(*map(_name, ("w:cr", "w:ptab", "w:br"))):
        end.tag = _name("w:br")
        end.attrib.clear()  # those of a page or a column join the words around them
    for paragraph in root.iter(_name("w:p")):
        _name_style(paragraph, styles)
    return bytes(etree.tostring(root))


def _replace_by(others: list[Any], element: Any) -> None:
    for other in others:
        element.addprevious(other)
    element.getparent().remove(element)


def _name_style(paragraph: Any, styles: Mapping[str, str]) -> None:
    """Give a title or heading, which a paragraph may be by itself, our style."""
    own = _outlined(paragraph)
    if style := styles.get(_value(paragraph, "w:pPr/w:pStyle"), "") if own is None else own:
        properties = paragraph.find("w:pPr", _NS)
        for named in properties.findall("w:pStyle", _NS):
            properties.remove(named)
        properties.insert(0, etree.Element(_name("w:pStyle"), {_name("w:val"): style}))
