"""Reads the XML of Word, Excel and PowerPoint, both as they usually write it and as strict Open XML."""

from typing import Any
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
