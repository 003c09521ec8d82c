"""Reads documents from files and folders: JSON, tables, Markdown, HTML, office files, PDF, plain text."""

import errno
import json
import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple, TypeVar

from tqdm.auto import tqdm

from langgraph_rag.arguments import expect, expect_list
from langgraph_rag.characters import decoded, is_text, unpacked
from langgraph_rag.errors import DocumentError, MissingExtraError
from langgraph_rag.naming import expect_name, first_problems
from langgraph_rag.progress import hidden
from langgraph_rag.records import Passage
from langgraph_rag.tools.documents.mail import read_mail
from langgraph_rag.tools.documents.markdown import read_markdown, section_title
from langgraph_rag.tools.documents.not_text import leads_on, told_once, without_what_is_no_text
from langgraph_rag.tools.documents.office import read_slides, read_workbook
from langgraph_rag.tools.documents.pdf import read_pdf
from langgraph_rag.tools.documents.rows import SETS, Documents, FieldNames, read_json, read_table
from langgraph_rag.tools.documents.subtitles import are_subtitles, without_times
from langgraph_rag.tools.facts.names import opening_of
from langgraph_rag.tools.ingest.stages import LONGEST_NAME, PLACE, DocumentsById, to_documents

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


JSON, JSON_LINES, TABLES, MARKDOWN, RST, HTML, WORD, EXCEL, POWERPOINT, PDF, MAIL = (
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
    {".eml"},
)
SOUGHT = sorted(JSON_LINES | TABLES | MARKDOWN | RST | HTML | WORD | EXCEL | POWERPOINT | PDF | MAIL | {".txt"})
"""The kinds that are read in folders, where most JSON files are settings."""
READABLE = sorted(JSON.union(SOUGHT))
OTHERS = "read other kinds with a LangChain document loader and give them to KnowledgeBase.add"
NAMED = f"name a file to have it read: {', '.join(sorted(JSON))} row by row, others as plain text; {OTHERS}"
OLDER = {".doc": ".docx", ".odt": ".docx", ".rtf": ".docx", ".xls": ".xlsx", ".xlsb": ".xlsx", ".ods": ".xlsx"} | {
    ".ppt": ".pptx", ".odp": ".pptx",
}  # fmt: skip
"""The kinds that office programs can save in one that is read."""
_NOTEBOOK, _GZIP = ".ipynb", ".gz"
_AS_THEY_ARE = frozenset(  # programs and settings, whose comments look like headings
    ".bash .bat .c .cc .cfg .cmake .conf .cpp .cs .css .cu .dart .env .go .gradle .h .hh .hpp .ini .java .jl .js .jsx "
    ".kt .lua .m .mk .php .pl .pm .properties .proto .ps1 .py .pyi .pyx .r .rb .rs .scala .scss .sh .sql .swift .tf "
    ".toml .ts .tsx .vue .yaml .yml .zsh".split()
)
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
    return _kind(file) in (SOUGHT if file.suffix.lower() != _GZIP else JSON_LINES | TABLES)


def _kind(file: Path) -> str:
    """Return the ending of a file, or of that which is packed in it."""
    return (file.with_suffix("") if file.suffix.lower() == _GZIP else file).suffix.lower()


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
    packed = file.suffix if file.suffix.lower() == _GZIP else ""
    if file.parent.name == "qrels":
        return _is_file(file.parent.with_name("queries.jsonl")) or _is_file(file.parent.with_name("queries.jsonl.gz"))
    of_set = _is_folder(file.with_name("qrels")) or _is_file(file.with_name(f"corpus.jsonl{packed}"))
    return file.name == f"queries.jsonl{packed}" and of_set


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


_Content = TypeVar("_Content")
_OF_ROWS: dict[str, Callable[[str, Path, FieldNames, str], Documents]] = {
    **dict.fromkeys(JSON | JSON_LINES, read_json),
    **dict.fromkeys(TABLES, read_table),
}
_LARGEST = 2_000_000_000  # bytes of a file, which is read into the memory
_IN_MANY_FOLDERS = frozenset(
    "authors changelog changes contributing copying copyright history index install license licence main metadata news "
    "notice readme todo".split()
)
_SOON = 2  # seconds before a progress bar appears; PDF files take about one each


