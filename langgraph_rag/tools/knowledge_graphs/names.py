"""Names by the words in them, to find those that are much like another."""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping

_ALIKE = 0.5  # share of the words of two names that both have; with fewer they hardly ever mean the same
_COMMON = 200  # names a word may stand in and still tell similar ones


class Names:
    """Names in normal form; others may read while one adds and removes."""

    def __init__(self) -> None:
        self._by_word: defaultdict[str, dict[str, None]] = defaultdict(dict)  # in order, and soon removed from

    def add(self, names: Iterable[str]) -> None:
        """Add names that are not there yet."""
        for name in names:
            for word in dict.fromkeys(name.split()):
                self._by_word[word][name] = None

    def remove(self, names: Iterable[str]) -> None:
        """Remove names that are there."""
        for name in names:
            for word in dict.fromkeys(name.split()):
                del self._by_word[word][name]
                if not self._by_word[word]:
                    del self._by_word[word]

    def alike(self, name: str, among: Container[str]) -> Mapping[str, float]:
        """Return the names, of some, that share half of all words with a name or more, each with that share."""
        words = set(name.split())
        by_word = (self._by_word.get(word, ()) for word in words)
        candidates = {other for names in by_word if len(names) <= _COMMON for other in tuple(names) if other in among}
        shares = {other: _shared(words, set(other.split())) for other in candidates}
        return {other: share for other, share in shares.items() if share >= _ALIKE}


def _shared(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other)
