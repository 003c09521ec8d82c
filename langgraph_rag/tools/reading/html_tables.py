"""Turns the tables of HTML pages into such as Markdown can write: rows of cells, not within each other."""

from collections import defaultdict
from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

from bs4 import Tag

_MOST_SPANNED = 100  # rows or columns
_MOST_REPEATED = 20  # places for each cell of a group of rows; with more, a small page could fill the memory
_MOST_HEADS = 4  # rows with names of columns; more are data


class _Place(NamedTuple):
    """A place of a table: the cell that covers it, and whether that begins in a row above or a column before."""

    cell: Tag
    below: bool
    across: bool


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
    for group in page.select("table, thead, tbody, tfoot"):
        rows = group.select(":scope > tr")
        if group.name == "thead" and 1 < len(rows) <= _MOST_HEADS:
            _combine(rows)
        else:
            _repeat(rows)
    for group in page.select("tbody, tfoot"):
        group.unwrap()


def _combine(rows: Sequence[Tag]) -> None:
    """Leave one row with the names of columns out of several."""
    names: defaultdict[int, dict[str, None]] = defaultdict(dict)  # each part once
    for places in _grid(rows):
        for column, place in places.items():
            names[column][place.cell.get_text(" ", strip=True)] = None
    rows[0].clear()
    for _, parts in sorted(names.items()):
        name = Tag(name="th")
        name.string = " ".join(filter(None, parts))
        rows[0].append(name)
    for row in rows[1:]:
        row.decompose()


def _repeat(rows: Sequence[Tag]) -> None:
    """Repeat cells in the rows below that they span, and add empty cells for the other columns."""
    for row, places in zip(rows, _grid(rows), strict=True):
        row.clear()
        for column in range(max(places, default=-1) + 1):
            place = places.get(column)
            if place is None or place.across:
                row.append(Tag(name="td"))
            else:
                row.append(copy(place.cell) if place.below else place.cell)


def _grid(rows: Sequence[Tag]) -> list[dict[int, _Place]]:
    """Return the places of each row, by column."""
    grid: list[dict[int, _Place]] = [{} for _ in rows]
    for number, cells in enumerate(_spanning(rows)):
        column = 0
        for cell, down, right in cells:
            while column in grid[number]:
                column += 1
            for below, places in enumerate(grid[number : number + down]):
                for across in range(right):
                    places.setdefault(column + across, _Place(cell, below > 0, across > 0))
            column += right
    return grid


def _spanning(rows: Sequence[Tag]) -> list[list[tuple[Tag, int, int]]]:
    """Return the cells of each row with the numbers of rows and columns that they span."""
    spanning = [
        [
            (cell, min(_span(cell, "rowspan") or len(rows), len(rows)), _span(cell, "colspan") or 1)
            for cell in row.select(":scope > td, :scope > th")
        ]
        for row in rows
    ]
    spans = [down * right for cells in spanning for _, down, right in cells]
    if sum(spans) > _MOST_REPEATED * len(spans):
        return [[(cell, 1, 1) for cell, _, _ in cells] for cells in spanning]
    return spanning


def _span(cell: Tag, name: str) -> int:
    """Take away the number of rows or columns that a cell spans, and return it; 0 means all that follow."""
    spanned = str(cell.attrs.pop(name, ""))
    return min(int(spanned[:6]), _MOST_SPANNED) if spanned.isdecimal() else 1
