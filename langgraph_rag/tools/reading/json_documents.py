"""Reads documents from JSON and JSON lines."""

import json
from pathlib import Path

from langgraph_rag.errors import DocumentError
from langgraph_rag.tools.reading.question_sets import rows_in
from langgraph_rag.tools.reading.rows import Documents, FieldNames, to_documents


def read_json(text: str, file: Path, names: FieldNames, set_name: str = "") -> Documents:
    """Read the objects in the list of a JSON file, or its one object.

    Raises:
        DocumentError: when the text is not JSON, the list is empty, or no object has a field of `names`.
    """
    return to_documents(_elements(text, file), _fields, file, names, set_name)


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
    return _fields(_loaded(line, place), place)


def _fields(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise DocumentError(f"{place}: expected a JSON object with a text, got {value!r:.80}")
    return value
