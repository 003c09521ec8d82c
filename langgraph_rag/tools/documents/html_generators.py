"""What generators of documentation make of boxes, tables, questions and the heads of their pages, as plain HTML."""

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup, Tag

_HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
_AROUND_TEXT = (  # Doxygen's head, menu and foot; Javadoc's tabs of a table; Texinfo's lines of links
    "#titlearea, #main-nav, #nav-path, #navrow1, #navrow2, #navrow3, #navrow4, ul.tablist, address.footer, "
    "hr.footer ~ address, .table-tabs, .table-header, div.header > p > a[accesskey], div.nav-panel"
)
_BOXES = "note warning tip caution important".split()  # of DocBook
_COLUMNS = {
    "two-column-summary": 2,
    "three-column-summary": 3,
    "four-column-summary": 4,
    "two-column-release-summary": 2,
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
    for item in page.find_all("li"):
        if item.find([*_HEADINGS, "section"], recursive=False):
            _flatten(item)
    _show_answers(page)
    title = page.select_one(_TITLED_BY)
    if title and not page.find("h1"):
        title.name = "h1"


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


def _only_table(box: Tag) -> Tag | None:
    """Return the table that sets a box beside its picture."""
    table = box.find("table", recursive=False)
    cells = table.find_all("td") if table else []
    return table if len(cells) == 2 and cells[0].find("img") else None


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
