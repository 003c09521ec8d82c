"""What the words of passages and queries are, and the parts of an index of them.

Each part, a segment, has some passages, does not change, and lies in memory or in a mapped file. An index is a few of
them, the largest first. New passages make small ones; what a passage was before it changed is marked as removed;
segments are merged as they become many, as in other indexes of this kind (O'Neil and others, The log-structured
merge-tree, 1996).
"""

import json
import re
import sqlite3
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, compress, islice, pairwise
from pathlib import Path
from tempfile import SpooledTemporaryFile
from types import MappingProxyType
from typing import Any

import numpy as np

from langgraph_rag.normal_forms import POINTS, SYMBOLS, UNSPACED, WORD, folded
from langgraph_rag.tools.index.arrays import Array, Arrays, Rows, Strings, smallest
from langgraph_rag.tools.index.tables import ListedTexts
from langgraph_rag.tools.ingest.spans import stop_words

_BULLET = re.compile(r"(?:[-*•+]|\d+[.)])\s+")
_PROSE = re.compile(r"[A-Z]?[^\W\d_A-Z]*(?:['’][a-z]+)?|I|A")
_LONGEST = 4  # words of a term on a line of its own: "-t timeout", "beginning-of-line (C-a)"
_ENDS = (".", "!", "?", ":", ";")


@lru_cache(maxsize=2_048)  # the searches of one question find mostly the same passages
def terms_of(text: str) -> tuple[str, ...]:
    """Return the terms that begin a paragraph or an item of a list and are explained there or in the next one.

    A term stands on a line of its own (`HISTFILE`), before a colon (`fields.E304: ...`), or before a sentence (`dotglob
    If set, ...`). Names of which nothing is said, as in a list of settings, are no terms.
    """
    lines = [line.strip() for line in text.splitlines()]
    begins = [not before or _BULLET.match(line) is not None for before, line in pairwise(["", *lines])]
    stated = [(line, begin) for line, begin in zip(lines, begins, strict=True) if line]
    terms = (_term(line, following) for (line, begin), (following, _) in pairwise([*stated, ("", True)]) if begin)
    return tuple(dict.fromkeys(filter(None, terms)))


def _term(line: str, following: str) -> str:
    """Return the term that a line begins with, if any; `following` is the next line."""
    bullet = _BULLET.match(line)
    words = line[bullet.end() if bullet else 0 :].split(maxsplit=2)
    if _alone(line) and following and not bullet and not _alone(following):
        return line
    if len(words) < 2:
        return ""
    first, second = words[0], words[1]
    named = first.rstrip(":")
    if not any(map(str.isalpha, named)) or named.lower() in stop_words():
        return ""
    in_prose = _PROSE.fullmatch(named) is not None
    before_colon = first.endswith(":") and not in_prose
    before_sentence = second[0].isupper() and (named[0].islower() or not in_prose)
    return named if before_colon or before_sentence else ""


def _alone(line: str) -> bool:
    return (
        len(line.split(maxsplit=_LONGEST)) <= _LONGEST
        and not line.endswith(_ENDS)
        and ": " not in line
        and any(map(str.isalpha, line))
    )


_MOST = 2_000  # words of a query
_MOST_PARTS = 6  # of a query
_JOINED = re.compile(r"[,;:](?=\s)|[，、；：،؛]|\b(?:and|or|but)\b")
_NAME = re.compile(rf"{WORD.pattern}(?:[-._/:\\@\u2010]{{1,2}}{WORD.pattern})*")
"""A word, or a name with its parts joined: 4.5.0, CVE-2026-6907, fields.E304, ref/settings, HTTP_HOST, std::vector."""
_SYMBOL = re.compile(rf"\b(\w*[^\W\d_])({SYMBOLS})")
_SPELLED = {"++": "plusplus", "+": "plus", "#": "sharp"}
_NO_SPACES = rf"(?:{UNSPACED.pattern}|[\uac00-\ud7a3])"  # or of Korean, which joins particles to its words
_RUN = re.compile(rf"{_NO_SPACES}+|(?:(?!{_NO_SPACES}).)+")
_SYLLABLE = re.compile(_NO_SPACES)
_ACCENT = re.compile(f"[\u0300-\u036f{POINTS}]")
_LATIN = "\x00-\x7f\xc0-\xde\xe0-\u0130\u0134-\u0148\u014a-\u017e\u0180-\u01c3\u01cd-\u024f\u1e00-\u1e99\u1e9f-\u1eff"
_MARKS = "\xa0-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf\u0300-\u036f\u2010-\u205e\u20a0-\u20bf"
_UNFOLDED = re.compile(f"[^{_LATIN}{_MARKS}]")
"""A character that FTS5 does not fold by itself, as it does Latin letters with accents: of another script, ß, ², ..."""


