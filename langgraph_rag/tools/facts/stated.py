"""The check that a passage states a fact: its ends stand there, and nobody denies or merely reports it."""

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from langgraph_rag.normal_forms import SIGN, WORD, apart, folded
from langgraph_rag.records import Fact, Record
from langgraph_rag.tools.ingest.spans import stop_words

SIGNS = frozenset(
    "t not cannot never neither nor no none nobody nothing hardly without instead rather fail failed fails refused "
    "declined unable deny denies denied denying doubt doubts doubted claim claims claimed claiming allege alleges "
    "alleged say says said saying argue argues argued assert asserts asserted believe believes believed think thinks "
    "thought speculate speculates speculated suggest suggests suggested rumour rumours rumoured rumor rumors rumored "
    "report reports reported assume assumes assumed suppose supposes supposed fear fears feared hope hopes hoped wish "
    "wishes wished imagine imagines imagined predict predicts predicted insist insists insisted maintain maintains "
    "maintained contend contends contended presumed purport purports purported pretend pretends pretended seem seems "
    "seemed allegation allegations belief suggestion theory myth legend hypothesis evidence possibility untrue false "
    "unlikely uncertain unclear doubtful possible impossible incorrect wrong disputed conceivable likely tradition "
    "reportedly allegedly supposedly purportedly ostensibly apparently presumably possibly perhaps maybe probably "
    "conceivably hypothetically almost nearly might may could would should if unless whether until according".split()
)
"""One of these words is in each sentence that `unasserted` finds something in, unless it is a question."""

_SAY = (
    r"(?:den(?:y|ies|ied|ying)|doubt(?:s|ed)?|claim(?:s|ed|ing)?|alleg(?:es?|ed|ing)|sa(?:ys?|id|ying)|argu(?:es?|ed)"
    r"|assert(?:s|ed)?|believ(?:es?|ed)|thinks?|thought|speculat(?:es?|ed)|suggest(?:s|ed)?|rumou?red|report(?:s|ed)?"
    r"|assum(?:es?|ed)|suppos(?:es?|ed)|fear(?:s|ed)?|hop(?:es?|ed)|wish(?:es|ed)?|imagin(?:es?|ed)|predict(?:s|ed)?"
    r"|insist(?:s|ed)?|maintain(?:s|ed)?|contend(?:s|ed)?)"
)
_SAID = (
    r"(?:claims?|rumou?rs?|allegations?|belief|suggestions?|theory|myth|legend|hypothesis|evidence|possibility|untrue"
    r"|false|unlikely|uncertain|unclear|doubtful|possible|impossible|incorrect|wrong|not\s+true|alleged|disputed"
    r"|conceivable|likely)"
)
_HE = r"(?:he|she|they|there|it\s+(?:is|was|has|had|will|would|could))\b"
_NEGATED = re.compile(
    r"(?:(?<![\w-])(?:not(?!\s+(?:only|just|merely|until|least)\b|-)|cannot|never|neither|nor|none\s+of|nobody|nothing|hardly"
    r"|no(?!\.|\s+(?:\d|(?:less|fewer|more|other|later|earlier|sooner|doubt)\b)|-)|without|instead\s+of|rather\s+than"
    r"|(?:almost|nearly)(?=\s+(?!un)(?:\w{2,}ed|bought|sold|won|lost|built|made|became|left|fell|went|died)\b)"
    r"|fail(?:s|ed)?\s+to|(?:refused|declined|unable)\s+to)|n['’]t)\b"
)
_UNTIL = re.compile(r"[^,;]{0,60}\buntil\b")  # what was not done until 1907 was done then
_ADVERB = (
    r"(?:reportedly|allegedly|supposedly|purportedly|ostensibly|apparently|presumably|possibly|perhaps|maybe|probably"
    r"|conceivably|hypothetically)(?!\s+(?:the\s+|her\s+|his\s+|its\s+)?(?:best|most)\b)"
)
_DOUBTED = re.compile(
    rf"\b(?:{_ADVERB}|might|(?:may|could|would|should)\s+have"
    r"|(?:is|are|was|were|been|being|be)\s+(?:\w+\s+){0,2}"
    r"(?:said|believed|thought|rumou?red|alleged|reported|claimed|supposed|presumed|assumed|speculated)\s+to"
    r"|(?:claim(?:s|ed|ing)?|purport(?:s|ed|ing)?|pretend(?:s|ed)?|seem(?:s|ed)?)\s+to)\b"
)
_REPORTED = re.compile(
    rf"\b(?:{_SAY}(?:\s+\w+)?\s+that|{_SAY}(?=\s+{_HE})|{_SAID}\s+(?:that|whether)|whether"
    r"|(?:legend|rumou?r|tradition)\s+has\s+it"
    r"|according\s+to\s+(?:him|her|them|some|many|(?:a\s+|the\s+)?(?:local\s+)?(?:legend|tradition|rumou?r|folklore|"
    r"myth|story|tale)s?))\b"
)
_ATTRIBUTED = re.compile(r",[\"'”’]?\s+(?:[\w.]+\s+){1,4}(?:said|says|claimed|claims|alleged|argued|believed)\W*$")
_CONDITION = re.compile(r"\b(?:if|unless)\b(?!\s+any\b)")
_EVEN = re.compile(r"\b(?:even|as)\s+$")
_DEFAULT = re.compile(r"\s+(?:it\s+is\s+|they\s+are\s+)?(?:not|un\w+|omitted|missing|absent|empty|none|no)\b")
_CLAUSE_END = re.compile(
    r";|\.\s|\s-+\s|[–—]|\bbut\b"
    r"|,?\s+(?:although|though|while|whereas|because)\b"
    r"|,\s+(?:and|or|which|who|whom|whose|where|so|yet|he|she|it|they|the|an?|this|his|her|its|their)\b"
    r"|\band\s+(?=(?:he|she|it|they|was|is|were|has|had|later|then|instead)\b)"
)
_SENTENCE_END = re.compile(r";|,\s+but\b")
_ASIDE_BEGINS = re.compile(r",\s*(?:(?:and|but|who|which|whose|that)\s+(?:\w+\s+){0,3})?$|\($")
_ASIDE_END = re.compile(r"[,;)]")
_SUBORDINATE = re.compile(
    r"[\W_]*(?:as|because|since|although|though|while|whereas|when|after|before|once|until)\b[^,]*$"
)
_QUESTION = re.compile(
    r"[\W_]*(?:(?:and|but|so|or)\s+)?(?:who|whom|whose|what|when|where|why|how|which|is|are|was|were|do|does|did|can"
    r"|could|should|would|will|has|have)\b"
)
_WORD = re.compile(r"\w+")
_AROUND = frozenset("that to is are was were be been being it he she they there has had will would could have".split())


