"""Names and other telling words of English text, stop words, and what is code."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from langgraph_rag.normal_forms import SIGN, SYMBOLS


@cache
def stop_words() -> frozenset[str]:
    """Return the stop words in lower case; spaCy is imported here, as that takes seconds if torch is installed."""
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS)


_TILDES = "~{3,4}(?!~)"
_OPENING = re.compile(rf"[ \t]*(?:[-*+] )?(?P<fence>`{{3,}}|{_TILDES}(?!.*~\s*$))[^`]*$")
_LONGEST_OPENING = 80  # characters that are repeated in each part
_ON_ONE_LINE = re.compile(rf"(?:- )?(?:```|{_TILDES}(?!.*{_TILDES} ))")


class Block(NamedTuple):
    """A block of code: start, end, opening line, closing fence, and whether it is closed."""

    start: int
    end: int
    opening: str
    fence: str
    closed: bool


def is_code(text: str) -> bool:
    """Return whether a text on one line is a block of code."""
    return _ON_ONE_LINE.match(text) is not None


def fenced(code: str, fence: str, info: str) -> str:
    """Mark a text as code like in its Markdown; use backticks if its fence would not mark code in plain text."""
    if not _OPENING.match(fence + info):
        longest = max(map(len, re.findall("`+", code)), default=0)
        fence, info = "`" * max(3, longest + 1), info.replace("`", "")
    return f"{fence}{info}\n{code}\n{fence}"


def blocks_of_code(text: str) -> Iterator[Block]:
    """Yield the blocks of code in a text; an unclosed one ends with the text."""
    opening, start, position = None, 0, 0
    for line in text.split("\n"):
        end = position + len(line)
        if opening and line.strip() == opening["fence"]:
            yield Block(start, end, opening[0], opening["fence"], closed=True)
            opening = None
        elif not opening and (opening := _OPENING.match(line)):
            start = position
        position = end + 1
    if opening:
        yield Block(start, len(text), opening[0], opening["fence"], closed=False)


def closed(part: str) -> str:
    """Close a block of code that is cut at the end of a part."""
    *_, last = [None, *blocks_of_code(part)]
    return f"{part}\n{last.fence}" if last and not last.closed else part


MONTHS = "january february march april may june july august september october november december".split()
_MONTH = rf"(?:{'|'.join(month.title() for month in MONTHS)}|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
_YEAR = r"(?:1\d{3}|20\d{2})"
_OF_MESSAGES = rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), +\d{{1,2}} [A-Z][a-z]{{2}} {_YEAR}(?: [\d:]+(?: [+-]\d{{4}})?)?"
DATE = re.compile(
    rf"\b(?:(?:\d{{1,2}}/)?\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH}(?:,?\s+{_YEAR})?"
    rf"|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+{_YEAR})?"
    r"|\d{1,4}\s(?:BCE?|CE|AD)"
    rf"|{_OF_MESSAGES}|(?:{_MONTH}\s+|Q[1-4] ){_YEAR}|{_YEAR}-\d\d-\d\d"
    rf"|\d{{1,2}}(?P<mark>[/.])\d{{1,2}}(?P=mark)\d{{4}}|{_YEAR}s?)\b"
)
_COUNT = (
    r"(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-[a-z]+|one|two|three|four|five|six|seven|eight|nine"
    r"|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand)"
)
NUMBER = re.compile(
    r"(?<![\w.])\d+(?::\d+)+(?:\s?(?:[ap]m|[ap]\.m\.))?(?!\w)"  # a time, or a score
    r"|(?<![\w.])\d+(?:\.\d+)*\.(?:\d+\.\d+|[xX])\b"  # a version
    r"|(?<![\w.])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\w,.]\d)"  # 10 000
    rf"|(?<![\w.])(?:{SIGN})?(?:[$€£]\s?)?\d[\d,]*(?:\.\d+)?(?:\s?%|(?:\s?(?:percent|million|billion|thousand|hundred))?\b)"
    rf"|(?<!from )\b{_COUNT} (?:to|or) {_COUNT}\b(?!-\w)"  # three to four players
    rf"|\b{_COUNT}\b(?!-\w)"
)
# Before an @ are at most 64 characters: without this limit it takes quadratic time to look for the @.
_ADDRESS = re.compile(r"\bhttps?://[^\s<>()\"]*[^\s<>()\".,;:!?]|\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_DEGREES = re.compile(r"(?<![\w.,])[-\u2212]?\d[\d,]*(?:\.\d+)?\s?°(?:\s?[CFK]\b)?")
_OF_PROGRAMS = re.compile(
    r"``?(?P<code>[^`\s][^`\n]{0,80})``?"
    r"|(?<![\w-])--?[a-z][\w-]*(?![\w(])"  # an option
    r"|\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:\(\))?"  # a path of names
    r"|\b[^\W\d]\w*_\w+(?:\(\))?|\b[a-z]+[A-Z]\w*(?:\(\))?|\b[A-Za-z]\w+\(\)"
    r"|(?<![\w/.])(?:~|\.{1,2})?(?:/[\w.-]*[\w-])+/?(?![\w/])"
)
_SUM = re.compile(r"(?:EUR|USD|GBP|CHF|NOK|SEK|DKK|JPY|CNY|INR|AUD|CAD) ?\d")
_UPPER_WORD = r"(?<![\w'’-])[^\W\d_a-z][\w'’-]{0,30}"
_PAIRED = re.compile(  # names that "and" does not part
    rf"{_UPPER_WORD}(?:,? {_UPPER_WORD}){{0,3}} (?:and|&) (?:Associates|Sons|Brothers|Company|Partners|Daughters)\b"
    rf"|\bMr\.? (?:and|&) Mrs\.?(?: {_UPPER_WORD}){{1,3}}"
    r"|\b(?:Trinidad and Tobago|Bosnia and Herzegovina|Antigua and Barbuda|(?:Saint|St\.?) Kitts and Nevis"
    r"|(?:Saint|St\.?) Vincent and the Grenadines|São Tomé and Príncipe|Rock and Roll Hall of Fame)\b"
)
QUOTE = re.compile(r"[\"“«]\s?([^\"“”«»]{1,80}?)\s?[\"”»]")
JOINED_WORD = re.compile(r"\w+(?:['’-]\w+)*")  # including apostrophes and hyphens
_TOKEN = re.compile(
    r"(?:[^\W\d_]\.)+|(?:Jr|Sr|St|Dr|Mr|Mrs|Ms|Lt|Gen|Col|Capt|Rev|Mt|Ft|No|Bros|vs?)\."
    rf"|\w+(?:['’\-./&]\w+)*(?:{SYMBOLS})?|\S"
)

# Words that may be inside a name between two capitalised ones.
NAME_CONNECTORS = frozenset(
    "of the de la le las los du des von van der den di da del della dos y al el bin ibn bint af av zu ap ferch mac "
    "fitz & - v v. vs.".split()
)
_CLAUSE_WORDS = frozenset(
    "in on at by from to with as into under over for after before between the a an its his her their this".split()
)
_ARTICLES = frozenset({"the", "a", "an"})
_BEGIN_NAMES = frozenset("First Third Last IT US WHO".split())
_GIVEN_NAMES = frozenset("Can May Per".split())  # no statement begins with one of these before a name
_GOES_ON = re.compile(r"[\w,]")  # a capital after these begins no clause ("in Then She Found Me")
_IDENTIFIER = re.compile(r"^-|[\d_]|\w[./:]\w")
_ROMAN = re.compile(r"[IVXLC]+|\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class Span:
    """A span of a text, `text[start:end]`, with its kind: "name", "date" or "number" if returned by `spot`."""

    start: int
    end: int
    text: str
    kind: str


def is_generic(name: str) -> bool:
    """Return whether a name is only lower-case words ("default value"), and so neither a name nor an identifier."""
    return name.islower() and not _IDENTIFIER.search(name)


def within(position: int, stretches: Sequence[tuple[int, int]]) -> bool:
    """Return whether a position is inside one of some spans, which are in order and do not overlap."""
    before = bisect_left(stretches, (position, 0)) - 1
    return before >= 0 and position < stretches[before][1]


@lru_cache(maxsize=8192)  # phrases and triples of a passage need the same sentences
def spot(sentence: str) -> tuple[Span, ...]:
    """Return the spans of a sentence in reading order, without overlaps."""
    taken: list[Span] = []
    for quote in QUOTE.finditer(sentence):
        if text := quote[1].strip(" ,.;"):
            taken.append(Span(quote.start(), quote.end(), text, "name"))
    for address in _ADDRESS.finditer(sentence):
        _add(taken, Span(address.start(), address.end(), address[0], "name"))
    for found in identifiers(sentence):
        _add(taken, Span(found.start(), found.end(), found["code"] or found[0], "name"))
    for match in _DEGREES.finditer(sentence):
        _add(taken, Span(match.start(), match.end(), match[0], "number"))
    for match in DATE.finditer(sentence):
        _add(taken, Span(match.start(), match.end(), match[0], "date"))
    for name in chain(_pairs(sentence), _names(sentence)):
        _add(taken, name)
    for match in NUMBER.finditer(sentence):
        _add(taken, Span(match.start(), match.end(), match[0], "number"))
    return tuple(taken)


def spot_names(sentence: str) -> list[Span]:
    """Return the names in a sentence, in reading order."""
    return [span for span in spot(sentence) if span.kind == "name"]


def identifiers(text: str) -> Iterator[re.Match[str]]:
    """Find the names of programs: `--dry-run`, `django.db.models`, `max_length`, `urlopen()`, `/etc/hosts`."""
    return filter(_is_identifier, _OF_PROGRAMS.finditer(text))


def _pairs(sentence: str) -> Iterator[Span]:
    for pair in _PAIRED.finditer(sentence):
        if pair[0].split(" ", 1)[0].lower() not in stop_words():
            yield Span(pair.start(), pair.end(), pair[0], "name")


def _is_identifier(found: re.Match[str]) -> bool:
    """Return whether a match is no end of a sentence without a space, and no abbreviation: "fell.The", "p.m"."""
    if found["code"] or "." not in found[0] or found[0][0] in "./~-":
        return True
    parts = found[0].removesuffix("()").split(".")
    return all(len(part) > 1 for part in parts) and not any(part.lower() in stop_words() for part in parts[1:2])


def _add(taken: list[Span], span: Span) -> None:
    """Insert a span in reading order, unless it overlaps another one."""
    place = bisect_left(taken, span.start, key=lambda other: other.start)
    after_the_last = place == 0 or taken[place - 1].end <= span.start
    if after_the_last and (place == len(taken) or span.end <= taken[place].start):
        taken.insert(place, span)


def _names(sentence: str) -> Iterator[Span]:
    tokens = list(_TOKEN.finditer(sentence))
    begins = _begins_question if sentence.rstrip().endswith("?") else _begins_clause
    position = 0
    while position < len(tokens):
        if not _capitalised(tokens[position][0]):
            position += 1
            continue
        end = _name_end(sentence, tokens, position)
        first = _name_start(tokens, position, end, begins)
        if not all(map(_says_nothing, (token[0] for token in tokens[first:end]))):
            start, stop = tokens[first].start(), tokens[end - 1].end()
            yield Span(start, stop, sentence[start:stop].removesuffix("'s").removesuffix("’s"), "name")
        position = end


def _name_start(tokens: list[re.Match[str]], position: int, end: int, begins: Callable[[str, str], bool]) -> int:
    """Return the index of the first token of a name; `begins` returns whether a word before another is not in it."""
    goes_on = position > 0 and (_GOES_ON.match(tokens[position - 1][0]) or _is_acronym(tokens[position][0]))
    leads = _is_article if goes_on else begins
    if _opens_clause(tokens, position) and (end == position + 1 or tokens[position + 1][0] == "the"):
        position += 1
    for word, following in pairwise([*(token[0] for token in tokens[position:end]), ""]):
        if not leads(word, following):
            break
        position += 1
    return position


def _name_end(sentence: str, tokens: list[re.Match[str]], start: int) -> int:
    """Return the index after the last token of the name that starts at `start`."""
    end = start + 1
    while True:
        ahead = end
        while ahead < len(tokens) and tokens[ahead][0] in NAME_CONNECTORS and ahead - end < 2:
            ahead += 1
        if ahead == len(tokens) or (DATE.match(sentence, at := tokens[ahead].start()) or _SUM.match(sentence, at)):
            return end
        alone = ahead == end + 1 and tokens[end][0] == "the"
        if alone and ahead + 1 < len(tokens) and _capitalised(tokens[ahead + 1][0]):
            return end  # "In the Long War the Sarl Mill", unlike "Bo the Bold"
        following = tokens[ahead][0]
        numbered = ahead == end and _ROMAN.fullmatch(following) and sentence[tokens[ahead].end() :][:1] != "–"
        if not (_capitalised(following) or numbered):
            return end
        end = ahead + 1


def _opens_clause(tokens: list[re.Match[str]], position: int) -> bool:
    """Return whether a word is capitalised only as the first of a sentence ("Founded in 1911 by", "Initially")."""
    if tokens[position].start() > 0:
        return False
    following = tokens[position + 1][0] if position + 1 < len(tokens) else ""
    return tokens[position][0].endswith(("ed", "ing", "ly")) or following in _CLAUSE_WORDS


def _is_article(word: str, _: str) -> bool:
    return word.lower() in _ARTICLES


def _begins_question(word: str, _: str) -> bool:
    """Return whether the first word of a question is capitalised only for that, and is not part of a name."""
    return word.lower() in stop_words() and word not in _BEGIN_NAMES


def _begins_clause(word: str, following: str) -> bool:
    """Return the same for a statement, in which "Will" is a name, and so is "Per Lund"."""
    named = word == "Will" or (bool(following) and word in _GIVEN_NAMES)
    return not named and _begins_question(word, following)


def _says_nothing(word: str) -> bool:
    return word.lower() in stop_words() and not _is_acronym(word)


def _is_acronym(word: str) -> bool:
    return word.isupper() and len(word) > 1


def _capitalised(token: str) -> bool:
    return token[0].isupper()
