"""Reads PDF files: the running text of each page, and the title, which is the largest text on the first page."""

import itertools
import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph_rag.tools.reading.not_text import without_lists_of_pages

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

_log = logging.getLogger(__name__)
logging.getLogger("pypdf").addHandler(logging.NullHandler())  # problems of a file are reported once, below

_MOST_INSTRUCTIONS = 10_000_000  # per file, which take six minutes; a page of a book has a thousand
_LONGEST_TITLE = 200  # characters
_EDGE = 2  # lines at the top and at the bottom of a page that may be running heads
_SHORT = 10  # lines: shorter pages are forms and slides, where nearly every line is content
_LARGE = 1.4  # times the usual letter size of a page
_REPEATED, _COUNTED = 3, 2  # minimum pages of a running head; of one with page numbers
_FRONT = 50  # pages, such as a preface, that may precede page 1
_YEARS = range(1500, 2100)  # in annals, these also rise by one per page
_FULL = 0.75  # of the usual width: longer lines continue on the next one
_MOST = 0.9  # of the usual width; if the next word would have fitted, the line ends its paragraph
_SMALL = 0.9  # of the largest letters in a line: smaller digits may be the number of a footnote
_COUNT = r"\W{0,3}(?:page|seite|p\.)?\s?(\d{1,6}|[ivxlc]+)(?: ?(?:of|von|/) ?\d{1,6})?\W{0,3}"
_COUNTS = (re.compile(rf"{_COUNT}(?:\s|$)"), re.compile(rf"(?:^|\s){_COUNT}$"))  # at the start, at the end of a line
_PAGE_NUMBER = "#0"  # the form of a line with only a page number
_NUMBERED = re.compile(r"(?:\b(?:no|nr|number|nummer|id)\b\.?|[:#\u2116])\s*$")  # before numbers of other things
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
_NOTED = re.compile(r"(?:[^\W\d_]{3}|[.,;:!?\"'\u201d\u2019)\]])$")  # before the number of a footnote; not km, CO
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


class _Line(NamedTuple):
    size: float
    text: str


def read_pdf(written: bytes) -> Pdf:
    """Read the text of a PDF file; scans have none.

    Running heads and the numbers of pages and footnotes are removed. Lines are joined to paragraphs, and hyphenated
    words are joined. A sentence across two pages is placed on the second one, and so is a heading or a line that leads
    in. Contents and indexes are left out. Headings are those of the outline that stand on their pages.

    Raises:
        ValueError: when it is not a PDF file, is broken, needs a password, or has more than 10 million instructions.
    """
    from pypdf import PdfReader  # here, as the import takes a tenth of a second

    try:
        reader = PdfReader(BytesIO(written))
        locked = reader.is_encrypted and not reader.decrypt("")
        count = _at_most(_MOST_INSTRUCTIONS)
        pages = [] if locked else [_lines(page, count) for page in reader.pages]
        outline = [] if locked else _outline(reader)
    except Exception as error:  # any error, as files are broken in many ways
        raise ValueError(f"it cannot be read as PDF ({error})") from error
    if locked:
        raise ValueError("it wants a password: save it without one")
    title = _largest(pages[0]) if pages else []
    bodies = [_with_initials(line for line in lines if line not in title) for lines in _without_heads(pages)]
    parts = [
        Part(page, headings, _paragraphs(lines)) for page, headings, lines in _sections(_without_lists(bodies), outline)
    ]
    return Pdf(reduce(_joined, (line.text for line in title), ""), _with_whole_sentences(parts))


def _outline(reader: "PdfReader") -> list[_Heading]:
    """Return the entries of the outline in order; none if there is none, or it is broken."""

    def flat(entries: Sequence[Any], depth: int) -> Iterator[_Heading]:
        for entry in entries:
            if isinstance(entry, list):
                yield from flat(entry, depth + 1)
            elif (page := reader.get_destination_page_number(entry)) is not None and entry.title:
                yield _Heading(page, depth, " ".join(str(entry.title).split()))

    try:
        return list(flat(reader.outline, 0))
    except Exception as error:
        _log.debug("the outline of a PDF file cannot be read: %s", error)
        return []


def _without_lists(pages: Sequence[Sequence[_Line]]) -> list[list[_Line]]:
    """Leave out contents and indexes."""
    left: list[list[_Line]] = []
    goes_on = False
    for lines in pages:
        texts = [line.text for line in lines]
        kept = pages_left = without_lists_of_pages(texts, len(pages) + _FRONT, goes_on=goes_on)
        goes_on = bool(texts) and len(pages_left) < len(texts) and (not kept or kept[-1] != texts[-1])
        rest = iter(kept)
        wanted = next(rest, None)
        own: list[_Line] = []
        for line in lines:
            if wanted is not None and line.text == wanted:
                own.append(line)
                wanted = next(rest, None)
        left.append(own)
    return left