def read_documents(sources: str | Path | Iterable[str | Path], *, format: str = "") -> list[dict[str, object]]:
    """Read files and folders as documents for `KnowledgeBase.add`.

    Args:
        sources: one or several files (JSON, JSON lines, CSV, TSV, Markdown, HTML, Word, Excel, PowerPoint, PDF, plain
            text), or folders with such files; in folders, JSON is left out.
        format: the name of the published question set that JSON and tables are of, such as `musique`, whose paragraphs
            are documents; or the markup of texts whose names do not tell it, such as .txt: `markdown`, `rst`, `html`,
            or `text` for none. By default, both are told by their form.

    Returns:
        A dict for each row, page or section, which the knowledge base splits into passages. The title of a section of a
            Markdown, HTML or Word file is its heading, with the title of the file in parentheses. The title of a file
            without one is its first line or subject, or else its name.

    Raises:
        DocumentError: when a file is missing or cannot be read. The message names each invalid file or line, and what
            was expected there.
        UnknownNameError: when there is no such format.
        TypeError: when something else than paths is passed.
    """
    several = [sources] if isinstance(sources, str | Path) else sources
    expect_list(several, "files and folders")
    several = list(several)
    for source in several:
        expect(str | os.PathLike, source, "the path of a file or a folder", "read_documents(['notes.md', 'docs/'])")
    read = read_what_can_be(map(Path, several), format=format)
    if read.problems:
        raise DocumentError(first_problems(read.problems))
    return [
        {name: value for name, value in document.items() if (name, value) != ("id", "")} for document in read.documents
    ]


class Read(NamedTuple):
    """The documents in some files, the problems of invalid files, and the places of the documents with ids."""

    documents: list[Passage]
    problems: list[str]
    places: dict[str, str]


def read_what_can_be(sources: Iterable[Path], names: FieldNames | None = None, *, format: str = "") -> Read:
    """Read files and folders, and return the documents together with the problems of invalid files.

    In JSON, JSON lines and tables, only invalid elements and lines are left out. Also invalid are a repeated id with
    another text, a file whose name is not UTF-8, and a folder that cannot be read.

    Args:
        sources: files and folders.
        names: the names of the fields for `text`, `title` or `id` in JSON, JSON lines and tables, if they differ.
        format: as in `read_documents`.

    Raises:
        UnknownNameError: when there is no such format.
        DocumentError: when there is no such file or folder, or it has no files of a supported kind.
    """
    if format:
        expect_name("format", format, [*SETS, *MARKUP])
    differing = {ours: theirs for ours, theirs in (names or {}).items() if ours != theirs}
    documents: list[Passage] = []
    problems: list[str] = []
    known: DocumentsById = {}
    for source in sources:
        files, unreadable = readable_files(source)
        if not files and not unreadable:
            raise DocumentError(
                f"{source}: expected files with text ending in {', '.join(SOUGHT)}, found none; {NAMED}"
            )
        problems += unreadable
        read: list[tuple[bool, Passage]] = []
        for file in tqdm(files, "reading", unit="file", delay=_SOON, leave=False, disable=hidden()):
            found, bad = _documents_of(file, differing, format, known)
            read += [(_kind(file) in HTML, document) for document in found]
            problems += [first_problems(bad)] if bad else []
        documents += _once(read)
    return Read(documents, problems, {id_: place for id_, (_, place) in known.items()})


def _once(read: list[tuple[bool, Passage]]) -> list[Passage]:
    """Return documents; those of pages (True) without what most pages repeat."""
    texts = iter(told_once([(document["source"], document["text"]) for of_page, document in read if of_page]))
    told: list[Passage] = [{**document, "text": next(texts)} if of_page else document for of_page, document in read]
    return [document for document in told if document["text"].strip()]


def _documents_of(file: Path, names: FieldNames, format: str, known: DocumentsById) -> tuple[list[Passage], list[str]]:
    """Return the documents of a file, of JSON line by line, and the problems of the file or its lines."""
    checked: list[Passage] = []
    try:
        documents, problems = _documents(file, names, format)
    except DocumentError as error:
        return [], [str(error)]
    for together in [[row] for row in documents] if _kind(file) in EXCEL.union(_OF_ROWS) else [documents]:
        try:
            checked += to_documents(together, known)
        except DocumentError as error:
            problems.append(str(error))
    return checked, problems


