"""Cuts a sentence into words with their classes; names, dates and numbers are one token each."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from langgraph_rag.tools.language.spans import spot
from langgraph_rag.tools.language.word_classes import tag_of

_WORD = re.compile(r"['’]s\b|\w+(?:['’/]\w+|-\s?\w+)*|\.\.\.|\S")
_MARKS = {
    ",": "comma",
    "(": "open",
    ")": "close",
    "[": "open",
    "]": "close",
    "'s": "gen",
    "’s": "gen",
    "'": "gen",
    "’": "gen",
}
_KINDS = {"name": "name", "date": "date", "number": "num"}
_QUOTE = re.compile(r"[\"“”«»`*]+")
_RANK = re.compile(r"\d+(?:st|nd|rd|th)")
_OF_RANK = re.compile(
    r"(?:(?:Grand |Arch)?(?:Earl|Duke|Duchess|Baron|Baroness|Marquess|Marquis|Viscount|Viscountess|Count|Countess"
    r"|Prince|Princess|King|Queen|Lord|Lady|Margrave|Elector|Emperor|Bishop)\b.* of "
    r"|Baron |Viscount |Baronet$|Jr\.?$|Sr\.?$)"
)
_OF_BODIES = re.compile(
    r"(?:.* )?(?:Academy|Ministry|Minister|Department|Secretary|Institute|School|College|University|Museum|Society"
    r"|Board|Bureau|Council|Cent(?:er|re)|Journal|Committee|Office) (?:of|for) "
)
_BODY = re.compile(r"\b(?:Institute|University|College|Museum|Society|Association|Council|Commission|Committee)$")
_AWARD = re.compile(r"(?:Award|Prize|Medal|Oscar|Emmy|Grammy|Globe)s?$")
_FOR_WHAT = re.compile(r"(?:Best|Outstanding|Excellence|Lifetime|Most|Achievement)\b")
_SHORTENED = re.compile(r"(?:They|You|We|I|He|She|It|That|There|What|Who|Here|Let)['’](?:re|s|ve|ll|d|m)")
_QUOTES = frozenset('"“”«»‘`*_')


class Token(NamedTuple):
    """A part of a sentence, `sentence[start:end]`, with its class; the text of a quotation is what it quotes."""

    start: int
    end: int
    text: str
    tag: str


END = Token(0, 0, "", "stop")


class Tokens:
    """The tokens of a sentence; beyond its end there are only stops."""

    def __init__(self, sentence: str) -> None:
        """Cut the sentence."""
        self.sentence = sentence
        self._tokens = list(_with_titles(sentence, list(_cut(sentence))))

    def __len__(self) -> int:
        """Count the tokens."""
        return len(self._tokens)

    def __getitem__(self, place: int) -> Token:
        """Return a token, or a stop beyond the end."""
        return self._tokens[place] if 0 <= place < len(self._tokens) else END

    def text(self, start: int, end: int) -> str:
        """Return the text of the tokens from one place to another, without quotation marks around it."""
        if end <= start:
            return ""
        if end == start + 1:
            return self[start].text
        text = self.sentence[self[start].start : self[end - 1].end]
        return " ".join(_QUOTE.sub(" ", text).split()) if _QUOTE.search(text) else text

    def is_(self, place: int, *tags: str) -> bool:
        """Return whether a token has one of some classes."""
        return self[place].tag in tags

    def place_of(self, position: int) -> int:
        """Return the place of the first token from a position of the sentence on."""
        return next((place for place, token in enumerate(self._tokens) if token.start >= position), len(self))

    def after_brackets(self, place: int) -> int:
        """Return the place after the brackets that begin at a place, if any do."""
        while self.is_(place, "open"):
            depth = 0
            while place < len(self):
                depth += self.is_(place, "open") - self.is_(place, "close")
                place += 1
                if depth == 0:
                    break
        return place


def _cut(sentence: str) -> Iterator[Token]:
    position = 0
    for span in spot(sentence):
        yield from _words(sentence, position, span.start)
        position = span.end
        if _SHORTENED.fullmatch(span.text):
            yield Token(span.start, span.end, span.text, "stop")  # "They're"
            continue
        own = sentence[span.start : span.end].endswith(("'s", "’s")) and not span.text.endswith(("'s", "’s"))
        yield Token(span.start, span.end - 2 * own, span.text, _KINDS[span.kind])
        if own:
            yield Token(span.end - 2, span.end, "'s", "gen")
    yield from _words(sentence, position, len(sentence))


def _with_titles(sentence: str, tokens: list[Token]) -> Iterator[Token]:
    """Join what belongs to one name: "Hugh Roe, 2nd Earl of Ost", "Bo Ray, Jr.", "Ministry of Trade and Industry"."""
    place = 0
    while place < len(tokens):
        token, end = tokens[place], place + 1
        while token.tag == "name" and (last := _rank_end(tokens, end, token)):
            token, end = (
                Token(token.start, tokens[last].end, sentence[token.start : tokens[last].end].strip('"'), "name"),
                last + 1,
            )
        hyphen, word = [*tokens[end : end + 2], END, END][:2]
        joined = hyphen.text == "-" and hyphen.start == token.end and word.start == hyphen.end
        if token.tag == "name" and hyphen.text == "-" and hyphen.start == token.end and word.text:
            token, end = Token(token.start, word.end, sentence[token.start : word.end], word.tag), end + 2
        elif joined and token.tag in {"num", "date"} and word.tag == "word":  # "44-gun"
            token, end = Token(token.start, word.end, sentence[token.start : word.end], "word"), end + 2
        yield token
        place = end


def _rank_end(tokens: list[Token], place: int, name: Token) -> int:
    """Return the place of the last token of a title, or the second part of a body's name, that begins there."""
    if place + 1 >= len(tokens):
        return 0
    if tokens[place].text == ",":
        at = place + 1
        at += at + 1 < len(tokens) and _RANK.fullmatch(tokens[at].text) is not None
        return at if tokens[at].tag == "name" and _OF_RANK.match(tokens[at].text) else 0
    other = tokens[place + 1]
    if tokens[place].text == "for" and _AWARD.search(name.text) and other.tag == "name":
        return place + 1 if _FOR_WHAT.match(other.text) else 0
    joins = tokens[place].text in {"and", "&"} and other.tag == "name"
    the = place > 1 and tokens[place - 2].text.lower() == "the"
    parts = _OF_BODIES.match(name.text) and " " not in other.text
    return place + 1 if joins and (parts or (the and _BODY.search(other.text))) else 0


def _words(sentence: str, start: int, end: int) -> Iterator[Token]:
    for found in _WORD.finditer(sentence, start, end):
        word = found[0]
        if word in _QUOTES:
            continue
        tag = _MARKS.get(word) or (tag_of(word.lower()) if word[0].isalnum() else "stop")
        yield Token(found.start(), found.end(), word, tag)
