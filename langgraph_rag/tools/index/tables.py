"""Tables of texts and passages on disk with what came since, the numbers of nodes, and an index of names by words."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from langgraph_rag.normal_forms import UNSPACED, apart
from langgraph_rag.records import ScoredPassage
from langgraph_rag.tools.index.pagerank import Array, Ids, Reached, Rows

Mask = NDArray[np.bool_]
_ALIKE = 0.5  # share of common words of two names; with fewer, they rarely mean the same
_COMMON = 200  # maximum names with a word that is used to find similar names


class Texts(Protocol):
    """Texts that each have a row; `arrays.Strings` are such."""

    def __len__(self) -> int: ...
    def __getitem__(self, row: int, /) -> str: ...
    def find(self, texts: Sequence[str], /) -> Ids:
        """Return the row of each text; -1 of an unknown one."""


class ListedTexts:
    """Texts in memory, each once."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = list(texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, row: int) -> str:
        return self._texts[row]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def take(self, rows: Iterable[int]) -> list[str]:
        """Return the texts of some rows."""
        return [self._texts[row] for row in rows]

    def find(self, texts: Sequence[str]) -> Ids:
        """Return the row of each text; -1 of an unknown one."""
        return np.array([self._rows.get(text, -1) for text in texts], np.int64)

    @cached_property
    def _rows(self) -> Mapping[str, int]:
        return {text: row for row, text in enumerate(self._texts)}


class PartOfTexts:
    """Some of the rows of other texts, with rows of their own."""

    def __init__(self, texts: Texts, kept: Ids) -> None:
        self._texts, self._kept = texts, kept

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, row: int) -> str:
        return self._texts[int(self._kept[row])]

    def find(self, texts: Sequence[str]) -> Ids:
        """Return the row of each text; -1 of one that is unknown or left out."""
        found = self._texts.find(texts)
        if not len(self._kept):
            return np.full(len(texts), -1, np.int64)
        rows = np.searchsorted(self._kept, found).clip(max=len(self._kept) - 1)
        return np.where(self._kept[rows] == found, rows, -1)


class GrowingTexts:
    """Texts, and more in memory; rows are never taken back."""

    def __init__(self, texts: Texts) -> None:
        self._texts, self._stored = texts, len(texts)
        self._more: list[str] = []
        self._rows: dict[str, int] = {}

    def __len__(self) -> int:
        return self._stored + len(self._more)

    def __getitem__(self, row: int) -> str:
        return self._texts[row] if row < self._stored else self._more[row - self._stored]

    def find(self, texts: Sequence[str]) -> Ids:
        """Return the row of each text; -1 of an unknown one."""
        found = self._texts.find(texts) if self._stored else np.full(len(texts), -1, np.int64)
        if self._more:
            for place in np.flatnonzero(found < 0).tolist():
                found[place] = self._rows.get(texts[place], -1)
        return found

    def add(self, texts: Iterable[str]) -> dict[str, int]:
        """Return the rows of texts, new ones for those that are unknown."""
        listed = list(dict.fromkeys(texts))
        rows = dict(zip(listed, self.find(listed).tolist(), strict=True))
        for text, row in rows.items():
            if row < 0:
                rows[text] = self._rows[text] = len(self)
                self._more.append(text)
        return rows


@dataclass(frozen=True)
class Stored:
    """Arrays and texts of an index, in memory or on disk."""

    arrays: Mapping[str, Array]
    texts: Mapping[str, Texts]


class NodeSpace:
    """The nodes of a graph, which are of several kinds, each with rows of its own from 0 on.

    Args:
        sizes: the number of rows of each kind that are stored; they come first, kind after kind, and new ones in turns.
    """

    def __init__(self, *sizes: int) -> None:
        self._sizes = sizes
        self._starts = [0, *accumulate(sizes)]
        self.stored = self._starts[-1]

    def size(self, *rows: int) -> int:
        """Return the number of nodes when each kind has so many rows."""
        more = max(now - before for now, before in zip(rows, self._sizes, strict=True))
        return self.stored + more * len(self._sizes)

    def node(self, kind: int, row: int) -> int:
        """Return the node of a row."""
        if row < self._sizes[kind]:
            return self._starts[kind] + row
        return self.stored + (row - self._sizes[kind]) * len(self._sizes) + kind

    def are(self, kind: int, nodes: Ids) -> Mask:
        """Return which nodes are of a kind."""
        new = (nodes >= self.stored) & ((nodes - self.stored) % len(self._sizes) == kind)
        are: Mask = new | ((nodes >= self._starts[kind]) & (nodes < self._starts[kind + 1]))
        return are

    def rows(self, kind: int, nodes: Ids) -> Ids:
        """Return the rows of nodes, which are of a kind."""
        new = self._sizes[kind] + (nodes - self.stored) // len(self._sizes)
        return np.where(nodes < self.stored, nodes - self._starts[kind], new)