def words_to_index(text: str) -> str | None:
    """Return a text with its words as they are searched, or nothing if FTS5 makes them of the text itself."""
    spelled = _SYMBOL.sub(_spelled, text)
    if _UNFOLDED.search(spelled):
        return _apart(_form(spelled))
    return None if spelled == text else spelled


def title_to_index(title: str, text: str) -> str | None:
    """Return a title as `words_to_index` does, followed by the terms that the text explains: they are topics, too."""
    titles = " ".join([title, *terms_of(text)])
    return words_to_index(titles) or (None if titles == title else titles)


@lru_cache(maxsize=64)  # a search asks for those of one query several times
def words_to_search(query: str) -> Mapping[str, Sequence[str]]:
    """Return the words of a query, each once, and its joined names as phrases, each with its parts.

    Stop words count only within a name, or if there are no others. Where there are no spaces between words, any two
    characters that follow each other are a word. Of a query that is longer than any question, only the first 2,000
    different words count.
    """
    bare = {_form(_spelled(symbol)).strip(): [_form(symbol[1])] for symbol in _SYMBOL.finditer(query)}  # C of C++
    form = _form(_SYMBOL.sub(_spelled, query)).replace("_", "-")
    names = [WORD.findall(name) for name in _NAME.findall(form)]
    names = [parts for parts in names if len(parts) > 1 or parts[0] not in stop_words()] or names
    words: dict[str, list[str]] = {}
    for parts in names:
        single = [phrase for part in parts for run in _RUN.findall(part) for phrase in _phrases(run)]
        if len(parts) == 1:
            words |= {phrase: bare.get(phrase, []) for phrase in single}
        else:
            words[" ".join(_apart(" ".join(parts)).split())] = [part for part in single if part not in stop_words()]
    return MappingProxyType(dict(islice(words.items(), _MOST)))


def parts_of(query: str) -> list[str]:
    """Return the parts of a query that joins several, at "and" or a comma: each with two words or more to search for.

    A query with more parts than any question is taken as a whole, and so is one with a single part.
    """
    parts = [part for part in _JOINED.split(query) if len(words_to_search(part)) > 1]
    return parts if 1 < len(parts) <= _MOST_PARTS else []


def _spelled(symbol: re.Match[str]) -> str:
    """Return a name with its symbols as letters, which FTS5 keeps: C++ is not C."""
    letters = _SPELLED.get(symbol[2])
    return f"{symbol[1]}{letters} " if letters else symbol[0]


def _apart(form: str) -> str:
    return _SYLLABLE.sub(r" \g<0> ", form)


def _phrases(run: str) -> list[str]:
    if len(run) == 1 or not _SYLLABLE.match(run):
        return [run]
    return [f"{run[place]} {run[place + 1]}" for place in range(len(run) - 1)]


def _form(text: str) -> str:
    """Return a text in lower case, without accents and points."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", folded(text))))


_TOKENIZE = """tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'" """
_TABLES = f"""
CREATE VIRTUAL TABLE texts USING fts5(title, text, content='', {_TOKENIZE});
CREATE VIRTUAL TABLE tokens USING fts5vocab(texts, instance);
"""
_PLACE = "(doc << 32) + ((col = 'text') << 31) + offset"
_OCCURRENCES = f"""
SELECT json_group_array(term), json_group_array(number), coalesce(group_concat(places), '') FROM
(SELECT term, count(*) AS number, group_concat({_PLACE}) AS places FROM tokens GROUP BY term)
"""
_REMEMBERED = 10_000  # words of queries


@dataclass(frozen=True)
class Occurrences:
    """Where tokens are in some texts.

    Attributes:
        tokens: each token.
        counts: how often each occurs.
        places: the places of all, token by token: 32 bits for the number of the text in the list, one for text instead
            of title, 31 for the position in it.
    """

    tokens: list[str]
    counts: list[int]
    places: Rows


