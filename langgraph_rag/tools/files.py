"""Read documents from files and folders: JSON lines, Markdown, plain text."""

import errno
import json
import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG
from typing import NamedTuple

from langgraph_rag.characters import decoded
from langgraph_rag.errors import DocumentError
from langgraph_rag.records import Passage
from langgraph_rag.tools.documents import PLACE, PassagesById, to_passages
from langgraph_rag.tools.markdown import read_markdown, section_title
from langgraph_rag.tools.topics import opening_of

_JSON_LINES, _MARKDOWN, _PLAIN = {".jsonl", ".ndjson"}, {".md", ".markdown"}, {".txt"}
READABLE = sorted(_JSON_LINES | _MARKDOWN | _PLAIN)
OTHERS = "read others, such as PDF and HTML, with a LangChain document loader and give them to KnowledgeBase.add"
_INSTALLED = {"node_modules", "__pycache__"}  # folders that programs fill
_LISTED = 20  # problems told at once
_SMALL = 64  # bytes


def read_documents(sources: str | Path | Iterable[str | Path]) -> list[dict[str, object]]:
    """Read files, and folders with all that lies in them, as documents: dicts that `KnowledgeBase.add` takes.

    They are the passages that it makes of them. One of a Markdown file is of one section, titled by the section's
    heading with the file's title in parentheses. What names no title is titled by what it opens with or, failing that,
    by the file's name.

    Raises:
        DocumentError: naming every file that cannot be read, its lines where it has such, and what was expected there.
    """
    several = [sources] if isinstance(sources, str | Path) else sources
    passages, problems = read_what_can_be(map(Path, several))
    if problems:
        raise DocumentError(listed(problems))
    return [dict(passage) for passage in passages]


def read_what_can_be(
    sources: Iterable[Path], names: Mapping[str, str] | None = None
) -> tuple[list[Passage], list[str]]:
    """Read files and folders likewise, and return with the passages what is wrong with each file that is bad.

    Bad is also a file that gives an id another text than one before it, and a folder that cannot be looked into.

    Args:
        sources: files and folders.
        names: what JSON lines call a `text`, `title` or `id`, where they call it otherwise.

    Raises:
        DocumentError: when there is no such file or folder, or nothing in it of a kind that is read.
    """
    passages: list[Passage] = []
    problems: list[str] = []
    known: PassagesById = {}
    for source in sources:
        files, unreadable = _files(source)
        if not files and not unreadable:
            raise DocumentError(
                f"{source}: expected files with text ending in {', '.join(READABLE)}, found none; {OTHERS}"
            )
        problems += unreadable
        for file in files:
            try:
                passages += to_passages(_documents(file, names or {}), known)
            except DocumentError as error:
                problems.append(str(error))
    return passages, problems


class LeftOut(NamedTuple):
    """What is not read of folders: files of other kinds, files without text, linked folders."""

    others: list[Path]
    blank: list[Path]
    linked: list[Path]


def left_out(folders: Iterable[Path]) -> LeftOut:
    """Return what is not read of folders; what is passed over does not count."""
    inside = [_inside(folder) for folder in folders if _is_folder(folder)]
    files = [file for one in inside for file in one.files]
    others = [file for file in files if not _is_readable(file)]
    blank = [file for file in files if _is_readable(file) and _is_blank(file)]
    return LeftOut(others, blank, [folder for one in inside for folder in one.linked])


def empty_folders(sources: Iterable[Path]) -> list[Path]:
    """Return the folders with no file in them of a kind that is read."""
    return [source for source in sources if _is_folder(source) and _files(source) == ([], [])]


def vanished(sources: Iterable[str], folders: Iterable[Path]) -> list[str]:
    """Return the sources that were files in one of the folders, such as are read there, and are no more or blank.

    They are told by their paths as given, so the folder needs a name: anything might have been below `.` or `..`.
    """
    named = frozenset(folder for folder in folders if folder.name not in ("", ".."))
    files = ((source, Path(source)) for source in sources)
    read = ((source, file) for source, file in files if _within(named, file) and _is_readable(file))
    return [source for source, file in read if _is_blank(file) or not _seen(file.stat, bool, otherwise=True)]


def otherwise_named(sources: Iterable[str], given: Iterable[Path]) -> list[str]:
    """Return the sources that are files among those given, or in folders given, but by another path."""
    names = frozenset(given)
    places = frozenset(path.resolve() for path in names)
    others = ((source, file) for source in sources if not _within(names, file := Path(source)))
    found = ((source, file) for source, file in others if _seen(file.stat, S_ISREG, otherwise=False))
    return [source for source, file in found if _within(places, file.resolve())]


def _within(folders: frozenset[Path], path: Path) -> bool:
    """Tell whether a path is one of some or below one; as quick of many as of one."""
    return not folders.isdisjoint((path, *path.parents))


def listed(problems: list[str]) -> str:
    """Return the first problems, one a line, and how many more there are."""
    more = len(problems) - _LISTED
    return "\n".join([*problems[:_LISTED], *([f"... and {more} more"] if more > 0 else [])])


def _files(source: Path) -> tuple[list[Path], list[str]]:
    """Return the files to read, and what is wrong with folders that cannot be looked into."""
    if _is_folder(source):
        inside = _inside(source)
        return [file for file in inside.files if _is_readable(file) and not _is_blank(file)], inside.problems
    if not _seen(source.stat, bool, otherwise=True):
        raise DocumentError(f"{source}: no such file or folder")
    if not _is_readable(source):
        raise DocumentError(f"{source}: expected a file ending in {', '.join(READABLE)}; {OTHERS}")
    return [source], []


