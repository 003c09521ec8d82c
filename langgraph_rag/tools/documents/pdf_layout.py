"""The words of a PDF file with their places, and their lines, in the order in which they are read.

Columns are read one after the other, and the rows of tables as they stand. Both leave a gutter free over several rows;
columns hold prose or are drawn one after the other, while the cells of a table are drawn row by row, or are numbers.

The words are read by a process of its own, as the library in C may crash or fill the memory: `python pdf_layout.py <
FILE` writes a line of JSON with the outline, and then one for each page; or one that says what is wrong.
"""

import ctypes
import faulthandler
import json
import math
import re
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import bidirectional

if TYPE_CHECKING:
    import pypdfium2
    import pypdfium2.raw as pdfium

_SAME = 0.15  # of the size of letters, between the baselines of a row
_SMALL = 0.86  # of the size of letters beside them: raised or lowered ones
_RAISED, _LOWERED = (0.12, 0.8), (-0.65, -0.05)  # of the size of letters, from the baseline
_BESIDE = (-0.35, 0.4)  # of the size of letters, between raised ones and those before
_WORDS = 0.12  # of the size of letters, between words
_CELLS = 0.9  # of the size of letters, between columns
_OVERLAP = 0.9  # of the size of letters, between lines of different columns
_APART = 2.6  # times the size of letters, between the rows of a table
_CLOSE = 1.6  # times the size of letters, between the lines of a paragraph
_GUTTER = 2  # rows at least that stand on both sides
_PROSE, _FULL, _OF_LINES = 3, 0.7, 0.5  # words of a line; of the width of its column; of the lines of prose
_ALIGNED = 0.6  # of the cells of the column with fewer
_IN_TURN = 0.25  # changes of sides for each row, below which columns are drawn one after the other
_NUMERIC = 0.7  # of the cells of a column
_INITIAL = 1.8  # times the usual size
_POWER = re.compile(r"[-\u2212+]?\d")  # 10 with a raised 6 is not 106
_NOTED = re.compile(r"(?:[^\W\d_]{3}|[.,;:!?\"'\u201d\u2019)\]])$")  # before the number of a footnote; not km, CO
_MARK = re.compile(r"\d{1,3}|[*\u2217\u2020\u2021\u00a7\u00b6]{1,3}")  # of a footnote
_SET_APART, _WIDER = 5, 1.4  # gaps between the letters of words, at least; times their usual gap, between words
_OF_WORD = 3  # letters of the first word of a footnote
_ITEM = re.compile(r"[\u2022\u25aa\u25a0\u25e6\u25cf\u25cb\u2023\u2043*\u2013-]|\(?(?:\d{1,3}|[a-z])[.)]|\d{1,3}")
_OF_ITEM, _FROM_ITEM = 0.45, 6  # of the size of letters: how much higher a mark may stand; to the item, at most
_TO_THE_LEFT = ("R", "AL")
_CLOSER = 0.95  # of the distance of rows, between the lines of a cell


class Word(NamedTuple):
    """A word, its ends, baseline and size in points, its direction in quarters, and whether a space is before it."""

    text: str
    left: float
    right: float
    base: float
    size: float
    turned: int
    spaced: bool


class Line(NamedTuple):
    """A line of a column, or a row of a table; `size` is that of most letters, `block` counts columns and tables."""

    text: str
    left: float
    right: float
    base: float
    size: float
    block: int
    is_row: bool = False


class _Part(NamedTuple):
    """Words of a row that are not divided by a gap, and where they are drawn."""

    words: list[Word]
    drawn: int

    @property
    def left(self) -> float:
        return self.words[0].left

    @property
    def right(self) -> float:
        return max(word.right for word in self.words)


_Row = list[_Part]