_LONGEST_CLAUSE = 500  # characters that are searched for its end, so that the time is linear
_LONGEST_OPENING = 100


class Unasserted(NamedTuple):
    """A stretch of a sentence that is not asserted, from `begin` to `end` (characters), and the words that say so.

    After `elided`, the sentence goes on with the same verb: "was not built by A, but by B".
    """

    begin: int
    end: int
    signs: list[str]
    elided: bool = False


def asks(sentence: str) -> bool:
    """Return whether a sentence in lower case is a question."""
    return sentence.rstrip(" \"'”’)").endswith("?") and _QUESTION.match(sentence) is not None


def unasserted(sentence: str) -> list[Unasserted]:
    """Return what a sentence in lower case does not assert."""
    if asks(sentence):
        return [Unasserted(0, len(sentence), [])]
    return [*_negated(sentence), *_doubted(sentence), *_reported(sentence), *_conditional(sentence)]


def _negated(sentence: str) -> Iterator[Unasserted]:
    for sign in _NEGATED.finditer(sentence):
        if not _UNTIL.match(sentence, sign.end()):
            yield _clause(sentence, sign)


def _doubted(sentence: str) -> Iterator[Unasserted]:
    for sign in _DOUBTED.finditer(sentence):
        clause = _clause(sentence, sign)
        if not sentence[sign.end() : clause.end].strip(" .,;"):  # "... was born in Ost, reportedly."
            clause = clause._replace(begin=0)
        yield clause


def _reported(sentence: str) -> Iterator[Unasserted]:
    for sign in _REPORTED.finditer(sentence):
        yield Unasserted(sign.start(), _first_end(_SENTENCE_END, sentence, sign.end()), _words_of(sign))
    if attributed := _ATTRIBUTED.search(sentence):
        yield Unasserted(0, attributed.end(), _words_of(attributed))


