"""Reads documents from JSON and JSON lines: the fields of each object, checked where it stands."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from langgraph_rag.errors import DocumentError
from langgraph_rag.naming import TOLD, first_few, first_problems
from langgraph_rag.tools.documents import PLACE

Row = TypeVar("Row")
FieldNames = Mapping[str, str]
"""The names of fields that differ from those of documents: `{"text": "body"}`."""
Documents = tuple[list[dict[str, object]], list[str]]
"""The documents of a file, and the problems of its invalid objects."""


def read_json(text: str, file: Path, names: FieldNames) -> Documents:
    """Read the objects in the list of a JSON file, or its one object.

    Raises:
        DocumentError: when the text is not JSON, the list is empty, or no object has a field of `names`.
    """
    return to_documents(_elements(text, file), _fields, file, names)


def read_json_lines(text: str, file: Path, names: FieldNames) -> Documents:
    """Read the objects of a JSON lines file, one per line.

    Raises:
        DocumentError: when the whole text is one JSON value, or no object has a field of `names`.
    """
    return to_documents(_lines(text, file), _fields_of_line, file, names)


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
    value = _loaded(text, str(file))
    if not isinstance(value, list):
        return [(str(file), value)]
    if not value:
        raise DocumentError(f"{file}: expected documents, got an empty list")
    return [(f"{file}, element {number}", element) for number, element in enumerate(value, start=1)]


def to_documents(
    rows: Iterable[tuple[str, Row]], fields_of: Callable[[Row, str], dict[str, object]], file: Path, names: FieldNames
) -> Documents:
    """Return the documents in rows with their places, and the problems of invalid ones.

    Raises:
        DocumentError: when no row has a field of `names`.
    """
    documents: list[dict[str, object]] = []
    problems: list[str] = []
    there: dict[str, object] = {}
    for place, row in rows:
        try:
            fields = fields_of(row, place)
            there |= dict.fromkeys(fields)
            document = _document(fields, names, place)
            documents.append({**document, "source": document.get("source") or str(file), PLACE: place})
        except DocumentError as error:
            problems.append(str(error))
    for ours, theirs in names.items():
        if theirs not in (ours, *there):
            got = first_few([*map(repr, there)], TOLD)
            wrong = f"{file}: expected a field {theirs!r} ({ours}) in some line, got the fields {got}"
            raise DocumentError(first_problems([wrong, *problems]))
    return documents, problems


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
    return _fields(_loaded(line, place), place)


def _fields(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise DocumentError(f"{place}: expected a JSON object with a text, got {value!r:.80}")
    return value


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
