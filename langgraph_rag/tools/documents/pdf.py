"""Reads PDF files: the running text of each page, and the title, which is the largest text on the first page."""

import json
import re
import subprocess
import sys
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from langgraph_rag.tools.documents.not_text import without_lists_of_pages
from langgraph_rag.tools.documents.pdf_layout import Line, Word, lines_of

_LARGEST, _TIMES = 30_000_000, 50  # bytes that a file may always unpack to; and how many times its size
_STREAM = re.compile(rb"stream\r?\n")
_DICTIONARY = 2_000  # bytes before a stream
_CHUNK = 1_000_000  # bytes
_PROGRAM = (sys.executable, "-P", str(Path(__file__).with_name("pdf_layout.py")))  # its folder has an html.py
_SECONDS = 600  # for a file; a manual of a thousand pages takes ten
_LONGEST_TITLE = 200  # characters
_TITLE_LINES = 1.45  # times the size of letters, between the lines of a title at most
_EDGE = 2  # lines at the top and at the bottom of a page that may be running heads
_SHORT = 10  # lines: shorter pages are forms and slides, where nearly every line is content
_LARGE = 1.4  # times the usual letter size of a page
_REPEATED, _COUNTED = 3, 2  # minimum pages of a running head; of one with page numbers
_FRONT = 50  # pages, such as a preface, that may precede page 1
_YEARS = range(1500, 2100)  # in annals, these also rise by one per page
_NEAR = 3  # lines above and below, of which the widest shows where lines end
_FITTING = 0.85  # of the width of those lines
_ENDING, _LEADING = 0.9, 0.75  # of it, if a line ends a sentence; if the next one does not begin one
_NARROW, _FEW_WORDS = 0.35, 4  # of the width of the block, and words of a line: those of an address
_ROWS = 3  # of a table at least
_APART = 1.35  # times the usual distance of lines
_ALIKE = 0.06  # of the size of letters
_LOOSE = 1.9  # times the size of letters; lines of a paragraph seldom are
_FAR = 3  # times the size of letters
_INDENTED = 0.8  # of the size of letters
_COUNT = r"\W{0,3}(?:page|seite|p\.)?\s?(\d{1,6}|[ivxlc]+)(?: ?(?:of|von|/) ?\d{1,6})?\W{0,3}"
_COUNTS = (re.compile(rf"{_COUNT}(?:\s|$)"), re.compile(rf"(?:^|\s){_COUNT}$"))  # at the start, at the end of a line
_PAGE_NUMBER = "#0"  # the form of a line with only a page number
_NUMBERED = re.compile(  # before numbers of other things
    r"(?:\b(?:no|nr|number|nummer|id)\b\.?|[:#\u2116\u00a7]"
    r"|\b(?:annex|appendix|article|chapter|exercise|lesson|module|part|section|step|task|unit"
    r"|abschnitt|anhang|artikel|aufgabe|kapitel|lektion|teil|chapitre|partie|cap\u00edtulo|parte|capitolo)\b)\s*$"
)
_MONTH = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\b"
)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_WORD = re.compile(r"[^\W\d_]+")
_LABELLED = re.compile(r"[^\W\d_][^:\d\n]{0,30}:\s")  # "Customer: Ann Lee"
_SENTENCE = re.compile(r"(?:\S+\s+){3}.*\w{3}[.!?][\"'\u201d\u2019)\]]*$")  # of four words; not "Renk et al."
_HYPHENS = ("-", "\u2010")
_AFTER_HYPHENS = frozenset({"and", "or", "to", "und", "oder", "bis", "et", "ou"})  # "pre- and post-war"
_BEFORE_LAST_WORD, _AFTER_FIRST_WORD = re.compile(r".*\W"), re.compile(r"\W.*")
_COMPOUND = re.compile(r"(?=\b(\w+-\w+))\w+")
_BULLET = re.compile(r"(?:[\u2022\u25aa\u25e6\u25cf\u25cb\u2023\u2043*\u2013-]|\(?(?:\d{1,3}|[a-z])[.)])\s")
_SOURCE = re.compile(r"\[\d{1,3}\]\s")  # in a list of them
_LIGATURE = re.compile("[\ufb00-\ufb06]")
_STOP = re.compile(r"[.!?][\"'\u201d\u2019)\]]*(?:\s+|$)")
_PROSE = re.compile(rf"\w{{3}}{_STOP.pattern}")  # not "Invoice no. 7"
_NUMBER = re.compile(r"(?:chapter|appendix|part|section|kapitel|anhang|teil)?[\da-z]{0,2}\d*|[ivxlc]*")
_HEADING_LINES, _LONGEST_LINE = 3, 100  # lines of a heading; characters of one, or of a term
_SENTENCE_END = re.compile(r"[.!?:;][\"'\u201d\u2019)\]]*(?:\s+|$)")


