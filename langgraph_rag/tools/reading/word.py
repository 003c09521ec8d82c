"""Reads Word documents as HTML pages: their headings, lists, tables and notes."""

from typing import Any

import mammoth
from bs4 import BeautifulSoup
from mammoth.documents import Table, TableRow
from mammoth.transforms import element_of_type

from langgraph_rag.tools.reading.open_xml import check_format
from langgraph_rag.tools.reading.word_parts import HEADING, TITLE, rewritten

_STYLES = "\n".join(  # names are compared without case
    [
        f"p.{TITLE} => h1:separator(' ')",
        *(f"p.{HEADING}{level} => h{level + 1}:fresh" for level in range(1, 6)),
        "p[style-name^='Heading '] => p:fresh",  # those of our styles, too deep ones, and what looks like one
        *(f"p[style-name^='{contents}'] => !" for contents in ("TOC ", "Contents ", "Table of ")),
    ]
)
_COLUMNS_WITH_NAMES = 3
_NOTE = "[id^=footnote-], [id^=endnote-]"
_BACK = "a[href^='#footnote-ref'], a[href^='#endnote-ref']"


def word_to_html(written: bytes) -> str:
    """Convert a .docx file to HTML: the title and headings by their styles, notes in a section at the end.

    Contents, headers, footers, pictures, comments, and deleted, struck out or hidden text are left out. Lists and
    headings have the numbers that Word counts. The first row of a table of three columns has their names, as Word
    seldom marks it.

    Raises:
        ValueError: when it is not a .docx file, or has no text or over 30 MB of it.
    """
    check_format(written, ".docx")
    try:
        html = mammoth.convert_to_html(
            rewritten(written),
            style_map=_STYLES,
            include_embedded_style_map=False,
            transform_document=_with_names_of_columns,
        ).value
    except Exception as error:  # any error, as files are broken in many ways
        raise ValueError(f"it cannot be read as a Word document ({error}): save it as .docx in Word") from error
    return _readable(html)


def _readable(html: str) -> str:
    """Return a page whose notes are in a section of their own, and whose checkboxes are characters."""
    page = BeautifulSoup(html, "lxml")
    if not page.get_text(strip=True):
        raise ValueError("expected a document with text, got one without: has it only pictures?")
    for box in page.select("input[type=checkbox]"):
        box.replace_with("☒" if box.has_attr("checked") else "☐")
    for back in page.select(_BACK):
        back.decompose()
    if note := page.select_one(f"li:is({_NOTE})"):
        heading = page.new_tag("h2", string="Notes")
        (note.find_parent("ol") or note).insert_before(heading)
    return str(page)


def _first_row_as_head(table: Any) -> Any:
    rows = [row for row in table.children if isinstance(row, TableRow)]
    names = rows[0].children if rows else []
    merged = any(cell.colspan != 1 or cell.rowspan != 1 for cell in names)
    if len(rows) < 2 or merged or any(row.is_header for row in rows) or len(names) < _COLUMNS_WITH_NAMES:
        return table
    return table.copy(children=[rows[0].copy(is_header=True), *rows[1:]])


_with_names_of_columns = element_of_type(Table, _first_row_as_head)
