"""The words of passages, indexed by FTS5, for languages with and without spaces between words."""

import re
import unicodedata
from itertools import islice

from langgraph_rag.normal_forms import POINTS, SYMBOLS, UNSPACED, WORD, folded
from langgraph_rag.tools.language.stop_words import stop_words
from langgraph_rag.tools.language.terms import terms_of

TOKENIZE = """tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'" """
TABLES = f"""
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(title, text, content='', {TOKENIZE});
CREATE TRIGGER IF NOT EXISTS words_in AFTER INSERT ON passages BEGIN
    INSERT INTO words (rowid, title, text)
    VALUES (new.number, coalesce(new.title_words, new.title), coalesce(new.text_words, new.text)); END;
CREATE TRIGGER IF NOT EXISTS words_out AFTER DELETE ON passages BEGIN
    INSERT INTO words (words, rowid, title, text)
    VALUES ('delete', old.number, coalesce(old.title_words, old.title), coalesce(old.text_words, old.text)); END;
"""
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
