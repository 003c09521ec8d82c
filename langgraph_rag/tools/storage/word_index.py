"""The words of passages: BM25 by FTS5, for languages with and without spaces between words."""

import re
import sys
import unicodedata
from itertools import islice

from langgraph_rag.normal_forms import POINTS, UNSPACED, WORD, folded
from langgraph_rag.records import ScoredPassage
from langgraph_rag.tools.language.stop_words import stop_words
from langgraph_rag.tools.storage.database import Database

TABLES = """
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
    title, text, content='', tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
CREATE TRIGGER IF NOT EXISTS words_in AFTER INSERT ON passages BEGIN
    INSERT INTO words (rowid, title, text)
    VALUES (new.number, coalesce(new.title_words, new.title), coalesce(new.text_words, new.text)); END;
CREATE TRIGGER IF NOT EXISTS words_out AFTER DELETE ON passages BEGIN
    INSERT INTO words (words, rowid, title, text)
    VALUES ('delete', old.number, coalesce(old.title_words, old.title), coalesce(old.text_words, old.text)); END;
"""
_TITLE_WEIGHT = 2.0  # weight of a word in BM25: a title states the topic of its passage
_MOST = 2_000  # words, as FTS5 takes quadratic time for those of two characters
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
    return _SYLLABLE.sub(r" \g<0> ", _form(text)) if _UNFOLDED.search(text) else None


def search_words(db: Database, query: str, k: int) -> list[ScoredPassage]:
    """Return the k passages that share the query's rarest words (BM25; a word of the title counts double).

    Where there are no spaces between words, any two characters that follow each other are a word. Of a query that is
    longer than any question, only the first 2,000 different words count.
    """
    found = WORD.findall(_form(query))
    words = [word for word in found if word not in stop_words()] or found
    if not words:
        return []
    phrases = dict.fromkeys(phrase for word in words for run in _RUN.findall(word) for phrase in _phrases(run))
    rows = db.rows(
        "id, score",
        f"(SELECT id, score FROM (SELECT rowid AS found, -bm25(words, {_TITLE_WEIGHT}, 1.0) AS score FROM words "
        "WHERE words MATCH ? ORDER BY score DESC, found LIMIT ?) JOIN passages ON number = found "
        "ORDER BY score DESC, id)",
        " OR ".join(f'"{phrase}"' for phrase in islice(phrases, _MOST)),
        min(k, sys.maxsize),  # the largest integer of SQLite
    )
    return [ScoredPassage(id=row[0], score=row[1]) for row in rows]


def _phrases(run: str) -> list[str]:
    if len(run) == 1 or not _SYLLABLE.match(run):
        return [run]
    return [f"{run[place]} {run[place + 1]}" for place in range(len(run) - 1)]


def _form(text: str) -> str:
    """Return a text in lower case, without accents and points."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", folded(text))))
