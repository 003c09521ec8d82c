"""Turns the tables of HTML pages into such as Markdown can write: rows of cells, not within each other."""

from copy import copy

from bs4 import Tag

_MOST_SPANNED = 100  # rows or columns
_CELLS = ["td", "th"]


def simplify_tables(page: Tag) -> None:
    """Repeat cells in all rows that they span, put captions before their tables, and dissolve groups of rows.

    A table that holds another one is layout: its cells become paragraphs.
    """
    for layout in page.select("table:has(table)"):
        for part in (layout, *layout.select(":scope > tr, :scope > * > tr, :scope > tr > *, :scope > * > tr > *")):
            part.name = "div"
    for caption in page.select("table > caption"):
        caption.name = "p"
        if table := caption.find_parent("table"):
            table.insert_before(caption)
    for columns in page.select("colgroup"):
        columns.decompose()
    for group in page.select("tbody, tfoot"):
        group.unwrap()
    for row in page.select("tr"):
        _repeat_across(row)
    for row in page.select("tr:has(> [rowspan])"):
        _repeat_below(row)


def _repeat_across(row: Tag) -> None:
    """Add the empty cells that the first of several columns stands for."""
    for cell in _cells(row):
        for _ in range(1, _span(cell, "colspan")):
            cell.insert_after(Tag(name="td"))


def _repeat_below(row: Tag) -> None:
    for place, cell in enumerate(_cells(row)):
        if (rows := _span(cell, "rowspan")) > 1:
            for below in row.find_next_siblings("tr", limit=rows - 1):
                _put(below, place, copy(cell))


def _cells(row: Tag) -> list[Tag]:
    return [cell for cell in row.find_all(_CELLS, recursive=False) if isinstance(cell, Tag)]


def _span(cell: Tag, name: str) -> int:
    """Take away the number of rows or columns that a cell spans, and return it."""
    spanned = str(cell.attrs.pop(name, ""))
    return min(int(spanned), _MOST_SPANNED) if spanned.isdecimal() else 1


def _put(row: object, place: int, cell: Tag) -> None:
    if isinstance(row, Tag):
        cells = _cells(row)
        if place < len(cells):
            cells[place].insert_before(cell)
        else:
            row.append(cell)