def _conditional(sentence: str) -> Iterator[Unasserted]:
    for sign in _CONDITION.finditer(sentence):
        first = max(sign.start() - _LONGEST_CLAUSE, 0)
        alone = _EVEN.search(_before(sign)) or _DEFAULT.match(sentence, sign.end())
        begin = sign.start() if alone else max(sentence.rfind(";", first, sign.start()), first)
        end = _first_end(_ASIDE_END if alone else _SENTENCE_END, sentence, sign.end())
        yield Unasserted(begin, end, _words_of(sign))


def _clause(sentence: str, sign: re.Match[str]) -> Unasserted:
    """Return the rest of the clause after a sign; of an aside (", not Karl Senn,") the rest until the comma."""
    aside = _ASIDE_BEGINS.search(_before(sign)) or _SUBORDINATE.match(sentence[: min(sign.start(), _LONGEST_CLAUSE)])
    end = _first_end(_ASIDE_END if aside else _CLAUSE_END, sentence, sign.end())
    return Unasserted(sign.start(), end, _words_of(sign), elided=sentence.startswith("but", end))


def _before(sign: re.Match[str]) -> str:
    return sign.string[max(sign.start() - _LONGEST_OPENING, 0) : sign.start()]


def _words_of(sign: re.Match[str]) -> list[str]:
    """Return the words of a sign that a fact may have itself: "was not sold", "is said to be"."""
    return [word for word in _WORD.findall(sign[0]) if word not in _AROUND]


def _first_end(ends: re.Pattern[str], sentence: str, begin: int) -> int:
    last = min(begin + _LONGEST_CLAUSE, len(sentence))
    found = ends.search(sentence, begin, last)
    return found.start() if found else last


_NUMBER = (
    rf"(?:{SIGN})?(?:(?<![\d.,])\d{{1,3}}(?:[ \u00a0\u202f]\d{{3}})+(?![.,]?\d)"  # 10 000
    r"|\d+(?:[.,:'’]\d+)*\w*)"
)
_ASCII_TOKEN = re.compile(rf"[a-z_]\w*|{_NUMBER}", re.ASCII)
_TOKEN = re.compile(rf"(?!\d){WORD.pattern}|{_NUMBER}")
_GROUPED = re.compile(r"-?\d{1,3}([ ,.'’\u00a0\u202f])\d{3}(?:\1\d{3})*")
_NUMBERS = {
    word: str(number)
    for number, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), start=1)
}
_DIGIT = re.compile(r"\d")
_ACCENTS = re.compile("[\u0300-\u036f]")
_REFERRING = frozenset("he she it they his her its their him them this these that those the who which whose".split())
_POSSESSIVE = re.compile(r"(?<=\w)['’]s?\b(?!\w)|(?<=s)['’](?!\w)")
_NAME = re.compile(r"[^\W\d_a-z][\w'’.-]*(?:\s+[^\W\d_a-z][\w'’.-]*)+")
_ENDINGS = (
    *(
        ("ss", "ss"),
        ("us", "us"),
        ("is", "is"),
        ("ies", "y"),
        ("sses", "ss"),
        ("shes", "sh"),
        ("ches", "ch"),
        ("xes", "x"),
    ),
    *(("tres", "ter"), ("tre", "ter"), ("ours", "or"), ("our", "or"), ("s", "")),  # also of British spellings
)
_MOST_TRIED = 20  # sentences that are looked at for one fact


def stated(facts: Iterable[Fact], passage: Record) -> list[Fact]:
    """Return the facts that a passage states, with the positions of the sentences that bear them out.

    These are the sentences that a fact names already, if they do; or else the one with most words of the relation among
    those with both ends, or with one of them and a word for the passage's topic, which is the other; or else the one
    with the tail, and the last one before it with the head. A passage without sentences states nothing.
    """
    told = _Told(passage)
    return [Fact(triple=fact["triple"], sentences=places) for fact in facts if (places := told.places(fact))]


class _Text(NamedTuple):
    """A text in lower case without accents, its words in a form that inflection does not change, and these in a row."""

    folded: str
    words: list[str]
    row: str


class _End(NamedTuple):
    """An end of facts: its words, the sentences in which it stands (as bits), and whether it stands in the title."""

    words: list[str]
    sentences: int
    in_title: bool


