"""Reads the rows of Excel workbooks, sheet by sheet (extra `office`)."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, time
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from langgraph_rag.errors import DocumentError, MissingExtraError
from langgraph_rag.tools.reading.open_xml import check_format, check_size
from langgraph_rag.tools.reading.rows import Documents, FieldNames
from langgraph_rag.tools.reading.tables import Placed, read_rows

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

_LARGEST = 100_000_000  # bytes of text
_DIGITS = 15  # of a number, as Excel shows it
_MOST_MERGED = 10_000  # cells


def read_workbook(written: bytes, file: Path, names: FieldNames) -> Documents:
    """Read the rows of all tables in a workbook: of each sheet, below the first row that names several columns.

    Formulas have the values that they had when the file was saved. Merged cells hold for all rows and columns that they
    cover. Hidden sheets and struck out cells are left out. In workbooks of several sheets, rows name theirs.

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
        sheets = load_workbook(BytesIO(written), data_only=True).worksheets
    except Exception as error:  # any error, as files are broken in many ways
        raise ValueError(f"it cannot be read as an Excel workbook ({error}): save it as .xlsx in Excel") from error
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
    """Read the rows of a sheet; the lines above the names of columns tell what the table is about."""
    rows = [(place, row) for place, row in _rows(sheet, file) if any(row)]
    first = next((number for number, (_, row) in enumerate(rows) if len(set(filter(None, row))) > 1), len(rows))
    about = " ".join(dict.fromkeys(cell for _, row in rows[:first] for cell in row if cell))
    above, table = rows[:first], rows[first:]
    if not rows or not above and len(table) == 1:  # nothing below the names of columns
        return [], []
    if len(table) < 2:  # no names of columns
        return read_rows(["text"], [(place, [" ".join(filter(None, row))]) for place, row in above + table], file, {})
    (_, head), *body = table
    if body[1:] and any(one == other != "" for one, other in zip(head, head[1:], strict=False)):  # names over several
        head = [" ".join(dict.fromkeys(filter(None, pair))) for pair in zip(head, body.pop(0)[1], strict=True)]
    more = {**more, **({"Table": about} if about else {})}
    columns = [*_columns(head, [row for _, row in body]), *more]
    return read_rows(columns, [(place, [*row, *more.values()]) for place, row in body], file, names)


def _columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return different names of the columns; one that has cells and no name is named as Excel does."""
    from openpyxl.utils import get_column_letter

    counts = Counter(head)
    letters = [get_column_letter(number) for number in range(1, len(head) + 1)]
    return [
        (f"{name} ({letter})" if counts[name] > 1 else name)
        if name
        else (f"Column {letter}" if any(row[number] for row in rows) else "")
        for number, (name, letter) in enumerate(zip(head, letters, strict=True))
    ]


def _rows(sheet: "Worksheet", file: Path) -> list[Placed]:
    cells = [[_written(cell) for cell in row] for row in sheet.iter_rows()]
    for merged in sheet.merged_cells.ranges:
        if merged.size["rows"] * merged.size["columns"] <= _MOST_MERGED:
            value = cells[merged.min_row - sheet.min_row][merged.min_col - sheet.min_column]
            for row in cells[merged.min_row - sheet.min_row : merged.max_row - sheet.min_row + 1]:
                for column in range(merged.min_col - sheet.min_column, merged.max_col - sheet.min_column + 1):
                    row[column] = value
    place = f"{file}, sheet {sheet.title!r}, row"
    return [(f"{place} {number}", row) for number, row in enumerate(cells, start=sheet.min_row)]


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
        is_share = "%" in cell.number_format
        return f"{value * 100 if is_share else value:.{_DIGITS}g}{'%' if is_share else ''}"
    return str(value).strip()
