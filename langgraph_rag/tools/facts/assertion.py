"""Finds what an English sentence does not assert: what it negates, doubts, asks, or reports as said by others."""

import re
from collections.abc import Iterator
from typing import NamedTuple

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
    "conceivably hypothetically might may could would should if unless whether until according".split()
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
        yield Unasserted(sign.start(), _first_end(_SENTENCE_END, sentence, sign.end()), _words(sign))
    if attributed := _ATTRIBUTED.search(sentence):
        yield Unasserted(0, attributed.end(), _words(attributed))


def _conditional(sentence: str) -> Iterator[Unasserted]:
    for sign in _CONDITION.finditer(sentence):
        first = max(sign.start() - _LONGEST_CLAUSE, 0)
        alone = _EVEN.search(_before(sign)) or _DEFAULT.match(sentence, sign.end())
        begin = sign.start() if alone else max(sentence.rfind(";", first, sign.start()), first)
        end = _first_end(_ASIDE_END if alone else _SENTENCE_END, sentence, sign.end())
        yield Unasserted(begin, end, _words(sign))


def _clause(sentence: str, sign: re.Match[str]) -> Unasserted:
    """Return the rest of the clause after a sign; of an aside (", not Karl Senn,") the rest until the comma."""
    aside = _ASIDE_BEGINS.search(_before(sign)) or _SUBORDINATE.match(sentence[: min(sign.start(), _LONGEST_CLAUSE)])
    end = _first_end(_ASIDE_END if aside else _CLAUSE_END, sentence, sign.end())
    return Unasserted(sign.start(), end, _words(sign), elided=sentence.startswith("but", end))


def _before(sign: re.Match[str]) -> str:
    return sign.string[max(sign.start() - _LONGEST_OPENING, 0) : sign.start()]


def _words(sign: re.Match[str]) -> list[str]:
    """Return the words of a sign that a fact may have itself: "was not sold", "is said to be"."""
    return [word for word in _WORD.findall(sign[0]) if word not in _AROUND]


def _first_end(ends: re.Pattern[str], sentence: str, begin: int) -> int:
    last = min(begin + _LONGEST_CLAUSE, len(sentence))
    found = ends.search(sentence, begin, last)
    return found.start() if found else last