class PassageTable:
    """The passages by row, in the order of storing; those that are removed keep their rows."""

    def __init__(self, ids: Texts, numbers: Array) -> None:
        self.ids, self._numbers = ids, numbers
        self._new_ids: list[str] = []
        self._new_numbers: list[int] = []
        self._rows: dict[str, int] = {}
        self._gone: set[int] = set()

    def __len__(self) -> int:
        return len(self.ids) + len(self._new_ids)

    def find(self, ids: Sequence[str]) -> list[int]:
        """Return the row of each passage; -1 of one that is unknown or removed."""
        stored = self.ids.find(ids).tolist() if len(self.ids) else [-1] * len(ids)
        rows = [self._rows.get(id_, row) for id_, row in zip(ids, stored, strict=True)]
        return [-1 if row in self._gone else row for row in rows]

    def number(self, row: int) -> int:
        """Return the number of a passage in the records."""
        return int(self._numbers[row]) if row < len(self.ids) else self._new_numbers[row - len(self.ids)]

    def id(self, row: int) -> str:
        """Return the id of a passage."""
        return self.ids[row] if row < len(self.ids) else self._new_ids[row - len(self.ids)]

    def brought(self, numbers: Mapping[str, int], ids: Sequence[str]) -> tuple[dict[str, int], list[int]]:
        """Bring some passages up to date; return the rows of those that are there, and of those that are gone.

        Args:
            numbers: the numbers of those that are there, ascending; one with another number is another passage.
            ids: all that may have changed.
        """
        known = {id_: row for id_, row in zip(ids, self.find(ids), strict=True) if row >= 0}
        gone = [row for id_, row in known.items() if numbers.get(id_) != self.number(row)]
        self._gone.update(gone)
        rows = {id_: known[id_] for id_ in numbers if id_ in known and known[id_] not in self._gone}
        return rows | {id_: self._add(id_, number) for id_, number in numbers.items() if id_ not in rows}, gone

    def part(self, rows: Ids) -> tuple[ListedTexts, Ids]:
        """Return the ids and the numbers of some passages."""
        listed = rows.tolist()
        return ListedTexts(map(self.id, listed)), np.array(list(map(self.number, listed)), np.int64)

    def _add(self, id_: str, number: int) -> int:
        self._rows[id_] = len(self)
        self._new_ids.append(id_)
        self._new_numbers.append(number)
        return self._rows[id_]

    def live(self) -> Ids:
        """Return the rows of all passages that are there, in the order of storing."""
        there = np.ones(len(self), bool)
        there[list(self._gone)] = False
        return np.flatnonzero(there)

    def snapshot(self, space: NodeSpace) -> "Passages":
        """Return the passages as they are now."""
        size = len(self._new_ids)
        return Passages(self.ids, self._new_ids, size, dict(self._rows), frozenset(self._gone), space)


@dataclass(frozen=True)
class Passages(Mapping[str, int]):
    """The nodes of passages by id, in the order of storing. They are the first kind of nodes."""

    _stored: Texts
    _new: Sequence[str]
    _size: int  # of the new ones; later ones may have been added
    _rows: Mapping[str, int]
    _gone: frozenset[int]
    _space: NodeSpace

    def __getitem__(self, id_: str) -> int:
        row = self._rows.get(id_, -1)
        if row < 0 and len(self._stored):
            row = int(self._stored.find([id_])[0])
        if row < 0 or row in self._gone:
            raise KeyError(id_)
        return self._space.node(0, row)

    def __iter__(self) -> Iterator[str]:
        return (self._id(row) for row in range(len(self._stored) + self._size) if row not in self._gone)

    def __len__(self) -> int:
        return len(self._stored) + self._size - len(self._gone)

    def ids_of(self, nodes: Ids) -> list[str]:
        """Return the ids of those nodes that are passages, in the order of storing."""
        rows, _ = self._rows_of(nodes)
        return [self._id(row) for row in np.sort(rows).tolist()]

    def best(self, reached: Reached, k: int) -> list[ScoredPassage]:
        """Return the k passages with the highest scores above 0, best first, ties by id."""
        rows, passages = self._rows_of(reached.nodes)
        scores = reached.scores[passages]
        if rows.size > k:
            high = scores >= np.partition(scores, -k)[-k]
            rows, scores = rows[high], scores[high]
        found = [
            ScoredPassage(id=self._id(row), score=score)
            for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
        ]
        return sorted(found, key=lambda passage: (-passage["score"], passage["id"]))[:k]

    def _rows_of(self, nodes: Ids) -> tuple[Ids, Mask]:
        """Return the rows of those nodes that are passages, and which ones these are.

        Nodes that a walk has beyond those of the records are none.
        """
        rows, passages = self._space.rows(0, nodes), self._space.are(0, nodes)
        passages &= rows < len(self._stored) + self._size
        return rows[passages], passages

    def _id(self, row: int) -> str:
        return self._stored[row] if row < len(self._stored) else self._new[row - len(self._stored)]


