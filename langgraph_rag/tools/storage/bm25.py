"""BM25 as in FTS5, which reads the length of each passage that it ranks from the file.

Here the lengths of all passages stay in memory, and so do the passages of the words that were searched.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langgraph_rag.records import ScoredPassage
from langgraph_rag.tools.storage.change_log import ChangeLog
from langgraph_rag.tools.storage.database import Database, as_json
from langgraph_rag.tools.storage.visibility import Visible
from langgraph_rag.tools.storage.word_index import TOKENIZE

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

_K1, _B, _LEAST_IDF = 1.2, 0.75, 1e-6  # of FTS5
_TITLE_WEIGHT = 3.0  # weight of a word: a title and the terms that a passage explains are its topics
_PART_WEIGHT = 0.5  # weight of a part of a name that some passage has as a whole
_COLUMNS = 2  # title and text
_TOTALS = 1  # the record with the numbers of passages and of their tokens
_REMEMBERED = 2**21  # passages of all words together; 24 bytes each
_TABLES = f"""
CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, words, instance);
CREATE VIRTUAL TABLE temp.query USING fts5(words, content='', {TOKENIZE});
CREATE VIRTUAL TABLE temp.query_tokens USING fts5vocab(temp, query, instance);
"""


@dataclass(frozen=True)
class _Passages:
    """The passages that are searched: their count, their mean number of tokens, and which ones (None: all)."""

    count: float
    mean: float
    mask: NDArray[np.bool_] | None = None

    def idf(self, numbers: Numbers) -> float:
        """Return the inverse document frequency of what the passages with these numbers have."""
        return max(math.log((self.count - len(numbers) + 0.5) / (len(numbers) + 0.5)), _LEAST_IDF)


class Bm25:
    """Ranks passages by the words and names of a query; a word of the title or of an explained term counts triple.

    A name is one word, as rare as the whole name. Its parts count, too, but less if some passage has the whole.

    Args:
        db: the database with the table of words.
        changes: the log of changed passages.
    """

    def __init__(self, db: Database, changes: ChangeLog) -> None:
        self._db, self._changes = db, changes
        self._end: int | None = None  # of the changes, when the following was read
        self._lengths: Values = np.empty(0)  # tokens, by the number of a passage
        self._all = _Passages(0.0, 0.0)
        self._frequencies: dict[str, tuple[Numbers, Values]] = {}  # by word: the passages that have it, and how often
        self._scores: dict[str, tuple[Numbers, Values]] = {}  # by word: the same passages, and its scores in all
        self._remembered = 0  # passages in that
        db.executescript(_TABLES)

    def best(self, words: Mapping[str, Sequence[str]], k: int, visible: Visible | None = None) -> list[ScoredPassage]:
        """Return the k passages that share the rarest words, best first, of equal ones by id; safe in any thread.

        Args:
            words: the words and names, with the parts of each name.
            k: the maximum number of passages.
            visible: the passages that are searched, and of which the statistics are; by default all.
        """
        with self._db.snapshot():
            weights, scores_of, _ = self._weighted(words, visible)
            found = [(scores_of[word][0], weight * scores_of[word][1]) for word, weight in weights.items()]
            if not found:
                return []
            scores = _added(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
            ids = self._ids(_best(scores, k))
        order = sorted(ids, key=lambda number: (-scores[number], ids[number]))
        return [ScoredPassage(id=ids[number], score=float(scores[number])) for number in order[:k]]

    def rarity(self, words: Mapping[str, Sequence[str]], visible: Visible | None = None) -> dict[str, float]:
        """Return how much each word, name and part tells: its weight times its inverse document frequency."""
        with self._db.snapshot():
            weights, scores, passages = self._weighted(words, visible)
            return {word: weight * passages.idf(scores[word][0]) for word, weight in weights.items()}

    def told(
        self, words: Mapping[str, Sequence[str]], ids: Sequence[str], visible: Visible | None = None
    ) -> tuple[Values, Values]:
        """Return how well passages tell each word, name and part, and the share of each in what all tell, by rarity.

        A passage tells a word by its score relative to that of the best passage of the word.

        Shapes: passages x words, and words.
        """
        with self._db.snapshot():
            weights, scores_of, passages = self._weighted(words, visible)
            known = dict(self._db.by_ids("id, number", "passages WHERE id IN", ids))
        numbers = np.array([known.get(id_, -1) for id_ in ids], dtype=np.int64)
        told, shares = np.zeros((len(ids), len(weights))), np.zeros(len(weights))
        for column, (word, weight) in enumerate(weights.items()):
            having, scores = scores_of[word]
            shares[column] = weight * passages.idf(having)
            if len(having):
                place = np.searchsorted(having, numbers) % len(having)
                told[:, column] = np.where(having[place] == numbers, scores[place] / scores.max(), 0.0)
        return told, shares / max(shares.sum(), _LEAST_IDF)

    def _weighted(
        self, words: Mapping[str, Sequence[str]], visible: Visible | None
    ) -> tuple[dict[str, float], Mapping[str, tuple[Numbers, Values]], _Passages]:
        """Return the words, names and parts with their weights and their scores in passages, and these passages."""
        self._renew()
        parts = [part for of_name in words.values() for part in of_name]
        self._learn([word for word in dict.fromkeys([*words, *parts]) if word not in self._frequencies])
        passages = self._passages(visible)
        scores = self._scores if visible is None else {w: self._score(w, passages) for w in {*words, *parts}}
        weights = dict.fromkeys(words, 1.0)
        for name, of_name in words.items():
            for part in of_name:
                weights.setdefault(part, _PART_WEIGHT if len(scores[name][0]) else 1.0)
        return weights, scores, passages

    def _passages(self, visible: Visible | None) -> _Passages:
        if visible is None:
            return self._all
        mask = visible.mask(len(self._lengths))
        count = float(np.count_nonzero(mask))
        return _Passages(count, float(self._lengths[mask].sum()) / max(count, 1.0), mask)

    def _renew(self) -> None:
        """Forget what is outdated or too much, and read the lengths of changed passages."""
        end = self._changes.end_in_snapshot
        if end == self._end and self._remembered <= _REMEMBERED:
            return
        self._frequencies, self._scores, self._remembered = {}, {}, 0
        if end != self._end:
            self._read_lengths()
            _, totals = self._db.blobs("block", f"(SELECT id, block FROM words_data WHERE id = {_TOTALS})")
            count, *tokens = _varints(totals).tolist() or [0.0]
            self._all, self._end = _Passages(count, sum(tokens) / max(count, 1)), end

    def _read_lengths(self) -> None:
        changed = None if self._end is None else self._changes.since(self._end)
        if changed is None:
            numbers, lengths = self._db.blobs("sz", "words_docsize")
        else:
            of_changed = "number FROM passages WHERE id IN (SELECT value FROM json_each(?))"
            of = f"(SELECT id, sz FROM words_docsize WHERE id IN (SELECT {of_changed}))"
            numbers, lengths = self._db.blobs("sz", of, as_json(changed))
        new = max(numbers, default=0) + 1 - len(self._lengths)
        self._lengths = np.pad(self._lengths, (0, max(new, 0)))
        self._lengths[numbers] = _varints(lengths).reshape(-1, _COLUMNS).sum(axis=1)

    def _learn(self, words: Sequence[str]) -> None:
        """Read the passages of words, and keep how often each word is in them, and its scores."""
        if not words:
            return
        tokens = self._tokens(words)
        places = self._places([*{token for of_word in tokens.values() for token in of_word}])
        for word in words:
            self._frequencies[word] = _frequencies(_places_of_phrase(tokens[word], places))
            self._scores[word] = self._score(word, self._all)
            self._remembered += len(self._scores[word][0])

    def _tokens(self, words: Sequence[str]) -> dict[str, list[str]]:
        """Return the tokens, such as stems, that FTS5 makes of words."""
        self._db.execute("INSERT INTO temp.query (rowid, words) SELECT key, value FROM json_each(?)", [as_json(words)])
        of = "(SELECT doc, term FROM temp.query_tokens ORDER BY doc, offset)"
        tokens: dict[str, list[str]] = {word: [] for word in words}
        for place, token in self._db.rows("doc, term", of):
            tokens[words[place]].append(token)
        self._db.execute("INSERT INTO temp.query (query) VALUES ('delete-all')")
        return tokens

    def _places(self, tokens: Sequence[str]) -> dict[str, Numbers]:
        """Return the places of tokens, in order: 32 bits for the passage, one for the text, 31 for the position."""
        place = "(doc << 32) + ((col = 'text') << 31) + offset"
        places = f"(SELECT group_concat({place}) FROM temp.places WHERE term = token.value)"
        of = f"(SELECT value AS token, {places} AS places FROM json_each(?) AS token)"
        rows = self._db.rows("token, places", of, as_json(tokens))
        return {token: np.fromstring(found or "", dtype=np.int64, sep=",") for token, found in rows}

    def _score(self, word: str, passages: _Passages) -> tuple[Numbers, Values]:
        """Return the passages of a word, and its part of their scores."""
        numbers, frequencies = self._frequencies[word]
        if passages.mask is not None:
            there = passages.mask[numbers]
            numbers, frequencies = numbers[there], frequencies[there]
        if not len(numbers):
            return numbers, np.empty(0)
        length = _K1 * (1 - _B + _B * self._lengths[numbers] / passages.mean)
        return numbers, passages.idf(numbers) * (frequencies * (_K1 + 1.0) / (frequencies + length))

    def _ids(self, numbers: Sequence[int]) -> dict[int, str]:
        of = "(SELECT number, id FROM passages WHERE number IN (SELECT value FROM json_each(?)))"
        return dict(self._db.rows("number, id", of, as_json(numbers)))


def _places_of_phrase(tokens: Iterable[str], places: Mapping[str, Numbers]) -> Numbers:
    """Return where tokens follow each other, as the places of the first one."""
    found: Numbers | None = None
    for position, token in enumerate(tokens):
        first = places[token] - position
        found = first if found is None else np.intersect1d(found, first, assume_unique=True)
    return np.empty(0, dtype=np.int64) if found is None else found


def _frequencies(places: Numbers) -> tuple[Numbers, Values]:
    """Return the passages with these places, and how often each has one; in a title, one counts triple."""
    numbers, first = np.unique(places >> 32, return_index=True)
    if not len(numbers):
        return numbers, np.empty(0)
    return numbers, np.add.reduceat(np.where(places >> 31 & 1, 1.0, _TITLE_WEIGHT), first)


def _best(scores: Values, k: int) -> list[int]:
    """Return the places of the k highest scores above zero, and of all that equal the last of them."""
    found = np.flatnonzero(scores)
    if len(found) > k:
        least = np.partition(scores[found], -k)[-k]
        found = found[scores[found] >= least]
    places: list[int] = found.tolist()
    return places


def _varints(joined: bytes) -> Values:
    """Return numbers of seven bits a byte, highest first; the last byte of each has no eighth bit."""
    parts = np.frombuffer(joined, dtype=np.uint8)
    is_last = parts < 128
    which: Numbers = np.cumsum(is_last) - is_last
    return _added(which, (parts & 127) * 128.0 ** (np.flatnonzero(is_last)[which] - np.arange(len(parts))))


def _added(places: Numbers, values: Values) -> Values:
    """Return the sums of the values of each place, added in their order."""
    return np.bincount(places, values).astype(np.float64, copy=False)
