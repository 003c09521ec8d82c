"""Open XML files, of which Excel workbooks and PowerPoint presentations become documents here (extra `office`)."""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from html import escape
from io import BytesIO
from itertools import accumulate, dropwhile, groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import ZipFile

from lxml import etree

from langgraph_rag.errors import DocumentError, MissingExtraError
from langgraph_rag.naming import counted
from langgraph_rag.tools.documents.rows import Documents, FieldNames, Placed, by_things, read_rows

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet
    from pptx.slide import Slide

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


DIAGRAM = "{*}relIds"


def id_of_diagram(diagram: Any) -> str:
    """Return the relationship of a diagram in a text to its points."""
    return next((value for key, value in diagram.attrib.items() if key.endswith("}dm")), "")


def told_by_diagram(part: bytes) -> list[str]:
    """Return the lines of a diagram (SmartArt): a point, with those right below it: "Old boats: Ada, Orla"."""
    root = parsed(part)
    points = {point.get("modelId"): point for point in root.iter("{*}pt")}
    texts = {
        id_: " ".join("".join(text.text or "" for text in line.iter(name("a:t"))) for line in point.iter(name("a:p")))
        for id_, point in points.items()
    }
    below: dict[str, list[str]] = {id_: [] for id_ in points}
    links = [link for link in root.iter("{*}cxn") if link.get("type", "parOf") == "parOf"]
    for link in sorted(links, key=lambda link: int(link.get("srcOrd", "0"))):
        if link.get("srcId") in points and link.get("destId") in points:
            below[link.get("srcId")].append(link.get("destId"))
    lines: list[str] = []
    top = [at for id_, point in points.items() if point.get("type") == "doc" for at in below.pop(id_)]
    rest = top[::-1]
    while rest:
        own = below.pop(at := rest.pop(), [])
        if own or at in top:
            lines.append(": ".join(filter(None, (texts[at], ", ".join(filter(None, map(texts.__getitem__, own)))))))
        rest += own[::-1]
    return [*filter(None, lines)]


_log = logging.getLogger(__name__)
_LARGEST = 100_000_000  # bytes of text
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_WITHOUT_VALUE = re.compile(  # what is neither a result nor an empty text
    rb"<c(?P<cell>\s[^<>]*)?>\s*<f(?:\s[^<>]*)?(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>"
)
_OF_TEXT = b't="str"'
_REMARK = re.compile(r"\[Threaded comment\].*?\n\s*\w+:\n", re.DOTALL)  # what Excel writes for its older versions
_DIGITS = 15  # of a number, as Excel shows it
_MOST_MERGED = 10_000  # cells
_SECTION, _NOTE = "Section", "Note"  # the names of the columns with the heads of sections, and with notes on cells
_OF_CODES = re.compile(r"0{2,}(?:\\?-0+)*|0(?:\\?-0+)+")  # as of postal codes
_LITERAL = re.compile(r"\"([^\"]*)\"|\\(.)|\[\$([^]-]*)[^]]*\]|\[[^]]*\]|_.|\*.")
_BESIDE_DIGITS = rf"((?:{_LITERAL.pattern.replace('(', '(?:')}|[ $\u20ac\u00a3\u00a5%])*)"
_OF_NUMBERS = re.compile(rf"{_BESIDE_DIGITS}(?:[#,]*[0#?]+(?:\.[0#?]+)?|General){_BESIDE_DIGITS}(?:;.*)?")
_SPACES = re.compile(" {2,}")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_NUMBER = re.compile(r"^[-+$\u20ac\u00a3]?\d[\d.,: %/-]*(?:[^\W\d]{1,3})?$", re.MULTILINE)


