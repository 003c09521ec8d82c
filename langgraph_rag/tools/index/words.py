"""Search by words: what the words of passages and queries are, and the tokens by which they are found."""

import json
import re
import sqlite3
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np

from langgraph_rag.normal_forms import POINTS, SYMBOLS, UNSPACED, WORD, folded
from langgraph_rag.tools.index.arrays import Rows
from langgraph_rag.tools.ingest.spans import stop_words

_BULLET = re.compile(r"(?:[-*•+]|\d+[.)])\s+")
_PROSE = re.compile(r"[A-Z]?[^\W\d_A-Z]*(?:['’][a-z]+)?|I|A")
_LONGEST = 4  # words of a term on a line of its own: "-t timeout", "beginning-of-line (C-a)"
_ENDS = (".", "!", "?", ":", ";")


def terms_of(text: str) -> list[str]:
    """Return the terms that begin a paragraph or an item of a list and are explained there or in the next one.

    A term stands on a line of its own (`HISTFILE`), before a colon (`fields.E304: ...`), or before a sentence (`dotglob
    If set, ...`). Names of which nothing is said, as in a list of settings, are no terms.
    """
    lines = [line.strip() for line in text.splitlines()]
    begins = [not before or _BULLET.match(line) is not None for before, line in pairwise(["", *lines])]
    stated = [(line, begin) for line, begin in zip(lines, begins, strict=True) if line]
    terms = (_term(line, following) for (line, begin), (following, _) in pairwise([*stated, ("", True)]) if begin)
    return list(dict.fromkeys(filter(None, terms)))


def _term(line: str, following: str) -> str:
    """Return the term that a line begins with, if any; `following` is the next line."""
    bullet = _BULLET.match(line)
    words = line[bullet.end() if bullet else 0 :].split()
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
        any(map(str.isalpha, line)) and len(line.split()) <= _LONGEST and not line.endswith(_ENDS) and ": " not in line
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


def words_to_search(query: str) -> dict[str, list[str]]:
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
    return dict(islice(words.items(), _MOST))


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
