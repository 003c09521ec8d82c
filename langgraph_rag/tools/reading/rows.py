"""Makes documents of the rows of a file: the fields of each, checked where it stands."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from langgraph_rag.errors import DocumentError
from langgraph_rag.naming import TOLD, first_few, first_problems
from langgraph_rag.tools.documents import PLACE
from langgraph_rag.tools.reading.question_sets import documents_in

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
