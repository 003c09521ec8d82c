"""Parses sentences with a trained spaCy pipeline, names and identifiers as single words.

Such a pipeline was trained on newspapers and conversations. It takes `--dry-run`, or a title with a comma, apart, and
then errs about the rest of the sentence. So each of these is parsed as one common word of its kind, and parentheses are
parsed as sentences of their own, after that which they interrupt.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, NamedTuple

from langgraph_rag.tools.facts.names import loosely, topic_of
from langgraph_rag.tools.ingest.spans import DATE, spot

Kind = Literal["", "name", "code", "date", "number"]

_STANDS_FOR: dict[Kind, str] = {"name": "Maria", "code": "Python", "date": "1901", "number": "500"}
"""A word that the pipeline knows, instead of one that it does not."""
_DAY = "Monday"
_OF_A_DAY = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)?\b(?!\s(?:BC|AD|CE))")
_LONGEST = 120  # words of a sentence; longer ones are lists or tables
_DEEPEST = 150  # words above a word, more than a sentence has
_LONGEST_TEXT = 1_500  # characters
_UPPER = r"[^\W\d_a-z]"
_OF_NAMES = "Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz|San|Al"
_CODE = "|".join(
    (
        r"``[^`\n]{1,80}``|`[^`\n]{1,80}`",
        r"(?<![\w-])--?[A-Za-z][\w-]*(?:=[\w./-]+)?",  # --dry-run, -i
        r"(?<!\w)[$@%][A-Za-z_]\w*|\$\{\w+\}|(?<!\w)'[\w./:*-]{1,40}'(?!\w)",
        r"\bhttps?://[^\s<>()\"]*[^\s<>()\".,;:!?]|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
        r"(?<![\w/.])(?:~|\.{1,2})?(?:/[\w.-]*\w)+/?|\b\w[\w.-]*(?:/[\w.-]*\w){2,}",  # paths
        r"\b(?:[A-Za-z_]\w+\.)+[A-Za-z_]\w+(?:\(\))?(?=\W|$)",  # django.db.models
        r"\b[A-Za-z]*_\w*(?:\(\))?|\b\w+\(\)",
        r"\b[A-Z]{2,}[A-Z0-9]*(?:-[A-Z0-9]*\d[A-Z0-9]*)+\b|\b(?![IVXLCDM]+\b)[A-Z]{4,}\b",  # CVE-2026-6907
        rf"\b(?!(?:{_OF_NAMES})[A-Z])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b",  # QuerySet
    )
)
_KIND = (
    r" (?:setting|option|command|method|function|class|attribute|variable|argument|parameter|module|package|field|flag"
    r"|tag|filter|keyword|middleware|builtin|utility|program|library|header|operator|decorator)\b"
    r"(?! (?:of|for|in|to)\b)"
)
_YEAR = r"(?:1\d{3}|20\d{2})"
_TIME = "|".join(
    (
        rf"(?<=[Ff]rom ){_YEAR} (?:to|until|till) (?:{_YEAR}|present)|(?<=etween ){_YEAR} and {_YEAR}",
        rf"{_YEAR}\s?[–—-]\s?(?:{_YEAR}|\d\d)\b",
        r"\b\d{1,4} (?:BCE?|AD|CE)\b|\bAD \d{1,4}\b",
        DATE.pattern,
    )
)
_QUANTITY = "|".join(
    (
        r"(?:US|A|C)?[$€£]\s?\d[\d,.]*\d?(?:\s(?:million|billion|trillion))?",
        r"(?<![\w.])-?\d[\d.,]*\s?°\s?(?:[CFK]\b)?",
        r"(?<![\w.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\w,.]*\d)",
        r"(?<![\w.])\d+(?:\.\d+){2,}\w*",  # versions
    )
)
_MASKED = re.compile(
    rf"(?P<code>{_CODE})(?P<kind>{_KIND})?|(?<!\w)[\"“«]\s?(?P<name>[^\"“”«»]{{1,80}}?)[,.]?\s?[\"”»]|(?P<date>{_TIME})|(?P<number>{_QUANTITY})"
)
_LEADER = re.compile(r"^\s*(?:[-*+•|#>]+|\(?\d{1,3}[.)])\s+")  # of a list
_ASIDE = re.compile(r"\s*(?<!\w\()\(\s*([^()]{2,}?)\s*\)")
_RANKS = (
    "Prince|Princess|Duke|Duchess|Earl|Count|Countess|Baron|Baroness|Baronet|Viscount|Viscountess|Marquess|Marquis|Lord"
)
_RANK = re.compile(rf",? [JS]r\.|, (?:\d+(?:st|nd|rd|th) )?(?:{_RANKS}|Marchioness)\b(?: of {_UPPER}[\w'’-]+)*")
_HONOURS = re.compile(r"(?:,? [A-Z]{2,6}\b)+,?(?=\s(?:is|was)\b|$)")
_LONGER = re.compile(rf"(?: ?-? ?{_UPPER}[\w'’-]*\.?)*(?:,? [A-Z]{{2,6}})*,?(?=\s(?:is|was|are|were|also)\b|$)")
_NAME = rf"{_UPPER}[\w'’-]*(?: {_UPPER}[\w'’-]*){{0,3}}"
_AFTER_PLACE = rf"[.;)]|$|,(?! (?:and|or)\b)|\s(?:in|on|at|to|from|by|where|when|for|with|until|and (?!{_UPPER}))\b"
_PLACE = re.compile(rf"\b(?:in|at) (?:[a-z]+ )?({_NAME}, {_NAME}(?:, {_NAME})?)(?={_AFTER_PLACE})")
"""A place with the one that it lies in: `in Ferl, Norland`."""


_Span = tuple[int, int, str, Kind]  # start, end, as written, kind


_INSTITUTION = re.compile(
    rf"{_UPPER}[\w'’-]+(?: {_UPPER}[\w'’-]+)? and (?:{_UPPER}[\w'’-]+ ){{1,3}}?(?:Institute|University|College|School"
    rf"|Museum|Society|Association|Department|Ministry|Council|Commission|Committee|Agency|Bureau|Board|Academy|Act|Centre"
    rf"|Center)\b(?: of(?: the)? {_UPPER}[\w'’-]+)*"
)
_LONGEST_NAME = 60  # characters
_ORDINAL = re.compile(r"\b\d+(?:st|nd|rd|th) $")
_BEFORE_DASH = re.compile(rf"(?:{_UPPER}[\w'’.]*(?: |–))+(?<=–)$")
_AFTER_DASH = re.compile(rf"–{_UPPER}[\w'’.]*(?:(?: |–){_UPPER}[\w'’.]*)*")


_OF_NOUNS = frozenset("nsubj dobj nsubjpass pcomp pobj dative appos attr ROOT".split())
_OPENING = re.compile(r"[A-Z][a-z]+ (?:the )?")


class Piece(NamedTuple):
    """A stretch of a sentence without parentheses, or what stands in them; the latter is an aside."""

    sentence: int  # its position
    text: str
    aside: bool


@dataclass(eq=False, slots=True)
class Word:
    """A word of a parse, as written in the text. A name, an identifier or a date is one word of its kind."""

    place: int
    text: str
    kind: Kind
    space: bool  # after it
    gap: bool  # before it, where parentheses were
    stand_in: str  # what the pipeline is shown
    tag: str = ""
    role: str = ""
    head: "Word" = field(init=False)
    children: "list[Word]" = field(default_factory=list)

    def of(self, *roles: str) -> "list[Word]":
        """Return the children with one of these roles."""
        return [child for child in self.children if child.role in roles]


class ParsedPiece(NamedTuple):
    """A piece of a sentence with its words."""

    piece: Piece
    words: list[Word]


def parsed(nlp: Any, passages: Sequence[tuple[str, Sequence[str]]]) -> Iterator[list[ParsedPiece]]:
    """Parse passages; yield for each its pieces.

    Args:
        nlp: a spaCy pipeline with tagger and parser.
        passages: title and sentences of each.
    """
    prepared = [_pieces_of(nlp, title, sentences) for title, sentences in passages]
    for pieces, doc in zip(prepared, nlp.pipe([_doc(nlp, pieces) for pieces in prepared]), strict=True):
        words = [word for _, words in pieces for word in words]
        for word, token in zip(words, doc, strict=True):
            word.tag, word.role, word.head = token.tag_, token.dep_, words[token.head.i]
        _mend(words)
        pieces = [ParsedPiece(piece, _joined(own)) for piece, own in pieces]
        for word in chain.from_iterable(own for _, own in pieces):
            if word.head is not word:
                word.head.children.append(word)
        yield pieces


def noun_chunks(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield noun phrases with what stands before their nouns, as spaCy's `noun_chunks` does."""
    end = 0
    for word in words:
        first = word
        while first.role == "conj" and first.head is not first:
            first = first.head
        if word.tag.startswith("NN") and first.role in _OF_NOUNS:
            start = word.place
            for child in word.children:
                start = min(start, child.place)
            if start >= end:
                yield [*words[start : word.place + 1]]
                end = word.place + 1


