"""Reads the rows of a file of questions: JSON lines, a JSON array or object, a table, or a folder of BEIR's."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from langgraph_rag.characters import decoded, unpacked
from langgraph_rag.errors import DocumentError, RagError
from langgraph_rag.tools.documents.rows import elements_of, table_rows

_SEPARATORS = re.compile(r"[,;\t]")
_ASKING = {"question", "query", "prompt"}  # a table of questions has one of these columns
_QUERIES, _JUDGED, _SPLITS = "queries.jsonl", "qrels", ("test", "dev", "validation", "train")  # of BEIR
_JUDGEMENT = "query-id", "corpus-id", "score"


class QuestionFileError(RagError):
    """A file of questions cannot be used."""


class NumberedRow(NamedTuple):
    """A row with its number, which is that of its line in JSON lines, and its place; or what is wrong with it."""

    number: int
    place: str
    fields: object
    line: str = ""
    problem: str = ""

    @property
    def written(self) -> str:
        """The row as text."""
        return self.line or json.dumps(self.fields, ensure_ascii=False)


def rows_of(path: Path) -> list[NumberedRow]:
    """Read all rows of a file, or of the queries in a folder of BEIR's that have judgements."""
    folder = path if path.is_dir() else path.parent.parent if path.parent.name == _JUDGED else path.parent
    queries = _first_of(folder, [_QUERIES])
    if queries and (path.is_dir() or path.parent.name == _JUDGED or path == queries):
        return _judged(queries, path if path.parent.name == _JUDGED else None)
    if path.is_dir():
        raise QuestionFileError(
            f"{path}: expected a file of questions, or a folder with {_QUERIES} and {_JUDGED}, got another folder"
        )
    text = _text(path)
    if _is_table(text):
        return _cells(text, path)
    if (rows := _elements(text, path)) is None:
        return _lines(text, path)
    return [NumberedRow(number, f"{path}, element {number}", row) for number, row in enumerate(rows, start=1)]


def _elements(text: str, path: Path) -> list[object] | None:
    """Return the rows of a text that is one JSON value; None if it is JSON lines."""
    try:
        return elements_of(text, path, own="question", parse_float=str)  # "3.10" is not 3.1
    except DocumentError as error:
        raise QuestionFileError(str(error)) from error


def _lines(text: str, path: Path) -> list[NumberedRow]:
    rows: list[NumberedRow] = []
    for number, line in enumerate(text.split("\n"), start=1):  # not splitlines(): JSON may contain U+2028
        if line.strip():
            place, written = f"{path}, line {number}", line.strip()
            try:
                rows.append(NumberedRow(number, place, json.loads(line, parse_float=str), written))
            except (ValueError, RecursionError) as error:
                rows.append(NumberedRow(number, place, None, written, f"Invalid JSON: {error}"))
    return rows


def _cells(text: str, path: Path) -> list[NumberedRow]:
    try:
        rows = table_rows(text, path)
    except DocumentError as error:
        raise QuestionFileError(str(error)) from error
    return [NumberedRow(number, place, _as_named(fields)) for number, (place, fields) in enumerate(rows, start=1)]


def _as_named(cells: Mapping[str, object]) -> dict[str, object]:
    """Return the cells by the names of a question's fields: `Question` is `question`; FRAMES has names of its own."""
    return dict(cells) if "Prompt" in cells else {name.strip().lower(): cell for name, cell in cells.items()}


def _is_table(text: str) -> bool:
    """Return whether the first line has several columns, and one of them is that of questions.

    >>> _is_table('id;"Question";answer'), _is_table('{"question": "Who, then?"}')
    (True, False)
    """
    head = text.lstrip().partition("\n")[0]
    if head.startswith(("{", "[")):  # strings in it may contain commas
        return False
    columns = {name.strip(" \"'\r").lower() for name in _SEPARATORS.split(head)}
    return len(columns) > 1 and not columns.isdisjoint(_ASKING)


def _first_of(folder: Path, names: list[str]) -> Path | None:
    """Return the first file of a folder with one of the names, which may be packed."""
    files = (folder / f"{name}{packed}" for name in names for packed in ("", ".gz"))
    return next((file for file in files if file.exists()), None)


def _judged(queries: Path, chosen: Path | None) -> list[NumberedRow]:
    """Return the queries that have passages judged relevant, with the ids of these passages."""
    splits = [f"{name}{ending}" for name in _SPLITS for ending in (".tsv", ".jsonl")]
    judgements = chosen or _first_of(queries.parent / _JUDGED, splits)
    if judgements is None:
        raise QuestionFileError(
            f"{queries.parent}: expected judgements in {_JUDGED}/test.tsv beside {_QUERIES}, got none"
        )
    relevant: defaultdict[str, list[str]] = defaultdict(list)
    for query, passage, score in _judgements(judgements):
        if score > 0:
            relevant[query].append(passage)
    rows = []
    for row in _lines(_text(queries), queries):
        fields = row.fields if isinstance(row.fields, dict) else {}
        id_ = str(fields.get("_id"))
        if row.problem or id_ in relevant:
            rows.append(row._replace(fields={**fields, "supporting_ids": relevant.pop(id_, [])}))
    if relevant:
        raise QuestionFileError(f"{judgements}: expected ids of queries in {queries}, got {next(iter(relevant))!r}")
    return rows


def _judgements(file: Path) -> Iterator[tuple[str, str, float]]:
    """Yield the queries and passages in a file of judgements with their scores; its first line may name columns."""
    for number, line in enumerate(_text(file).split("\n"), start=1):
        try:
            fields = json.loads(line) if line.startswith("{") else dict(zip(_JUDGEMENT, line.split("\t"), strict=False))
            query, passage, score = (str(fields[name]) for name in _JUDGEMENT)
            yield query, passage, float(score)
        except (ValueError, LookupError) as error:
            if line.strip() and (number > 1 or line.strip()[-1].isdigit()):
                raise QuestionFileError(
                    f"{file}, line {number}: expected query-id, corpus-id and score, separated by tabs, got "
                    f"{line[:80]!r}"
                ) from error


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise QuestionFileError(f"{path}: expected a file of questions, got {error.strerror}") from error
    try:
        return decoded(unpacked(content)).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise QuestionFileError(
            f"{path}, line {line}: expected UTF-8, got the byte 0x{error.object[error.start]:02x}"
        ) from error
    except ValueError as error:
        raise QuestionFileError(f"{path}: {error}") from error