def _documents(file: Path, names: FieldNames, format: str) -> tuple[list[dict[str, object]], list[str]]:
    """Return the documents of a file, and the problems of its lines."""
    if not is_text(str(file)):
        raise DocumentError(f"{ascii(str(file))}: expected a name in UTF-8: rename the file")
    kind = _kind(file)
    if kind in PDF:
        return _pages(file), []
    if kind in POWERPOINT:
        return _slides(file), []
    if kind in EXCEL:
        return _read_office(file, partial(read_workbook, file=file, names=names))
    if kind in _OF_ROWS:
        return _OF_ROWS[kind](_read(file), file, names, "" if format in MARKUP else format)
    found = _with_text(_of_text(file, MARKUP.get(format, "")))
    return [{**document, **_placed(file, number), PLACE: str(file)} for number, document in enumerate(found)], []


def _with_text(found: list[dict[str, object]]) -> list[dict[str, object]]:
    """Leave out what is no text: contents, indexes, signs that lead to other pages, and pages that only lead on.

    A text that is nothing else stays, as it may be a list of its own kind.
    """
    if len(found) == 1 and leads_on(str(found[0]["text"])):
        return []
    kept = [{**section, "text": without_what_is_no_text(str(section["text"]))} for section in found]
    return [section for section in kept if section["text"]] or found


def _placed(file: Path, position: int) -> dict[str, object]:
    """Return the fields by which the parts of a file are one document."""
    return {"source": str(file), "document": str(file), "position": position}


def _pages(file: Path) -> list[dict[str, object]]:
    try:
        pdf = read_pdf(_bytes(file))
    except ValueError as error:
        raise DocumentError(f"{file}: {error}") from error
    title = pdf.title or opening_of(next(filter(None, pdf.pages), "")) or _name_of(file)
    parts = [part for part in pdf.parts if part.text]
    texts = told_once([(part.page, part.text) for part in parts])
    pages: list[dict[str, object]] = [
        {
            "title": section_title(title, part.headings)[:LONGEST_NAME],
            "text": text,
            "headings": [title, *part.headings],
            **_placed(file, number),
            "metadata": {"page": part.page},
            PLACE: f"{file}, page {part.page}",
        }
        for number, (part, text) in enumerate(zip(parts, texts, strict=True))
        if text.strip()
    ]
    if not pages:
        raise DocumentError(
            f"{file}: expected a PDF file with text, got one without: is it a scan? (ocrmypdf adds text)"
        )
    return pages


def _slides(file: Path) -> list[dict[str, object]]:
    """Return the slides of a presentation; a slide that is only a title has it as its text."""
    from langgraph_rag.tools.documents.html import read_html

    slides = _read_office(file, read_slides)
    title = next(filter(None, (slide.title for slide in slides)), "") or _name_of(file)
    found: list[dict[str, object]] = []
    for slide in slides:
        own = [slide.title] if slide.title not in ("", title) else []
        parts = read_markdown(read_html(slide.html).markdown)[1] if slide.html else []
        found.append(
            {
                "title": section_title(title, own)[:LONGEST_NAME],
                "text": "\n\n".join(part.text for part in parts) or slide.title,
                "headings": [title, *own],
                **_placed(file, len(found)),
                "metadata": {"page": slide.number},
                PLACE: f"{file}, slide {slide.number}",
            }
        )
    return [slide for slide in found if slide["text"]]


def _read_office(file: Path, read: Callable[[bytes], _Content]) -> _Content:
    try:
        return read(_bytes(file))
    except (ValueError, MissingExtraError) as error:
        raise DocumentError(f"{file}: {error}") from error


def _of_text(file: Path, given: str) -> list[dict[str, object]]:
    """Return the sections of a file; `given` is the ending that it should have if its own does not tell its kind."""
    from langgraph_rag.tools.documents.html import decoded_page
    from langgraph_rag.tools.documents.restructured_text import restructured_text_to_html
    from langgraph_rag.tools.documents.word import word_to_html

    kind = _kind(file)
    if kind in MAIL:
        return _of_mail(file)
    if kind in WORD:
        return _sections_of_page(_read_office(file, word_to_html), file)
    text = _read(file, decoded_page if kind in HTML else decoded)
    if kind not in HTML | MARKDOWN | RST and not given and are_subtitles(text):
        return [{"title": _name_of(file), "text": without_times(text)}]
    if kind == _NOTEBOOK and (written := _of_notebook(text)):
        return _sections(written, file)
    named = kind in HTML | MARKDOWN | RST or bool(given)
    if kind not in HTML | MARKDOWN | RST:
        kind = (given or kind) if given or kind in _AS_THEY_ARE else ending_of(text)
    if kind in RST:
        html = restructured_text_to_html(text, by_lines=not named and not _signs(_RST, text))
        return _sections_of_page(html, file) if html.strip() else []  # it only includes or lists other files
    if kind in HTML:
        return _sections_of_page(text, file)
    if kind in MARKDOWN:
        return _sections(text, file)
    opening = "" if kind in _AS_THEY_ARE else opening_of(text)
    return [{"title": opening or _name_of(file), "text": text}]