class _Told:
    """What a passage tells, for many facts of it; sets of sentences are the bits of integers."""

    def __init__(self, passage: Record) -> None:
        self._sentences = [_read(sentence) for sentence in passage["sentences"]]
        self._title = _read(" ".join([passage["title"], *passage.get("headings", [])]))
        self._with: defaultdict[str, int] = defaultdict(int)
        for position, sentence in enumerate(self._sentences):
            for word in sentence.words:
                self._with[word] |= 1 << position
        self._ends: dict[str, _End] = {}
        self._stretches: dict[int, list[Unasserted]] = {}

    def places(self, fact: Fact) -> list[int]:
        """Return the sentences that bear out a fact, ascending; none if the passage does not state it."""
        head_text, relation, tail_text = fact["triple"][0], fact["triple"][1], fact["triple"][2]
        said = _words(relation)
        head, tail = self._end(head_text), self._end(tail_text)
        if _DIGIT.search(relation) and not self._have([word for word in said if _DIGIT.match(word)]):
            return []
        both = head.sentences & tail.sentences
        about = both | (tail.sentences if head.in_title else 0) | (head.sentences if tail.in_title else 0)
        if head.in_title and tail.in_title:
            about = (1 << len(self._sentences)) - 1
        if about:
            named = about & sum(1 << place for place in set(fact["sentences"]))
            place = self._asserting(named, head, said, tail) if named else None
            place = self._asserting(about, head, said, tail) if place is None else place
            return [] if place is None else [place]
        if not (head.sentences and tail.sentences):
            return []
        best = self._saying(said, tail.sentences)
        pairs = sorted(((place, _nearest(head.sentences, place)) for place in _places(best)), key=_distance)
        return next((sorted(pair) for pair in pairs[:_MOST_TRIED] if self._asserted(pair[0], head, said, tail)), [])

    def _have(self, words: Iterable[str]) -> bool:
        return all(word in self._with or word in self._title.words for word in words)

    def _end(self, text: str) -> _End:
        if (known := self._ends.get(text)) is None:
            known = self._ends[text] = self._found(text)
        return known

    def _found(self, text: str) -> _End:
        """Look for an end: as it is, or else its content words, with each name of several words in one piece."""
        _, words, row = _read(text)
        if not words:
            return _End(words, 0, in_title=False)
        exact = _bits(place for place in _places(self._having(words)) if row in self._sentences[place].row)
        in_title = row in self._title.row
        exact = exact or self._across(words[0], row)
        if exact or in_title:
            return _End(words, exact, in_title)
        content = _content(words)
        elsewhere = [word for word in content if word not in self._title.words]
        names = [_read(name).words for name in _NAME.findall(text)]
        if not elsewhere:
            return _End(words, 0, in_title=_has_all(names, [self._title]))
        some = _places(self._having(elsewhere))[:_MOST_TRIED]
        loose = _bits(place for place in some if _has_all(names, [self._sentences[place], self._title]))
        return _End(content, loose, in_title=False)

    def _across(self, first: str, row: str) -> int:
        """Return two sentences in a row in which an end stands across the border, as after "Kell Pvt. Ltd."."""
        for place in _places(self._with.get(first, 0))[:_MOST_TRIED]:
            if row in "".join(sentence.row.rstrip() for sentence in self._sentences[place : place + 2]) + " ":
                return 0b11 << place
        return 0

    def _having(self, words: Iterable[str]) -> int:
        having = -1
        for word in words:
            having &= self._with.get(word, 0)
        return having

    def _asserting(self, among: int, head: _End, said: Sequence[str], tail: _End) -> int | None:
        """Return the sentence that asserts a fact, of those that have most content words of the relation."""
        best = first = among
        if among & (among - 1):  # several
            best = self._saying(said, among)
            first = _in_most((self._with[word] for word in said if word in self._with), best)
        for place in [*_places(first), *_places(best & ~first)][:_MOST_TRIED]:
            if self._asserted(place, head, said, tail):
                return place
        return None

    def _saying(self, relation: Sequence[str], among: int) -> int:
        """Return those of some sentences that have most content words of a relation."""
        return _in_most((self._with[word] for word in _content(relation) if word in self._with), among)

    def _asserted(self, place: int, head: _End, said: Sequence[str], tail: _End) -> bool:
        if not (stretches := self._unasserted(place)):
            return True
        sentence, fact = self._sentences[place], {*head.words, *said, *tail.words}
        not_so = [stretch for stretch in stretches if fact.isdisjoint(map(_uninflected, stretch.signs))]
        starts = [found.start() for found in _tokens(sentence.folded).finditer(sentence.folded)]
        held = _within(not_so, starts)
        anew = _within([stretch for stretch in not_so if not stretch.elided], starts)

        def fails(words: Sequence[str], inside: Sequence[bool], *, referred: bool) -> bool:
            wanted = {*words, *_REFERRING} if referred else {*words}
            where = [inside[number] for number, word in enumerate(sentence.words) if word in wanted]
            return bool(where) and all(where)

        return not (
            fails(_content(tail.words), held, referred=tail.in_title)
            or fails(_content(head.words), held, referred=head.in_title or not head.sentences >> place & 1)
            or fails(_content(said), anew, referred=False)
        )

    def _unasserted(self, place: int) -> list[Unasserted]:
        if (known := self._stretches.get(place)) is None:
            sentence = self._sentences[place]
            plain = SIGNS.isdisjoint(sentence.words) and "?" not in sentence.folded
            known = self._stretches[place] = [] if plain else unasserted(sentence.folded)
        return known


