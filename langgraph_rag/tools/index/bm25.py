"""BM25 over the words of all passages, with the scores of FTS5's function.

No library does this (`benchmarks/bm25.py`): FTS5's own function reads the length of each passage that it ranks from the
file, tantivy has other statistics and so another order, and bm25s makes all files anew for one more passage.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from langgraph_rag.records import ScoredPassage
from langgraph_rag.tools.index.arrays import Array, Rows
from langgraph_rag.tools.index.word_index import Part, WordIndex, Words
from langgraph_rag.tools.index.words import Postings, Segment
from langgraph_rag.tools.stores.visibility import Visible

_NONE: Rows = np.empty(0, np.int64)
Values = NDArray[np.float64]
Mask = NDArray[np.bool_]

_K1, _B, _LEAST_IDF = 1.2, 0.75, 1e-6  # of FTS5
_PART_WEIGHT = 0.5  # weight of a part of a name that some passage has as a whole
_ASKED = 16  # queries whose words are kept
_TIED = 200  # passages with the least score of the best, of which those with the first ids are chosen
_MARGIN = 1 - 1e-9  # sums in another order differ by less
_NOWHERE = Postings(*(np.empty(0, kind) for kind in (np.uint32, np.uint8, np.uint8, np.uint32)))
_READ = 2**14  # postings of all words together that are read as a whole
_FEW = 8  # a list is searched for that many times fewer rows, instead of read


@dataclass(frozen=True)
class _Word:
    """A word, name or part of a query in the passages that are searched.

    Attributes:
        weight: of its scores.
        lists: its passages in each segment.
        idf: its inverse document frequency.
        mean: the mean number of tokens of the passages.
    """

    weight: float
    lists: Sequence[Postings]
    idf: float
    mean: float

    def scores(self, frequencies: Array, lengths: Array) -> Values:
        """Return its part of the BM25 scores of passages with these frequencies and numbers of tokens."""
        length = lengths.astype(np.float64)  # changed in place, as a list may be as long as there are passages
        length *= _B
        length /= self.mean
        length += 1 - _B
        length *= _K1
        scores: Values = frequencies.astype(np.float64)
        length += scores
        scores *= _K1 + 1.0
        scores /= length
        scores *= self.idf
        return scores

    @cached_property
    def most(self) -> list[float]:
        """Its highest score in each segment."""
        return [float(self.scores(of.most, of.fewest).max(initial=0.0)) for of in self.lists]


class Bm25:
    """Ranks passages by the words and names of a query; a word of the title or of an explained term counts triple.

    A name is one word, as rare as the whole name. Its parts count, too, but less if some passage has the whole.

    Only passages that can be among the best are scored: once these have words enough, a passage with none but the most
    frequent words cannot be (MaxScore: Turtle and Flood, Query evaluation, 1995).
    """

    def __init__(self, index: WordIndex) -> None:
        self._index = index
        self._masks: WeakKeyDictionary[Visible, WeakKeyDictionary[Segment, Rows]] = WeakKeyDictionary()
        self._asked: WeakKeyDictionary[Words, dict[tuple[str, Visible | None], dict[str, _Word]]] = WeakKeyDictionary()

    def best(self, words: Mapping[str, Sequence[str]], k: int, visible: Visible | None = None) -> list[ScoredPassage]:
        """Return the k passages that share the rarest words, best first, of equal ones by id; safe in any thread."""
        index = self._index.now()
        weighed = list(self._weighed(index, words, visible).values())
        best = _Best(k)
        found: list[tuple[Part, Rows, Values]] = []
        for place in sorted(range(len(index.parts)), key=lambda place: -index.parts[place].size):
            part = index.parts[place]
            found.append((part, *_scored(part.segment, place, weighed, best)))
        least, scored = best.least(), list[ScoredPassage]()
        for part, rows, scores in found:
            tied = np.flatnonzero(scores == least)[:_TIED]  # with words that all have, all may be equal
            chosen = np.concatenate([np.flatnonzero(scores > least), tied])
            for id_, score in zip(part.segment.ids.take(rows[chosen].tolist()), scores[chosen].tolist(), strict=True):
                scored.append(ScoredPassage(id=id_, score=score))
        return sorted(scored, key=lambda passage: (-passage["score"], passage["id"]))[:k]

    def rarity(self, words: Mapping[str, Sequence[str]], visible: Visible | None = None) -> dict[str, float]:
        """Return how much each word, name and part tells: its weight times its inverse document frequency."""
        weighed = self._weighed(self._index.now(), words, visible)
        return {word: of.weight * of.idf for word, of in weighed.items()}

    def told(
        self, words: Mapping[str, Sequence[str]], ids: Sequence[str], visible: Visible | None = None
    ) -> tuple[Values, Values]:
        """Return how well passages tell each word, name and part, and the share of each in what all tell, by rarity.

        A passage tells a word by its score relative to that of the best passage of the word.

        Shapes: passages x words, and words.
        """
        index = self._index.now()
        weighed = list(self._weighed(index, words, visible).values())
        told, most = np.zeros((len(ids), len(weighed))), np.zeros(len(weighed))
        for place, part in enumerate(index.parts):
            rows = part.segment.ids.find(ids)
            there = np.flatnonzero(rows >= 0)
            most = np.maximum(most, [word.most[place] for word in weighed])
            if not there.size:
                continue
            for column, word in enumerate(weighed):
                at, scores = _scores_in(part.segment, place, word, rows[there])
                told[there[at], column] = scores
        return told / np.where(most, most, 1.0), _shares(weighed)

    def share(self, words: Mapping[str, Sequence[str]], id_: str, visible: Visible | None = None) -> float:
        """Return the share of a passage in what words, names and parts tell, by their rarity, from 0 to 1."""
        index = self._index.now()
        weighed = list(self._weighed(index, words, visible).values())
        has = np.zeros(len(weighed), bool)
        for place, part in enumerate(index.parts):
            if (row := int(part.segment.ids.find([id_])[0])) >= 0:
                has |= [_is_in(word.lists[place].rows, row) for word in weighed]
        return float(_shares(weighed)[has].sum())

    # --- words -------------------------------------------------------------------------------------------------------
    def _weighed(self, index: Words, words: Mapping[str, Sequence[str]], visible: Visible | None) -> dict[str, _Word]:
        """Return the words, names and parts with their passages; a search asks for those of one query several times."""
        asked, query = self._asked.setdefault(index, {}), (str(words), visible)
        if (known := asked.get(query)) is not None:
            return known
        if len(asked) >= _ASKED:
            asked.clear()
        asked[query] = weighed = self._of_words(index, words, visible)
        return weighed

    def _of_words(self, index: Words, words: Mapping[str, Sequence[str]], visible: Visible | None) -> dict[str, _Word]:
        shown = [self._shown(part, visible) for part in index.parts]
        if visible is None:
            count, tokens = index.count, index.tokens
        else:
            lengths = [
                part.segment.lengths[rows] for part, rows in zip(index.parts, shown, strict=True) if rows is not None
            ]
            count, tokens = sum(map(len, lengths)), sum(int(of.sum(dtype=np.int64)) for of in lengths)
        mean = tokens / max(count, 1)
        lists = self._lists(
            index, list(dict.fromkeys([*words, *(part for of in words.values() for part in of)])), shown
        )
        found = {word: sum(len(postings.rows) for postings in of) for word, of in lists.items()}
        weights = dict.fromkeys(words, 1.0)
        for name, parts in words.items():
            for part in parts:
                weights.setdefault(part, _PART_WEIGHT if found[name] else 1.0)
        return {
            word: _Word(weight, lists[word], _idf(count, found[word]), mean or 1.0) for word, weight in weights.items()
        }

    def _lists(self, index: Words, words: Sequence[str], shown: Sequence[Rows | None]) -> dict[str, list[Postings]]:
        """Return the passages of each word in each part, without removed ones and those that are not shown."""
        tokens = self._index.tokens_of(words)
        different = list(dict.fromkeys(token for of_word in tokens.values() for token in of_word))
        lists: dict[str, list[Postings]] = {word: [] for word in words}
        for part, rows in zip(index.parts, shown, strict=True):
            found = dict(zip(different, part.segment.terms.find(different).tolist(), strict=True))
            among = None if rows is None else _Among(rows, len(part.segment))
            for word in words:
                terms = [found[token] for token in tokens[word]]
                if not terms or min(terms) < 0:
                    lists[word].append(_NOWHERE)
                    continue
                postings = part.segment.postings(terms)
                if among is not None:
                    postings = _chosen(part.segment, postings, among.places(postings.rows))
                elif len(part.removed):
                    postings = _without(part, postings)
                lists[word].append(postings)
        return lists

    def _shown(self, part: Part, visible: Visible | None) -> Rows | None:
        """Return the rows of the visible passages of a part, in order; None for all that were not removed."""
        if visible is None:
            return None
        known = self._masks.setdefault(visible, WeakKeyDictionary())
        if (rows := known.get(part.segment)) is None:
            numbers = part.segment.numbers
            rows = known[part.segment] = np.flatnonzero(visible.mask(int(numbers.max(initial=0)) + 1)[numbers])
        return np.setdiff1d(rows, part.removed, assume_unique=True) if len(part.removed) else rows


class _Best:
    """The k highest scores of parts that were searched."""

    def __init__(self, k: int) -> None:
        self._k, self._scores = k, np.empty(0)

    def least(self, others: Values = np.empty(0), known: float = 0.0) -> float:  # noqa: B008 - never changed
        """Return the score that each of the best has at least, given others; 0 while there are not enough.

        If it is known that it is not below some score, the others below need not be ordered.
        """
        scores = np.concatenate([self._scores, others[others >= known]])
        return float(np.partition(scores, -self._k)[-self._k]) if len(scores) >= self._k else 0.0

    def add(self, scores: Values) -> None:
        """Add the scores of a part."""
        least = self.least(scores)
        scores = np.concatenate([self._scores, scores])
        self._scores = np.sort(scores[scores >= least])[-self._k :]


class _Among:
    """Some rows of a segment, in order."""

    def __init__(self, rows: Rows, size: int) -> None:
        self._rows, self._size = rows, size

    @cached_property
    def _mask(self) -> Mask:
        mask = np.zeros(self._size, bool)
        mask[self._rows] = True
        return mask

    def places(self, rows: Array) -> Rows:
        """Return the places of those of other rows, in order, that are among them."""
        if len(self._rows) * _FEW > len(rows):
            return np.flatnonzero(self._mask[rows])
        return _places(rows, self._rows)[0]


def _scored(segment: Segment, part: int, words: Sequence[_Word], best: _Best) -> tuple[Rows, Values]:
    """Return the rows of a segment that can be among the best of all, and their scores.

    Scores are added in the order of the words, so that equal passages have equal scores.
    """
    if sum(len(word.lists[part].rows) for word in words) < _READ:
        rows, scores = _all_scored(segment, part, words)
    else:
        rows = _candidates(segment, part, words, best)
        scores = np.zeros(len(rows))
        for word in words:
            at, of_word = _scores_in(segment, part, word, rows)
            scores[at] += word.weight * of_word
    best.add(scores)
    return rows, scores


def _all_scored(segment: Segment, part: int, words: Sequence[_Word]) -> tuple[Rows, Values]:
    """Return all rows of a segment with one of the words, and their scores."""
    lists = [word.lists[part] for word in words]
    rows = np.concatenate([np.empty(0, np.int64), *(postings.rows for postings in lists)], dtype=np.int64)
    scores = [
        word.weight * word.scores(postings.frequencies, segment.lengths[postings.rows])
        for word, postings in zip(words, lists, strict=True)
        if len(postings.rows)
    ]
    totals: Values = np.bincount(rows, np.concatenate([np.empty(0), *scores])).astype(np.float64, copy=False)
    found = np.flatnonzero(totals)
    return found, totals[found]


def _candidates(segment: Segment, part: int, words: Sequence[_Word], best: _Best) -> Rows:
    """Return the rows of a segment, in order, that can be among the best of all."""
    lists = sorted(((word.weight * word.most[part], word) for word in words), key=lambda item: -item[0])
    bounds = [bound for bound, _ in lists]
    left = [*accumulate(reversed(bounds), initial=0.0)][::-1]  # by which all words from one on can raise a score
    totals, rows = np.zeros(len(segment)), np.empty(0, np.int64)
    least, place = best.least(totals[rows]), 0
    while place < len(lists) and bounds[place] and left[place] >= least * _MARGIN:
        word = lists[place][1]
        having = word.lists[part].rows
        rows = np.concatenate([rows, having[totals[having] == 0]])
        _add(totals, segment, part, word)
        place += 1
        if left[place] < left[0] - left[place]:  # else others can still score as much as any of these
            least = best.least(totals[rows], least)
    rows.sort()
    for (_, word), most_left in zip(lists[place:], left[place:-1], strict=True):
        rows = rows[totals[rows] + most_left >= least * _MARGIN]
        if len(rows) * _FEW > len(word.lists[part].rows):
            _add(totals, segment, part, word)
        else:
            at, scores = _scores_in(segment, part, word, rows)
            totals[rows[at]] += word.weight * scores
        least = best.least(totals[rows], least)
    return rows[totals[rows] >= least * _MARGIN]


def _add(totals: Values, segment: Segment, part: int, word: _Word) -> None:
    """Add the scores of all passages with a word."""
    postings = word.lists[part]
    totals[postings.rows] += word.weight * word.scores(postings.frequencies, segment.lengths[postings.rows])


def _scores_in(segment: Segment, part: int, word: _Word, rows: Rows) -> tuple[Rows, Values]:
    """Return which of some rows of a segment have a word, and the scores of these."""
    postings = word.lists[part]
    places, at = _places(postings.rows, rows)
    if not at.size:
        return at, np.empty(0)
    return at, word.scores(postings.frequencies[places], segment.lengths[rows[at]])


def _places(rows: Array, wanted: Rows) -> tuple[Rows, Rows]:
    """Return the places in rows, which are in order, of those wanted that are there, and which of them these are."""
    if not len(rows):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    wanted = wanted.astype(rows.dtype)  # otherwise, all rows would be converted
    places = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    at = np.flatnonzero(rows[places] == wanted)
    return places[at], at


def _is_in(rows: Array, row: int) -> bool:
    place = int(rows.searchsorted(rows.dtype.type(row)))  # of another type, all rows would be converted
    return place < len(rows) and bool(rows[place] == row)


def _shares(words: Iterable[_Word]) -> Values:
    """Return how much each of some words tells, of all that they tell together."""
    shares = np.array([word.weight * word.idf for word in words])
    together: Values = shares / max(shares.sum(), _LEAST_IDF)
    return together


def _without(part: Part, postings: Postings) -> Postings:
    places, _ = _places(postings.rows, part.removed)
    return (
        _chosen(part.segment, postings, np.delete(np.arange(len(postings.rows)), places)) if len(places) else postings
    )


def _chosen(segment: Segment, postings: Postings, places: Rows) -> Postings:
    """Return some passages of a list."""
    rows, frequencies = postings.rows[places], postings.frequencies[places]
    return Postings(rows, frequencies, frequencies, segment.lengths[rows])


def _idf(count: int, having: int) -> float:
    """Return the inverse document frequency of what some of the passages have."""
    return max(math.log((count - having + 0.5) / (having + 0.5)), _LEAST_IDF)