def read_workbook(written: bytes, file: Path, names: FieldNames) -> Documents:
    """Read the rows of all tables in a workbook: of each sheet, below the first row that names several columns.

    Formulas have the values that they had when the file was saved; a warning counts those without. Merged cells hold
    for all rows and columns that they cover. Hidden sheets, rows and columns, and struck out cells are left out; what a
    filter or a collapsed group hides is only out of view. In workbooks of several sheets, rows name theirs.

    Raises:
        MissingExtraError: when openpyxl is not installed.
        ValueError: when it is not an .xlsx file, or has over 100 MB of text.
        DocumentError: when no sheet has rows, or none has a column of `names`.
    """
    check_format(written, ".xlsx")
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise MissingExtraError("reading Excel files", "office") from error
    try:
        with ZipFile(BytesIO(written)) as given:
            check_size(given, _LARGEST)
            empty = sum(_without_value(given.read(part)) for part in given.namelist() if _SHEET.fullmatch(part))
        sheets = load_workbook(BytesIO(written), data_only=True, rich_text=True).worksheets
    except Exception as error:  # any error, as files are broken in many ways
        raise ValueError(f"it cannot be read as an Excel workbook ({error}): save it as .xlsx in Excel") from error
    if empty:
        _log.warning(
            "%s: %s without a value left out: open the file in Excel or LibreOffice, and save it there",
            file,
            counted(empty, "formula"),
        )
    shown = [sheet for sheet in sheets if sheet.sheet_state == "visible"]
    documents: list[dict[str, object]] = []
    problems: list[str] = []
    for sheet in shown:
        named = [("Sheet", sheet.title)] if len(shown) > 1 else []
        found, bad = _read_sheet(sheet, file, names, dict(named))
        documents += found
        problems += bad
    if not documents and not problems:
        raise DocumentError(f"{file}: expected sheets with rows below the names of columns, got none")
    return documents, problems


def _read_sheet(sheet: "Worksheet", file: Path, names: FieldNames, more: dict[str, str]) -> Documents:
    """Read the tables of a sheet, which blank rows and columns divide."""
    documents: list[dict[str, object]] = []
    problems: list[str] = []
    sides = [side for rows in _tables(_rows(sheet, file)) for side in ([rows] if names else _sides(rows))]
    for rows in (table for side in sides for table in _tables(side)):
        found, bad = _read_rows(rows, sheet.title, file, names, more)
        documents += found
        problems += bad
    return documents, problems


def _tables(rows: Sequence[Placed]) -> Iterator[list[Placed]]:
    """Yield the rows of each table; a blank row ends it if what follows has other columns, or names of its own."""
    table: list[Placed] = []
    for is_blank, group in groupby(rows, lambda placed: not any(placed[1])):
        found = [] if is_blank else list(group)
        if table and found and len(table) > 1 and _begins_anew(table, found):
            yield table
            table = []
        table += found
    yield table


def _sides(rows: Sequence[Placed]) -> Iterator[list[Placed]]:
    """Yield the tables that stand side by side, or all rows, without the columns around them that are empty.

    A table has several columns, and below their names another name in each of its rows.
    """
    columns = [*zip(*(row for _, row in rows), strict=True)]
    filled = [any(cell and not isinstance(cell, _Merged) for cell in column) for column in columns]
    runs = [[at for at, _ in run] for told, run in groupby(enumerate(filled), lambda one: one[1]) if told]
    if len(runs) < 2 or not all(len(run) > 1 and _names_rows(columns[run[0]], columns[run[1]]) for run in runs):
        told = [at for at, column in enumerate(columns) if any(column)]
        runs = [[*range(told[0], told[-1] + 1)]] if told else []
    for run in runs:
        yield [(place, row[run[0] : run[-1] + 1]) for place, row in rows]


def _names_rows(column: Sequence[str], beside: Sequence[str]) -> bool:
    """Return whether a column has the names of the rows of a table, whose next column is given, too."""
    _, *names = [cell for cell, other in zip(column, beside, strict=True) if other] or [""]
    return bool(names) and all(names) and len({*names}) == len(names) and not any(map(_NUMBER.fullmatch, names))


