"""Tables of HTML as text; and as plain HTML first, what generators of documentation make of them."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import zip_longest
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag

_MOST_SPANNED = 100  # rows or columns
_MOST_REPEATED = 20  # places for each cell of a group of rows; with more, a small page could fill the memory
_MOST_BESIDE = 6  # lists
_MOST_HEADS = 4  # rows with names of columns; more are data
_NUMBER = re.compile(r"[-+\u2212(]?[^\w\s]?\d[\d.,:/ %\u2013-]*\)?(?: ?[^\W\d_]{1,3})?[%\u20ac$]?|[-\u2013\u2014]")
_HEADING = re.compile(r"(?:table|col|column|row)?[-_]?(?:th|t?head|header|heading)s?")  # classes
_BOLD = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)")
_NAME = re.compile(r"[^\W\d]+(?:[-\s/&().]+[^\W\d]+){0,3}(?: ?\(?[%$\u20ac\u00a3])?[).]?")  # of a column: a few words
_YEAR = re.compile(r"(?:FY ?)?(?:1[89]|20)\d\d")
_MISSING = frozenset("closed free lost no none open pending tba tbd unknown varies various yes".split())
_BLOCKS = ["dl", "ol", "p", "pre", "ul"]


class _Place(NamedTuple):
    """A place of a table: the cell that covers it, and whether that begins in a row above or a column before."""

    cell: Tag
    below: bool
    across: bool


class _Row(NamedTuple):
    """A row of a table: its cells by column, those that span rows or columns in each, and where it stands."""

    cells: list[Tag]
    places: dict[int, _Place]
    group: str

    @property
    def spanning(self) -> Tag | None:
        """The only cell with text of several columns, if it stands for all of them."""
        filled = {id(place.cell): place.cell for place in self.places.values() if _text(place.cell)}
        only = next(iter(filled.values()), None)
        if only is None or len(filled) > 1 or len(self.places) < 2 or self.places[0].below:
            return None
        covers = all(place.cell is only for place in self.places.values())
        return only if covers or only.name == "th" and self.places[0].cell is only else None

    @property
    def alone(self) -> Tag | None:
        """The first cell, if it is the only one of several with text: a section may be titled so."""
        first, *others = self.cells or [_cell("td", "")]
        return first if others and _text(first) and not any(map(_is_told, others)) else None


def simplify_tables(page: Tag) -> None:
    """Write tables with one row of names of columns, if any, and one cell for each column in all rows.

    Cells are repeated in all rows that they span, and so are the rows that head a section of the table, before the
    cells of their rows. Captions, and titles in a first row, come before their tables. Several rows with names of
    columns become one: "2023 Q1". A table that holds another one is layout: its cells become paragraphs. One whose
    cells hold paragraphs becomes terms, the first cells, with their descriptions.
    """
    for layout in filter(_is_layout, page.select("table")):
        for part in (
            layout,
            *layout.select(":scope > td, :scope > tr, :scope > * > tr, :scope > tr > *, :scope > * > tr > *"),
        ):
            part.name = "div"
    for caption in page.select("table > caption"):
        caption.name = "p"
        if table := caption.find_parent("table"):
            table.insert_before(caption)
    for table in page.find_all("table"):
        _simplify(table)


def _is_layout(table: Tag) -> bool:
    """Return whether a table holds another one, or headings, or one column of paragraphs, a block of code, or lists."""
    if table.find("table") or not table.find("tr") or table.select_one("td :is(h1, h2, h3)"):
        return True
    if not table.find("th") and not any(cell.find_next_sibling("td") for cell in table.find_all("td")):
        return table.select_one("td :is(p, ul, ol, pre)") is not None
    cells = [cell for cell in table.find_all("td", limit=_MOST_BESIDE + 1) if _text(cell)]
    if len(cells) == 1:
        return cells[0].find("pre") is not None
    blocks = [{child.name for child in cell.find_all(True, recursive=False)} for cell in cells]
    lists = len(cells) <= _MOST_BESIDE and all(names and names <= {"ul", "ol"} for names in blocks)
    return lists and len(table.find_all("tr", limit=2)) == 1


def _simplify(table: Tag) -> None:
    rows = [row for group in _groups(table) for row in _repeated(group) if any(map(_is_told, row.cells))]
    title = _title_of(rows)
    if title:
        table.insert_before(_as(title, "p"))
        rows = rows[1:]
    number = _number_of_heads(rows)
    names = _combined(rows[:number])
    heads = [[*map(_text, row.cells)] for row in rows[:number]]
    rows = [row for place, row in enumerate(rows) if place < number or [*map(_text, row.cells)] not in heads]
    while len(rows) > number + 1 and (remark := rows[-1].spanning):
        table.insert_after(_as(remark, "p"))
        rows = rows[:-1]
    written = list(_with_sections(rows[number:], named=bool(names)))
    width = max([len(names), *map(len, written)], default=0)
    table.clear()
    columns = [[*filter(None, column)] for column in zip_longest(*(cells[::-1] for cells in written))][-2::-1]
    told = [any(map(_holds_paragraphs, column)) for column in columns]
    if any(told):  # then lists are not set in a line either
        told = [one or any(cell.find("li") for cell in column) for one, column in zip(told, columns, strict=True)]
        table.name = "dl"
        for cells in written:
            table.extend(_described(names, cells, told))
        return
    for cell in (cell for cells in written for cell in cells):
        _set_in_line(cell)
    lead = [_cell("th", "")] * (width - len(names)) if any(len(cells) > len(names) for cells in written) else []
    if names:
        table.append(_row("thead", [*map(copy, lead), *names]))
    for cells in written:
        table.append(_row("tr", [*cells, *(_cell("td", "") for _ in range(width - len(cells)))]))


def _groups(table: Tag) -> Iterator[list[Tag]]:
    """Yield the rows of each group; no cell reaches beyond its group."""
    yield from (group.select(":scope > tr") for group in table.select(":scope > thead"))
    yield table.select(":scope > tr")
    for kind in ("tbody", "tfoot"):  # the last may be written first
        yield from (group.select(":scope > tr") for group in table.select(f":scope > {kind}"))


def _repeated(rows: Sequence[Tag]) -> Iterator[_Row]:
    """Yield the rows with the cells that reach into them from above, and empty cells for the other columns."""
    for row, places in zip(rows, _grid(rows), strict=True):
        cells = []
        for column in range(max(places, default=-1) + 1):
            place = places.get(column)
            if place is None or place.across:
                cells.append(_cell("td", ""))
            else:
                cells.append(copy(place.cell) if place.below else place.cell)
        yield _Row(cells, places, row.parent.name if row.parent else "")


def _title_of(rows: Sequence[_Row]) -> Tag | None:
    """Return the only cell of the first row, unless it heads a section as other such rows do."""
    if len(rows) < 2 or not (title := rows[0].spanning):
        return None
    heads = rows[0].group == "thead" or _number_of_heads(rows[1:])
    return title if heads or not any(row.spanning for row in rows[1:]) else None


def _number_of_heads(rows: Sequence[_Row]) -> int:
    """Return how many of the first rows have names of columns; more than a few are data."""
    marked = [row.group == "thead" for row in rows]
    if not any(marked):
        marked = [all(cell.name == "th" or not _text(cell) for cell in row.cells) and not row.spanning for row in rows]
        marked = marked if any(cell.name == "th" for row in rows[:1] for cell in row.cells) else [False]
    number = next((number for number, is_head in enumerate(marked) if not is_head), len(marked))
    if number:
        return number if number <= _MOST_HEADS and (number < len(rows) or rows[0].group == "thead") else 1
    return int(_looks_like_heads(rows))


def _looks_like_heads(rows: Sequence[_Row]) -> bool:
    """Return whether cells of the first row are set like names, or name columns of numbers."""
    if len(rows) < 2 or rows[0].spanning:
        return False
    first, *others = [row.cells for row in rows if not row.spanning]
    if not others:
        return False
    names = [_text(cell) for cell in first]
    if sum(map(bool, names)) < 2 or not all(names[1:]):
        return False
    if not names[0]:  # an empty corner, above the names of the rows
        return all(_text(cells[0]) and not _NUMBER.fullmatch(_text(cells[0])) for cells in others)
    if any(_NUMBER.fullmatch(name) for name in names):
        return _are_years(names[1:]) and not any(_are_years([*map(_text, cells[1:])]) for cells in others)
    if all(_is_strong(cell) for cell in first if _text(cell)):
        return not all(_is_strong(cell) for cell in others[0] if _text(cell))
    if all(map(_is_filled, first)) and not any(_is_filled(cell) for cells in others for cell in cells):
        return True
    columns = [[_text(cells[column]) for cells in others if column < len(cells)] for column in range(len(first))]
    counting = [column for column in columns if len(column) > 1 and all(map(_NUMBER.fullmatch, column))]
    return len(first) > 2 and bool(counting) and (len(counting) >= len(first) / 2 or _are_names(names))


def _are_years(texts: Sequence[str]) -> bool:
    """Return whether texts are years in order, as in the first row of figures."""
    rising = [*texts] == sorted({*texts}) or [*texts] == sorted({*texts}, reverse=True)
    return len(texts) > 1 and rising and all(map(_YEAR.fullmatch, texts))


def _are_names(texts: Sequence[str]) -> bool:
    """Return whether texts above others, some of them numbers, are written like names of columns, not like values."""
    return len(set(texts)) == len(texts) and all(
        text[:1].isupper() and _NAME.fullmatch(text) and text.lower() not in _MISSING for text in texts
    )


def _is_filled(cell: Tag) -> bool:
    """Return whether a cell or its row has a colour of its own behind its text."""
    tags = [tag for tag in (cell, cell.parent) if tag]
    return any(tag.has_attr("bgcolor") or "background" in str(tag.get("style", "")) for tag in tags)


def _is_strong(cell: Tag) -> bool:
    row = cell.parent
    tags = [tag for tag in (cell, row) if tag]
    classes = {str(name).lower() for tag in tags for name in tag.get_attribute_list("class") if name}
    if any(_BOLD.search(str(tag.get("style", ""))) for tag in tags):
        return True
    strong = "".join(
        part.get_text() for part in cell.find_all(["b", "strong"]) if not part.find_parent(["b", "strong"])
    )
    return any(map(_HEADING.fullmatch, classes)) or "".join(strong.split()) == "".join(cell.get_text().split())


def _combined(rows: Sequence[_Row]) -> list[Tag]:
    """Return one row with the names of columns out of several."""
    if len(rows) == 1:
        return [_as(cell, "th") for cell in rows[0].cells]
    names: defaultdict[int, dict[str, None]] = defaultdict(dict)  # each part once
    for row in rows:
        for column, place in row.places.items():
            names[column][_text(place.cell)] = None
    return [_cell("th", " ".join(filter(None, parts))) for _, parts in sorted(names.items())]


def _with_sections(rows: Sequence[_Row], *, named: bool) -> Iterator[list[Tag]]:
    """Yield the cells of rows, those of a section with its head before them; `named` says that columns have names."""
    alone = [row.alone for row in rows]
    divided = alone[:1] != [None] and sum(cell is not None for cell in alone) > 1
    found = [
        row.spanning or (cell if cell and (divided or _is_strong(cell)) else None)
        for row, cell in zip(rows, alone, strict=True)
    ]
    heads = [
        head if following and not other and row.group != "tfoot" else None
        for head, row, other, following in zip_longest(found, rows, found[1:], rows[1:])
    ]
    section = _cell("td", "")
    for row, head in zip(rows, heads, strict=True):
        if head:
            section = _as(head, "td")
        elif any(heads) and not named and len(row.cells) == 2:  # names and values
            name = "; ".join(filter(None, map(_text, (section, row.cells[0]))))
            yield [_cell("td", name), row.cells[1]]
        else:
            yield [copy(section), *row.cells] if any(heads) else row.cells


def _is_told(cell: Tag) -> bool:
    return bool(_text(cell)) or cell.select_one("img[alt]:not([alt=''])") is not None


def _set_in_line(cell: Tag) -> None:
    """Write the lists of a cell in one line."""
    for item in cell.find_all("li"):
        last = next((text for text in reversed(item.find_all(string=True)) if text.strip()), None)
        if last and item.find_next_sibling("li") and not last.rstrip().endswith((",", ";", ".", "!", "?")):
            last.replace_with(f"{last.rstrip()},")
        item.append(" ")
        item.name = "span"
    for list_ in cell.find_all(["ol", "ul"]):
        list_.name = "div"


def _holds_paragraphs(cell: Tag) -> bool:
    blocks = [block for block in cell.find_all(_BLOCKS) if block.name == "pre" or not block.find_parent("li")]
    return len(blocks) > 1 or any(block.name == "pre" for block in blocks)


def _described(names: Sequence[Tag], cells: Sequence[Tag], told: Sequence[bool]) -> Iterator[Tag]:
    """Yield the first cell as a term and the others as its description; `told` says which columns hold paragraphs."""
    yield _as(cells[0], "dt")
    description = Tag(name="dd")
    named = [""] * (len(cells) - len(names)) + [_text(name) for name in names]
    for name, cell, paragraphs in zip(named[1:], cells[1:], told, strict=False):
        if not _text(cell):
            continue
        if name and not paragraphs:
            cell.insert(0, f"{name}: ")
        elif name and (sum(told) > 1 or cell is not cells[-1]):  # a reader must know which is which
            description.append(_cell("p", f"{name}:"))
        description.append(_as(cell, "div" if paragraphs else "p"))
    yield description


def _text(cell: Tag) -> str:
    return " ".join(cell.get_text(" " if cell.find([*_BLOCKS, "br", "div"]) else "").split())


def _as(tag: Tag, name: str) -> Tag:
    tag.name = name
    return tag


def _cell(name: str, text: str) -> Tag:
    cell = Tag(name=name)
    cell.string = text
    return cell


def _row(name: str, cells: Sequence[Tag]) -> Tag:
    row = Tag(name="tr")
    row.extend(cells)
    if name == "tr":
        return row
    group = Tag(name=name)
    group.append(row)
    return group


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


_HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
_AROUND_TEXT = (  # Doxygen's head, menu and foot; Javadoc's tabs of a table; Texinfo's lines of links
    "#titlearea, #main-nav, #nav-path, #navrow1, #navrow2, #navrow3, #navrow4, ul.tablist, address.footer, "
    "hr.footer ~ address, .table-tabs, .table-header, div.nav-panel"
)
_BOXES = "note warning tip caution important".split()  # of DocBook
_COLUMNS = {
    "two-column-summary": 2,
    "three-column-summary": 3,
    "four-column-summary": 4,
    "two-column-release-summary": 2,
}
_GRIDS = ":is(div, span):is([role=table], [role=grid], .ltx_tabular)"
_PARTS_OF_GRIDS = {
    "tr": "[role=row], .ltx_tr",
    "th": "[role=columnheader], [role=rowheader], .ltx_th",
    "td": "[role=cell], [role=gridcell], .ltx_td",
}
_TITLED_BY = ".headertitle > .title"


def simplify_generated(page: BeautifulSoup) -> None:
    """Make boxes paragraphs, tables that are no `table` rows, and answers that unfold visible; take out page heads."""
    for table in page.select(".summary-table"):
        _make_rows(table)
    for part in page.select(_AROUND_TEXT):
        part.extract()
    for box in page.find_all("div", class_=_BOXES):
        if (beside := _only_table(box)) is not None:
            _unwrap_table(beside)
    for classifier in page.select("dt > .classifier"):
        classifier.insert(0, " : ")
    for item in page.find_all("li"):
        if item.find([*_HEADINGS, "section"], recursive=False):
            _flatten(item)
    _show_answers(page)
    _write_messages(page)
    title = page.select_one(_TITLED_BY)
    if title and not page.find("h1"):
        title.name = "h1"


def _write_messages(page: BeautifulSoup) -> None:
    """Write who said what in the messages that Telegram exports: "[02.03.2031 10:32] Ada Moss: It turns."."""
    name = ""
    for body in page.select("div.message.default > .body"):
        when = body.select_one(":scope > .date[title]")
        if named := body.select_one(":scope > .from_name"):
            name = _text(named)
        if (text := body.select_one(":scope > .text")) and when:
            text.insert(0, f"[{str(when['title'])[:16]}] {name}: ")
        for part in body.select(":scope > :is(.from_name, .date, .reply_to)"):
            part.decompose()
        if picture := body.find_previous_sibling(class_="userpic_wrap"):
            picture.decompose()


def _show_answers(page: BeautifulSoup) -> None:
    """Show the descriptions of terms that are shown: a script unfolds them."""
    for answer in page.select("dd[style], dd[hidden]"):
        if (asked := answer.find_previous_sibling("dt")) and not _is_hidden(asked):
            answer.attrs.pop("style", None)
            answer.attrs.pop("hidden", None)


def _is_hidden(part: Tag) -> bool:
    return part.has_attr("hidden") or bool(re.search(r"display:\s*none", str(part.get("style", ""))))


def _make_rows(table: Tag) -> None:
    """Make a grid of parts, as Javadoc has them since version 17, a table with the names of its columns."""
    columns = next((number for name, number in _COLUMNS.items() if name in table.get_attribute_list("class")), 0)
    cells = table.find_all(True, recursive=False)
    if not columns or len(cells) % columns:
        return
    table.name = "table"
    for place in range(0, len(cells), columns):
        row = Tag(name="tr")
        cells[place].insert_before(row)
        for cell in cells[place : place + columns]:
            cell.name = "th" if "table-header" in cell.get_attribute_list("class") else "td"
            cell.attrs.clear()
            row.append(cell.extract())


def make_tables(page: BeautifulSoup) -> None:
    """Make parts that are a table by their roles, or by the classes of LaTeXML, a table."""
    for grid in page.select(_GRIDS):
        for kind, parts in _PARTS_OF_GRIDS.items():
            for part in grid.select(parts):
                if part.name in ("div", "span"):
                    part.name = kind
        for group in grid.select("div[role=rowgroup], span:is(.ltx_thead, .ltx_tbody, .ltx_tfoot)"):
            group.unwrap()
        if grid.find("tr", recursive=False):
            grid.name = "table"


def _only_table(box: Tag) -> Tag | None:
    """Return the table that sets a box beside its picture, or its icon."""
    table = box.find("table", recursive=False)
    cells = table.find_all("td") if table else []
    return (
        table if len(cells) == 2 and (cells[0].find("img") or "icon" in cells[0].get_attribute_list("class")) else None
    )


def _unwrap_table(table: Tag) -> None:
    for picture in table.find_all("img"):
        picture.decompose()
    for cell in list(_cells(table)):
        cell.name = "p" if cell.name == "th" else "div"
        table.insert_before(cell.extract())
    table.decompose()


def _cells(table: Tag) -> Iterator[Tag]:
    for cell in table.find_all(["th", "td"]):
        if cell.get_text(strip=True):
            yield cell


def _flatten(item: Tag) -> None:
    """Make an item that is a section of a page, with a heading, a part of the page."""
    item.name = "div"
    if item.parent is not None and item.parent.name in ("ul", "ol"):
        item.parent.name = "div"
