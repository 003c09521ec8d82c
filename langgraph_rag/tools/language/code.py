"""Blocks of code in a text, marked as in Markdown: by a line of backticks or tildes before and after.

In plain text, rows of tildes also separate sections and frame headings. So more than four tildes mark no code, and
neither do tildes around a text: `~~~~~~~~~~`, `~~~ Chapter 1 ~~~`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_TILDES = "~{3,4}(?!~)"
_OPENING = re.compile(rf"[ \t]*(?:[-*+] )?(?P<fence>`{{3,}}|{_TILDES}(?!.*~\s*$))[^`]*$")
_LONGEST_OPENING = 80  # characters that are repeated in each part
_ON_ONE_LINE = re.compile(rf"(?:- )?(?:```|{_TILDES}(?!.*{_TILDES} ))")


class Block(NamedTuple):
    """A block of code: start, end, opening line, closing fence, and whether it is closed."""

    start: int
    end: int
    opening: str
    fence: str
    closed: bool


def is_code(text: str) -> bool:
    """Return whether a text on one line is a block of code."""
    return _ON_ONE_LINE.match(text) is not None


def fenced(code: str, fence: str, info: str) -> str:
    """Mark a text as code like in its Markdown; use backticks if its fence would not mark code in plain text."""
    if not _OPENING.match(fence + info):
        longest = max(map(len, re.findall("`+", code)), default=0)
        fence, info = "`" * max(3, longest + 1), info.replace("`", "")
    return f"{fence}{info}\n{code}\n{fence}"


def blocks_of_code(text: str) -> Iterator[Block]:
    """Yield the blocks of code in a text; an unclosed one ends with the text."""
    opening, start, position = None, 0, 0
    for line in text.split("\n"):
        end = position + len(line)
        if opening and line.strip() == opening["fence"]:
            yield Block(start, end, opening[0], opening["fence"], closed=True)
            opening = None
        elif not opening and (opening := _OPENING.match(line)):
            start = position
        position = end + 1
    if opening:
        yield Block(start, len(text), opening[0], opening["fence"], closed=False)


def closed(part: str) -> str:
    """Close a block of code that is cut at the end of a part."""
    *_, last = [None, *blocks_of_code(part)]
    return f"{part}\n{last.fence}" if last and not last.closed else part