def _begins_anew(table: Sequence[Placed], found: Sequence[Placed]) -> bool:
    above, heads = (_below_title([row for _, row in rows]) for rows in (table, found))
    if len(heads) < 2 or _NUMBER.search("\n".join(heads[0])) or not above:
        return False
    head, columns = ([bool(cell) for cell in rows[0]] for rows in (above, heads))
    counting = any(name and all(_NUMBER.fullmatch(row[at]) for row in heads[1:]) for at, name in enumerate(heads[0]))
    return head != columns or counting


def _below_title(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the rows from the first one on that has several different cells: those above tell what a table is of."""
    return list(dropwhile(lambda row: len(set(filter(None, row))) < 2, rows))


def _read_rows(rows: Sequence[Placed], sheet: str, file: Path, names: FieldNames, more: dict[str, str]) -> Documents:
    """Read the rows of a table; the lines above the names of columns tell what the table is about."""
    first = len(rows) - len(_below_title([row for _, row in rows]))
    about = " ".join(dict.fromkeys(cell for _, row in rows[:first] for cell in row if cell))
    above, table = rows[:first], rows[first:]
    if not rows or not above and len(table) == 1:  # nothing below the names of columns
        return [], []
    if len(table) < 2:  # no names of columns
        return read_rows(
            ["text"],
            [
                (place, [" ".join(dict.fromkeys(_told(cell) for cell in row if cell))])
                for place, row in (*above, *table)
            ],
            file,
            {},
        )
    if not names and _are_properties([row for _, row in table]):
        told = "\n".join(f"- {': '.join(_told(cell).rstrip(':') for cell in row if cell)}" for _, row in table)
        return read_rows(["title", "text", *more], [(table[0][0], [about or sheet, told, *more.values()])], file, {})
    if not names and _is_data([row for _, row in table]):
        table = [("", [""] * len(table[0][1])), *table]
    (_, head), *body = table if names else by_things(table)
    if body[1:] and any(one == other != "" for one, other in zip(head, head[1:], strict=False)):  # names over several
        head = [" ".join(dict.fromkeys(filter(None, pair))) for pair in zip(head, body.pop(0)[1], strict=True)]
    more = {**more, **({"Table": about} if about else {})}
    placed = list(_sections(body))
    of_sections = [_SECTION if _SECTION not in head else "Group"] if any(section for _, section in placed) else []
    columns = _columns(head, [row for _, row in body])
    notes = [_notes(columns, head, row) for (_, row), _ in placed]
    of_notes = [_NOTE if _NOTE not in head else "Remark"] if any(notes) else []
    body = [
        (place, [*row, *[section][: len(of_sections)], *[note][: len(of_notes)], *more.values()])
        for ((place, row), section), note in zip(placed, notes, strict=True)
    ]
    columns += [*of_sections, *of_notes, *more]
    return read_rows(columns, body, file, names)


def _is_data(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row has no names of columns: it has a number, which is no year, above numbers."""
    counting = [column for column in zip(*rows, strict=True) if all(map(_NUMBER.fullmatch, column))]
    return any(not _YEAR.fullmatch(column[0]) for column in counting)


def _are_properties(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows are names with their values: the first one has a number, or all names end in a colon."""
    used = [column for column in zip(*rows, strict=True) if any(column)]
    if len(used) != 2 or len(set(used[0])) < len(rows):
        return False
    return _NUMBER.search(used[1][0]) is not None or all(name.endswith(":") for name in used[0])


def _sections(rows: Sequence[Placed]) -> Iterator[tuple[Placed, str]]:
    """Yield rows, each with the only cell of the row that heads its section, if there are such.

    Such a cell is merged over all columns, or the first row is one and all others have cells in all of some columns.
    """
    lone = [_only(row) for _, row in rows]
    others = [row for (_, row), cell in zip(rows, lone, strict=True) if not cell]
    filled = {sum(map(bool, row)) for row in others}
    whole = len(filled) == 1 and max(filled) > 2 and lone[0] != "" and lone[-1] == ""
    heads = [bool(cell) and (whole or isinstance(cell, _Merged)) for (_, row), cell in zip(rows, lone, strict=True)]
    section = ""
    for number, row in enumerate(rows):
        if heads[number] and number + 1 < len(rows) and not heads[number + 1]:
            section = lone[number]
        else:
            yield row, section


def _only(row: Sequence[str]) -> str:
    """Return the text of a row that stands in its first cell alone, or is merged over several; "" if there is none."""
    is_merged = len(set(row)) == 1 and isinstance(row[0], _Merged)
    return row[0] if len(row) > 1 and (is_merged or not any(row[1:])) else ""


def _columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return different names of the columns; one that has cells and no name is named as Excel does."""
    from openpyxl.utils import get_column_letter

    head = [" ".join(name.split()) for name in head]
    counts = Counter(head)
    letters = [get_column_letter(number) for number in range(1, len(head) + 1)]
    return [
        (f"{name} ({letter})" if counts[name] > 1 else name)
        if name
        else (f"Column {letter}" if any(row[number] for row in rows) else "")
        for number, (name, letter) in enumerate(zip(head, letters, strict=True))
    ]


def _notes(columns: Sequence[str], head: Sequence[str], row: Sequence[str]) -> str:
    """Return the notes on the cells of a row, and on the names of their columns."""
    told = [
        (column, cell.note)
        for column, *cells in zip(columns, head, row, strict=True)
        for cell in cells
        if isinstance(cell, _Noted)
    ]
    return "; ".join(f"{column}: {note}" for column, note in told)


def _told(cell: str) -> str:
    return f"{cell} ({cell.note})" if isinstance(cell, _Noted) else cell


class _Merged(str):
    """The text of a cell that covers several columns."""

    __slots__ = ()


class _Noted(str):
    """The text of a cell with a note on it."""

    note: str


def _rows(sheet: "Worksheet", file: Path) -> list[Placed]:
    cells = [[_noted(cell) for cell in row] for row in sheet.iter_rows()]
    for merged in sheet.merged_cells.ranges:
        if merged.size["rows"] * merged.size["columns"] <= _MOST_MERGED:
            value = cells[merged.min_row - 1][merged.min_col - 1]
            for row in cells[merged.min_row - 1 : merged.max_row]:
                for column in range(merged.min_col - 1, merged.max_col):
                    row[column] = _Merged(value) if merged.size["columns"] > 1 else value
    filtering = [sheet.auto_filter, *(table.autoFilter for table in sheet.tables.values())]
    filtered = any(one and one.filterColumn for one in filtering)
    rows = set() if filtered else {at for one in sheet.row_dimensions.values() if _is_hidden(one) for at in [one.index]}
    hidden = [one for one in sheet.column_dimensions.values() if _is_hidden(one)]
    columns = {at for one in hidden for at in range(one.min, one.max + 1)}
    return [
        (
            f"{file}, sheet {sheet.title!r}, row {number}",
            [cell for at, cell in enumerate(row, start=1) if at not in columns],
        )
        for number, row in enumerate(cells, start=1)
        if number not in rows
    ]


def _is_hidden(dimension: Any) -> bool:
    return bool(dimension.hidden and not dimension.outlineLevel)


def _without_value(sheet: bytes) -> int:
    """Return how many formulas of a sheet have no value, as in files that programs write."""
    return sum(_OF_TEXT not in (found["cell"] or b"") for found in _WITHOUT_VALUE.finditer(sheet))


def _noted(cell: Any) -> str:
    text = _written(cell)
    if not text or not cell.comment:
        return text
    noted = _Noted(text)
    note = _REMARK.sub("", cell.comment.text, count=1).strip()
    noted.note = " ".join(note.removeprefix(f"{cell.comment.author}:").split())
    return noted


def _written(cell: Any) -> str:
    """Return a cell as Excel shows it: dates in ISO form, percentages with their sign; struck out ones are empty."""
    value = cell.value
    if value is None or cell.font is not None and cell.font.strike:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, datetime | date | time):
        return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
    if isinstance(value, int | float):
        return _counted(value, str(cell.number_format))
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    if isinstance(value, list):  # parts with fonts of their own
        value = _SPACES.sub(
            " ", "".join(str(part) for part in value if not getattr(part, "font", None) or not part.font.strike)
        )
    return str(value).strip()


def _counted(number: float, form: str) -> str:
    """Return a number with all its digits, and with the leading zeros, the currency or the unit of its format."""
    digits = f"{number * 100 if '%' in form else number:.{_DIGITS}g}"
    if _OF_CODES.fullmatch(form) and digits.isdecimal():
        digits = digits.zfill(form.count("0"))
        ends = [*accumulate(part.count("0") for part in form.split("-"))]
        cut = len(digits) - ends[-1]  # more digits stand in the first part
        return "-".join(digits[start:end] for start, end in pairwise([0, *(end + cut for end in ends)]))
    found = _OF_NUMBERS.fullmatch(form)
    before, after = (_LITERAL.sub(r"\1\2\3", found[part]) for part in (1, 2)) if found else ("", "")
    return f"{before}{digits}{'%' if '%' in form else ''}{after.replace('%', '')}".strip()


_STRUCK = ("sngStrike", "dblStrike")
_BREAK = "\v"
_COUNTED = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
_DIVIDED = "\n<hr>\n"  # so that two lists stay two
_FURNITURE = ("DATE", "FOOTER", "HEADER", "SLIDE_NUMBER")  # placeholders that are the same on all slides
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


class SlidePage(NamedTuple):
    """A slide: its number from 1 on, its title, which may be "", and the rest of it as HTML."""

    number: int
    title: str
    html: str


def read_slides(written: bytes) -> list[SlidePage]:
    """Read the texts, tables, charts, diagrams and notes of the slides; hidden slides and struck out text are left out.

    Raises:
        MissingExtraError: when python-pptx is not installed.
        ValueError: when it is not a .pptx file, has no text, or over 100 MB of it.
    """
    check_format(written, ".pptx")
    try:
        from pptx import Presentation
    except ImportError as error:
        raise MissingExtraError("reading PowerPoint files", "office") from error
    try:
        with ZipFile(BytesIO(written)) as given:
            check_size(given, _LARGEST)
        slides = enumerate(Presentation(BytesIO(written)).slides, start=1)
        pages = [_page(number, slide) for number, slide in slides if slide._element.get("show") not in ("0", "false")]
    except Exception as error:  # any error, as files are broken in many ways
        raise ValueError(f"it cannot be read as slides ({error}): save it as .pptx in PowerPoint") from error
    if not any(page.title or page.html for page in pages):
        raise ValueError("expected slides with text, got some without: have they only pictures?")
    return pages


def _page(number: int, slide: "Slide") -> SlidePage:
    title = slide.shapes.title
    shapes = [shape for shape in _shapes(slide.shapes) if title is None or shape.shape_id != title.shape_id]
    parts = [part for shape in shapes for part in _parts(shape)]
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) and (said := list(_lines(notes))):
        parts.append(f"<p>Notes:</p>{''.join(f'<p>{line}</p>' for _, line in said)}")
    return SlidePage(number, " ".join(_plain(title.text_frame).split()) if title else "", _DIVIDED.join(parts))