def _sections(
    pages: Sequence[Sequence[_Line]], outline: Sequence[_Heading]
) -> Iterator[tuple[int, tuple[str, ...], list[_Line]]]:
    """Yield the lines of each page section by section: its number, the headings above, and the lines."""
    path: list[str] = []
    for number, lines in enumerate(pages):
        start = 0
        for heading in (entry for entry in outline if entry.page == number):
            found = _find(heading.text, [line.text for line in lines], start)
            if found:
                yield number + 1, tuple(path), list(lines[start : found[0]])
                start = found[1]
            if found or not lines:
                path = [*path[: heading.depth], heading.text]
        yield number + 1, tuple(path), list(lines[start:])


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


def _at_most(instructions: int) -> Callable[..., None]:
    """Return a function that counts instructions: even a file of one kilobyte may run for days."""
    left = itertools.count(instructions, -1)

    def count(*_: object) -> None:
        if not next(left):
            raise ValueError(f"it holds more than {instructions:,} instructions")

    return count


def _lines(page: "PageObject", count: Callable[..., None]) -> list[_Line]:
    """Return the lines of a page with the sizes of their largest letters; vertical text in a margin has size 0."""
    lines: list[list[_Line]] = [[]]

    def see(text: str, of_page: Sequence[float], of_text: Sequence[float], font: object, size: float) -> None:
        seen = round(abs(size * of_text[3] * of_page[3]), 1)
        text = _LIGATURE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
        first, *others = (_Line(seen, part) for part in text.split("\n"))
        lines[-1].append(first)
        lines.extend([other] for other in others)

    page.extract_text(visitor_operand_before=count, visitor_text=see)
    return [whole for line in lines if (whole := _whole(line)).text]


def _whole(parts: Sequence[_Line]) -> _Line:
    """Join the parts of a line, without footnote numbers."""
    largest = max((part.size for part in parts if part.text.strip()), default=0.0)
    text = ""
    for part in parts:
        is_note = part.size < _SMALL * largest and part.text.strip().isdigit() and _NOTED.search(text[-3:])
        text += "" if is_note else part.text
    return _Line(largest, " ".join(text.split()))


def _with_initials(lines: Iterable[_Line]) -> list[_Line]:
    """Join large initials with their lines."""
    joined: list[_Line] = []
    for line in lines:
        before = joined[-1] if joined else line
        if len(before.text) == 1 and before.text.isupper() and before.size > line.size and line.text[0].islower():
            joined[-1] = _Line(line.size, before.text + line.text)
        else:
            joined.append(line)
    return joined


def _largest(lines: Sequence[_Line]) -> list[_Line]:
    """Return the lines of the title, which are larger than all others; none if there is no title."""
    worded = [line for line in lines if sum(map(str.isalpha, line.text)) > 2]
    sizes = {line.size for line in worded}
    largest = [line for line in worded if line.size == max(sizes)]
    return largest if len(sizes) > 1 and sum(len(line.text) for line in largest) <= _LONGEST_TITLE else []


def _without_heads(pages: Sequence[Sequence[_Line]]) -> list[list[_Line]]:
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


def _edge_forms(lines: Sequence[_Line], page: int, edge: int, *, short: bool) -> list[set[str]]:
    """Return the possible forms of each line as a running head: none inside the page.

    Lines that are much larger than most of the page, such as titles of slides, are not heads.
    """
    usual = sorted(line.size for line in lines)[len(lines) // 2] if lines else 0.0
    last = len(lines) - edge
    return [
        set() if edge <= number < last or line.size > _LARGE * usual else _forms(line.text, page, short=short)
        for number, line in enumerate(lines)
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


def _paragraphs(lines: Sequence[_Line]) -> str:
    """Join lines of one size to paragraphs, with a blank line after each short line."""
    if not lines:
        return ""
    usual = sorted(len(line.text) for line in lines)[len(lines) * 3 // 4]
    parts, last = [], lines[0].text
    for before, line in pairwise(lines):
        if _goes_on(before, line, usual):
            done, space, word = last.rpartition(" ")
            parts.append(done + space)
            last = _joined(word, line.text)
        else:
            parts.append(f"{last}\n\n")
            last = line.text
    return "".join([*parts, last])


def _goes_on(line: _Line, following: _Line, usual: int) -> bool:
    full = len(line.text) >= _FULL * usual
    fitted = len(line.text) + 1 + len(following.text.split(None, 1)[0]) < _MOST * usual
    return line.size == following.size and (full or not fitted and not _SENTENCE_END.search(line.text[-2:]))


def _joined(text: str, more: str) -> str:
    """Join a line with the next one, including a hyphenated word; a name keeps its hyphen."""
    word, following = (text.rsplit(None, 1) or [""])[-1], (more.split(None, 1) or [""])[0]
    if word[-1:] not in _HYPHENS or not word[-2:-1].isalnum() or following in _AFTER_HYPHENS:
        return f"{text} {more}".strip()
    is_cut = following[:1].islower() and not {"/", "@"}.intersection(word)
    return (text[:-1] if is_cut else text) + more


def _with_whole_sentences(parts: Iterable[Part]) -> list[Part]:
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
            before, page = before[:end].strip(), _joined(before[end:], page)
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
