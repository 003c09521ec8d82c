"""Which files of a folder are read, and in which markup a text is written."""

import errno
import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from langgraph_rag.errors import DocumentError

MARKUP = {"html": ".html", "markdown": ".md", "rst": ".rst", "text": ".txt"}
"""The names of what a text can be written in, with the endings of files with such texts."""
_SEEN = 200_000  # characters
_SURE = 2  # signs of different kinds, or one that nothing else has
_ATX = re.compile(r"(?:\A|\n[ \t]*\n)(#{1,6}) [^\n]*\S[^\n]*(?=\n[ \t]*(?:\n|\Z)|\Z)")
_UNDERLINED = re.compile(r"(?:\A|\n)[ \t]*(?P<text>\S[^\n]{0,99})\n(?P<rule>([=\-~^\"'#*+`:._])\3{2,})[ \t]*(?=\n|\Z)")
_MARKDOWN = {
    re.compile(r"\[[^\]\n]{1,200}\]\((?:https?:|#|\.{0,2}/|[\w./-]+\.(?:md|html?|png|jpe?g|svg)\b)[^()\s]*\)"): 2,
    re.compile(r"^(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE): 1,
    re.compile(r"(?<!\*)\*\*\w[^*\n]{0,200}\*\*(?!\*)"): 1,
    re.compile(r"^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*){1,50}\|?[ \t]*$", re.MULTILINE): 2,
    re.compile(r"^[ \t]*[-*] \[[ xX]\] \S", re.MULTILINE): 1,
}
_RST = {
    re.compile(r"^[ \t]*\.\. (?:\|[^|\n]{1,60}\| )?[a-z][\w:+.-]{0,60}::(?:[ \t]|$)", re.MULTILINE): 2,
    re.compile(r"^[ \t]*\.\. _[^:\n]{1,200}:(?:[ \t]|$)", re.MULTILINE): 2,
    re.compile(r":[a-z][\w:+.-]{0,60}:`[^`\n]{1,200}`"): 2,
    re.compile(r"`[^`<\n]{1,200}<[^<>`\n]{1,300}>`__?"): 2,
    re.compile(r"(?<!`)``[^`\n]{1,200}``(?!`)"): 1,
    re.compile(r"\w::[ \t]*\n[ \t]*\n[ \t]+\S"): 1,
    re.compile(r"^={2,}(?:[ \t]{1,9}={2,}){1,50}[ \t]*$|^\+(?:[-=]{3,}\+){1,50}[ \t]*$", re.MULTILINE): 1,
}
_HTML = re.compile(r"\s*(?:<!doctype html|<html[\s>])", re.IGNORECASE)


def ending_of(text: str) -> str:
    """Return the ending that a file with a text should have: ".md", ".rst", ".html", or ".txt" if it has no markup."""
    text = text[:_SEEN]
    if _HTML.match(text):
        return ".html"
    headings = _underlined(text)
    markdown, rst = _signs(_MARKDOWN, text), _signs(_RST, text) + min(headings, _SURE)
    levels = {found[1] for found in _ATX.finditer(text)}
    markdown += min(len(levels), _SURE)
    if max(markdown, rst) < _SURE:
        return ".txt"
    return ".rst" if rst >= markdown else ".md"


def _signs(kinds: Mapping[re.Pattern[str], int], text: str) -> int:
    return sum(weight for sign, weight in kinds.items() if sign.search(text))


def _underlined(text: str) -> int:
    """Return how many lines have a rule of their own length below them."""
    rules = ((found["text"].rstrip(), found["rule"]) for found in _UNDERLINED.finditer(text))
    return sum(abs(len(rule) - len(heading)) <= 1 for heading, rule in rules)


JSON, JSON_LINES, TABLES, MARKDOWN, RST, HTML, WORD, EXCEL, POWERPOINT, PDF = (
    {".json"},
    {".jsonl", ".ndjson"},
    {".csv", ".tsv"},
    {".md", ".markdown"},
    {".rst"},
    {".html", ".htm"},
    {".docx"},
    {".xlsx", ".xlsm"},
    {".pptx", ".pptm"},
    {".pdf"},
)
SOUGHT = sorted(JSON_LINES | TABLES | MARKDOWN | RST | HTML | WORD | EXCEL | POWERPOINT | PDF | {".txt"})
"""The kinds that are read in folders, where most JSON files are settings."""
READABLE = sorted(JSON.union(SOUGHT))
OTHERS = "read mails and the like with a LangChain document loader and give them to KnowledgeBase.add"
NAMED = f"name a file to have it read: {', '.join(sorted(JSON))} row by row, others as plain text; {OTHERS}"
OLDER = {".doc": ".docx", ".odt": ".docx", ".rtf": ".docx", ".xls": ".xlsx", ".xlsb": ".xlsx", ".ods": ".xlsx"} | {
    ".ppt": ".pptx", ".odp": ".pptx",
}  # fmt: skip
"""The kinds that office programs can save in one that is read."""
_OF_WORD = "~$"  # begins the names of its temporary files
_INSTALLED = {"node_modules", "__pycache__"}  # generated folders
_SMALL = 64  # bytes
_is_file, _is_folder, _is_link = os.path.isfile, os.path.isdir, os.path.islink
"""False if access is denied; before Python 3.14, the methods of `Path` raise an error then."""


def readable_files(source: Path) -> tuple[list[Path], list[str]]:
    """Return a file, or the files to read in a folder, and the problems of folders and links in it.

    Raises:
        DocumentError: when there is no such file or folder, or it is something else, such as a pipe.
    """
    if _is_folder(source):
        inside = _inside(source)
        return [file for file in inside.files if _is_sought(file) and not _is_blank(file)], inside.problems
    if not _may_exist(source):
        raise DocumentError(f"{source}: no such file or folder")
    if not _may_exist(source, S_ISREG):
        raise DocumentError(f"{source}: expected a file or a folder, got something else, such as a pipe or a device")
    return [source], []


class LeftOut(NamedTuple):
    """The unread contents of folders: files of other kinds, files without text, linked folders."""

    others: list[Path]
    blank: list[Path]
    linked: list[Path]


def left_out(folders: Iterable[Path]) -> LeftOut:
    """Return the unread contents of folders, except ignored ones."""
    inside = [_inside(folder) for folder in folders if _is_folder(folder)]
    files = [file for one in inside for file in one.files]
    others = [file for file in files if not _is_sought(file)]
    blank = [file for file in files if _is_sought(file) and _is_blank(file)]
    return LeftOut(others, blank, [folder for one in inside for folder in one.linked])


def empty_folders(sources: Iterable[Path]) -> list[Path]:
    """Return the folders without files of a supported kind."""
    return [source for source in sources if _is_folder(source) and readable_files(source) == ([], [])]


def vanished(sources: Iterable[str], folders: Iterable[Path]) -> list[str]:
    """Return the sources that were files of a supported kind in one of the folders, and are now deleted or blank.

    Paths are compared as given. So the folder needs a name, as any path may have been below `.` or `..`.
    """
    named = frozenset(folder for folder in folders if folder.name not in ("", ".."))
    files = ((source, Path(source)) for source in sources)
    read = ((source, file) for source, file in files if _within(named, file) and _is_sought(file))
    return [source for source, file in read if _is_blank(file) or not _may_exist(file, S_ISREG)]


def otherwise_named(sources: Iterable[str], given: Iterable[Path]) -> list[str]:
    """Return the sources that are given files, or files in given folders, but with another path."""
    names = frozenset(given)
    places = frozenset(path.resolve() for path in names)
    others = ((source, file) for source in sources if not _within(names, file := Path(source)))
    found = ((source, file) for source, file in others if _is_file(file))
    return [source for source, file in found if _within(places, file.resolve())]


def _within(folders: frozenset[Path], path: Path) -> bool:
    """Return whether a path is one of the folders or below one; the time does not depend on their number."""
    return not folders.isdisjoint((path, *path.parents))


def _is_sought(file: Path) -> bool:
    return file.suffix.lower() in SOUGHT


def _is_blank(file: Path) -> bool:
    """Return whether a file is blank; large files are not read."""
    try:
        return file.stat().st_size < _SMALL and not file.read_bytes().removeprefix(BOM_UTF8).strip()
    except OSError:  # reported when the file is read
        return False


class _Inside(NamedTuple):
    """The contents of a folder, in order, and the problems of folders and links in it."""

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
        linked += [folder for folder in below if _is_link(folder)]
        found += [Path(where, name) for name in files if not name.startswith((".", _OF_WORD))]
    problems = [f"{error.filename}: it cannot be read: {error.strerror}" for error in errors]
    there = [file for file in found if _may_exist(file, S_ISREG) and not _is_of_queries(file)]
    nowhere = sorted(file for file in set(found).difference(there) if _is_sought(file) and _leads_nowhere(file))
    problems += [f"{file}: it cannot be read: the link leads nowhere" for file in nowhere]
    return _Inside(sorted(there), sorted(linked), problems)


def _is_of_queries(file: Path) -> bool:
    """Return whether a file has the questions of BEIR's, or its judgements of them: neither are documents."""
    if file.suffix.lower() == ".tsv" and file.parent.name == "qrels":
        return _is_file(file.parent.with_name("queries.jsonl"))
    return file.name == "queries.jsonl" and _is_folder(file.with_name("qrels"))


def _leads_nowhere(file: Path) -> bool:
    return _is_link(file) and not _may_exist(file)


def _may_exist(path: Path, kind: Callable[[int], bool] = bool) -> bool:
    """Return whether there is a file or folder of a kind; also if access is denied, as reading it reports that."""
    try:
        return kind(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as error:
        return error.errno != errno.ELOOP
