"""Words that carry no content, as spaCy lists them."""

from functools import cache


@cache
def stop_words() -> frozenset[str]:
    """Return the words, in lower case; spaCy is imported only now, because with torch installed that takes seconds."""
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS)
