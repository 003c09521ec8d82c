"""Checks and decodes text."""

import gzip
import re
import zlib
from io import BytesIO

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
_GZIP = b"\x1f\x8b"
_LARGEST, _TIMES = 100_000_000, 50  # bytes that a file may always unpack to; and how many times its size
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # a lone surrogate, from broken JSON or unusual terminals


def is_text(value: str) -> bool:
    """Return whether a string can be encoded as UTF-8, as databases, tokenizers and servers require."""
    return not _HALF_CHARACTER.search(value)


def is_blank(text: str) -> bool:
    """Return whether there is nothing to see in a text: only spaces, control characters and invisible ones."""
    return not any(character.isprintable() and not character.isspace() for character in text)


def without_controls(text: str) -> str:
    """Replace control characters by spaces: in a terminal, they can hide other text.

    NUL is removed, as some databases cannot store it.
    """
    return _CONTROL.sub(" ", text.replace("\0", ""))


def decoded(written: bytes) -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark, as PowerShell writes it.

    Raises:
        UnicodeDecodeError: when it is neither.
    """
    return written.decode("utf-16" if written.startswith(_UTF_16) else "utf-8-sig")


def unpacked(written: bytes) -> bytes:
    """Return the content of a gzip file; that of others as it is.

    Raises:
        ValueError: when it is damaged, or unpacks to far more than its size.
    """
    if not written.startswith(_GZIP):
        return written
    most = max(_LARGEST, _TIMES * len(written))
    try:
        content = gzip.GzipFile(fileobj=BytesIO(written)).read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"expected a whole gzip file, got one that cannot be unpacked ({error})") from error
    if len(content) > most:
        raise ValueError(f"it unpacks to more than {most:,} bytes, from {len(written):,}")
    return content