def _mend(words: Sequence[Word]) -> None:
    """Put verbs right that the pipeline joins to names, which it does where names are many or unusual."""
    for word in words:
        head = word.head
        if word.role in ("compound", "nmod") and word.tag in ("VBZ", "VBD") and head.kind == "name":  # "stars A, B"
            word.role, word.head = head.role, word if head.head is head else head.head
            head.role, head.head = "dobj", word
        if word.role == "conj" and word.tag.startswith("VB"):  # "directed by A and starring B"
            while not word.head.tag.startswith(("VB", "MD")) and word.head.head is not word.head:
                word.head = word.head.head
        if word.role == "acl" and word.tag == "VBD":
            word.tag = "VBN"
        if word.role == "ROOT" and word.tag == "VBN":
            _put_below_subject(word, words)


def _put_below_subject(participle: Word, words: Sequence[Word]) -> None:
    """Make `was` the verb of `Ada Renk, also known as A. Renk, was`, where the participle was taken for it."""
    below = {word.role: word for word in words if word.head is participle and word is not participle}
    verb, subject = below.get("conj"), below.get("nsubj", below.get("nsubjpass"))
    if verb and subject and verb.tag in ("VBD", "VBZ") and not {"aux", "auxpass"} & below.keys():
        verb.role, verb.head = "ROOT", verb
        participle.role, participle.head = "acl", subject
        subject.role, subject.head = "nsubj", verb


