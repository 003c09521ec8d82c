"""Rows of tables and JSON become documents."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Literal, TypeVar

from langgraph_rag.errors import DocumentError
from langgraph_rag.naming import TOLD, first_few, first_problems
from langgraph_rag.tools.documents.question_sets import documents_in, rows_in
from langgraph_rag.tools.ingest.documents import LONGEST_NAME, PLACE

Row = TypeVar("Row")
FieldNames = Mapping[str, str]
"""The names of fields that differ from those of documents: `{"text": "body"}`."""
Documents = tuple[list[dict[str, object]], list[str]]
"""The documents of a file, and the problems of its invalid objects."""


def to_documents(
    rows: Iterable[tuple[str, Row]],
    fields_of: Callable[[Row, str], dict[str, object]],
    file: Path,
    names: FieldNames,
    set_name: str = "",
) -> Documents:
    """Return the documents in rows with their places, and the problems of invalid ones.

    A row of a published question set may have several, or none; `set_name` says of which, where it is known.

    Raises:
        DocumentError: when no row has a field of `names`, or the rows are questions without passages.
    """
    documents: list[dict[str, object]] = []
    problems: list[str] = []
    there: dict[str, object] = {}
    for place, row in rows:
        try:
            fields = fields_of(row, place)
            there |= dict.fromkeys(fields)
            for each in _in_set(fields, names, place, set_name):
                document = _document(each, names, place)
                documents.append({**document, "source": document.get("source") or str(file), PLACE: place})
        except DocumentError as error:
            problems.append(str(error))
    for ours, theirs in names.items():
        if theirs not in (ours, *there):
            got = first_few([*map(repr, there)], TOLD)
            wrong = f"{file}: expected a field {theirs!r} ({ours}) in some line, got the fields {got}"
            raise DocumentError(first_problems([wrong, *problems]))
    if not documents and not problems:
        raise DocumentError(f"{file}: expected passages, got questions without any: give it to `eval --questions`")
    return documents, problems


def _in_set(fields: Mapping[str, object], names: FieldNames, place: str, set_name: str) -> list[Mapping[str, object]]:
    """Return the documents in a row of a question set; a row of another kind is a document itself."""
    if names.get("text", "text") != "text":
        return [fields]
    try:
        found = documents_in(fields, set_name)
    except ValueError as error:
        raise DocumentError(f"{place}: {error}") from error
    return [fields] if found is None else [*found]


def _document(fields: Mapping[str, object], names: FieldNames, place: str) -> dict[str, object]:
    wanted = names.get("text", "text")
    if wanted not in fields:
        got = f"the fields {first_few([*map(repr, fields)], TOLD)}" if fields else "no fields"
        raise DocumentError(
            f"{place}: expected a text in {wanted!r}, got {got} "
            "(on the command line, `index --text-field NAME` takes it from another one)"
        )
    if not isinstance(text := fields[wanted], str) or not text.strip():
        raise DocumentError(f"{place}: expected a text in {wanted!r}, got {text!r:.80}")
    others = {name: value for name, value in fields.items() if name not in names.values()}
    return {**others, **{ours: fields[theirs] for ours, theirs in names.items() if theirs in fields}}


_SEPARATORS = "\t;|,"  # those that stand less in texts first
_SEEN = 50_000  # characters by which the separator is chosen
_DECLARED = re.compile(r"\s*sep=(.)\s*\n", re.IGNORECASE)  # as Excel reads it
_QUOTED = re.compile('"[^"]*"')
_NAMING, _NUMBERING = ("title", "name"), ("id", "index", "no", "nr", "#")
_MISSING = {"null", "nan", "n/a", "#n/a"}
_LONGEST_CELL = 10_000_000  # characters

Placed = tuple[str, list[str]]
"""A row and its place, such as "boats.csv, line 2"."""

csv.field_size_limit(_LONGEST_CELL)  # one for the process; by default a long text is an error


def read_table(text: str, file: Path, names: FieldNames, set_name: str = "") -> Documents:
    """Read the rows of a table, whose first row has the names of its columns.

    If there is no column of texts, each row is described by `- Column: value` lines. Its title is then in the column
    "title" or "name", or else in the first one that does not number the rows.

    Raises:
        DocumentError: when the text is no table, has no rows, or has no column of `names`.
    """
    return read_rows(*_columns_and_rows(text, file), file, names, set_name)


def read_rows(
    columns: Sequence[str], rows: Sequence[Placed], file: Path, names: FieldNames, set_name: str = ""
) -> Documents:
    """Read the rows of a table, each with its place, given the different names of its columns.

    Raises:
        DocumentError: when no column has a name of `names`.
    """
    texts = names.get("text", "text")
    if texts in columns or texts != "text":
        return to_documents(rows, partial(_fields, columns), file, names, set_name)
    titles = _title_of(columns, [cells for _, cells in rows], names)
    return to_documents(rows, partial(_described, columns, titles), file, names, set_name)


def table_rows(text: str, file: Path) -> list[tuple[str, dict[str, object]]]:
    """Return the rows of a table as they are, each with its place and its cells that are not empty.

    Raises:
        DocumentError: when the text is no table, or has no rows.
    """
    columns, rows = _columns_and_rows(text, file)
    return [(place, _fields(columns, row, place)) for place, row in rows]


def _columns_and_rows(text: str, file: Path) -> tuple[list[str], list[Placed]]:
    (_, columns), *rows = _rows(text, file) or [("", [])]
    if not rows:
        raise DocumentError(f"{file}: expected rows below the names of columns, got none")
    if repeated := [name for name, number in Counter(columns).items() if name and number > 1]:
        raise DocumentError(f"{file}: expected columns with different names, got {repeated[0]!r} twice")
    return columns, rows


def _rows(text: str, file: Path) -> list[Placed]:
    """Return the rows that are not blank, with their places."""
    declared = _DECLARED.match(text)
    begin = declared.end() if declared else 0
    separator = declared[1] if declared else "\t" if file.suffix.lower() == ".tsv" else _separator(text)
    try:
        rows = _parsed(text[begin:], separator, csv.QUOTE_MINIMAL)
    except DocumentError as error:
        if separator != "\t":
            raise DocumentError(f"{file}, {error}") from error
        rows = _parsed(text[begin:], separator, csv.QUOTE_NONE)  # many have quotation marks as they stand in texts
    return [(f"{file}, line {text[:begin].count(chr(10)) + line}", row) for line, row in rows if any(row)]


def _separator(table: str) -> str:
    """Return the separator of the first row by which most others have as many cells."""
    head, *rows = _QUOTED.sub("", table[:_SEEN].lstrip()).split("\n")
    return max(
        [separator for separator in _SEPARATORS if separator in head] or ",",
        key=lambda separator: sum(row.count(separator) == head.count(separator) for row in rows),
    )


def _parsed(table: str, separator: str, quoting: Literal[0, 3]) -> list[tuple[int, list[str]]]:
    """Return the rows with the numbers of their last lines; not by `splitlines`, as cells may contain U+2028."""
    reader = csv.reader(
        StringIO(table, newline=""), delimiter=separator, skipinitialspace=True, strict=True, quoting=quoting
    )
    try:
        return [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise DocumentError(f"line {reader.line_num}: expected a row of a table, got {error}") from error


def _title_of(columns: Sequence[str], rows: Sequence[Sequence[str]], names: FieldNames) -> str:
    """Return the name of the column with the titles of rows."""
    counting = [name for name, cells in zip(columns, zip(*rows, strict=False), strict=False) if _counts(cells)]
    given = [name for name in columns if name == names.get("title")]
    naming = [name for name in columns if name.lower() in _NAMING]
    others = [name for name in columns if name and name.lower() not in _NUMBERING and name not in counting]
    return next(iter([*given, *naming, *others, *columns]))


def _counts(cells: Sequence[str]) -> bool:
    """Return whether cells count their rows, from 0 or 1 on."""
    return any(all(cell == str(number) for number, cell in enumerate(cells, start)) for start in (0, 1))


def _fields(columns: Sequence[str], row: Sequence[str], place: str) -> dict[str, object]:
    """Return the named cells that are not empty."""
    if any(row[len(columns) :]):
        raise DocumentError(f"{place}: expected {len(columns)} cells, as the first row has, got {len(row)}")
    return {name: cell for name, cell in zip(columns, row, strict=False) if name and cell}


def _described(columns: Sequence[str], naming: str, row: Sequence[str], place: str) -> dict[str, object]:
    """Return the named cells, a text that describes the row by them, and a title."""
    fields = _fields(columns, row, place)
    title = str(fields.get(naming, ""))
    named = {naming} if len(title) <= LONGEST_NAME else set()  # a longer one is told whole
    told = {name: " ".join(str(cell).split()) for name, cell in fields.items() if name not in named}
    lines = [f"- {_label(name)}: {cell}" for name, cell in told.items() if cell.lower() not in _MISSING]
    return {**fields, "source": None, "title": title[:LONGEST_NAME], "text": "\n".join(lines) or title}


def _label(name: str) -> str:
    """Return the name of a column as the label of a line: "date_of_birth" as "Date of birth"."""
    words = name.replace("_", " ").rstrip(": ")
    return words[:1].upper() + words[1:]


def read_json(text: str, file: Path, names: FieldNames, set_name: str = "") -> Documents:
    """Read the objects in the list of a JSON file, or its one object.

    Raises:
        DocumentError: when the text is not JSON, the list is empty, or no object has a field of `names`.
    """
    return to_documents(_elements(text, file), _object, file, names, set_name)


def read_json_lines(text: str, file: Path, names: FieldNames, set_name: str = "") -> Documents:
    """Read the objects of a JSON lines file, one per line.

    Raises:
        DocumentError: when the whole text is one JSON value, or no object has a field of `names`.
    """
    return to_documents(_lines(text, file), _fields_of_line, file, names, set_name)


def _lines(text: str, file: Path) -> list[tuple[str, str]]:
    """Return the lines of a JSON lines file, with their places."""
    if "\n" in text.strip() and _is_json(text):
        raise DocumentError(
            f"{file}: expected JSON lines, one object per line, got one JSON value over several lines: "
            "name such a file .json"
        )
    lines = enumerate(text.split("\n"), start=1)  # not splitlines(): JSON may contain U+2028
    return [(f"{file}, line {number}", line) for number, line in lines if line.strip()]


def _elements(text: str, file: Path) -> list[tuple[str, object]]:
    """Return the elements of the list in a JSON file, or its one object, with their places."""
    first, *others = text.strip().split("\n")
    if others and _is_json(first) and not _is_json(text):
        raise DocumentError(f"{file}: expected one JSON value, got JSON lines: name such a file .jsonl")
    try:
        value = rows_in(_loaded(text, str(file)))
    except ValueError as error:
        raise DocumentError(f"{file}: {error}") from error
    if not isinstance(value, list):
        return [(str(file), value)]
    if not value:
        raise DocumentError(f"{file}: expected documents, got an empty list")
    return [(f"{file}, element {number}", element) for number, element in enumerate(value, start=1)]


def _is_json(text: str) -> bool:
    """Return whether a whole text is one JSON value; of JSON lines, only the first line is parsed."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _loaded(text: str, place: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # plain ValueError: a number of too many digits
        raise DocumentError(f"{place}: expected a JSON object, got {text[:80]!r} ({error})") from error


def _fields_of_line(line: str, place: str) -> dict[str, object]:
    return _object(_loaded(line, place), place)


def _object(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise DocumentError(f"{place}: expected a JSON object with a text, got {value!r:.80}")
    return value