def _within(stretches: Iterable[Unasserted], starts: Sequence[int]) -> list[bool]:
    """Return for each word of a sentence, by where it starts, whether it is in a stretch."""
    inside = [False] * len(starts)
    for stretch in stretches:
        for number in range(bisect_left(starts, stretch.begin), bisect_left(starts, stretch.end)):
            inside[number] = True
    return inside


def _has_all(names: Iterable[Sequence[str]], texts: Sequence[_Text]) -> bool:
    return all(any(_has_name(name, text.words) for text in texts) for name in names)


def _has_name(name: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether words contain a name, between whose parts one other may stand, such as a middle name."""
    for start in (number for number, word in enumerate(words) if word == name[0]):
        at = start
        for part in name[1:]:
            ahead = words[at + 1 : at + 3]
            if part not in ahead or (ahead[0] != part and ahead[0] in stop_words()):
                break
            at += 1 + ahead.index(part)
        else:
            return True
    return False


def _content(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in stop_words()] or [*words]


def _read(text: str) -> _Text:
    form = folded(text).replace("\u2212", "-")
    if not form.isascii():
        form = apart(_ACCENTS.sub("", unicodedata.normalize("NFD", form)))
    if "'" in form or "’" in form:
        form = _POSSESSIVE.sub("", form)
    words = [*map(_uninflected, _tokens(form).findall(form))]
    return _Text(form, words, f" {' '.join(words)} ")


def _tokens(form: str) -> re.Pattern[str]:
    return _ASCII_TOKEN if form.isascii() else _TOKEN


@lru_cache(maxsize=65_536)  # relations are repeated often
def _words(text: str) -> list[str]:
    return _read(text).words


@lru_cache(maxsize=65_536)
def _uninflected(word: str) -> str:
    """Return a word without the endings of plurals, or a number as digits."""
    if word in _NUMBERS:
        return _NUMBERS[word]
    if _GROUPED.fullmatch(word):
        return re.sub(r"[^\d-]", "", word)
    if len(word) < 4 or word[0].isdigit() or word in stop_words():
        return word
    for ending, other in _ENDINGS:
        if word.endswith(ending):
            return word[: len(word) - len(ending)] + other
    return word


def _bits(places: Iterable[int]) -> int:
    return sum(1 << place for place in places)


def _places(bits: int) -> list[int]:
    return [*_each(bits)]


def _each(bits: int) -> Iterator[int]:
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1


def _nearest(bits: int, place: int) -> int:
    """Return the last of the places before one, or else the first after it."""
    before = bits & ((1 << place) - 1)
    return before.bit_length() - 1 if before else (bits & -bits).bit_length() - 1


def _distance(pair: tuple[int, int]) -> int:
    return abs(pair[0] - pair[1])


def _in_most(sets: Iterable[int], among: int) -> int:
    """Return the members of `among` that are in most of the sets.

    The occurrences of all members are counted at once, in binary digits: a long passage has as many facts as sentences,
    too many to check each pair.
    """
    digits: list[int] = []
    for carried in sets:
        for place, digit in enumerate(digits):
            digits[place], carried = digit ^ carried, digit & carried
        if carried:
            digits.append(carried)
    for digit in reversed(digits):
        among = among & digit or among
    return among
