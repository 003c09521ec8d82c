"""Reads HTML pages as Markdown: their main part, without menus and controls."""

import re
import warnings
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning
from bs4.dammit import EncodingDetector
from markdownify import MarkdownConverter
from webencodings import lookup

from langgraph_rag.characters import decoded
from langgraph_rag.tools.reading.html_formulas import write_formulas
from langgraph_rag.tools.reading.html_parts import flatten_code, rewrite, take_out
from langgraph_rag.tools.reading.html_tables import simplify_tables

_MAIN = ("main, [role=main]", "article", "body")
_DEEPEST = 120  # levels of elements, as converting them takes recursion and time that grows with the square
_BLANKS = re.compile("[ \t]{9,}")  # the converter takes time that grows with the square of their number
_WORD = re.compile(r"\w")
_ESCAPE = b"\x1b"
_BAR = re.compile(r"(?<!\\)\|")


class Page(NamedTuple):
    """The title in the head of a page, or "", and its main part as Markdown."""

    title: str
    markdown: str


def decoded_page(written: bytes) -> str:
    """Decode a page in UTF-8, or else in the encoding that it declares, as browsers read it.

    Raises:
        UnicodeDecodeError: when it is in neither.
    """
    declared = lookup(EncodingDetector.find_declared_encoding(written, is_html=True) or "")
    if declared and _ESCAPE in written:  # ISO-2022-JP would be valid UTF-8
        return str(declared.codec_info.decode(written)[0])
    try:
        return decoded(written)
    except UnicodeDecodeError:
        if declared is None:
            raise
        return str(declared.codec_info.decode(written)[0])


def read_html(html: str) -> Page:
    """Convert a page to Markdown.

    The main part is the only `main` or `article`, or else the whole body. Menus, footers, buttons, scripts, hidden and
    struck parts, signs that link to a heading, and numbers of references are left out. Of a page whose elements are
    nested too deeply, only the text is returned.

    Raises:
        ValueError: when the page has no text.
    """
    with warnings.catch_warnings(action="ignore", category=XMLParsedAsHTMLWarning):
        page = BeautifulSoup(html, "lxml")
    flatten_code(page)
    write_formulas(page)
    rewrite(page)
    take_out(page)
    title = " ".join(page.title.get_text().split()) if page.title else ""
    main = next((found[0] for name in _MAIN if len(found := page.select(name)) == 1), page)
    markdown = main.get_text("\n") if _is_deep(main) else _to_markdown(main)
    if not _WORD.search(markdown):
        raise ValueError("expected a page with text, got one without: does a script fill it? (save it from a browser)")
    return Page(title, f"\n{markdown}")  # a rule in the first line would begin front matter


def _is_deep(page: Tag) -> bool:
    depths = {id(page): 0}
    for part in page.find_all():
        depths[id(part)] = depths[id(part.parent)] + 1
    return max(depths.values()) > _DEEPEST


def _to_markdown(page: Tag) -> str:
    for text in page.find_all(string=_BLANKS):
        if not text.find_parent("pre"):
            text.replace_with(_BLANKS.sub(" ", text))
    simplify_tables(page)
    return str(_converter.convert_soup(page))


class _Converter(MarkdownConverter):
    """Writes terms with their descriptions as `Term: description`, summaries as paragraphs, images as their texts."""

    def escape(self, text: str, parent_tags: set[str]) -> str:
        text = super().escape(text, parent_tags)  # type: ignore[misc]  # its stub lacks it
        return str(text).replace("%%", r"\%\%")  # no comment of Obsidian

    def convert_img(self, image: Tag, _: str, parent_tags: set[str]) -> str:
        return self.escape(str(image.get("alt", "")), parent_tags)

    def convert_td(self, cell: Tag, text: str, parent_tags: set[str]) -> str:
        text = super().convert_td(cell, _BAR.sub(r"\|", text), parent_tags)  # type: ignore[misc]  # its stub lacks it
        return str(text)

    def convert_summary(self, _: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n\n{text.strip()}\n\n"

    def convert_dt(self, term: Tag, text: str, parent_tags: set[str]) -> str:
        told = term.find_next_sibling()
        ends = (
            text.strip().endswith((".", "?", "!")) or told is None or told.name == "dd" and not told.get_text().strip()
        )
        return f"\n\n{text.strip()}\n\n" if ends else f"\n\n{text.strip().rstrip(':')}:"

    def convert_dd(self, _: Tag, text: str, parent_tags: set[str]) -> str:
        lines = text.strip().split("\n")
        return "\n\n" + "".join(f"> {line}\n" for line in lines) + "\n" if len(lines) > 1 else f" {lines[0]}"


_converter = _Converter(
    bullets="-",
    escape_misc=True,
    heading_style="atx",
    newline_style="backslash",
    strip=["a", "b", "strong", "i", "em"],  # their marks would stay beside punctuation
    sup_symbol="<sup>",
)