class Names(GrowingTexts):
    """Names by row, and the rows of names by their words.

    Args:
        texts: the names.
        words: the words of the stored ones.
        starts: where the rows of the names with each word begin, and the end. Shape: words + 1.
        rows: the rows of names, word after word.
        apart: those names in scripts without spaces, with all characters set apart.
        unspaced: the rows of these. Shape: apart.
    """

    def __init__(self, texts: Texts, words: Texts, starts: Array, rows: Array, apart: Texts, unspaced: Array) -> None:
        super().__init__(texts)
        self._words, self._starts, self._by_stored_word = words, starts, rows
        self._apart, self._unspaced = apart, unspaced
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)
        self._by_characters: dict[str, int] = {}

    @classmethod
    def stored(cls, stored: Stored) -> "Names":
        """Return the names of an index."""
        tables = stored.arrays["word_starts"], stored.arrays["word_rows"]
        return cls(
            stored.texts["names"], stored.texts["words"], *tables, stored.texts["apart"], stored.arrays["unspaced"]
        )

    def add(self, texts: Iterable[str]) -> dict[str, int]:
        """Return the rows of names, new ones for those that are unknown; other threads may read meanwhile."""
        known = len(self)
        rows = super().add(texts)
        for row in range(known, len(self)):
            name = self[row]
            for word in dict.fromkeys(name.split()):
                self._by_word[word].append(row)
            if UNSPACED.search(name):
                self._by_characters[apart(name)] = row
        return rows

    def with_word(self, word: str) -> Ids:
        """Return the rows of the names with a word in them."""
        more = np.array(self._by_word.get(word, ()), np.int64)
        place = int(self._words.find([word])[0]) if len(self._words) else -1
        if place < 0:
            return more
        stored = self._by_stored_word[int(self._starts[place]) : int(self._starts[place + 1])].astype(np.int64)
        return np.concatenate([stored, more]) if more.size else stored

    def by_characters(self, name: str) -> int:
        """Return the row of a name in a script without spaces, by its characters set apart; -1 if it is unknown."""
        place = int(self._apart.find([name])[0]) if len(self._apart) else -1
        return int(self._unspaced[place]) if place >= 0 else self._by_characters.get(name, -1)


class PartOfNames(PartOfTexts):
    """Some of the names, with rows of their own."""

    def __init__(self, names: "Names | PartOfNames", kept: Ids) -> None:
        super().__init__(names, kept)
        self._names = names

    def with_word(self, word: str) -> Ids:
        """Return the rows of the names with a word in them."""
        rows = np.searchsorted(self._kept, found := self._names.with_word(word)).clip(max=len(self._kept) - 1)
        return rows[self._kept[rows] == found] if len(self._kept) else rows[:0]

    def by_characters(self, name: str) -> int:
        """Return the row of a name in a script without spaces, by its characters set apart; -1 if it is unknown."""
        found = self._names.by_characters(name)
        row = int(np.searchsorted(self._kept, found)) if found >= 0 else len(self._kept)
        return row if row < len(self._kept) and self._kept[row] == found else -1


NO_NAMES = PartOfNames(
    Names(
        ListedTexts(), ListedTexts(), np.zeros(1, np.int64), np.empty(0, np.int64), ListedTexts(), np.empty(0, np.int64)
    ),
    np.empty(0, np.int64),
)


def alike(
    names: "Names | PartOfNames", name: str, missing: "frozenset[int]", among: Callable[[int], bool]
) -> dict[int, float]:
    """Return the rows of the names in `among` that share at least half of all words with a name, with this share.

    Words that many names have do not count; `missing` are rows of names that are not there.
    """
    words = set(name.split())
    candidates = set[int]()
    for word in words:
        rows = names.with_word(word)
        if rows.size <= _COMMON + len(missing):
            there = [row for row in rows.tolist() if row not in missing]
            candidates.update(there if len(there) <= _COMMON else ())
    shares = {row: _shared(words, set(names[row].split())) for row in candidates}
    return {row: share for row, share in shares.items() if share >= _ALIKE and among(row)}


