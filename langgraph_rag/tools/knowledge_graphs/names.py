"""An index of names by their words, to find similar names."""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping

_ALIKE = 0.5  # share of common words of two names; with fewer, they rarely mean the same
_COMMON = 200  # maximum names with a word that is used to find similar names


class Names:
    """Names in normal form; other threads may read while one adds and removes."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._by_word: defaultdict[str, dict[str, None]] = defaultdict(dict)  # ordered, with fast removal
        self.add(names)

    def add(self, names: Iterable[str]) -> None:
        """Add new names."""
        for name in names:
            for word in dict.fromkeys(name.split()):
                self._by_word[word][name] = None

    def remove(self, names: Iterable[str]) -> None:
        """Remove existing names."""
        for name in names:
            for word in dict.fromkeys(name.split()):
                del self._by_word[word][name]
                if not self._by_word[word]:
                    del self._by_word[word]

    def with_word(self, word: str) -> Iterable[str]:
        """Return the names with a word in them."""
        return tuple(self._by_word.get(word, ()))

    def alike(self, name: str, among: Container[str]) -> Mapping[str, float]:
        """Return the names in `among` that share at least half of all words with a name, each with this share."""
        words = set(name.split())
        by_word = (self._by_word.get(word, ()) for word in words)
        candidates = {other for names in by_word if len(names) <= _COMMON for other in tuple(names) if other in among}
        shares = {other: _shared(words, set(other.split())) for other in candidates}
        return {other: share for other, share in shares.items() if share >= _ALIKE}


def _shared(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other)