def lines_of(words: Sequence[Word]) -> list[Line]:
    """Return the lines of a page; those in other directions than most words come last."""
    lines: list[Line] = []
    directions = {turned: [word for word in words if word.turned == turned] for turned in range(4)}
    for own in sorted(directions.values(), key=len, reverse=True):
        if own:
            own = _with_initials(_mirrored(own))
            for rows, is_table in _blocks(_rows(own)):
                block = lines[-1].block + 1 if lines else 0
                lines += _table(rows, block) if is_table else [_line(row, block) for row in rows]
    return lines


def _rows(words: Sequence[Word]) -> list[_Row]:
    """Return the rows of words from top to bottom, each divided where there are gaps."""
    bases: list[float] = []
    rows: list[list[tuple[int, Word]]] = []
    for drawn, word in sorted(enumerate(words), key=lambda numbered: -numbered[1].size):
        at = _row_of(word, bases, rows)
        if at is None:
            at = bisect_left(bases, word.base)
            bases.insert(at, word.base)
            rows.insert(at, [])
        rows[at].append((drawn, word))
    return [_parts(sorted(row, key=lambda numbered: numbered[1].left)) for row in _with_marks(rows[::-1])]


def _with_marks(rows: Sequence[list[tuple[int, Word]]]) -> Iterator[list[tuple[int, Word]]]:
    """Yield rows from top to bottom; the mark of a list item, which may stand a little higher, is with its item."""
    marked: list[list[tuple[int, Word]]] = [[]]
    for row in [*rows, []]:
        above = marked[-1]
        mark, item = (above, row) if len(above) == 1 and _ITEM.fullmatch(above[0][1].text) else (row, above)
        if len(mark) == 1 and _ITEM.fullmatch(mark[0][1].text) and item and _is_mark_of(mark[0][1], item):
            ((drawn, word),) = mark
            counted = f"{word.text}." if word.text.isdecimal() else word.text
            marked[-1] = [(drawn, word._replace(text=counted)), *item]
        else:
            marked.append(row)
    return filter(None, marked)


def _is_mark_of(mark: Word, item: Sequence[tuple[int, Word]]) -> bool:
    first = min((word for _, word in item), key=lambda word: word.left)
    apart = abs(mark.base - first.base) / first.size
    if mark.text.isdecimal() and sum(map(str.isalpha, first.text)) < 2:  # a fraction
        return False
    return apart < _OF_ITEM and 0 < first.left - mark.right < _FROM_ITEM * first.size


def _row_of(word: Word, bases: Sequence[float], rows: Sequence[Sequence[tuple[int, Word]]]) -> int | None:
    """Return the row of a word: that of its baseline, or of the larger letters that it is raised or lowered beside."""
    reach = word.size / _SMALL * 2
    near = range(bisect_left(bases, word.base - reach), bisect_left(bases, word.base + reach))
    beside: list[tuple[float, int]] = []
    for at in near:
        for _, other in rows[at] if word.size < _SMALL * rows[at][0][1].size else []:
            up = (word.base - other.base) / other.size
            gap = (word.left - other.right) / other.size
            before = (other.left - word.right) / other.size
            close = _BESIDE[0] < gap < _BESIDE[1] or _BESIDE[0] < before < _BESIDE[1]
            if word.size < _SMALL * other.size and close and _is_shifted(up):
                beside.append((min(abs(gap), abs(before)), at))
    if beside:
        return min(beside)[1]
    same = [at for at in near if abs(bases[at] - word.base) <= _SAME * word.size]
    return min(same, key=lambda at: abs(bases[at] - word.base)) if same else None


def _is_shifted(up: float) -> bool:
    return _RAISED[0] < up < _RAISED[1] or _LOWERED[0] < up < _LOWERED[1]


def _parts(row: Sequence[tuple[int, Word]]) -> _Row:
    parts: _Row = []
    end = 0.0
    for drawn, word in row:
        if parts and word.left - end < _CELLS * max(word.size, parts[-1].words[-1].size):
            parts[-1].words.append(word)
            end = max(end, word.right)
        else:
            parts.append(_Part([word], drawn))
            end = word.right
    return parts


