"""The stop words of spaCy."""

from functools import cache


@cache
def stop_words() -> frozenset[str]:
    """Return the stop words in lower case; spaCy is imported here, as that takes seconds if torch is installed."""
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS)
