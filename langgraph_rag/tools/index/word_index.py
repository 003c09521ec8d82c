"""The words of all passages: files that stand for a position in the change log, and what changed since.

Reading processes map the files; the process that changes the knowledge base writes them beside questions and changes.
They hold nothing that cannot be made again of the records.
"""

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import numpy as np

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.tools.index import arrays
from langgraph_rag.tools.index.arrays import Arrays, Rows
from langgraph_rag.tools.index.words import Merge, Segment, Tokenizer, built
from langgraph_rag.tools.stores.database import ChangeLog
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