def _of_mail(file: Path) -> list[dict[str, object]]:
    """Return a mail as a text with its head, so that its turns have their writers."""
    from langgraph_rag.tools.documents.html import read_html

    try:
        mail = read_mail(_bytes(file))
        text = mail.text or read_html(mail.html).markdown.strip()
    except ValueError as error:
        raise DocumentError(f"{file}: {error}") from error
    metadata = {"attachments": mail.attached} if mail.attached else {}
    return [
        {"title": mail.subject[:LONGEST_NAME] or _name_of(file), "text": f"{mail.head}\n\n{text}", "metadata": metadata}
    ]


def _of_notebook(text: str) -> str:
    """Return the texts and the code of a Jupyter notebook as Markdown, without what it printed; "" if it is none."""
    try:
        cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return "\n\n".join(source if kind == "markdown" else _fenced(source) for kind, source in cells if source)


def _fenced(code: str) -> str:
    longest = max((len(fence) for fence in re.findall("`{3,}", code)), default=2)
    return f"{'`' * (longest + 1)}\n{code}\n{'`' * (longest + 1)}"


def _sections_of_page(html: str, file: Path) -> list[dict[str, object]]:
    from langgraph_rag.tools.documents.html import read_html

    try:
        page = read_html(html)
    except ValueError as error:
        raise DocumentError(f"{file}: {error}") from error
    return _sections(page.markdown, file, page.title)


def _sections(text: str, file: Path, named: str = "") -> list[dict[str, object]]:
    """Return the sections of a Markdown text with their titles, and with the fields of its front matter.

    `named` is the title of a text whose headings name none.
    """
    title, sections, fields = read_markdown(text, named)
    opening = "" if sections[0].headings else opening_of(sections[0].text)
    title = title or opening or _name_of(file)
    return [
        {
            "title": section_title(title, section.headings)[:LONGEST_NAME],
            "text": section.text,
            "headings": [heading for heading in (title, *section.headings) if heading],
            "metadata": fields,
        }
        for section in sections
    ]


def _name_of(file: Path) -> str:
    """Return the name of a file as a title; with that of its folder if many folders have such a file."""
    name = file.stem if file.suffix.lower() in READABLE else file.name
    folder = file.absolute().parent.name
    return f"{folder} {name}" if name.lower() in _IN_MANY_FOLDERS and folder else name


def _read(file: Path, decode: Callable[[bytes], str] = decoded) -> str:
    try:
        text = decode(_bytes(file))
    except UnicodeDecodeError as error:
        encoding = "UTF-8" if error.encoding.startswith("utf") else error.encoding.upper()
        raise _not_text(file, encoding, error.object[error.start], error.start) from error
    if "\0" in text:  # as in UTF-16 without byte order mark, and in binary files
        raise _not_text(file, "UTF-8", 0, len(text[: text.index("\0")].encode()))
    if not text.strip():
        raise DocumentError(f"{file}: the file is empty")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _bytes(file: Path) -> bytes:
    try:
        if (size := file.stat().st_size) > _LARGEST:
            raise DocumentError(
                f"{file}: expected at most {_LARGEST:,} bytes, got {size:,}: split it into several files"
            )
        written = file.read_bytes()
        return unpacked(written) if file.suffix.lower() == _GZIP else written
    except OSError as error:
        raise DocumentError(f"{file}: it cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise DocumentError(f"{file}: {error}") from error


def _not_text(file: Path, encoding: str, byte: int, place: int) -> DocumentError:
    if newer := OLDER.get(file.suffix.lower()):
        return DocumentError(f"{file}: expected a kind that can be read, got {file.suffix}: save it as {newer}")
    return DocumentError(
        f"{file}: expected {encoding} text, got byte {byte:#x} at {place}: save it as UTF-8, or convert it "
        f"(iconv -f ENCODING -t UTF-8){'' if file.suffix.lower() in READABLE else f'; {OTHERS}'}"
    )
