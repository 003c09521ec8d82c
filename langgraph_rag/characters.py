"""What counts as text."""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # the marks that such texts begin with
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # of a surrogate pair, as broken JSON and odd terminals leave behind


def is_text(value: str) -> bool:
    """Return whether a string can be written as UTF-8, as stores, tokenizers and servers all do."""
    return not _HALF_CHARACTER.search(value)


def without_controls(text: str) -> str:
    """Return a text with blanks in place of control characters: they can hide, in a terminal, what others say.

    NUL, which not all databases can keep, goes without a trace.
    """
    return _CONTROL.sub(" ", text.replace("\0", ""))


def decoded(written: bytes) -> str:
    """Read UTF-8, or UTF-16 with its mark, as PowerShell writes it.

    Raises:
        UnicodeDecodeError: when it is neither.
    """
    return written.decode("utf-16" if written.startswith(_UTF_16) else "utf-8-sig")
