"""Read documents from files and folders: JSON lines, Markdown, plain text."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from langgraph_rag.errors import DocumentError
from langgraph_rag.tools.markdown import read_markdown, section_title
from langgraph_rag.tools.topics import opening_of

_JSON_LINES, _MARKDOWN, _TEXTS = {".jsonl", ".ndjson"}, {".md", ".markdown"}, {".txt"}
READABLE = sorted(_JSON_LINES | _MARKDOWN | _TEXTS)
_LISTED = 20  # problems told at once


def read_documents(sources: Iterable[Path]) -> list[dict[str, object]]:
    """Read files, and folders with all that lies in them, as dicts with `text`, `source` and maybe `id` and `title`.

    A Markdown file is a document for each of its sections, titled by the section's heading with the file's title in
    parentheses. What names no title is titled by what it opens with or, failing that, by the file's name.

    Raises:
        DocumentError: naming every file that cannot be read, the line where there is one, and what was expected there.
    """
    documents: list[dict[str, object]] = []
    problems: list[str] = []
    for source in sources:
        files = list(_files(source))
        if not files:
            raise DocumentError(f"{source}: expected a folder with files ending in {', '.join(READABLE)}, found none")
        for file in files:
            try:
                documents += _READ[file.suffix.lower()](file)
            except DocumentError as error:
                problems.append(str(error))
    if problems:
        raise DocumentError(_listed(problems))
    return documents


def vanished(sources: Iterable[str], folders: Iterable[Path]) -> list[str]:
    """Return the sources that were files in one of the folders, such as are read there, and are no more.

    They are told by their paths as given, so the folder needs a name: anything might have been below `.` or `..`.
    """
    named = [folder for folder in folders if folder.name not in ("", "..")]
    files = ((source, Path(source)) for source in sources)
    inside = ((source, file) for source, file in files if any(file.is_relative_to(folder) for folder in named))
    return [source for source, file in inside if file.suffix.lower() in READABLE and not file.exists()]


def _listed(problems: list[str]) -> str:
    more = len(problems) - _LISTED
    return "\n".join([*problems[:_LISTED], *([f"... and {more} more files"] if more > 0 else [])])


def _files(source: Path) -> Iterator[Path]:
    if source.is_dir():
        inside = (path for path in sorted(source.rglob("*")) if path.is_file() and path.suffix.lower() in READABLE)
        yield from (path for path in inside if not any(p.startswith(".") for p in path.relative_to(source).parts))
    elif not source.exists():
        raise DocumentError(f"{source}: no such file or folder")
    elif source.suffix.lower() not in READABLE:
        raise DocumentError(f"{source}: expected a file ending in {', '.join(READABLE)}")
    else:
        yield source


def _text(file: Path) -> list[dict[str, object]]:
    text = _filled(file)
    return [{"title": opening_of(text) or file.stem, "text": text, "source": str(file)}]


def _markdown(file: Path) -> list[dict[str, object]]:
    title, sections = read_markdown(_filled(file))
    opening = "" if sections[0].headings else opening_of(sections[0].text)
    title = title or opening or file.stem
    return [
        {"title": section_title(title, section.headings), "text": section.text, "source": str(file)}
        for section in sections
    ]


def _filled(file: Path) -> str:
    text = _read(file)
    if not text.strip():
        raise DocumentError(f"{file}: the file is empty")
    return text


def _json_lines(file: Path) -> list[dict[str, object]]:
    documents: list[dict[str, object]] = []
    for number, line in enumerate(_read(file).split("\n"), start=1):  # not splitlines(): JSON may hold U+2028 as it is
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise DocumentError(
                f"{file}, line {number}: expected a JSON object, got {line[:80]!r} ({error})"
            ) from error
        if not isinstance(fields, dict) or not isinstance(fields.get("text"), str) or not fields["text"].strip():
            raise DocumentError(f"{file}, line {number}: expected an object with a text, got {line[:80]!r}")
        documents.append({"source": str(file), **fields})
    if not documents:
        raise DocumentError(f"{file}: the file is empty")
    return documents


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"{file}: expected UTF-8 text, got byte {error.object[error.start]:#x} at {error.start}"
        ) from error
    except OSError as error:
        raise DocumentError(f"{file}: it cannot be read: {error.strerror}") from error


_READ: dict[str, Callable[[Path], list[dict[str, object]]]] = {
    **dict.fromkeys(_JSON_LINES, _json_lines),
    **dict.fromkeys(_MARKDOWN, _markdown),
    **dict.fromkeys(_TEXTS, _text),
}