class Tokenizer:
    """Makes tokens in a database in memory, in any thread."""

    AT_ONCE = 256  # texts: many, as each call takes some time, but others wait meanwhile

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._connection.executescript(_TABLES)
        self._known: dict[str, tuple[str, ...]] = {}

    def close(self) -> None:
        """Release the database."""
        with self._lock:
            self._connection.close()

    def occurrences(self, texts: Sequence[tuple[str, str]]) -> Occurrences:
        """Return the tokens of texts, each a title and a text."""
        return Occurrences(*self._read(texts))

    def of_words(self, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the tokens of each word, in their order."""
        if len(self._known) > _REMEMBERED:
            self._known = {}
        known = self._known
        if new := [word for word in words if word not in known]:
            tokens, counts, places = self._read([("", word) for word in new])
            found: list[list[tuple[int, str]]] = [[] for _ in new]
            for token, place in zip(np.repeat(np.array(tokens, object), counts).tolist(), places.tolist(), strict=True):
                found[place >> 32].append((place, token))
            known |= {word: tuple(token for _, token in sorted(of)) for word, of in zip(new, found, strict=True)}
        return {word: known[word] for word in words}

    def _read(self, texts: Sequence[tuple[str, str]]) -> tuple[list[str], list[int], Rows]:
        with self._lock:
            execute = self._connection.execute
            execute("BEGIN")
            self._connection.executemany(
                "INSERT INTO texts (rowid, title, text) VALUES (?, ?, ?)",
                [(number, *text) for number, text in enumerate(texts)],
            )
            ((tokens, counts, places),) = execute(_OCCURRENCES).fetchall()
            execute("INSERT INTO texts (texts) VALUES ('delete-all')")
            execute("COMMIT")
        return json.loads(tokens), json.loads(counts), np.fromstring(places, dtype=np.int64, sep=",")


TITLE_WEIGHT = 3  # of a word: a title and the terms that a passage explains are its topics
_BLOCK = 2**17  # postings that are merged at once, as other threads wait meanwhile
_TERMS = 2**16  # terms that are merged at once
_PHRASES = 2**18  # postings of phrases that are remembered
_IN_MEMORY = 2**24  # bytes of an array in the making
_OF_TERMS = ("frequencies", "positions", "most", "fewest")
_FAR = np.int64(2**40)  # more than the number of tokens of a passage


Table = Strings | ListedTexts


@dataclass(frozen=True, eq=False)
class Postings:
    """The passages of a segment that have a term, and how often; in a title, one occurrence counts triple.

    Attributes:
        rows: the passages, in order.
        frequencies: how often each has the term.
        most: of those that no other has the term as often in as few tokens: the frequency.
        fewest: and the number of tokens.
    """

    rows: Array
    frequencies: Array
    most: Array
    fewest: Array


class Segment:
    """The words of some passages, in the order of their numbers.

    Args:
        arrays: `numbers`, `marks`, `lengths` and `title_lengths` of passages; `starts` of each term in the postings
            `rows` and `frequencies`; `position_starts` of each in `positions`, which are places in the text times two,
            plus one for the first of a passage; `best_starts` of each in `most` and `fewest` of its `Postings`.
        ids: of the passages.
        terms: the tokens.
        name: of its file, if it is in one.
    """

    def __init__(self, arrays: Mapping[str, Array], ids: Table, terms: Table, name: str = "") -> None:
        self.arrays, self.ids, self.terms, self.name = arrays, ids, terms, name
        self.numbers, self.marks, self.lengths = arrays["numbers"], arrays["marks"], arrays["lengths"]
        self._phrases: dict[tuple[int, ...], Postings] = {}
        self._remembered = 0

    @classmethod
    def of(cls, arrays: Arrays, name: str) -> "Segment":
        """Return the segment in a file."""
        return cls(arrays, arrays.strings("ids"), arrays.strings("terms"), name)

    def __len__(self) -> int:
        return len(self.numbers)

    def intact(self) -> bool:
        """Return whether its file is as it was written; it reads all of it."""
        return not isinstance(self.arrays, Arrays) or self.arrays.intact()

    def postings(self, tokens: Sequence[int]) -> Postings:
        """Return the passages with a token (by its row), or with tokens that follow each other."""
        if len(tokens) > 1:
            return self._phrase(tuple(tokens))
        (token,) = tokens
        of, best = self._range("starts", token), self._range("best_starts", token)
        arrays = self.arrays
        return Postings(arrays["rows"][of], arrays["frequencies"][of], arrays["most"][best], arrays["fewest"][best])

    def _range(self, starts: str, term: int) -> slice:
        return slice(int(self.arrays[starts][term]), int(self.arrays[starts][term + 1]))

    def _phrase(self, tokens: tuple[int, ...]) -> Postings:
        known = self._phrases.get(tokens)
        if known is None:
            known = self._phrase_read(tokens)
            if self._remembered > _PHRASES:
                self._phrases, self._remembered = {}, 0
            self._phrases[tokens] = known
            self._remembered += len(known.rows) + 1
        return known

    def _phrase_read(self, tokens: Sequence[int]) -> Postings:
        found: Rows | None = None
        places = {token: self._places(token) for token in tokens}
        for position, token in enumerate(tokens):
            first = places[token] - position
            found = first if found is None else np.intersect1d(found, first, assume_unique=True)
            if not len(found):
                break
        found = np.empty(0, np.int64) if found is None else found
        rows, starts = np.unique(found >> 32, return_index=True)
        in_title = (found & 0xFFFFFFFF) < self.arrays["title_lengths"][found >> 32]
        weights = np.where(in_title, TITLE_WEIGHT, 1)
        frequencies = np.add.reduceat(weights, starts) if len(rows) else weights
        return Postings(rows, frequencies, frequencies, self.lengths[rows])

    def _places(self, term: int) -> Rows:
        """Return where a term is: 32 bits for the passage, 32 for the place in it."""
        marked = self.arrays["positions"][self._range("position_starts", term)]
        rows = self.arrays["rows"][self._range("starts", term)].astype(np.int64)
        places: Rows = (rows[np.cumsum(marked & 1) - 1] << 32) + (marked >> 1)
        return places


def built(passages: Sequence[tuple[str, int, int]], occurrences: Occurrences) -> Segment:
    """Return a segment in memory.

    Args:
        passages: id, number and mark of each, by number.
        occurrences: of the tokens in the passages, which are counted from 0.
    """
    ids, numbers, marks = zip(*passages, strict=True) if passages else ((), (), ())
    term = np.repeat(np.arange(len(occurrences.tokens)), occurrences.counts)
    order = np.lexsort((occurrences.places, term))
    places = occurrences.places[order]
    row, in_text, offset = places >> 32, (places >> 31 & 1).astype(bool), places & 0x7FFFFFFF
    title_lengths = np.bincount(row[~in_text], minlength=len(ids))
    lengths = np.bincount(row, minlength=len(ids))
    position = np.where(in_text, title_lengths[row] + 1 + offset, offset)  # no phrase goes over the end of a title
    is_first = np.ones(len(row), bool)
    is_first[1:] = (np.diff(row) != 0) | (np.diff(term) != 0)
    first = np.flatnonzero(is_first)
    weights = np.where(in_text, 1, TITLE_WEIGHT)
    frequencies = np.add.reduceat(weights, first) if len(first) else weights
    of_term, terms = term[first], len(occurrences.tokens)
    best_of, most, fewest = _best(of_term, frequencies, lengths[row[first]])
    return Segment(
        {
            "numbers": np.array(numbers, np.int64),
            "marks": np.array(marks, np.uint64),
            "lengths": lengths.astype(np.uint32),
            "title_lengths": _small(title_lengths),
            "rows": row[first].astype(smallest(len(ids))),
            "frequencies": _small(frequencies),
            "positions": _small(position * 2 + is_first),
            "starts": _starts(np.bincount(of_term, minlength=terms)),
            "position_starts": _starts(np.asarray(occurrences.counts)),
            "best_starts": _starts(np.bincount(best_of, minlength=terms)),
            "most": _small(most),
            "fewest": fewest.astype(np.uint32),
        },
        ListedTexts(ids),
        ListedTexts(occurrences.tokens),
    )


def _small(numbers: Array) -> Array:
    return numbers.astype(smallest(int(numbers.max(initial=0))))


def _starts(counts: Array) -> Rows:
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def _best(terms: Array, frequencies: Array, lengths: Array) -> tuple[Array, Array, Array]:
    """Return which frequencies and lengths no others of their term exceed: as often, in as few tokens.

    Any BM25 score of the term is at most that of one of these, whatever the mean length is.
    """
    frequencies, lengths = frequencies.astype(np.int64), lengths.astype(np.int64)
    order = np.lexsort((lengths, -frequencies, terms))
    terms, frequencies, lengths = terms[order], frequencies[order], lengths[order]
    falling = lengths - terms.astype(np.int64) * _FAR  # the least so far starts anew with each term
    best = np.ones(len(terms), bool)
    best[1:] = falling[1:] < np.minimum.accumulate(falling)[:-1]
    return terms[best], frequencies[best], lengths[best]


class Merge:
    """Several segments as one, without removed passages.

    Args:
        segments: in the order of the numbers of their passages.
        removed: the rows of removed passages of each.

    Attributes:
        rows: for each segment, the new row of each of its passages, -1 of removed ones.
    """

    def __init__(self, segments: Sequence[Segment], removed: Sequence[Rows]) -> None:
        self._segments, self._whole = segments, [not len(gone) for gone in removed]
        self._stay = [np.ones(len(segment), bool) for segment in segments]
        for stay, gone in zip(self._stay, removed, strict=True):
            stay[gone] = False
        *starts, self._size = accumulate((int(np.count_nonzero(stay)) for stay in self._stay), initial=0)
        self.rows: list[Rows] = [
            np.where(stay, np.cumsum(stay) - 1 + start, -1) for stay, start in zip(self._stay, starts, strict=True)
        ]

    def in_memory(self) -> Segment:
        """Return the segment."""
        arrays, ids, terms = self.parts()
        return Segment(
            {name: np.concatenate(list(of)) for name, of in arrays.items()}, ListedTexts(ids), ListedTexts(terms)
        )

    def parts(self, folder: Path | None = None) -> tuple[dict[str, Iterable[Array]], Iterator[str], list[str]]:
        """Return its arrays, in parts, its ids and its terms; what is large waits in unnamed files of a folder."""
        terms, own = self._merged_terms()
        kinds = {"rows": smallest(self._size), **{name: self._kind(name) for name in _OF_TERMS}}
        spools = {name: _Spool(kind, folder) for name, kind in kinds.items()}
        counts: dict[str, list[Array]] = {name: [np.empty(0, np.int64)] for name in ("rows", "positions", "most")}
        for start, stop in _blocks(self._frequencies(own)):
            for name, (of, values) in self._merged(own, start, stop).items():
                spools[name].add(values)
                if name in counts:
                    counts[name].append(np.bincount(of, minlength=stop - start))
        starts = {name: [_starts(np.concatenate(of))] for name, of in counts.items()}
        arrays: dict[str, Iterable[Array]] = {
            **{name: [self._of_passages(name)] for name in ("numbers", "marks", "lengths", "title_lengths")},
            **spools,
            "starts": starts["rows"],
            "position_starts": starts["positions"],
            "best_starts": starts["most"],
        }
        ids = (compress(segment.ids, stay.tolist()) for segment, stay in zip(self._segments, self._stay, strict=True))
        return arrays, chain.from_iterable(ids), terms

    def _of_passages(self, name: str) -> Array:
        parts = [one.arrays[name][stay] for one, stay in zip(self._segments, self._stay, strict=True)]
        return np.concatenate(parts, dtype=self._kind(name))

    def _kind(self, name: str) -> Any:
        return np.result_type(*(segment.arrays[name].dtype for segment in self._segments))

    def _merged_terms(self) -> tuple[list[str], list[Rows]]:
        """Return the terms that are left, and for each segment the row of each of them there, -1 for none."""
        first, *others = self._segments
        new: dict[str, int] = {}
        own = [np.arange(len(first.terms))]
        for segment in others:
            texts = list(segment.terms)
            found = first.terms.find(texts)
            for row in np.flatnonzero(found < 0).tolist():
                found[row] = new.setdefault(texts[row], len(first.terms) + len(new))
            own.append(found)
        rows = [np.full(len(first.terms) + len(new), -1) for _ in self._segments]
        for of, places in zip(rows, own, strict=True):
            of[places] = np.arange(len(places))
        left = self._frequencies(rows) > 0
        return list(compress(chain(first.terms, new), left.tolist())), [of[left] for of in rows]

    def _frequencies(self, own: Sequence[Rows]) -> Rows:
        """Return the number of passages with each term."""
        total = np.zeros(len(own[0]), np.int64)
        for segment, of, whole, stay in zip(self._segments, own, self._whole, self._stay, strict=True):
            starts = segment.arrays["starts"]
            counts = np.diff(starts)
            for start, stop in () if whole else _blocks(counts):
                begin, rows = starts[start], segment.arrays["rows"][starts[start] : starts[stop]]
                counts[start:stop] = np.diff(_starts(stay[rows])[starts[start : stop + 1] - begin])
            total[of >= 0] += counts[of[of >= 0]]
        return total

    def _merged(self, own: Sequence[Rows], start: int, stop: int) -> dict[str, tuple[Array, Array]]:
        """Return what the arrays of a range of terms have, with the term of each item, counted from the first one."""
        found: dict[str, list[tuple[Array, ...]]] = {"rows": [], "positions": []}
        for number, segment in enumerate(self._segments):
            arrays, terms = segment.arrays, np.flatnonzero(own[number][start:stop] >= 0)
            of = own[number][start:stop][terms]
            term, places = _ranges(terms, arrays["starts"][of], arrays["starts"][of + 1])
            rows, often = arrays["rows"][places], arrays["frequencies"][places]
            position_term, places = _ranges(terms, arrays["position_starts"][of], arrays["position_starts"][of + 1])
            positions = arrays["positions"][places]
            if not self._whole[number]:
                stays = self._stay[number][rows]
                kept = stays[np.cumsum(positions & 1, dtype=np.int64) - 1]
                position_term, positions = position_term[kept], positions[kept]
                term, rows, often = term[stays], rows[stays], often[stays]
            found["rows"].append((term, self.rows[number][rows], often, segment.lengths[rows]))
            found["positions"].append((position_term, positions))
        term, rows, often, lengths = _in_order(found["rows"])
        position_term, positions = _in_order(found["positions"])
        of_best, most, fewest = _best(term, often, lengths)
        return {
            "rows": (term, rows),
            "frequencies": (term, often),
            "positions": (position_term, positions),
            "most": (of_best, most),
            "fewest": (of_best, fewest),
        }


class _Spool(Iterable[Array]):
    """Numbers that are added in parts and read once, in parts; many of them wait in a file."""

    def __init__(self, kind: Any, folder: Path | None) -> None:
        self._kind = np.dtype(kind)
        self._file = SpooledTemporaryFile(_IN_MEMORY, dir=str(folder) if folder else None)  # noqa: SIM115 - closed when it is read

    def add(self, values: Array) -> None:
        self._file.write(values.astype(self._kind).data)

    def __iter__(self) -> Iterator[Array]:
        with self._file as file:
            file.seek(0)
            yield np.empty(0, self._kind)
            while part := file.read(_IN_MEMORY):
                yield np.frombuffer(part, self._kind)


def _blocks(counts: Rows) -> Iterator[tuple[int, int]]:
    """Yield ranges of terms, each with few postings."""
    ends, start = np.cumsum(counts), 0
    while start < len(counts):
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + _BLOCK, side="right"))
        stop = min(max(stop, start + 1), start + _TERMS)
        yield start, stop
        start = stop


def _ranges(terms: Rows, starts: Rows, stops: Rows) -> tuple[Rows, Rows]:
    """Return all places from each start to its stop, each with its term."""
    counts = stops - starts
    offsets = np.repeat(starts - (np.cumsum(counts) - counts), counts)
    return np.repeat(terms, counts), offsets + np.arange(len(offsets))


def _in_order(parts: Sequence[tuple[Array, ...]]) -> list[Array]:
    """Join arrays of which the first one has terms, in the order of these, of each in the order of the parts."""
    term, *others = (np.concatenate(of) for of in zip(*parts, strict=True))
    order = np.argsort(term.astype(np.uint16), kind="stable")  # of few bits, which sort in linear time
    return [array[order] for array in (term, *others)]
