"""The words of all passages: files that stand for a position in the change log, what changed since, and BM25 over them.

Reading processes map the files; the process that changes the knowledge base writes them beside questions and changes.
They hold nothing that cannot be made again of the records. The scores are those of FTS5's function.

No library does this (`benchmarks/bm25.py`): FTS5's own function reads the length of each passage that it ranks from the
file, tantivy has other statistics and so another order, and bm25s makes all files anew for one more passage.
"""

import logging
import math
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.records import ScoredPassage
from langgraph_rag.tools.index import arrays
from langgraph_rag.tools.index.arrays import Array, Arrays, Rows
from langgraph_rag.tools.index.words import Merge, Postings, Segment, Tokenizer, built
from langgraph_rag.tools.stores.database import ChangeLog
from langgraph_rag.tools.stores.metadata import Visible
from langgraph_rag.tools.stores.protocols import SqlDatabase

_FORMAT = 1
_NAME = "words"  # of the list of segments; each of these has this and a random name
_SAVED = 500  # changes that are kept in memory before they are written
_SAVED_AT_CLOSING = 100
_WAITED_FOR = 5_000  # changes after which an addition waits for the files, so that the log tells all since
_LARGER = 3  # times: how much larger a segment stays than all that follow it together
_REMOVED = 0.25  # share of removed passages from which on a segment is written anew
_PAGE = 10_000  # passages that are compared at once
_NONE: Rows = np.empty(0, np.int64)
_log = logging.getLogger(__name__)
_saving: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)  # for several openings in this process


class _Passage(NamedTuple):
    id: str
    number: int
    mark: int  # of its id and content


@dataclass(frozen=True, eq=False)
class Part:
    """A segment of the index.

    Attributes:
        segment: the words of its passages.
        removed: the rows of the passages that were removed or have changed since, in order.
    """

    segment: Segment
    removed: Rows

    @property
    def size(self) -> int:
        """The number of passages that are left."""
        return len(self.segment) - len(self.removed)

    def without(self, rows: Rows) -> "Part":
        """Return it with more passages removed."""
        return replace(self, removed=np.union1d(self.removed, rows)) if len(rows) else self


@dataclass(frozen=True, eq=False)
class Words:
    """The words of all passages at a position in the change log.

    Attributes:
        end: the position.
        parts: the segments, those in files first.
    """

    end: int
    parts: tuple[Part, ...] = ()

    @property
    def in_files(self) -> int:
        """The number of segments that are in files."""
        return sum(bool(part.segment.name) for part in self.parts)

    @cached_property
    def count(self) -> int:
        """The number of passages."""
        return sum(part.size for part in self.parts)

    @cached_property
    def tokens(self) -> int:
        """The number of tokens of all passages."""
        return sum(
            int(part.segment.lengths.sum(dtype=np.int64)) - int(part.segment.lengths[part.removed].sum(dtype=np.int64))
            for part in self.parts
        )