def _shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    """Yield the shapes of a slide, also those in groups, as they are read: from top to bottom, and left to right.

    Placeholders follow each other as their layout says: the list below the first heading before the second heading.
    """
    given = list(shapes)
    placeholders = iter([shape for shape in given if shape.is_placeholder])
    for place in sorted(given, key=lambda shape: (shape.top or 0, shape.left or 0)):
        shape = next(placeholders) if place.is_placeholder else place
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        elif not shape.is_placeholder or getattr(shape.placeholder_format.type, "name", "") not in _FURNITURE:
            yield shape


def _parts(shape: Any) -> Iterator[str]:
    if shape.has_text_frame:
        lines = list(_lines(shape.text_frame))
        several = shape.is_placeholder and len(lines) > 1 or any(level for level, _ in lines)
        yield _list(lines) if several else "".join(f"<p>{line}</p>" for _, line in lines)
    elif getattr(shape, "has_table", False):
        yield _table([_cell(cell) for cell in row.cells] for row in shape.table.rows)
    elif getattr(shape, "has_chart", False):
        yield from _chart(shape.chart)
    else:
        for diagram in shape._element.iter(DIAGRAM):
            part = shape.part.related_part(id_of_diagram(diagram))
            yield "".join(f"<p>{escape(line)}</p>" for line in told_by_diagram(part.blob))