def _blocks(rows: list[_Row]) -> Iterator[tuple[list[_Row], bool]]:
    """Yield the columns and tables of a page as they are read, and whether each is a table."""
    done = 0
    at = 0
    while at < len(rows):
        found = _gutter(rows, at, done)
        if found is None:
            at += 1
            continue
        first, last, gutter = found
        above = first
        left = [[part for part in row if part.left < gutter] for row in rows[first:last]]
        right = [[part for part in row if part.left >= gutter] for row in rows[first:last]]
        are_columns = _are_columns(left, right)
        if not are_columns:
            first = at
            last = next((end for end in range(first + 1, last) if _are_apart(rows[end - 1], rows[end])), last)
            start = min(row[0].left + row[0].words[0].size for row in rows[first:last])
            while last > first + 1 and rows[last - 1][-1].left < min(gutter, start):  # lines below the table
                last -= 1
        if done < first:
            yield rows[done:first], False
        if are_columns:
            sides = [list(filter(None, side)) for side in (left, right)]
            for side in reversed(sides) if _flows_around(sides[0], sides[1], rows[last:]) else sides:
                yield from _blocks(side)
        else:
            yield rows[first:last], bool(_drawn_rows(rows[first:last])) or not _is_prose(right[first - above :])
        done = at = last
    if done < len(rows):
        yield rows[done:], False


def _gutter(rows: Sequence[_Row], at: int, done: int) -> tuple[int, int, float] | None:
    """Return the rows around one that leave the same gutter free, and where it is; None if there is none."""
    found = []
    for free in _gaps(rows[at : at + 2]):
        lefts, rights, last = 0, 0, at
        for number in range(at, len(rows)):
            narrowed = _narrowed(rows[number], free)
            if narrowed is None:
                break
            free, last = narrowed, number + 1
            lefts += rows[number][0].left < free[0]
            rights += rows[number][-1].right > free[1]
        found.append((min(lefts, rights), last, free))
    both, last, free = max(found, default=(0, at, (0.0, 0.0)))
    if both < _GUTTER:
        return None
    first = at
    while first > done and (narrowed := _narrowed(rows[first - 1], free)) is not None:
        free, first = narrowed, first - 1
    return first, last, (free[0] + free[1]) / 2


def _gaps(rows: Sequence[_Row]) -> list[tuple[float, float]]:
    """Return the gaps in the first of two rows, and the one between it and the next if they stand side by side."""
    gaps = [(one.right, other.left) for one, other in pairwise(rows[0])]
    ends = sorted((row[0].left, row[-1].right) for row in rows)
    beside = len(ends) > 1 and ends[0][1] < ends[1][0] and _overlap(rows[0], rows[1])
    return [*gaps, (ends[0][1], ends[1][0])] if beside else gaps


def _narrowed(row: _Row, free: tuple[float, float]) -> tuple[float, float] | None:
    """Return what a row leaves of a gutter; None if it crosses it, or leaves too little."""
    left, right = free
    for part in row:
        if part.left < right and part.right > left:  # it stands in it
            if part.left > left and right - part.right < part.left - left:
                right = part.left
            else:
                left = part.right
    size = row[0].words[0].size
    return (left, right) if right - left > _CELLS * 0.8 * size else None


def _overlap(row: _Row, below: _Row) -> bool:
    """Return whether rows are nearer to each other than two lines of a column, or a term and what is said of it."""
    word = row[0].words[0]
    return word.base - below[0].words[0].base < _OVERLAP * word.size


def _are_apart(row: _Row, below: _Row) -> bool:
    word = row[0].words[0]
    return word.base - below[0].words[0].base > _APART * word.size


