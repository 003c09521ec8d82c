"""Writes the words of a PDF file with their places; run as a program, as the library in C may crash or fill the memory.

python pdf_process.py < FILE writes a line of JSON with the outline, and then one for each page; or one that says what
is wrong.
"""

import ctypes
import faulthandler
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from unicodedata import bidirectional

import pypdfium2
import pypdfium2.raw as pdfium

_SECONDS = 30  # for a page
_MEMORY = 4_000_000_000  # bytes
_GAP, _BACK = 0.3, -0.5  # of the size of letters, between those of a word
_HYPHENS = {0x2: "-", 0xFFFE: "-"}  # at the end of a line
_NO_LETTERS = range(0xD800, 0xF900)  # halves of letters, and parts of brackets and the like in fonts of their own
_TO_THE_LEFT = ("R", "AL")


def main() -> None:
    """Write the outline and the pages of the file on standard input."""
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
    faulthandler.dump_traceback_later(_SECONDS, exit=True)
    _write([[page, depth, title] for page, depth, title in _outline(file)])
    for number in range(len(file)):
        faulthandler.dump_traceback_later(_SECONDS, exit=True)
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


def _outline(file: pypdfium2.PdfDocument) -> Iterator[tuple[int, int, str]]:
    for entry in file.get_toc():
        target = entry.get_dest()
        page = target.get_index() if target else None
        if page is not None:
            yield page, entry.level, entry.get_title()


def _words(page: pypdfium2.PdfPage) -> list["_Word"]:
    """Return the words of a page in the order in which they are drawn."""
    text = page.get_textpage()
    quarter = page.get_rotation() // 90
    words: list[_Word] = []
    matrix, box = pdfium.FS_MATRIX(), pdfium.FS_RECTF()
    size, ended, at = 0.0, True, (0.0,) * 6
    for number in range(pdfium.FPDFText_CountChars(text)):
        code = pdfium.FPDFText_GetUnicode(text, number)
        letter = _HYPHENS.get(code) or chr(code)
        if not letter.strip() or code in _NO_LETTERS or code == 0:
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
        if last and (last.base, last.size, last.turned) == (base, size, turned) and last.add(letter, left, right):
            continue
        words.append(_Word(letter, left, right, base, size, turned, ended))
        ended = False
    text.close()
    return words


@dataclass(slots=True)
class _Word:
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

    def add(self, letter: str, left: float, right: float) -> bool:
        """Add a letter that stands at the end of the word, which is its left end in Arabic and Hebrew."""
        if _BACK * self.size < left - self.right < _GAP * self.size:
            self.right = right
        elif _BACK * self.size < self.left - right < _GAP * self.size and bidirectional(letter) in _TO_THE_LEFT:
            self.left = left
        else:
            return False
        self.text += letter
        return True


def _direction(across: float, up: float) -> int:
    """Return to where letters follow each other, in quarters of a turn to the left."""
    return (0 if across > 0 else 2) if abs(across) >= abs(up) else (1 if up > 0 else 3)


def _turned(turned: int, box: pdfium.FS_RECTF, matrix: pdfium.FS_MATRIX) -> tuple[float, float, float]:
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