def _depth(word: Word) -> int:
    depth = 0
    while word.head is not word and depth <= _DEEPEST:
        word, depth = word.head, depth + 1
    return depth


def _joined(words: Sequence[Word]) -> list[Word]:
    """Return words with those of one hyphenated word as one, and no word below another across a colon or semicolon."""
    heads: dict[Word, Word] = {}
    for at, mark in enumerate(words[1:-1], start=1):
        before, after = words[at - 1], words[at + 1]
        if mark.text in ("-", "–") and not (before.space or mark.space or before.kind or after.kind):
            before = heads.get(before, before)
            top = min((before, mark, after), key=_depth)  # the others are not above it
            last = after if top is mark else top
            if top is mark:
                last.role, last.head = mark.role, last if mark.head is mark else mark.head
            last.text = f"{before.text}{mark.text}{after.text}"
            last.space = after.space
            for part in {before, mark, after} - {last}:
                heads[part], part.text, part.space = last, "", False
    kept = [word for word in words if word not in heads]
    breaks = [place for place, word in enumerate(kept) if word.tag == ":" and word.text not in "-–"]
    for place, word in enumerate(kept):
        word.place = place
        while word.head in heads and word.head is not word:
            word.head = heads[word.head]
    for word in kept:
        if _depth(word) > _DEEPEST:  # words that depend on one another, after a mistake of the parser was put right
            word.head, word.role = word, "dep"
        between = sorted((word.place, word.head.place))
        if any(between[0] < place < between[1] for place in breaks) and not word.tag.startswith("VB"):
            word.role = "dep"
    return kept


def written(words: Iterable[Word]) -> str:
    """Return words as they stand in the text."""
    return "".join(word.text + " " * word.space for word in words).strip()


def _doc(nlp: Any, pieces: Sequence[ParsedPiece]) -> Any:
    """Return the tokens of pieces, each of which is a sentence."""
    from spacy.tokens import Doc

    words = [word for _, words in pieces for word in words]
    starts = [place == 0 for _, words in pieces for place in range(len(words))]
    return Doc(nlp.vocab, [word.stand_in for word in words], [word.space for word in words], sent_starts=starts)


def is_identifier(text: str) -> bool:
    """Return whether a text is a single identifier, such as `DATA_MAX_SIZE`, `fields.E304` or `--dry-run`."""
    return re.fullmatch(_CODE, text) is not None


def _pieces_of(nlp: Any, title: str, sentences: Sequence[str]) -> list[ParsedPiece]:
    topic = topic_of(title)
    named = topic[:1].isupper() or (topic[:1].isdigit() and not topic.isdigit()) or is_identifier(topic)
    known = re.compile(rf"(?<!\w){loosely(topic)}(?!\w)") if named else None
    found, count = [], 0
    for position, sentence in enumerate(sentences):
        for text, aside, cuts in _apart(sentence):
            if text.strip() and len(text) <= _LONGEST_TEXT and len(text.split()) <= _LONGEST:
                words = list(_words(nlp, text, cuts, topic, known, count))
                count += len(words)
                found.append(ParsedPiece(Piece(position, text, aside), words))
    return found