def _are_columns(left: Sequence[_Row], right: Sequence[_Row]) -> bool:
    """Return whether the two sides of a gutter, row by row, are columns and not a table."""
    both = sum(bool(one and other) for one, other in zip(left, right, strict=True))
    fewer = min(sum(map(bool, left)), sum(map(bool, right)))
    rows = zip(left, right, strict=True)
    aside = sum(
        bool(one[0]) != bool(other[0])
        and bool(one[0]) == bool(other[1])
        and _overlap(one[0] or one[1], other[0] or other[1])
        for one, other in pairwise(rows)
    )
    aligned = both >= _ALIGNED * fewer or not aside
    drawn = sorted((part.drawn, side) for side, rows in enumerate((left, right)) for row in rows for part in row)
    turns = sum(one[1] != other[1] for one, other in pairwise(drawn))
    prose = _is_prose(left) and _is_prose(right)
    if turns <= max(2, _IN_TURN * both):
        return prose or not (aligned and (_is_numeric(left) or _is_numeric(right) or both <= _GUTTER))
    return prose and turns < both or prose and turns >= 2 * both - 1 or not aligned


def _flows_around(text: Sequence[_Row], beside: Sequence[_Row], below: Sequence[_Row]) -> bool:
    """Return whether a text goes on below what stands to the right of it, such as a figure, which is read before it."""
    if not below or not _is_prose(text) or _is_prose(beside):
        return False
    last, following = text[-1][0].words[0], below[0][0].words[0]
    close = last.base - following.base < _CLOSE * last.size
    return close and last.size == following.size and below[0][-1].right > beside[0][0].left


def _is_prose(side: Sequence[_Row]) -> bool:
    rows = [row for row in side if row]
    start = min(row[0].left for row in rows)
    width = max(row[-1].right for row in rows) - start
    lines = [
        row for row in rows if sum(len(part.words) for part in row) >= _PROSE and row[-1].right - start > _FULL * width
    ]
    return len(lines) >= max(3, _OF_LINES * len(rows))


def _is_numeric(side: Sequence[_Row]) -> bool:
    cells = ["".join(word.text for part in row for word in part.words) for row in side if row]
    return sum(any(map(str.isdigit, cell)) and not any(map(str.isalpha, cell)) for cell in cells) >= _NUMERIC * len(
        cells
    )


def _line(row: _Row, block: int, *, is_row: bool = False) -> Line:
    words = [word for part in row for word in part.words]
    sizes = Counter[float]()
    for word in words:
        sizes[word.size] += len(word.text)
    usual = max(sizes, key=lambda size: (sizes[size], size))
    base = next(word.base for word in words if word.size == usual)
    text = " ".join(_text(_unspaced(part.words)) for part in row)
    return Line(text, row[0].left, max(part.right for part in row), base, round(usual, 1), block, is_row)


def _unspaced(words: Sequence[Word]) -> list[Word]:
    """Join letters that are set apart like "C H A P T E R" to words."""
    joined: list[Word] = []
    for apart, group in groupby(words, lambda word: len(word.text) == 1 and word.text.isalpha()):
        letters = list(group)
        joined += _words_of(letters) if apart and len(letters) > _SET_APART else letters
    return joined


