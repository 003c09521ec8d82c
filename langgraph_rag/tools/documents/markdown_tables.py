"""Tables that Pandoc draws with dashes, as it writes those of Word files, become tables of Markdown with bars."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from docutils.parsers.rst.tableparser import GridTableParser, TableMarkupError
from docutils.statemachine import StringList

_EDGE = re.compile(r"[ ]{0,3}\+(?:[-=:]{2,}\+)+[ \t]*")
_COLUMNS = re.compile(r"[ ]*-{2,}(?:[ ]+-{2,})+[ \t]*")
_FRAME = re.compile(r"[ ]*-{3,}[ \t]*")
_ANY = re.compile(rf"^(?:{_EDGE.pattern}|{_COLUMNS.pattern})$", re.MULTILINE)
_MOST_LINES = 2_000  # of a table
_MOST_HEADS = 6  # lines with the names of columns


def with_bars(markdown: str, in_code: Sequence[bool]) -> list[str]:
    """Return the lines of a text with other tables in place of drawn ones; `in_code` says which lines show code."""
    lines = markdown.split("\n")
    if not _ANY.search(markdown):
        return lines
    made: list[str] = []
    place = 0
    while place < len(lines):
        found = None if in_code[place] else _grid(lines, place) or _columns(lines, place, len(made))
        if found:
            rows, end, above = found
            del made[len(made) - above :]
            made += ["", *bars(rows), ""]
            place = end
        else:
            made.append(lines[place])
            place += 1
    return made


def bars(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows, the first with the names of columns, as a table of Markdown."""
    width = max(map(len, rows), default=0)
    written = [[cell.replace("|", r"\|") for cell in (*row, *[""] * (width - len(row)))] for row in rows]
    head, *others = [f"| {' | '.join(row)} |" for row in written] if width else [""]
    return [head, f"|{'---|' * width}", *others] if width else []


_Found = tuple[list[list[str]], int, int]
"""The rows of a table, the line after it, and how many lines above belong to it."""


def _grid(lines: Sequence[str], start: int) -> _Found | None:
    if not _EDGE.fullmatch(lines[start]) or start and lines[start - 1].lstrip().startswith(("+", "|")):
        return None  # or only a part of a table, of which all was tried
    end = start
    while end < min(len(lines), start + _MOST_LINES) and lines[end].lstrip().startswith(("+", "|")):
        end += 1
    drawn = [line.strip() for line in lines[start:end]]
    plain = [line.replace(":", "-" if "-" in line else "=") if _EDGE.fullmatch(line) else line for line in drawn]
    try:
        _, heads, body = GridTableParser().parse(StringList(plain, source=""))
    except (TableMarkupError, AssertionError, IndexError):  # it is no table, or its columns do not meet
        return None
    names = [" ".join(filter(None, column)) for column in zip(*_filled(heads), strict=True)]
    return [names, *_filled(body)], end, 0


def _filled(rows: Sequence[Sequence[tuple[int, int, int, list[str]] | None]]) -> list[list[str]]:
    """Return the texts of cells, those of cells over several rows or columns in each of them."""
    made = [["" for _ in row] for row in rows]
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            for below in range(cell[0] + 1) if cell else ():
                for beside in range(cell[1] + 1) if cell else ():
                    made[number + below][column + beside] = " ".join(" ".join(cell[3]).split()) if cell else ""
    return made


def _columns(lines: Sequence[str], start: int, before: int) -> _Found | None:
    """Read a table whose columns are told by a row of dashes; `before` lines above may have their names."""
    if not _COLUMNS.fullmatch(lines[start]):
        return None
    starts = [found.start() for found in re.finditer("-+", lines[start])]
    heads = 0
    while heads < min(before, _MOST_HEADS) and lines[start - heads - 1].strip():
        heads += 1
    framed = heads > 1 and _FRAME.fullmatch(lines[start - heads]) is not None
    if not framed and heads > 1:
        return None
    closed = framed or not heads
    end = start + 1
    while end < min(len(lines), start + _MOST_LINES) and (
        not (_FRAME.fullmatch(lines[end]) or _COLUMNS.fullmatch(lines[end])) if closed else lines[end].strip()
    ):
        end += 1
    body = lines[start + 1 : end]
    if not any(map(str.strip, body)) or closed and (end == len(lines) or not lines[end].strip()):
        return None
    in_lines = closed and any(not line.strip() for line in body)
    groups = [list(group) for told, group in groupby(body, lambda line: bool(line.strip())) if told]
    rows = groups if in_lines else [[line] for line in body]
    head = _cells(lines[start - heads + framed : start], starts)
    return [head, *(_cells(row, starts) for row in rows)], end + closed, heads


def _cells(lines: Sequence[str], starts: Sequence[int]) -> list[str]:
    return [" ".join(filter(None, parts)) for parts in zip(*(_cut(line, starts) for line in lines), strict=True)] or [
        "" for _ in starts
    ]


def _cut(line: str, starts: Sequence[int]) -> Iterator[str]:
    """Yield the parts of a line below each column; a word that begins before its column is not cut."""
    ends = [0, *(_left_of_word(line, start) for start in starts[1:]), len(line)]
    yield from (line[begin:end].strip() for begin, end in pairwise(ends))


def _left_of_word(line: str, start: int) -> int:
    while 0 < start < len(line) and line[start - 1 : start + 1].strip() == line[start - 1 : start + 1]:
        start -= 1
    return start