def _shared(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other)


def name_tables(names: Iterable[str]) -> tuple[dict[str, Array], dict[str, list[str]]]:
    """Return the arrays (`word_starts`, `word_rows`, `unspaced`) and texts (`words`, `apart`) of `Names`."""
    known: dict[str, int] = {}
    lengths, words, unspaced = list[int](), list[int](), dict[str, int]()
    for row, name in enumerate(names):
        own = [known.setdefault(word, len(known)) for word in dict.fromkeys(name.split())]
        lengths.append(len(own))
        words.extend(own)
        if not name.isascii() and UNSPACED.search(name):
            unspaced[apart(name)] = row
    of = np.array(words, np.int32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=len(known)))])
    rows = np.repeat(np.arange(len(lengths), dtype=np.int32), np.array(lengths, np.int64))[
        np.argsort(of, kind="stable")
    ]
    arrays = {"word_starts": starts, "word_rows": rows, "unspaced": np.array(list(unspaced.values()), np.int32)}
    return arrays, {"words": list(known), "apart": list(unspaced)}


def gathered(starts: Array, rows: Ids, *columns: Array) -> list[Array]:
    """Return the starts and the columns of some rows of arrays that are grouped by row, in the order of `rows`."""
    begins = starts.take(rows).astype(np.int64)
    counts = starts.take(rows + 1).astype(np.int64) - begins
    ends = np.cumsum(counts)
    places = np.repeat(begins - (ends - counts), counts) + np.arange(int(ends[-1]) if ends.size else 0)
    return [np.concatenate([[0], ends]), *(column.take(places) for column in columns)]


def grouped(keys: Array, *columns: Array) -> list[Array]:
    """Return keys in ascending order, and columns in the same order."""
    order = np.argsort(keys, kind="stable")
    return [keys[order], *(column[order] for column in columns)]


def between(keys: Array, key: int) -> slice:
    """Return where a key is among ascending keys."""
    one = keys.dtype.type(key)  # of another type, all keys would be converted
    return slice(int(keys.searchsorted(one)), int(keys.searchsorted(one, side="right")))


def flat(lists: Sequence[Sequence[Sequence[int]]], width: int) -> list[Array]:
    """Return lists of rows as starts and columns."""
    starts = np.concatenate([[0], np.cumsum([len(one) for one in lists], dtype=np.int64)])
    rows = np.array(list(chain.from_iterable(lists)), np.int64).reshape(-1, width)
    return [starts, *rows.T]


def columns_of(
    rows: Ids,
    stored: int,
    new: Mapping[int, Sequence[Sequence[int]]],
    arrays: Mapping[str, Array],
    starts: str,
    columns: Sequence[str],
) -> list[Array]:
    """Return the starts and columns of some rows, ascending: the stored ones, and among them those in `new`."""
    fresh = np.array([row in new for row in rows.tolist()], bool) | (rows >= stored)
    kept = gathered(arrays[starts], rows[~fresh], *(arrays[column] for column in columns))
    more = flat([new.get(row, ()) for row in rows[fresh].tolist()], len(columns))
    of = [np.repeat(np.flatnonzero(mask), np.diff(some[0])) for mask, some in ((~fresh, kept), (fresh, more))]
    both = (np.concatenate([one, other]) for one, other in zip(kept[1:], more[1:], strict=True))
    row, *merged = grouped(np.concatenate(of), *both)
    return [np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows.size))]), *merged]


def numbering(size: int, used: Array) -> tuple[Ids, Ids]:
    """Return the numbers that are used, ascending, and the place of each of all numbers among them."""
    there = np.zeros(size, bool)
    there[used] = True
    return np.flatnonzero(there), np.cumsum(there) - 1


def walk_arrays(walk: Rows) -> dict[str, Array]:
    """Return the arrays of the edges of a graph."""
    arrays = {"walk_starts": walk.starts, "walk_targets": walk.targets, "walk_strengths": walk.strengths}
    weighed = {} if walk.weights is None else {"walk_weights": walk.weights}
    return {**arrays, **weighed, "walk_weight": np.array([walk.weight])}


def walk_rows(arrays: Mapping[str, Array]) -> Rows:
    """Return the edges of a graph from its arrays."""
    starts, targets, strengths = (arrays[f"walk_{name}"] for name in ("starts", "targets", "strengths"))
    return Rows(starts, targets, arrays.get("walk_weights"), strengths, float(arrays["walk_weight"][0]))
