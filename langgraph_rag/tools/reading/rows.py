"""Makes documents of the rows of a file: the fields of each, checked where it stands."""

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