def _words(
    nlp: Any, text: str, cuts: Sequence[int], topic: str, known: re.Pattern[str] | None, count: int
) -> Iterator[Word]:
    done = 0
    whole = [span for span in _spans(text, topic, known) if not any(span[0] < cut < span[1] for cut in cuts)]
    for start, end, told, kind in [*whole, (len(text), len(text), "", "")]:
        for token in nlp.tokenizer(text[done:start]):
            place = done + token.idx
            if token.is_space:
                continue
            stop = place + len(token)
            yield Word(count, token.text, "", text[stop : stop + 1] == " ", _has_gap(text, place, cuts), token.text)
            count += 1
        if told:
            stand_in = _stand_in(told, kind, known)
            yield Word(count, told, kind, text[end : end + 1] == " ", _has_gap(text, start, cuts), stand_in)
            count += 1
        done = end


def _has_gap(text: str, place: int, cuts: Sequence[int]) -> bool:
    return any(cut <= place and not text[cut:place].strip() for cut in cuts)


def _apart(sentence: str) -> Iterator[tuple[str, bool, list[int]]]:
    """Yield a sentence without its parentheses, with the places where they were, and each of these."""
    sentence = _LEADER.sub("", sentence)
    asides = list(_ASIDE.finditer(sentence))
    kept, cuts, done = "", [], 0
    for aside in asides:
        kept += sentence[done : aside.start()]
        cuts.append(len(kept))
        done = aside.end()
    yield kept + sentence[done:], False, cuts
    for aside in asides:
        yield aside[1], True, []


def _spans(text: str, topic: str, known: re.Pattern[str] | None) -> list[_Span]:
    """Return what is parsed as one word, in order."""
    found = [*_topics(text, topic, known), *_names(text), *_marked(text), *_marked(text, versions=True)]
    chosen: list[_Span] = []
    for span in found:  # the first of those that overlap
        if all(span[1] <= other[0] or other[1] <= span[0] for other in chosen):
            chosen.append(span)
    return sorted(chosen)


def _topics(text: str, topic: str, known: re.Pattern[str] | None) -> Iterator[_Span]:
    longer_names = [(span.start, span.end) for span in spot(text) if " " in span.text] if " " not in topic else []
    for name in known.finditer(text) if known else ():
        if any(start <= name.start() and name.end() < end for start, end in longer_names):
            continue  # "Kestrel GmbH" about Kestrel
        longer = _LONGER.match(text, name.end()) if name.start() == 0 else None  # also "Ada Renk Moss, MBE, is"
        yield name.start(), longer.end() if longer else name.end(), topic, "name"


def _marked(text: str, *, versions: bool = False) -> Iterator[_Span]:
    """Yield what has marks or digits: identifiers, quotations, dates and numbers; versions only if asked for."""
    for match in _MASKED.finditer(text):
        if (match["number"] is not None) != versions:
            continue
        if match["name"]:
            if match["name"][0].isupper() or match["name"][0].isdigit():
                yield *match.span(), match["name"], "name"
        else:
            kind: Kind = "code" if match["code"] else "number" if match["number"] else "date"
            yield *match.span(), (match["code"] or match[0]).strip("`'"), kind


def _names(text: str) -> Iterator[_Span]:
    """Yield names of several words."""
    for place in _PLACE.finditer(text):
        yield *place.span(1), place[1], "name"
    for name in _INSTITUTION.finditer(text):
        yield *name.span(), name[0], "name"
    for span in spot(text):
        if span.kind == "name" and text.startswith(span.text, span.start):
            begin = _ORDINAL.search(text, max(span.start - 6, 0), span.start)  # "29th Ost Festival"
            start, end = _dashed(text, begin.start() if begin else span.start, span.start + len(span.text))
            ranked = _RANK.match(text, end)
            honoured = _HONOURS.match(text, end) if start == 0 else None
            told = text[start : ranked.end()] if ranked else text[start:end]
            opening, the, rest = told.partition(" the ")
            if the and _OPENING.fullmatch(text, 0, start):  # "During the Long War the Mill was sold"
                yield start, start + len(opening), opening, "name"
                start, told = start + len(opening) + len(the), rest
            if " " in told or "–" in told:
                yield start, ranked.end() if ranked else honoured.end() if honoured else end, told, "name"


def _dashed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a name with what dashes join to it: `Kansas–Nebraska Act`."""
    before, after = _BEFORE_DASH.search(text, max(start - _LONGEST_NAME, 0), start), _AFTER_DASH.match(text, end)
    return before.start() if before else start, after.end() if after else end


def _stand_in(told: str, kind: Kind, known: re.Pattern[str] | None) -> str:
    """Return the last word of a name, if it looks like one: the pipeline errs less about different names."""
    if known and known.fullmatch(told):
        return _STANDS_FOR[kind]
    if kind == "date":
        return _DAY if _OF_A_DAY.search(told) else _STANDS_FOR[kind]
    last = told.rpartition(" ")[2]
    return last if kind == "name" and " " in told and last.isalpha() and last.istitle() else _STANDS_FOR[kind]
