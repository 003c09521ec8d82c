"""Blocks of code within a text, marked as in Markdown: by a line of backticks or tildes before and after."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_OPENING = re.compile(r"[ \t]*(?:[-*+] )?(?P<fence>`{3,}|~{3,})[^`]*$")


class Block(NamedTuple):
    """Where a block of code begins and ends, what opens it, and what closes it, or would."""

    start: int
    end: int
    opening: str
    fence: str
    closed: bool


def is_code(text: str) -> bool:
    """Tell whether a text on one line is a block of code."""
    return text.removeprefix("- ").startswith(("```", "~~~"))


def blocks_of_code(text: str) -> Iterator[Block]:
    """Yield the blocks of code in a text; one that is never closed ends with it."""
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


def whole_blocks(parts: Iterable[str]) -> Iterator[str]:
    """Close a block of code that was cut at the end of a part, and open it again in the next one."""
    opening = ""
    for part in parts:
        text = f"{opening}\n{part}" if opening else part
        *_, last = [None, *blocks_of_code(text)]
        cut = last if last and not last.closed else None
        opening = cut.opening if cut else ""
        yield f"{text.rstrip()}\n{cut.fence}" if cut else text
