"""Turns the tables of HTML pages into such as Markdown can write: rows of cells, not within each other."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from copy import copy

from bs4 import Tag

_MOST_SPANNED = 100  # rows or columns
_MOST_HEADS = 4  # rows with names of columns; more are data
_CELLS = ["td", "th"]


def simplify_tables(page: Tag) -> None:
    """Repeat cells in all rows that they span, put captions before their tables, and dissolve groups of rows.

    Several rows with names of columns become one: "2023 Q1". A table that holds another one is layout: its cells become
    paragraphs.
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
    for head in page.select("thead"):
        _combine(head.select(":scope > tr"))
    for row in page.select("tr"):
        _repeat_across(row)
    for row in page.select("tr:has(> [rowspan])"):
        _repeat_below(row)


def _combine(rows: Sequence[Tag]) -> None:
    """Leave one row with the names of columns out of several."""
    if 1 < len(rows) <= _MOST_HEADS:
        names = _names_of_columns(rows)
        rows[0].clear()
        for name in names:
            cell = Tag(name="th")
            cell.string = name
            rows[0].append(cell)
        for row in rows[1:]:
            row.decompose()


def _names_of_columns(rows: Iterable[Tag]) -> list[str]:
    names: defaultdict[int, dict[str, None]] = defaultdict(dict)  # each part once
    taken = set[tuple[int, int]]()
    for number, row in enumerate(rows):
        column = 0
        for cell in _cells(row):
            while (number, column) in taken:
                column += 1
            below, across = _span(cell, "rowspan"), _span(cell, "colspan")
            taken |= {(number + down, column + right) for down in range(below) for right in range(across)}
            for right in range(across):
                names[column + right][cell.get_text(" ", strip=True)] = None
            column += across
    return [" ".join(filter(None, parts)) for _, parts in sorted(names.items())]


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
