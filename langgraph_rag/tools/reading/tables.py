"""Reads the rows of CSV and TSV files as documents."""

import csv
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from langgraph_rag.errors import DocumentError
from langgraph_rag.tools.reading.json_documents import Documents, FieldNames, to_documents

_SEPARATORS = ",;\t|"
_NAMING = ("title", "name")


def read_table(text: str, file: Path, names: FieldNames) -> Documents:
    """Read the rows of a table, whose first row has the names of its columns.

    If there is no column of texts, each row is described by `- Column: value` lines; its title is then in the column
    "title" or "name", or else in the first.

    Raises:
        DocumentError: when the text is no table, has no rows, or has no column of `names`.
    """
    (_, columns), *rows = _rows(text, file)
    if not rows:
        raise DocumentError(f"{file}: expected rows below the names of columns, got none")
    if repeated := [name for name in columns if name and columns.count(name) > 1]:
        raise DocumentError(f"{file}: expected columns with different names, got {repeated[0]!r} twice")
    texts = names.get("text", "text")
    has_texts = texts in columns or texts != "text"
    return to_documents(rows, partial(_fields if has_texts else _described, columns), file, names)


def _rows(text: str, file: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows with their places."""
    head = text.lstrip().partition("\n")[0]
    reader = csv.reader(text.splitlines(keepends=True), delimiter=max(_SEPARATORS, key=head.count), strict=True)
    try:
        for row in reader:
            if any(cells := [cell.strip() for cell in row]):
                yield f"{file}, line {reader.line_num}", cells
    except csv.Error as error:
        raise DocumentError(f"{file}, line {reader.line_num}: expected a row of a table, got {error}") from error


def _fields(columns: Sequence[str], row: Sequence[str], place: str) -> dict[str, object]:
    """Return the named cells that are not empty."""
    if len(row) > len(columns):
        raise DocumentError(f"{place}: expected {len(columns)} cells, as the first row has, got {len(row)}")
    return {name: cell for name, cell in zip(columns, row, strict=False) if name and cell}


def _described(columns: Sequence[str], row: Sequence[str], place: str) -> dict[str, object]:
    """Return the named cells, a text that describes the row by them, and a title."""
    fields = _fields(columns, row, place)
    naming = next((name for name in columns if name.lower() in _NAMING), columns[0])
    text = "\n".join(f"- {_label(name)}: {cell}" for name, cell in fields.items() if name != naming)
    return {**fields, "title": fields.get(naming), "text": text}


def _label(name: str) -> str:
    """Return the name of a column as the label of a line: "date_of_birth" as "Date of birth"."""
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]
