"""Finds what is printed in a document and is no text of it: contents, indexes, and the signs of its navigation.

It is careful: what could be a table, a price list or a list of results stays.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

_log = logging.getLogger(__name__)

_PAGES = r"(?:\d{1,4}|[ivxlc]{1,7})(?:\s?[-\u2013]\s?\d{1,4})?"
_LEADER = r"[.\u2026\u00b7_]"
_DOTTED = re.compile(  # from the first dot on, as trying each would take quadratic time
    rf"(?<!{_LEADER})(?<!{_LEADER}[ \t])(?:{_LEADER}[ \t]?){{4,}}[ \t]*(?P<pages>{_PAGES}(?:, {_PAGES})*)$"
)
_LISTED = re.compile(  # 1,760 is one number, and no page 1 and 760
    rf"(?P<name>\S.{{0,80}}?)(?:(?<!\d),|,(?= )|[ \t])[ \t]*(?P<pages>{_PAGES}(?:, {_PAGES})*)$"
)
_CHAPTER = re.compile(
    r"(?:\d+(?:\.\d+)*|[IVXLC]+|[A-Z])[.)]?\s|(?:chapter|part|appendix|kapitel|teil|anhang)\b", re.IGNORECASE
)
_HEAD = re.compile(
    r"(?:(?:table of )?contents|brief contents|list of (?:figures|tables|listings)|inhalt(?:sverzeichnis)?|sommaire"
    r"|table des mati\u00e8res|\u00edndice|indice|(?:[\w&-]+ ){0,3}ind(?:ex|ices)|(?:stichwort|sach|namens)?register"
    r"|stichwortverzeichnis)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?:[-*\u2022] |#+ )")
_LETTER = re.compile(r"[^\W\d_]|symbols|numbers", re.IGNORECASE)
_WORD = re.compile(r"\w")
_SENTENCE = re.compile(r"\w{3}[.!?]$")
_IN_ORDER = 0.8  # of the lines of a list
_DOTTED_RUN, _NAMED_RUN, _SORTED_RUN = 3, 4, 8  # least lines of a list
_GAP = 2  # other lines between those of a list: wrapped ones, letters, numbers of chapters

_SEPARATOR = re.compile(
    r"[ \t]*(?:[|>\u00bb\u203a\u2192\u2190\u2039\u00ab\u2022\u00b7;/\\]|\n|--|::|&gt;)[ \t]*|[ \t]{2,}|^- "
)
_SIGNS = frozenset(
    "prev|previous|next|up|home|top|back|contents|table of contents|index|modules|search|menu|toc|on this page"
    "|in this article|page contents|previous page|next page|previous topic|next topic|previous chapter|next chapter"
    "|main page|log in|sign in|sign up|login|register|navigation|show source|view source|view page source"
    "|quick search|back to top|site map|sitemap|breadcrumb|breadcrumbs|zur\u00fcck|weiter|nach oben|startseite".split(
        "|"
    )
)
_ALONE = re.compile(
    r"(?:edit (?:this page|on git(?:hub|lab)|on bitbucket)|view (?:page )?source(?: on git\w+)?"
    r"|skip to (?:the )?(?:main )?(?:content|navigation|search)"
    r"|back to (?:the )?top|jump to (?:navigation|content|search)|show (?:page )?source"
    r"|(?:suggest|propose) (?:an )?edits?|report an? (?:issue|bug)(?: (?:on|with) .{1,30})?|was this page helpful\?"
    r"|(?:available )?languages:(?:[\s|]+[\w-]{2,12})+"
    r"|(?:table of )?contents|on this page|improve this page|copy link|permalink|expand all|collapse all"
    r"|(?:show|hide)(?: the)? (?:navigation|menu|sidebar))",
    re.IGNORECASE,
)
_STUB = re.compile(
    r"you (?:are being|will be) redirected|redirecting(?: to|\s*(?:\.{3}|\u2026))"
    r"|if you are not (?:automatically )?redirected|this page has (?:been )?moved",
    re.IGNORECASE,
)
_BLANK_LINES = re.compile(r"\n{3,}")
_LONGEST_STUB = 400  # characters
_ON_PAGES, _SHARE_OF_PAGES = 3, 0.5  # with a text that is printed on each page
_SAYS = 3  # words of such a text
_LONGEST_SIGN = 3  # before dots, in place of a name


class _Line(NamedTuple):
    number: int
    name: str
    pages: list[int]
    dotted: bool


def without_lists_of_pages(lines: Sequence[str], most: int | None = None, *, goes_on: bool = False) -> list[str]:
    """Return the lines without contents and indexes: runs of lines that end in numbers of pages.

    The numbers rise, as in contents, or the names are sorted, as in an index; dots lead to the numbers, or a heading
    says what the lines are, or some have several numbers.

    Args:
        lines: the lines of a page or a text.
        most: the number of pages of the document, if it is known; a greater number is of something else.
        goes_on: whether the page before ended with such a list.
    """
    gone: set[int] = set()
    for run in _runs(
        [line for line in map(_listed, range(len(lines)), lines) if line and (most is None or max(line.pages) <= most)]
    ):
        if head := _is_list(run, lines, named=goes_on and run[0].number <= _GAP, paged=most is not None):
            gone.update(range(head[0], run[-1].number + 1))
    if gone:
        _log.debug("%d lines of contents or an index left out, such as %r", len(gone), lines[min(gone)])
    return [line for number, line in enumerate(lines) if number not in gone]


def without_what_is_no_text(text: str) -> str:
    """Return a text without lists of pages, and without the lines that only lead elsewhere."""
    lines = text.split("\n")
    kept = [line for line in without_lists_of_pages(lines) if not is_sign(line)]
    if len(kept) == len(lines):
        return text
    _log.debug("%d of %d lines left out, which are no text", len(lines) - len(kept), len(lines))
    return _BLANK_LINES.sub("\n\n", "\n".join(kept)).strip("\n")


def told_once(texts: Sequence[tuple[object, str]]) -> list[str]:
    """Return texts without what the pages of a site or a file repeat, such as a copyright note, but for the first time.

    Args:
        texts: each with the page that it is of; a page may have several.
    """
    on: Counter[str] = Counter()
    for _, paragraphs in {(page, part) for page, text in texts for part in text.split("\n\n")}:
        on[paragraphs] += 1
    many = max(_ON_PAGES, _SHARE_OF_PAGES * len({page for page, _ in texts}))
    repeated = {
        part for part, pages in on.items()
        if pages >= many and len(part.split()) >= _SAYS and not part.endswith(":") and "```" not in part
    }  # fmt: skip
    told: set[str] = set()
    kept: list[str] = []
    for _, text in texts if repeated else ():
        parts = [part for part in text.split("\n\n") if part not in told]
        told |= repeated.intersection(parts)
        kept.append("\n\n".join(parts))
    if repeated:
        _log.debug("%d paragraphs that are on many pages left out but once, such as %r", len(repeated), min(repeated))
    return kept or [text for _, text in texts]


def leads_on(text: str) -> bool:
    """Return whether a page only leads to another one."""
    return len(text) <= _LONGEST_STUB and _STUB.search(text) is not None


def is_sign(line: str) -> bool:
    """Return whether a line only leads elsewhere: `Prev | Up | Next`, `Home > Manual > Mills`, `Edit on GitHub`."""
    own = line.strip().strip("[]()|*_ ")
    if not own or len(own) > 300:
        return False
    if _ALONE.fullmatch(_ITEM.sub("", own)):
        return True
    parts = [part.strip(" -[]()*_").casefold() for part in _SEPARATOR.split(own)]
    parts = [part for part in parts if part]
    signs = sum(part in _SIGNS or part.split(":")[0].strip() in _SIGNS for part in parts)
    if len(parts) < 2 or not signs:
        return False
    is_path = parts[0] in ("home", "startseite", "main page", "docs", "documentation") and re.search(
        r"[>\u00bb\u203a\u2192/]|&gt;", own
    )
    return signs == len(parts) or bool(is_path) and not _SENTENCE.search(own)


def _listed(number: int, line: str) -> _Line | None:
    own = _ITEM.sub("", line.strip(), count=1)
    dotted = _DOTTED.search(own)
    name = own[: dotted.start()].strip() if dotted else ""
    if dotted and (len(name) <= _LONGEST_SIGN or _WORD.search(name)):
        return _Line(number, name.strip(" .,"), _values(dotted["pages"]), dotted=True)
    if listed := _LISTED.match(own):
        return _Line(number, listed["name"].strip(" .,"), _values(listed["pages"]), dotted=False)
    return None


def _runs(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    run: list[_Line] = []
    for line in lines:
        if run and line.number - run[-1].number > _GAP + 1:
            yield run
            run = []
        run.append(line)
    if run:
        yield run


def _is_list(run: Sequence[_Line], lines: Sequence[str], *, named: bool, paged: bool) -> list[int]:
    """Return the number of the first line of a list of pages; none if a run is no such list.

    `named` says that a heading on an earlier page tells that it is one, `paged` that the document has pages. Without
    pages and a heading, dots may as well lead to prices, unless the names are those of chapters.
    """
    if len({line.name.partition(":")[0] for line in run}) == 1:
        return []  # rows of a table, of which each begins with the name of its first column
    above = [number for number in range(max(0, run[0].number - 3), run[0].number) if lines[number].strip()]
    heads = [number for number in above if _HEAD.fullmatch(_ITEM.sub("", lines[number].strip(), count=1))]
    named = named or bool(heads)
    rising = _share([one.pages[0] <= other.pages[0] for one, other in pairwise(run)])
    in_order = _share([_key(one.name) <= _key(other.name) for one, other in pairwise(run) if _key(one.name)])
    dotted = sum(line.dotted for line in run) >= len(run) / 2
    several = sum(len(line.pages) > 1 for line in run)
    first, last = run[0].number, run[-1].number
    letters = sum(_LETTER.fullmatch(line.strip()) is not None for line in lines[first:last])  # of an index
    dense = (len(run) + letters) / (last - first + 1) >= 1 / 2
    worded = all(_WORD.search(line.name) or line.dotted for line in run)
    chapters = _share([_CHAPTER.match(line.name) is not None for line in run]) >= 1 / 2
    leads = dotted and (paged or named or chapters)
    is_contents = rising >= _IN_ORDER and (leads and len(run) >= _DOTTED_RUN or named and len(run) >= _NAMED_RUN)
    is_index = (
        in_order >= _IN_ORDER
        and (named or several >= 2 or dotted and len(run) > 2 * _SORTED_RUN)
        and len(run) >= _SORTED_RUN
    )
    if dense and worded and (is_contents or is_index):
        return [min([run[0].number, *heads])]
    return []


def _share(given: Sequence[bool]) -> float:
    return sum(given) / len(given) if given else 0.0


def _key(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()[:3]


def _values(pages: str) -> list[int]:
    numbers = re.findall(r"\d+|[ivxlc]+", pages)
    return [int(number) if number.isdecimal() else 0 for number in numbers]  # Roman numbers come before the others