def _words_of(letters: Sequence[Word]) -> Sequence[Word]:
    """Return the words of letters, between which there is more room than within; or the letters, if they are none."""
    gaps = [after.left - letter.right for letter, after in pairwise(letters)]
    most = _WIDER * sorted(gaps)[len(gaps) // 2]
    words = [letters[0]]
    for letter, gap in zip(letters[1:], gaps, strict=True):
        if 0 < gap < most:
            words[-1] = words[-1]._replace(text=words[-1].text + letter.text, right=letter.right)
        else:
            words.append(letter)
    written = all(word.text.islower() or word.text.isupper() or word.text.istitle() for word in words)
    in_order = all(letter.text < after.text for letter, after in pairwise(letters))  # the alphabet
    alike = len({(letter.base, letter.size) for letter in letters}) == 1
    return words if written and alike and not in_order and len(letters) - len(words) >= _SET_APART else letters


def _text(words: Sequence[Word]) -> str:
    """Join words: powers are written as "10^6"; numbers of footnotes are left out."""
    words = words[1:] if _is_number_of_note(words) else words
    text, anchor, was_shifted = words[0].text, words[0], 0  # 1 if it was raised, -1 if lowered
    for number, word in enumerate(words[1:], start=1):
        up, gap = (word.base - anchor.base) / anchor.size, word.left - words[number - 1].right
        shifted = word.size < _SMALL * anchor.size and _is_shifted(up) and gap < _BESIDE[1] * anchor.size
        following = words[number + 1] if number + 1 < len(words) else None
        if not shifted:
            if gap < -word.size:  # in the next line of a cell
                cut = text[-1] == "-" and text[-2:-1].isalpha() and word.text[0].islower()
                text = text[:-1] if cut else f"{text} "
            elif gap > _WORDS * word.size or word.spaced and not was_shifted:
                text += " "
            text += word.text
            anchor = word
        elif up > 0 and not was_shifted and _is_note(text, word, following):
            pass
        else:
            apart = " " if gap > _WORDS * word.size and following and _touch(word, following) else ""  # an isotope
            power = "^" if up > 0 and was_shifted < 1 and not apart and _POWER.match(word.text) else ""
            of_name = apart and up > 0 and following and _is_of_name(word, following)
            text += apart if of_name else apart + power + word.text
        was_shifted = (1 if up > 0 else -1) if shifted else 0
    return text


def _touch(word: Word, following: Word) -> bool:
    return following.left - word.right <= _WORDS * word.size


def _is_note(text: str, word: Word, following: Word | None) -> bool:
    """Return whether a raised number is that of a footnote: after a word or a sentence, and with nothing after it."""
    alone = following is None or not _touch(word, following) or not following.text[0].isalnum()
    return _MARK.fullmatch(word.text) is not None and alone and _NOTED.search(text[-3:]) is not None


def _is_of_name(mark: Word, following: Word) -> bool:
    """Return whether a raised number is that of the name after it, such as an affiliation, and not of an isotope."""
    return _MARK.fullmatch(mark.text) is not None and sum(map(str.isalpha, following.text)) >= _OF_WORD


def _is_number_of_note(words: Sequence[Word]) -> bool:
    """Return whether a line begins with the raised number of a footnote, and not with that of an isotope."""
    if len(words) < 3 or not _is_of_name(words[0], words[1]):
        return False
    up = (words[0].base - words[1].base) / words[1].size
    return words[0].size < _SMALL * words[1].size and _RAISED[0] < up < _RAISED[1]


def _mirrored(words: list[Word]) -> list[Word]:
    """Turn a page that is written from right to left around, so that its words follow each other to the right."""
    count = sum(bidirectional(word.text[0]) in _TO_THE_LEFT for word in words)
    mirrored = [word._replace(left=-word.right, right=-word.left) for word in words]
    return mirrored if 2 * count > len(words) else words


def _with_initials(words: list[Word]) -> list[Word]:
    """Join large initials, which reach down beside several lines, with their words."""
    usual = sorted(word.size for word in words)[len(words) // 2]
    for initial in [word for word in words if word.size > _INITIAL * usual and len(word.text) == 1]:
        beside = [
            word
            for word in words
            if word.size < initial.size / _INITIAL * 1.2
            and -0.2 < (word.left - initial.right) / word.size < 2
            and initial.base + 0.2 * word.size < word.base < initial.base + initial.size
        ]
        if initial.text.isupper() and beside:
            first = max(beside, key=lambda word: (word.base, -word.left))
            joined = first._replace(text=initial.text + first.text, left=initial.left)
            words = [joined if word is first else word for word in words if word is not initial]
    return words


def _table(rows: Sequence[_Row], block: int) -> list[Line]:
    """Return the rows of a table, each with the rest of its cells that take several lines."""
    if drawn := _drawn_rows(rows):
        return [_line(row, block, is_row=True) for row in drawn]
    whole: list[_Row] = []
    for row in rows:
        cell = _continued(whole[-1], row[0], rows) if whole and len(row) == 1 else None
        if cell is None:
            whole.append(list(row))
        else:
            whole[-1][cell] = _below(whole[-1][cell], row[0])
    return [_line(row, block, is_row=True) for row in whole]


def _below(cell: _Part, line: _Part) -> _Part:
    return _Part([*cell.words, *line.words], cell.drawn)


def _drawn_rows(rows: Sequence[_Row]) -> list[_Row]:
    """Return the rows in which a table is drawn cell by cell; none if no cell has lines that stand closer than rows."""
    parts = sorted((part for row in rows for part in row), key=lambda part: part.drawn)
    columns = _columns(parts)
    drawn: list[dict[int, list[_Part]]] = [{}]
    for part in parts:
        column = next(number for number, end in enumerate(columns) if part.left < end)
        if drawn[-1] and column < max(drawn[-1]):
            drawn.append({})
        drawn[-1].setdefault(column, []).append(part)
    ends = [sorted(part.words[0].base for cell in row.values() for part in cell) for row in drawn]
    within = [
        one.words[0].base - other.words[0].base
        for row in drawn
        for cell in row.values()
        for one, other in pairwise(cell)
        if one.words[0].base != other.words[0].base  # a name over two columns makes one of them
    ]
    between = [above[0] - below[-1] for above, below in pairwise(ends)]
    if not within or not between or max(within) > _CLOSER * min(between) or min(within) <= 0:
        return []
    return [[reduce(_below, row[column]) for column in sorted(row)] for row in drawn]


def _columns(parts: Sequence[_Part]) -> list[float]:
    """Return the right ends of the columns of a table."""
    ends: list[float] = []
    for left, right in sorted((part.left, part.right) for part in parts):
        if ends and left < ends[-1]:
            ends[-1] = max(ends[-1], right)
        else:
            ends.append(right)
    return ends


def _continued(row: _Row, part: _Part, rows: Sequence[_Row]) -> int | None:
    """Return the cell of a row that goes on in the next line, as its next word would not have fitted; None if none."""
    for number, cell in enumerate(row):
        if abs(cell.left - part.left) < part.words[0].size and number:
            edge = max(
                other.right for line in rows for other in line if abs(other.left - cell.left) < part.words[0].size
            )
            end = max(word.right for word in cell.words if word.base == cell.words[-1].base)
            first = part.words[0]
            return number if end + first.right - first.left + _WORDS * first.size > edge else None
    return None


_SECONDS_OF_PAGE = 30  # for a page
_MEMORY = 4_000_000_000  # bytes
_GAP, _BACK = 0.3, -0.5  # of the size of letters, between those of a word
_HYPHENS = {0x2: "-", 0xFFFE: "-"}  # at the end of a line
_NO_LETTERS = range(0xD800, 0xF900)  # halves of letters, and parts of brackets and the like in fonts of their own


def main() -> None:
    """Write the outline and the pages of the file on standard input."""
    import pypdfium2

    try:
        import resource
    except ImportError:  # on Windows
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    try:
        file = pypdfium2.PdfDocument(sys.stdin.buffer.read())
    except pypdfium2.PdfiumError as error:
        _write(str(error))
        return
    faulthandler.dump_traceback_later(_SECONDS_OF_PAGE, exit=True)
    _write([[page, depth, title] for page, depth, title in _outline(file)])
    for number in range(len(file)):
        faulthandler.dump_traceback_later(_SECONDS_OF_PAGE, exit=True)
        try:
            page = file[number]
        except pypdfium2.PdfiumError:
            _write([])  # a page that is listed and missing
            continue
        _write(
            [
                [w.text, *(round(n, 2) for n in (w.left, w.right, w.base, w.size)), w.turned, w.spaced]
                for w in _words(page)
            ]
        )
        page.close()


def _write(line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")


def _outline(file: "pypdfium2.PdfDocument") -> Iterator[tuple[int, int, str]]:
    for entry in file.get_toc():
        target = entry.get_dest()
        page = target.get_index() if target else None
        if page is not None:
            yield page, entry.level, entry.get_title()


def _words(page: "pypdfium2.PdfPage") -> list["_Drawn"]:
    """Return the words of a page in the order in which they are drawn."""
    import pypdfium2.raw as pdfium

    text = page.get_textpage()
    quarter = page.get_rotation() // 90
    words: list[_Drawn] = []
    matrix, box = pdfium.FS_MATRIX(), pdfium.FS_RECTF()
    size, ended, guessed, at = 0.0, True, False, (0.0,) * 6
    for number in range(pdfium.FPDFText_CountChars(text)):
        code = pdfium.FPDFText_GetUnicode(text, number)
        letter = _HYPHENS.get(code) or chr(code)
        if not letter.strip() or code in _NO_LETTERS or code == 0:
            if pdfium.FPDFText_IsGenerated(text, number) == 1:  # a guess, also between letters that touch
                guessed = True
            else:
                ended = True
            continue
        pdfium.FPDFText_GetMatrix(text, number, ctypes.byref(matrix))
        pdfium.FPDFText_GetLooseCharBox(text, number, ctypes.byref(box))
        here = (matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f)
        if here != at:
            at, size = here, pdfium.FPDFText_GetFontSize(text, number) * math.hypot(matrix.c, matrix.d)
        turned = _direction(matrix.a, matrix.b)
        left, right, base = _turned(turned, box, matrix)
        turned = (turned + quarter) % 4
        last = words[-1] if words and not ended else None
        most = _WORDS if guessed else _GAP
        if last and (last.base, last.size, last.turned) == (base, size, turned) and last.add(letter, left, right, most):
            guessed = False
            continue
        spaced = ended or guessed and last is not None and last.size < _SMALL * size  # behind the number of a note
        words.append(_Drawn(letter, left, right, base, size, turned, spaced))
        ended = guessed = False
    text.close()
    return words


@dataclass(slots=True)
class _Drawn:
    """A word, its ends and its baseline in points, the size of its letters, its direction in quarters of a turn.

    `spaced` says that a space stands before it.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    turned: int
    spaced: bool

    def add(self, letter: str, left: float, right: float, most: float) -> bool:
        """Add a letter that stands at the end of the word, which is its left end in Arabic and Hebrew.

        `most` is the gap between them at most, as a part of their size.
        """
        ahead, behind = left - self.right, self.left - right
        to_the_left = bidirectional(letter) in _TO_THE_LEFT
        if to_the_left and abs(behind) < abs(ahead) and _BACK * self.size < behind < most * self.size:
            self.left, self.text = left, self.text + letter
        elif _BACK * self.size < ahead < most * self.size:
            self.right, self.text = right, letter + self.text if to_the_left else self.text + letter
        else:
            return False
        return True


def _direction(across: float, up: float) -> int:
    """Return to where letters follow each other, in quarters of a turn to the left."""
    return (0 if across > 0 else 2) if abs(across) >= abs(up) else (1 if up > 0 else 3)


def _turned(turned: int, box: "pdfium.FS_RECTF", matrix: "pdfium.FS_MATRIX") -> tuple[float, float, float]:
    """Return the left and right end of a letter and its baseline, as if it was written from left to right."""
    if turned == 0:
        return box.left, box.right, matrix.f
    if turned == 1:
        return box.bottom, box.top, -matrix.e
    if turned == 2:
        return -box.right, -box.left, -matrix.f
    return -box.top, -box.bottom, matrix.e


if __name__ == "__main__":
    main()