def _lines(frame: Any) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a text with their levels, and with the numbers that PowerPoint counts."""
    counts: dict[int, tuple[str, int]] = {}  # the kind and number of the last paragraph, by levels
    for paragraph in frame.paragraphs:
        text, level = _of_paragraph(paragraph).strip(), paragraph.level
        if not text:
            continue
        counts = {outer: count for outer, count in counts.items() if outer <= level}
        properties = paragraph._p.find(f"{_DRAWING}pPr/{_DRAWING}buAutoNum")
        if properties is None:
            counts.pop(level, None)
            yield level, escape(text).replace(_BREAK, "<br>")
        else:
            kind, start = properties.get("type", ""), properties.get("startAt", "1")
            before = counts.get(level)
            number = before[1] + 1 if before and before[0] == kind else int(start)
            counts[level] = kind, number
            yield level, escape(f"{_numbered(number, kind)} {text}").replace(_BREAK, "<br>")


def _numbered(number: int, kind: str) -> str:
    """Return the number of a paragraph; `kind` is such as `alphaLcParenR`, that is "a)"."""
    from langgraph_rag.tools.documents.html_styles import numeral

    written = numeral(number, next((first for name, first in _COUNTED.items() if kind.startswith(name)), "1"))
    opening = "(" if kind.endswith("ParenBoth") else ""
    return f"{opening}{written}{')' if 'Paren' in kind else '.' if kind.endswith('Period') else ''}"


def _plain(frame: Any) -> str:
    return " ".join(_of_paragraph(paragraph).replace(_BREAK, " ") for paragraph in frame.paragraphs)


def _of_paragraph(paragraph: Any) -> str:
    """Return the text of a paragraph without what is struck out."""
    parts = []
    for part in paragraph._p:
        properties = part.find(f"{_DRAWING}rPr")
        if part.tag == f"{_DRAWING}br":
            parts.append(_BREAK)
        elif properties is None or properties.get("strike") not in _STRUCK:
            parts += [text.text or "" for text in part.iter(f"{_DRAWING}t")]
    return "".join(parts)


def _cell(cell: Any) -> str:
    return "<br>".join(line for _, line in _lines(cell.text_frame))


def _list(lines: Iterable[tuple[int, str]]) -> str:
    written, depth = "", -1
    for level, line in lines:
        written += "<ul><li>" * (level - depth) or "</li></ul>" * (depth - level) + "</li><li>"
        written += line
        depth = level
    return written + "</li></ul>" * (depth + 1)


def _table(rows: Iterable[Iterable[str]]) -> str:
    """Return a table whose first row has the names of columns, as PowerPoint makes it."""
    head, *body = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    named = head.replace("<td>", "<th>").replace("</td>", "</th>") if body else head
    return f"<table><tr>{named}</tr>{''.join(f'<tr>{row}</tr>' for row in body)}</table>"


def _chart(chart: Any) -> Iterator[str]:
    """Yield the title of a chart, and its values as a table."""
    if chart.has_title and chart.chart_title.has_text_frame:
        yield f"<p>{escape(_plain(chart.chart_title.text_frame))}</p>"
    for plot in chart.plots:
        names = [str(series.name) for series in plot.series]
        columns = [[str(category) for category in plot.categories], *(series.values for series in plot.series)]
        rows = zip(*columns, strict=False)
        yield _table([["", *map(escape, names)], *([escape(_of_chart(v)) for v in row] for row in rows)])


def _of_chart(value: object) -> str:
    return "" if value is None else f"{value:.{_DIGITS}g}" if isinstance(value, float) else str(value)
