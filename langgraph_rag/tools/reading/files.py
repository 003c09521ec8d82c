"""Reads documents from files and folders: JSON and JSON lines, Markdown, HTML, PDF, plain text."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from tqdm.auto import tqdm

from langgraph_rag.characters import decoded, is_text
from langgraph_rag.errors import DocumentError
from langgraph_rag.naming import first_few
from langgraph_rag.progress import hidden
from langgraph_rag.records import Passage
from langgraph_rag.tools.documents import LONGEST_NAME, PLACE, PassagesById, to_passages
from langgraph_rag.tools.language.topics import opening_of
from langgraph_rag.tools.reading.folders import (
    HTML,
    JSON,
    JSON_LINES,
    MARKDOWN,
    OTHERS,
    PDF,
    SOUGHT,
    readable_files,
)
from langgraph_rag.tools.reading.markdown import read_markdown, section_title
from langgraph_rag.tools.reading.pdf import read_pdf

Row = TypeVar("Row")
Names = Mapping[str, str]  # the names of fields in JSON that differ from those here
_LISTED = 20  # problems or fields in one message
_SOON = 2  # seconds before a progress bar appears; PDF files take about one each


def read_documents(sources: str | Path | Iterable[str | Path]) -> list[dict[str, object]]:
    """Read files and folders as documents for `KnowledgeBase.add`.

    Args:
        sources: one or several files (JSON, JSON lines, Markdown, HTML, PDF, plain text), or folders with such files.

    Returns:
        A dict for each passage that the knowledge base makes of them. A passage of a Markdown or HTML file is from one
            section. Its title is the heading of the section, with the title of the file in parentheses. The title of a
            file without one is its first line or subject, or else its name.

    Raises:
        DocumentError: when a file is missing or cannot be read. The message names each invalid file or line, and what
            was expected there.
    """
    several = [sources] if isinstance(sources, str | Path) else sources
    read = read_what_can_be(map(Path, several))
    if read.problems:
        raise DocumentError(first_problems(read.problems))
    return [dict(passage) for passage in read.passages]


class Read(NamedTuple):
    """The passages of some files, the problems of invalid files, and the place of each passage by id."""

    passages: list[Passage]
    problems: list[str]
    places: dict[str, str]


def read_what_can_be(sources: Iterable[Path], names: Names | None = None) -> Read:
    """Read files and folders, and return the passages together with the problems of invalid files.

    In JSON and JSON lines, only invalid elements and lines are left out. Also invalid are a repeated id with another
    text, a file whose name is not UTF-8, and a folder that cannot be read.

    Args:
        sources: files and folders.
        names: the names of the fields for `text`, `title` or `id` in JSON and JSON lines, if they differ.

    Raises:
        DocumentError: when there is no such file or folder, or it has no files of a supported kind.
    """
    passages: list[Passage] = []
    problems: list[str] = []
    known: PassagesById = {}
    for source in sources:
        files, unreadable = readable_files(source)
        if not files and not unreadable:
            raise DocumentError(
                f"{source}: expected files with text ending in {', '.join(SOUGHT)}, found none; {OTHERS}"
            )
        problems += unreadable
        for file in tqdm(files, "reading", unit="file", delay=_SOON, leave=False, disable=hidden()):
            found, bad = _passages_of(file, names or {}, known)
            passages += found
            problems += [first_problems(bad)] if bad else []
    return Read(passages, problems, {id_: place for id_, (_, place) in known.items()})


def _passages_of(file: Path, names: Names, known: PassagesById) -> tuple[list[Passage], list[str]]:
    """Return the passages of a file, of JSON line by line, and the problems of the file or its lines."""
    passages: list[Passage] = []
    try:
        documents, problems = _documents(file, names)
    except DocumentError as error:
        return [], [str(error)]
    for together in [[line] for line in documents] if file.suffix.lower() in JSON | JSON_LINES else [documents]:
        try:
            passages += to_passages(together, known)
        except DocumentError as error:
            problems.append(str(error))
    return passages, problems


def first_problems(problems: list[str]) -> str:
    """Return the first problems, one per line, and the number of others."""
    more = len(problems) - _LISTED
    return "\n".join([*problems[:_LISTED], *([f"... and {more} more"] if more > 0 else [])])


def _documents(file: Path, names: Names) -> tuple[list[dict[str, object]], list[str]]:
    """Return the documents of a file, and the problems of its lines."""
    if not is_text(str(file)):
        raise DocumentError(f"{ascii(str(file))}: expected a name in UTF-8: rename the file")
    kind = file.suffix.lower()
    if kind in PDF:
        return _pages(file), []
    if kind in JSON_LINES:
        return _rows(_lines(_read(file), file), _fields_of_line, file, names)
    if kind in JSON:
        return _rows(_elements(_read(file), file), _fields, file, names)
    if kind in HTML:
        found = _sections_of_page(file)
    elif kind in MARKDOWN:
        found = _sections(_read(file), file)
    else:
        text = _read(file)
        found = [{"title": opening_of(text) or file.stem, "text": text}]
    return [{**document, "source": str(file), PLACE: str(file)} for document in found], []


def _pages(file: Path) -> list[dict[str, object]]:
    try:
        pdf = read_pdf(_bytes(file))
    except ValueError as error:
        raise DocumentError(f"{file}: {error}") from error
    title = pdf.title or opening_of(next(filter(None, pdf.pages), "")) or file.stem
    pages: list[dict[str, object]] = [
        {
            "title": title,
            "text": text,
            "source": str(file),
            "metadata": {"page": number},
            PLACE: f"{file}, page {number}",
        }
        for number, text in enumerate(pdf.pages, start=1)
        if text
    ]
    if not pages:
        raise DocumentError(
            f"{file}: expected a PDF file with text, got one without: is it a scan? (ocrmypdf adds text)"
        )
    return pages


def _sections_of_page(file: Path) -> list[dict[str, object]]:
    from langgraph_rag.tools.reading.html import decoded_page, read_html  # here: the import takes a tenth of a second

    html = _read(file, decoded_page)
    try:
        page = read_html(html)
    except ValueError as error:
        raise DocumentError(f"{file}: {error}") from error
    return _sections(page.markdown, file, page.title)


def _sections(text: str, file: Path, named: str = "") -> list[dict[str, object]]:
    """Return the sections of a Markdown text with their titles, and with the fields of its front matter.

    `named` is the title of a text whose headings name none.
    """
    title, sections, fields = read_markdown(text)
    opening = "" if sections[0].headings else opening_of(sections[0].text)
    title = title or named or opening or file.stem
    return [
        {"title": section_title(title, section.headings)[:LONGEST_NAME], "text": section.text, "metadata": fields}
        for section in sections
    ]


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
    value = _loaded(text, str(file))
    if not isinstance(value, list):
        return [(str(file), value)]
    if not value:
        raise DocumentError(f"{file}: expected documents, got an empty list")
    return [(f"{file}, element {number}", element) for number, element in enumerate(value, start=1)]


def _rows(
    rows: Iterable[tuple[str, Row]], fields_of: Callable[[Row, str], dict[str, object]], file: Path, names: Names
) -> tuple[list[dict[str, object]], list[str]]:
    """Return the documents in lines or elements, and the problems of invalid ones."""
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
            got = first_few([*map(repr, there)], _LISTED)
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
    fields = _loaded(line, place)
    if not isinstance(fields, dict):
        raise DocumentError(f"{place}: expected a JSON object with a text, got {line[:80]!r}")
    return fields


def _fields(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise DocumentError(f"{place}: expected a JSON object with a text, got {value!r:.80}")
    return value


def _document(fields: Mapping[str, object], names: Names, place: str) -> dict[str, object]:
    wanted = names.get("text", "text")
    if wanted not in fields:
        got = f"the fields {first_few([*map(repr, fields)], _LISTED)}" if fields else "no fields"
        raise DocumentError(
            f"{place}: expected a text in {wanted!r}, got {got} "
            "(on the command line, `index --text-field NAME` takes it from another one)"
        )
    if not isinstance(text := fields[wanted], str) or not text.strip():
        raise DocumentError(f"{place}: expected a text in {wanted!r}, got {text!r:.80}")
    others = {name: value for name, value in fields.items() if name not in names.values()}
    return {**others, **{ours: fields[theirs] for ours, theirs in names.items() if theirs in fields}}


def _read(file: Path, decode: Callable[[bytes], str] = decoded) -> str:
    try:
        text = decode(_bytes(file))
    except UnicodeDecodeError as error:
        raise _not_utf_8(file, error.object[error.start], error.start) from error
    if "\0" in text:  # as in UTF-16 without byte order mark, and in binary files
        raise _not_utf_8(file, 0, len(text[: text.index("\0")].encode()))
    if not text.strip():
        raise DocumentError(f"{file}: the file is empty")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise DocumentError(f"{file}: it cannot be read: {error.strerror}") from error


def _not_utf_8(file: Path, byte: int, place: int) -> DocumentError:
    return DocumentError(
        f"{file}: expected UTF-8 text, got byte {byte:#x} at {place}: save it as UTF-8, or convert it "
        "(iconv -f ENCODING -t UTF-8)"
    )