class Part(NamedTuple):
    """The text on one page (counted from 1) below the same headings, the outermost first."""

    page: int
    headings: tuple[str, ...]
    text: str


class Pdf(NamedTuple):
    """The title of a PDF file, or "", and the parts of its text."""

    title: str
    parts: list[Part]

    @property
    def pages(self) -> list[str]:
        """The texts of the pages, some of which may be empty."""
        texts: dict[int, list[str]] = {}
        for part in self.parts:
            texts.setdefault(part.page, []).extend([part.text] if part.text else [])
        return ["\n\n".join(own) for own in texts.values()]


class _Heading(NamedTuple):
    """An entry of the outline: its page (from 0), its depth and its text."""

    page: int
    depth: int
    text: str


def read_pdf(written: bytes) -> Pdf:
    """Read the text of a PDF file; scans have none.

    Columns are read one after the other, and rows of tables are lines. Running heads and the numbers of pages and
    footnotes are removed. Lines are joined to paragraphs, and hyphenated words are joined. A sentence across two pages
    is placed on the second one, and so is a heading or a line that leads in. Contents and indexes are left out.
    Headings are those of the outline that stand on their pages.

    Raises:
        ValueError: when it is not a PDF file, is broken, needs a password, or needs too much memory or time.
    """
    _check_size(written)
    found = _read_in_process(written)
    outline = [_Heading(page, depth, " ".join(_plain(title).split())) for page, depth, title in found[0]]
    pages = [lines_of([Word(_plain(word[0]), *word[1:]) for word in words]) for words in found[1:]]
    title = _largest(pages[0]) if pages else []
    bodies = _without_lists([[line for line in lines if line not in title] for lines in _without_heads(pages)])
    compounds = {
        found.casefold()
        for lines in bodies
        for line in lines
        if not line.is_row
        for found in _COMPOUND.findall(line.text)
    }
    named = reduce(lambda text, line: _joined(text, line.text, compounds), title, "")
    outline = [entry for entry in outline if entry.page or _letters(entry.text) != _letters(named)]
    parts = [
        Part(page, headings, _paragraphs(lines, bodies[page - 1], compounds))
        for page, headings, lines in _sections(bodies, outline)
    ]
    return Pdf(named, _with_whole_sentences(parts, compounds))


def _check_size(written: bytes) -> None:
    """Check that what is not pictures unpacks to no more than 30 MB, or 50 times the size of the file."""
    most = max(_LARGEST, _TIMES * len(written))
    size = 0
    for found in _STREAM.finditer(written):
        described = written[max(0, found.start() - _DICTIONARY) : found.start()].rpartition(b"obj")[2]
        times = described.count(b"FlateDecode")
        if times and b"/Image" not in described:
            size += _unpacked(written[found.end() : written.find(b"endstream", found.end())], times, most - size)
        if size > most:
            raise ValueError(f"it unpacks to more than {most:,} bytes, from {len(written):,}")