def _is_readable(file: Path) -> bool:
    return file.suffix.lower() in READABLE


def _is_blank(file: Path) -> bool:
    """Tell whether nothing is written in a file; a large one is not looked into."""
    try:
        return file.stat().st_size < _SMALL and not file.read_bytes().removeprefix(BOM_UTF8).strip()
    except OSError:  # which is told where the file is read
        return False


class _Inside(NamedTuple):
    """What lies in a folder, in order, and what is wrong with the folders in it that cannot be looked into."""

    files: list[Path]
    linked: list[Path]
    problems: list[str]


def _inside(folder: Path) -> _Inside:
    found: list[Path] = []
    linked: list[Path] = []
    errors: list[OSError] = []
    for where, folders, files in os.walk(folder, onerror=errors.append):
        if "pyvenv.cfg" in files and Path(where) != folder:  # a virtual environment
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _INSTALLED]
        below = [Path(where, name) for name in folders]
        linked += [folder for folder in below if _seen(folder.lstat, S_ISLNK, otherwise=False)]
        found += [Path(where, name) for name in files if not name.startswith(".")]
    problems = [f"{error.filename}: it cannot be read: {error.strerror}" for error in errors]
    there = [file for file in found if _seen(file.stat, S_ISREG, otherwise=True)]
    return _Inside(sorted(there), sorted(linked), problems)


def _is_folder(path: Path) -> bool:
    return _seen(path.stat, S_ISDIR, otherwise=False)


def _seen(look: Callable[[], os.stat_result], kind: Callable[[int], bool], *, otherwise: bool) -> bool:
    """Tell whether there is a file or folder, and of some kind; `otherwise` is what holds where none may look.

    Reading it tells why. The methods of `Path` that ask the same call that absent from Python 3.14 on.
    """
    try:
        return kind(look().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as error:
        return error.errno != errno.ELOOP and otherwise


def _documents(file: Path, names: Mapping[str, str]) -> list[dict[str, object]]:
    text = _read(file)
    if not text.strip():
        raise DocumentError(f"{file}: the file is empty")
    kind = file.suffix.lower()
    if kind in _JSON_LINES:
        return _json_lines(text, file, names)
    found = _sections(text, file) if kind in _MARKDOWN else [{"title": opening_of(text) or file.stem, "text": text}]
    return [{**document, "source": str(file), PLACE: str(file)} for document in found]


def _sections(text: str, file: Path) -> list[dict[str, object]]:
    """Return the sections of a Markdown text with their titles, and with what its front matter says of all."""
    title, sections, fields = read_markdown(text)
    opening = "" if sections[0].headings else opening_of(sections[0].text)
    title = title or opening or file.stem
    return [
        {"title": section_title(title, section.headings), "text": section.text, "metadata": fields}
        for section in sections
    ]


def _json_lines(text: str, file: Path, names: Mapping[str, str]) -> list[dict[str, object]]:
    documents: list[dict[str, object]] = []
    problems: list[str] = []
    there: dict[str, object] = {}
    for number, line in enumerate(text.split("\n"), start=1):  # not splitlines(): JSON may hold U+2028 as it is
        if line.strip():
            place = f"{file}, line {number}"
            try:
                fields = _fields(line, place)
                there |= dict.fromkeys(fields)
                document = _document(fields, names, place)
                documents.append({**document, "source": document.get("source") or str(file), PLACE: place})
            except DocumentError as error:
                problems.append(str(error))
    if problems:
        raise DocumentError(listed(problems))
    for ours, theirs in names.items():
        if theirs not in (ours, *there):
            got = ", ".join(map(repr, there))
            raise DocumentError(f"{file}: expected a field {theirs!r} ({ours}) in some line, got the fields {got}")
    return documents


def _fields(line: str, place: str) -> dict[str, object]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:  # plain ValueError: a number of too many digits
        raise DocumentError(f"{place}: expected a JSON object, got {line[:80]!r} ({error})") from error
    if not isinstance(fields, dict):
        raise DocumentError(f"{place}: expected a JSON object with a text, got {line[:80]!r}")
    return fields


def _document(fields: Mapping[str, object], names: Mapping[str, str], place: str) -> dict[str, object]:
    wanted = names.get("text", "text")
    if wanted not in fields:
        got = f"the fields {', '.join(map(repr, fields))}" if fields else "no fields"
        raise DocumentError(
            f"{place}: expected a text in {wanted!r}, got {got} "
            "(on the command line, `index --text-field NAME` takes it from another one)"
        )
    if not isinstance(text := fields[wanted], str) or not text.strip():
        raise DocumentError(f"{place}: expected a text in {wanted!r}, got {text!r:.80}")
    others = {name: value for name, value in fields.items() if name not in names.values()}
    return {**others, **{ours: fields[theirs] for ours, theirs in names.items() if theirs in fields}}


def _read(file: Path) -> str:
    try:
        text = decoded(file.read_bytes())
    except UnicodeDecodeError as error:
        raise _not_utf_8(file, error.object[error.start], error.start) from error
    except OSError as error:
        raise DocumentError(f"{file}: it cannot be read: {error.strerror}") from error
    if "\0" in text:  # as in UTF-16 without its mark and in what is no text
        raise _not_utf_8(file, 0, len(text[: text.index("\0")].encode()))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _not_utf_8(file: Path, byte: int, place: int) -> DocumentError:
    return DocumentError(
        f"{file}: expected UTF-8 text, got byte {byte:#x} at {place}: save it as UTF-8, or convert it "
        "(iconv -f ENCODING -t UTF-8)"
    )
