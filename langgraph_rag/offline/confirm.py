"""Yes-or-no questions about one thing: does a fact confirm or contradict it?"""

import re
from collections.abc import Iterator

from langgraph_rag.normal_forms import normalise
from langgraph_rag.offline.pages import Fact, Line, Pages, key_of
from langgraph_rag.offline.question import PLACES, Question
from langgraph_rag.offline.words import DENIAL, SURE, date_of, is_name, name_likeness, name_words, stem, stems
from langgraph_rag.tools.ingest.spans import spot, stop_words

_QUALIFIED = re.compile(  # words that are missing in facts, or that need more than a statement
    r"\b(?:not|never|first|last|only|before|after|more|most|less|least|than|both|all|same|or|still|ever)\b|n['’]t\b"
)
_UNSURE = re.compile(  # words that limit or weaken a statement
    r"\b(?:neither|nor|or|without|except|until|before|after|between|whether|if|unless|almost|former(?:ly)?|rather"
    r"|than|(?-i:may)|might|would|could|should|to be|(?:about|around) \d+|that (?:he|she|it|they|the|(?-i:[A-Z])\w*))\b"
    r"|\?\W*$",
    re.IGNORECASE,
)
_SOMEBODY_ELSES = re.compile(r"(?:His|Her|Its|Their)\b|.*\bwhose\b")  # "Her mother was a painter"
_PREDICATE = re.compile(r"\b(is|was|are|were) (an? .+?)(?= (?:who|which|that|of|by|in|from|at|with|for)\b|[.;(]|$)")
_NOUN = re.compile(r" ([a-z]+)\b")
_CAPITALISED = re.compile(r"(?<=[\w,] )(?!(?:The|An?)\b)[^\W\d_a-z][\w-]*")
_KIND_OF_TAIL = re.compile(  # "designed by engineer | Ada Renk"; not "by brother of"
    r"(?<= (?:by|of|to) )(?:(?!(?:by|of|to|from|for|in|with)\b)[a-z-]+(?: |$))+$"
)
_ONCE = frozenset({"birth", "death"})  # events that happen only once to a person
MUTUAL = frozenset({"spouse", "sibling", "border"})
_SPELLED_ALIKE = 2  # initial letters that synonyms of one family share: not "mayor" and "president"


def confirm(text: str, question: Question, pages: Pages) -> tuple[str, tuple[Line, ...]]:
    """Answer "yes" or "no" with the sentence that states it; empty if no sentence surely does."""
    if not question.names or not question.words or _QUALIFIED.search(text):
        return "", ()
    lines = (line for line in pages.lines if _is_sure(text, question, line))
    stated = [(fact, line) for line in lines for fact in _stated(line) if _adds_nothing(question, fact)]
    for fact, line in stated:
        if _says(text, question, fact):
            return "no" if DENIAL.search(fact[1]) else "yes", (line,)
    for fact, line in stated:
        if _says_otherwise(question, fact, line, pages):
            return "no", (line,)
    return "", ()


def _is_sure(text: str, question: Question, line: Line) -> bool:
    """Return whether a sentence states something for sure, and not about a possession of a thing in the question."""
    owners = (f"{normalise(name)} s" for name in question.names)
    of_others = any(owner in normalise(line.text) and owner not in normalise(text) for owner in owners)
    return not (of_others or _UNSURE.search(line.text) or _SOMEBODY_ELSES.match(line.text))


def _adds_nothing(question: Question, fact: Fact) -> bool:
    """Return whether all content words of a relation are in the question: not "failed to win", "mother was born in"."""
    said = _KIND_OF_TAIL.sub("", fact[1])
    return set(stems(said)) <= {*question.words, *stems(" ".join(question.names))}


def _stated(line: Line) -> Iterator[Fact]:
    """Yield the facts of a sentence, also with the noun after a name, and the complete predicate of its topic."""
    for fact in line.facts:
        yield fact
        noun = _NOUN.match(line.text.partition(fact[2])[2])  # none if the text has another form of the name
        if noun and is_name(fact[2]) and noun[1] not in stop_words():
            yield fact[0], fact[1], fact[2] + noun[0]  # "owned by the Heron team"
    if predicate := _PREDICATE.search(line.text):
        yield from ((fact[0], fact[1], predicate[2]) for fact in line.facts if fact[1] == predicate[1])


def _says(text: str, question: Question, fact: Fact) -> bool:
    told = " ".join(fact)
    numbers = [span.text for span in spot(text) if span.kind == "number"]
    capitals = _CAPITALISED.findall(text)  # includes names that look like other words: "Go", "Will"
    named = all(name_words(name) <= name_words(told) for name in (*question.names, *numbers, *capitals))
    return named and _of_subject(text, question, fact) and _tells(question, told)


def _says_otherwise(question: Question, fact: Fact, line: Line, pages: Pages) -> bool:
    """Return whether a fact has another date of birth or death, place of a kind, or maker than the question."""
    if len(question.names) != 2 or DENIAL.search(fact[1]) or not _tells(question, fact[1]):
        return False
    subject, asked = question.names
    if name_likeness(asked, fact[0]) >= SURE:  # "Did Ada build the mill?", and it "was built by" somebody
        subject, asked = asked, subject
    told = fact[2]
    if name_likeness(subject, fact[0]) < SURE or name_words(asked) & name_words(line.text):
        return False
    once = _ONCE.intersection(question.words)
    if once and (date := date_of(asked)) and (other := date_of(told)):
        return date[0] != other[0]
    if once:
        kinds = [pages.kinds.get(key_of(name), set()) for name in (asked, told)]
        return bool(kinds[0] & kinds[1] & PLACES)  # a town may lie in a country
    made = fact[1].endswith(" by") and is_name(asked) and is_name(told)
    return made and len(told.split()) > 1 and len(asked.split()) > 1


def _of_subject(text: str, question: Question, fact: Fact) -> bool:
    """Return whether a fact has the same subject as the question, or the reverse in the passive."""
    subject, reverse = question.names[0], (" by " in text) != (" by " in f"{fact[1]} ") and len(question.names) > 1
    mutual = MUTUAL.intersection(question.words) and len(question.names) > 1
    ends = (fact[0], fact[2]) if mutual else (fact[2],) if reverse else (fact[0],)
    return any(name_likeness(subject, end) >= SURE for end in ends)


def _tells(question: Question, told: str) -> bool:
    """Return whether a text has all content words of a question, in any form; merely related words do not count."""
    forms = {(stem(word), word[:_SPELLED_ALIKE]) for word in normalise(told).split()}
    return all((word, spelled[:_SPELLED_ALIKE]) in forms for word, spelled in question.words.items())