def _unpacked(packed: bytes, times: int, most: int) -> int:
    """Return the size of bytes that are packed so many times, or a little more than `most`."""
    reader, size, unpacked = zlib.decompressobj(), 0, bytearray()
    try:
        while packed and size <= most:
            part = reader.decompress(packed, _CHUNK)
            packed, size = reader.unconsumed_tail, size + len(part)
            if times > 1:
                unpacked += part
    except zlib.error:  # encrypted, or broken
        return size
    return _unpacked(bytes(unpacked), times - 1, most) if times > 1 and size <= most else size


def _read_in_process(written: bytes) -> list[list[list[Any]]]:
    """Return the outline and the pages of a file as another process reads them.

    The library in C is fast, but may crash, or fill the memory.
    """
    try:
        done = subprocess.run(_PROGRAM, input=written, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise ValueError(f"it cannot be read as PDF (reading it takes over {_SECONDS} seconds)") from error
    lines = [json.loads(line) for line in done.stdout.splitlines()] if not done.returncode else []
    if lines and isinstance(lines[0], list):
        return lines
    problem = lines[0] if lines else _reason(done.stderr.decode(errors="replace"))
    if "password" in problem.lower():
        raise ValueError("it wants a password: save it without one")
    raise ValueError(f"it cannot be read as PDF ({problem})")


def _reason(said: str) -> str:
    """Return why the other process ended, given what it said."""
    if "Timeout" in said:
        return "reading a page takes too long"
    return "reading it takes too much memory" if "MemoryError" in said else "its reader ended"


def _plain(text: str) -> str:
    if len(text) == 1 and text < " ":  # in fonts of TeX
        return "\u2022"
    return _LIGATURE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def _without_lists(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Leave out contents and indexes."""
    left: list[list[Line]] = []
    goes_on = False
    for lines in pages:
        texts = [line.text for line in lines]
        kept = pages_left = without_lists_of_pages(texts, len(pages) + _FRONT, goes_on=goes_on)
        goes_on = bool(texts) and len(pages_left) < len(texts) and (not kept or kept[-1] != texts[-1])
        rest = iter(kept)
        wanted = next(rest, None)
        own: list[Line] = []
        for line in lines:
            if wanted is not None and line.text == wanted:
                own.append(line)
                wanted = next(rest, None)
        left.append(own)
    return left


def _sections(
    pages: Sequence[Sequence[Line]], outline: Sequence[_Heading]
) -> Iterator[tuple[int, tuple[str, ...], list[Line]]]:
    """Yield the lines of each page section by section: its number, the headings above, and the lines.

    A heading that does not stand on its page, as it is a picture, is above those of its section and the pages after it.
    """
    above: list[_Heading] = []
    for number, lines in enumerate(pages):
        start, path = 0, tuple(entry.text for entry in above)
        for heading in (entry for entry in outline if entry.page == number):
            found = _find(heading.text, [line.text for line in lines], start)
            if found:
                yield number + 1, path, list(lines[start : found[0]])
                start = found[1]
            above = [*(entry for entry in above if entry.depth < heading.depth), heading]
            if found or not lines:
                path = tuple(entry.text for entry in above)
        yield number + 1, path, list(lines[start:])


def _find(heading: str, lines: Sequence[str], start: int) -> tuple[int, int] | None:
    """Return where a heading stands: its first line and the one after it; before it may be its number."""
    wanted = _letters(heading)
    for first in range(start, len(lines)):
        for end in range(first + 1, min(first + _HEADING_LINES, len(lines)) + 1):
            found = _letters(" ".join(lines[first:end]))
            if wanted and found.endswith(wanted) and _NUMBER.fullmatch(found.removesuffix(wanted)):
                return first, end
    return None


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _largest(lines: Sequence[Line]) -> list[Line]:
    """Return the lines of the title, which are larger than all others; none if there is no title.

    Headings of the same size stand farther below it, or elsewhere on the page.
    """
    worded = [line for line in lines if sum(map(str.isalpha, line.text)) > 2]
    sizes = {line.size for line in worded}
    largest: list[Line] = []
    for line in worded:
        if line.size == max(sizes) and (not largest or _is_of_title(line, largest[-1])):
            largest.append(line)
        elif largest:
            break
    return largest if len(sizes) > 1 and sum(len(line.text) for line in largest) <= _LONGEST_TITLE else []


def _is_of_title(line: Line, above: Line) -> bool:
    """Return whether a line goes on a title; the lines on a cover may stand apart, but all in the middle."""
    in_middle = abs(line.left + line.right - above.left - above.right) < line.size < abs(line.left - above.left)
    return above.base - line.base < _TITLE_LINES * line.size or in_middle


def _without_heads(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Remove running heads: lines at the edges of several pages that are equal or have the page number.

    If pages are short, all but one need a head, and only their outermost lines are checked.
    """
    short = bool(pages) and sorted(map(len, pages))[len(pages) // 2] < _SHORT
    edge, least = (1, max(_REPEATED, len(pages) - 1)) if short else (_EDGE, 0)
    forms = [_edge_forms(lines, number, edge, short=short) for number, lines in enumerate(pages, start=1)]
    counts = Counter(form for page in forms for form in set().union(*page))
    enough = {form: max(least, _COUNTED if "#" in form else _REPEATED) for form in counts}
    heads = {_PAGE_NUMBER, *(form for form, count in counts.items() if count >= enough[form])}
    return [
        [line for line, own in zip(lines, page, strict=True) if heads.isdisjoint(own)]
        for lines, page in zip(pages, forms, strict=True)
    ]


def _edge_forms(lines: Sequence[Line], page: int, edge: int, *, short: bool) -> list[set[str]]:
    """Return the possible forms of each line as a running head: none inside the page.

    Lines that are much larger than most of the page, such as titles of slides, are not heads, and neither are rows of
    tables, such as the names of columns that are repeated on each page.
    """
    usual = sorted(line.size for line in lines)[len(lines) // 2] if lines else 0.0
    heights = sorted({round(line.base) for line in lines})
    edges = {*heights[:edge], *heights[-edge:]}
    rows = Counter(line.block for line in lines if line.is_row)
    return [
        set()
        if round(line.base) not in edges or line.size > _LARGE * usual or rows[line.block] >= _ROWS
        else _forms(line.text, page, short=short)
        for line in lines
    ]


def _forms(text: str, page: int, *, short: bool) -> set[str]:
    """Return a line, and also with its possible page number as the difference from the page.

    A sentence is not a head, and neither is a text after a label.
    """
    if len(text) > _LONGEST_TITLE or _LABELLED.match(text) or _SENTENCE.match(text):
        return set()
    text = text.lower()
    found = filter(None, (_COUNTS[0].match(text), _COUNTS[1].search(text)))
    return {text, *(_counted(text, number, page) for number in found if _may_count(text, number, page, short=short))}


def _counted(text: str, number: re.Match[str], page: int) -> str:
    return f"{text[: number.start()]}#{_value(number[1]) - page}{text[number.end() :]}"


def _may_count(text: str, number: re.Match[str], page: int, *, short: bool) -> bool:
    """Return whether a number may be that of the page; numbers of invoices, days, weeks and years rise, too."""
    if _NUMBERED.search(text[: number.start(1)]) or _MONTH.search(text):
        return False
    value = _value(number[1])
    near = abs(value - page) <= (1 if short else _FRONT)
    named = 0 < len(_WORD.findall(text[: number.start()] + " " + text[number.end() :])) < 3  # "Week 2", "Invoice 1001"
    return near and not named if short else near or not named and value not in _YEARS


def _value(number: str) -> int:
    """Return the value of an Arabic or Roman number."""
    if number.isdecimal():
        return int(number)
    values = [_ROMAN[letter] for letter in number]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


def _paragraphs(lines: Sequence[Line], page: Sequence[Line], compounds: Set[str] = frozenset()) -> str:
    """Join lines of a page to paragraphs, with a blank line between two; rows of a table are lines."""
    if not lines:
        return ""
    usual = _usual_distances(lines)
    edges = {line.block: line.right for line in sorted(page, key=lambda line: line.right)}
    parts, last, first = [], lines[0].text, lines[0]
    for number, (before, line) in enumerate(pairwise(lines)):
        if before.is_row and line.is_row and before.block == line.block:
            parts.append(f"{last}\n")
            last = line.text
        elif _goes_on(lines, number, usual, edges) and not (_hangs(first, before, line) or _ended(before, line, edges)):
            done, space, word = last.rpartition(" ")
            parts.append(done + space)
            last = _joined(word, line.text, compounds)
        else:
            parts.append(f"{last}\n\n")
            last, first = line.text, line
    return "".join([*parts, last])


def _hangs(first: Line, line: Line, following: Line) -> bool:
    """Return whether a line begins a paragraph as the one before began, of which all other lines are indented."""
    indent = _INDENTED * line.size
    return abs(first.left - following.left) < indent < line.left - following.left and line.block == following.block


def _ended(line: Line, following: Line, edges: Mapping[int, float]) -> bool:
    """Return whether a sentence ends in an indented line, far before the right end of its block, or before a source."""
    indent, room = line.left - following.left, edges[line.block] - line.right
    short = indent > _INDENTED * line.size and room > (1 - _LEADING) * (edges[line.block] - following.left)
    return _ends(line.text) and (short or _SOURCE.match(following.text) is not None)


def _usual_distances(lines: Sequence[Line]) -> dict[int, float]:
    """Return the usual distance of lines by their blocks."""
    distances: dict[int, list[float]] = {}
    for before, line in pairwise(lines):
        if before.block == line.block and before.base > line.base:
            distances.setdefault(line.block, []).append(before.base - line.base)
    return {block: sorted(own)[len(own) // 2] for block, own in distances.items()}


def _goes_on(lines: Sequence[Line], number: int, usual: Mapping[int, float], edges: Mapping[int, float]) -> bool:
    """Return whether the paragraph of a line goes on in the next line, as its first word would not have fitted.

    `edges` are the right ends of blocks.
    """
    line, following = lines[number], lines[number + 1]
    if not _of_one_size(line, following) or line.is_row or following.is_row:
        return False
    near = [*_alike(lines[number::-1], usual), *_alike(lines[number:], usual)]
    right = max(other.right for other in lines)
    left, edge = min(other.left for other in near), max(other.right for other in near)
    first = following.text.split(None, 1)[0]
    letter = (line.right - line.left) / len(line.text)
    is_cut = line.text[-1] in _HYPHENS and line.text[-2:-1].isalnum()
    goes_on = following.text[0].islower() or following.text[0] == "("
    least = left + (_ENDING if _ends(line.text) else _LEADING if goes_on else _FITTING) * (edge - left)
    fitted = line.right + letter * (len(first) + 1) < least and not is_cut
    if line.block != following.block:  # in the next column
        return not fitted and following.text[0].islower() and not _SENTENCE_END.search(line.text[-2:])
    loose = line.base - following.base > _LOOSE * line.size  # all are, where each line is a paragraph
    width = edges[line.block] - line.left
    few = max(len(other.text.split()) for other in near) <= _FEW_WORDS
    last = line.text.split()[-1]
    is_open = is_cut or goes_on or last[-1] == "," or last.isalpha() and last.islower()
    if few and not is_open and edge - left < _NARROW * width:  # an address, a list of authors
        return False
    short = line.right + letter * (len(first) + 1) < left + _LEADING * (right - left) and not is_cut
    apart = _are_apart(line, following, usual) or loose and short
    indent = (following.left - line.left) / line.size
    begins = indent > _INDENTED and _ends(line.text) or _BULLET.match(following.text) is not None and not is_cut
    if _LABELLED.match(line.text) and _LABELLED.match(following.text):
        return False
    return not (fitted or apart or begins)


def _alike(lines: Sequence[Line], usual: Mapping[int, float]) -> Iterator[Line]:
    """Yield the first lines, as far as they are of one size and follow each other closely."""
    for before, line in pairwise([lines[0], *lines[: _NEAR + 1]]):
        if line.block != before.block or not _of_one_size(line, before) or _are_apart(before, line, usual):
            return
        yield line


def _of_one_size(line: Line, other: Line) -> bool:
    return abs(line.size - other.size) <= _ALIKE * line.size


def _are_apart(line: Line, other: Line, usual: Mapping[int, float]) -> bool:
    most = min(_APART * usual.get(line.block, line.size), _FAR * line.size)
    return abs(line.base - other.base) > most


def _ends(text: str) -> bool:
    return _SENTENCE_END.search(text[-2:]) is not None


def _joined(text: str, more: str, compounds: Set[str] = frozenset()) -> str:
    """Join a line with the next one, including a hyphenated word.

    A name, a number, and a compound that is written elsewhere keep their hyphen.
    """
    word, following = (text.rsplit(None, 1) or [""])[-1], (more.split(None, 1) or [""])[0]
    if word[-1:] not in _HYPHENS or not word[-2:-1].isalnum() or following in _AFTER_HYPHENS:
        return f"{text} {more}".strip()
    whole = f"{_BEFORE_LAST_WORD.sub('', word[:-1])}-{_AFTER_FIRST_WORD.sub('', following)}"
    is_cut = following[:1].islower() and not {"/", "@"}.intersection(word) and not word[-2].isdigit()
    return (text[:-1] if is_cut and whole.casefold() not in compounds else text) + more


def _with_whole_sentences(parts: Iterable[Part], compounds: Set[str]) -> list[Part]:
    """Move the beginning of a sentence across two pages to the second one, and a last line that leads in."""
    whole = list(parts)
    for number in range(1, len(whole)):
        (_, above, before), (_, headings, page) = whole[number - 1], whole[number]
        if above != headings or not before or not page:
            continue
        paragraph = before.rfind("\n\n") + 2 if "\n\n" in before else 0
        end = max((found.end() for found in _STOP.finditer(before, paragraph)), default=paragraph)
        following = page.partition("\n\n")[0]
        if _is_cut(before[paragraph:end], before[end:], following):
            before, page = before[:end].strip(), _joined(before[end:], page, compounds)
        elif paragraph and _leads_in(before[paragraph:], following):
            before, page = before[:paragraph].strip(), f"{before[paragraph:]}\n\n{page}"
        whole[number - 1], whole[number] = whole[number - 1]._replace(text=before), whole[number]._replace(text=page)
    return whole


def _leads_in(last: str, following: str) -> bool:
    """Return whether the last line of a page is a heading or a term, or ends in a colon."""
    is_line = len(last) <= _LONGEST_LINE and len(following) > len(last) and any(map(str.isalpha, last))
    return last.endswith(":") or is_line and last[-1] not in ".!?,;\u2026"


def _is_cut(sentences: str, rest: str, following: str) -> bool:
    """Return whether the rest of a paragraph, after its complete sentences, continues on the next page.

    It continues in lower case, or both parts are prose; lists and texts after labels do not continue.
    """
    if not any(map(str.isalpha, rest)) or any(map(_LABELLED.match, (sentences or rest, rest, following))):
        return False
    if following[:1].islower():
        return bool(sentences) or not rest[:1].islower()
    return following[:1].isupper() and all(map(_PROSE.search, (sentences, following)))