class WordIndex:
    """The words of the passages of a knowledge base, in step with its changes; safe in any thread.

    Args:
        db: the database with the passages.
        changes: the log of changed passages.
        folder: of the files; it may be missing.
        history: what tells the database from another one with the same positions; "" if nothing does.
    """

    def __init__(self, db: SqlDatabase, changes: ChangeLog, folder: Path, history: str) -> None:
        self._db, self._changes, self._folder, self.history = db, changes, folder, history
        self._writable: Callable[[], bool] = lambda: False
        self._tokenizer = Tokenizer()
        self._words: Words | None = None
        self._files_end = 0  # the position that the files stand for
        self._held = 0  # parts that are being written, and stay as they are meanwhile
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closing = False
        self.tokens_of = self._tokenizer.of_words

    def now(self) -> Words:
        """Return the words of all passages, with all changes that were made before the call."""
        words = self._words
        if words is None or words.end != self._changes.end:
            with self._lock:
                words = self._words = self._caught_up(self._words)
            self.keep()
        return words

    def written_by(self, writable: Callable[[], bool]) -> None:
        """Let this process write the files whenever it may; what does not belong to these records is removed first."""
        self._writable = writable
        if self.history and writable() and self._opened() is None:
            self._remove_others([])

    def keep(self) -> None:
        """Write what has changed to files in another thread, if it is much; wait if it is very much."""
        if not self.history or self._closing or not self._writable():
            return
        with self._lock:
            behind = self._changes.end - self._files_end
            if behind >= _SAVED and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._save, args=(_SAVED,), name="word index", daemon=True)
                self._thread.start()
            thread = self._thread
        if behind >= _WAITED_FOR and thread is not None and thread is not threading.current_thread():
            thread.join()

    def close(self) -> None:
        """Write what is left, and release the files."""
        with self._lock:
            self._closing, thread = True, self._thread
        if thread is not None:
            thread.join()
        if self.history and self._writable() and self._changes.end - self._files_end >= _SAVED_AT_CLOSING:
            self._save(_SAVED_AT_CLOSING)
        self._words = None
        self._tokenizer.close()

    # --- changes -----------------------------------------------------------------------------------------------------
    def _caught_up(self, words: Words | None) -> Words:
        """Return the words with the changes since; the first time, those in files."""
        words = words or self._opened()
        if words and words.end - self._files_end >= _SAVED and not self._held:
            words = self._opened(newer_than=words) or words
        end = self._changes.end
        ids = self._changes.since(words.end) if words else None
        words = words or Words(-1)
        stale, new = self._compared(words, ids)
        parts = [part.without(rows) for part, rows in zip(words.parts, stale, strict=True)]
        for segment in self._segments(new):
            parts.append(Part(segment, _NONE))
            start = _first_to_merge([part.size for part in parts], max(self._held, words.in_files))
            if start < len(parts) - 1:
                merge = Merge([part.segment for part in parts[start:]], [part.removed for part in parts[start:]])
                parts[start:] = [Part(merge.in_memory(), _NONE)]
        return Words(end, tuple(parts))

    def _compared(self, words: Words, ids: Sequence[str] | None) -> tuple[list[Rows], list[_Passage]]:
        """Return the rows of each part that are no longer so, and the passages in their place and new ones.

        Only the passages with some ids are compared, or all (None).
        """
        if ids is None:
            return self._compared_all(words)
        passages = {passage.id: passage for passage in self._passages(ids)}
        stale: list[Rows] = []
        for part in words.parts:
            found = part.segment.ids.find(ids)
            there = np.flatnonzero(found >= 0)
            there = there[~np.isin(found[there], part.removed)]
            gone = []
            for place in there.tolist():
                row, passage = int(found[place]), passages.get(ids[place])
                if passage is not None and _is(part.segment, row, passage):
                    del passages[passage.id]
                else:
                    gone.append(row)
            stale.append(np.array(sorted(gone), np.int64))
        return stale, sorted(passages.values(), key=lambda passage: passage.number)

    def _compared_all(self, words: Words) -> tuple[list[Rows], list[_Passage]]:
        known = {
            (int(part.segment.numbers[row]), int(part.segment.marks[row])): (place, row)
            for place, part in enumerate(words.parts)
            for row in np.setdiff1d(np.arange(len(part.segment)), part.removed).tolist()
        }
        new = [passage for passage in self._passages(None) if known.pop((passage.number, passage.mark), None) is None]
        rows: list[list[int]] = [[] for _ in words.parts]
        for place, row in known.values():
            rows[place].append(row)
        return [np.array(sorted(of), np.int64) for of in rows], new

    def _passages(self, ids: Sequence[str] | None) -> Iterator[_Passage]:
        """Yield passages, some or all in the order of their numbers."""
        columns = "number, id, hash"
        if ids is None:
            of, last = "(SELECT number, id, hash FROM passages WHERE number > ? ORDER BY number LIMIT ?)", -(2**62)
            while page := self._db.glance(columns, of, last, _PAGE):
                yield from (_Passage(id_, number, _mark(id_, hash_)) for number, id_, hash_ in page)
                last = page[-1][0]
        else:
            for number, id_, hash_ in self._db.glance_by_ids(columns, "passages WHERE id IN", ids):
                yield _Passage(id_, number, _mark(id_, hash_))

    def _segments(self, passages: Sequence[_Passage]) -> Iterator[Segment]:
        """Yield the words of passages, of some hundred at once, but for those that have just changed again."""
        columns = "number, id, hash, coalesce(title_words, title), coalesce(text_words, text)"
        for start in range(0, len(passages), Tokenizer.AT_ONCE):
            some = {passage.number: passage for passage in passages[start : start + Tokenizer.AT_ONCE]}
            rows = self._db.glance_by_ids(columns, "passages WHERE number IN", list(some))
            same = sorted(row for row in rows if some[row[0]].mark == _mark(row[1], row[2]))
            if same:
                texts = self._tokenizer.occurrences([(title, text) for *_, title, text in same])
                yield built([some[number] for number, *_ in same], texts)

    # --- files -------------------------------------------------------------------------------------------------------
    def _opened(self, newer_than: Words | None = None) -> Words | None:
        """Open the newest files; None if there are none, or none newer than those that are open."""
        open_ = {part.segment.name: part.segment for part in newer_than.parts} if newer_than else {}
        for _ in range(3):  # the process that changes them may remove older ones meanwhile
            listed = arrays.open_newest(self._folder, _NAME, format_=_FORMAT, fits=self._fits)
            if listed is None or (newer_than and listed.at <= self._files_end):
                return None
            segments = [open_.get(name) or self._segment(name) for name in listed.strings("segments")]
            if all(segments):
                self._files_end = listed.at
                parts = [Part(segment, listed[f"removed_{place}"]) for place, segment in enumerate(segments) if segment]
                return Words(listed.at, tuple(parts))
        return None

    def _fits(self, listed: Arrays) -> bool:
        """Return whether files belong to these records, which may be older ones that were put back."""
        return bool(listed.about.get("history") == self.history) and listed.at <= self._changes.end

    def _segment(self, name: str) -> Segment | None:
        found = arrays.open_newest(self._folder, name, format_=_FORMAT)
        return Segment.of(found, name) if found else None

    def _save(self, least: int) -> None:
        """Write changes to files if there are as many, and merge files where they are many."""
        try:
            with _saving[self._folder]:
                with self._lock:  # another opening in this process may have written them
                    self._words = self._opened(newer_than=self._words) or self._words
                words = self.now()
                while words.end - self._files_end >= least or _first_to_merge(*_of_files(words)) < words.in_files - 1:
                    words = self._written(words, least)
        except OSError as error:
            _log.warning("the index of words cannot be written in %s, and stays in memory: %s", self._folder, error)
        except KnowledgeBaseError:  # the records were closed
            if not self._closing:
                raise

    def _written(self, words: Words, least: int) -> Words:
        """Write what is in memory as a segment, or else merge the last segments in files; return the new words."""
        with self._lock:
            words = self._words or words
            start, stop, end = words.in_files, len(words.parts), words.end
            if end - self._files_end < least:
                start, stop, end = _first_to_merge(*_of_files(words)), start, self._files_end
            self._held = stop
        try:
            chosen = words.parts[start:stop]
            if damaged := [part for part in chosen if not part.segment.intact()]:
                _log.warning("files of the index of words are damaged (%s), and made anew", len(damaged))
                return self._anew()
            merge = Merge([part.segment for part in chosen], [part.removed for part in chosen])
            made = self._segment_written(merge, end) if sum(part.size for part in chosen) else None
            new = [Part(made, _NONE)] if made else []
            self._list([*words.parts[:start], *new], end)
            with self._lock:
                now = self._words or words
                for old, later, rows in zip(chosen, now.parts[start:stop], merge.rows, strict=True):
                    gone = rows[np.setdiff1d(later.removed, old.removed)]
                    new = [part.without(gone) for part in new]
                self._words = replace(now, parts=(*now.parts[:start], *new, *now.parts[stop:]))
                return self._words
        finally:
            self._held = 0

    def _segment_written(self, merge: Merge, end: int) -> Segment:
        name = f"{_NAME}_{uuid4().hex}"
        self._folder.mkdir(parents=True, exist_ok=True)
        parts, ids, terms = merge.parts(self._folder)
        strings: dict[str, Iterable[str]] = {"ids": ids, "terms": terms}
        return Segment.of(arrays.write(self._folder, name, end, parts, strings, format_=_FORMAT), name)

    def _list(self, parts: Sequence[Part], end: int) -> None:
        """Put the files of parts in the place of others."""
        names = [part.segment.name for part in parts]
        removed = {f"removed_{place}": part.removed for place, part in enumerate(parts)}
        about = {"history": self.history}
        arrays.write(self._folder, _NAME, end, removed, {"segments": names}, format_=_FORMAT, about=about)
        self._files_end = end
        self._remove_others(names)

    def _anew(self) -> Words:
        self._remove_others([])
        arrays.remove(self._folder, _NAME)
        with self._lock:
            self._files_end, self._held = 0, 0
            self._words = self._caught_up(None)
            return self._words

    def _remove_others(self, names: Sequence[str]) -> None:
        """Remove all segments but some, also those of killed processes; without any, the list of them, too."""
        if not names:
            arrays.remove(self._folder, _NAME)
        for name in arrays.names(self._folder, f"{_NAME}_"):
            if name not in names:
                arrays.remove(self._folder, name)


def _is(segment: Segment, row: int, passage: _Passage) -> bool:
    return bool(segment.numbers[row] == passage.number and segment.marks[row] == passage.mark)


def _mark(id_: str, hash_: str) -> int:
    """Return what tells passages of one number apart."""
    return int.from_bytes(blake2b(f"{hash_} {id_}".encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _of_files(words: Words) -> tuple[list[int], int]:
    """Return the sizes of the parts in files, less of those with many removed passages; and the first of them."""
    return [
        part.size if len(part.removed) < _REMOVED * len(part.segment) else 0 for part in words.parts[: words.in_files]
    ], 0


def _first_to_merge(sizes: Sequence[int], first: int) -> int:
    """Return the first of some parts, all from there on to be merged, so that each stays larger than all that follow.

    The number of parts then grows with the logarithm of the passages, and so does how often each passage is merged.
    """
    start, together = len(sizes) - 1, sizes[-1] if sizes else 0
    for place in range(len(sizes) - 2, first - 1, -1):
        if sizes[place] < _LARGER * together:
            start = place
        together += sizes[place]
    return start


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
