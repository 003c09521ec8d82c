"""What counts as text."""

import re

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # of a surrogate pair, as broken JSON and odd terminals leave behind


def is_text(value: str) -> bool:
    """Return whether a string can be written as UTF-8, as stores, tokenizers and servers all do."""
    return not _HALF_CHARACTER.search(value)
