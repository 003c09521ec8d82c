"""Extracts triples by rules, from the clauses of a sentence, without a model.

A fact is read only where subject, verb and object are clear; it works on any text in plain expository English.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from langgraph_rag.normal_forms import normalise
from langgraph_rag.tools.language.clauses import clauses
from langgraph_rag.tools.language.code import is_code
from langgraph_rag.tools.language.fields import field_facts, fields_of
from langgraph_rag.tools.language.parsing import is_identifier
from langgraph_rag.tools.language.subjects import Topic

Fact = tuple[str, str, str]

UNIT = r"(?:(?:kilo|centi|milli)?met(?:re|er)s?|[kcm]?m|miles?|mi|yards?|yd|feet|foot|ft|inch(?:es)?|years?)\b"
_LONGEST_SENTENCE = 5_000  # characters
_SAID = r"(?:said|says|told|asked|replied|recalled|added|explained|claims|claimed|wrote)"
_NOT_STATED = re.compile(
    r"(?:Neither|Nor|Nobody|None|No one|If|Unless|Nothing|Never|Few|Little|Hardly|Rumou?rs|Had|Should|Suppose|Assume)\b"
    r"|It (?:is|was|has been|remains) (?:an? (?:legend|myth|rumou?r|claim|lie)|(?!an?\b|the\b)\w+(?: \w+){0,2})"
    r" (?:that|whether|if)\b|There (?:is|are|was|were)\b"
    r"|[^\"“].*\?$|[\"“].*\?[\"”]$"
    rf"|.*(?:[,.?!][\"”’]?\s+{_SAID}\s+(?:[A-Z]|he|she|the)|\b{_SAID}(?::|, ?[\"“]))"
    r"|.*\b(?:[Aa]ccording to|[Aa]llegedly|[Rr]eportedly|[Ss]upposedly|[Rr]umou?red|[Pp]urportedly"
    r"|[Aa]llegations?|untrue|no evidence)\b"
    r"|[\"“‘]*(?:I|My|We|Our)['’ ]\w"
)
_ITEM = re.compile(r"(?:[-*+•>|]|\d{1,3}[.)])\s+")
_TERM = re.compile(r"[-*•] (?P<term>`{0,2}[\w.-]+`{0,2}): (?P<article>An? )?(?P<told>\w[^:;`]{4,160}[^\s:;`.])\.$")
_FRAGMENT = re.compile(r"(?:the|an?|your?|if|when|that|which|to)\b")
_SPEAKER = re.compile(r"[^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,4}: (?=\S)")


def extract_triples(title: str, sentences: list[str]) -> list[list[str]]:
    """Return the facts `[head, relation, tail]` of a passage, in reading order, without repetition."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for head, relation, tail in chain.from_iterable(facts_of_sentences(title, sentences)):
        found.setdefault((head.casefold(), relation.casefold(), tail.casefold()), [head, relation, tail])
    return list(found.values())


def facts_of_sentences(title: str, sentences: Sequence[str]) -> Iterator[list[Fact]]:
    """Yield the facts of each sentence of a passage.

    Code states no facts. Of an overlong sentence, only the beginning is read.
    """
    read = [_beginning(sentence) for sentence in sentences]
    topic = Topic(title, read)
    for number, sentence in enumerate(read):
        stated = [] if is_code(sentence) else _fullest(list(_stated(topic, sentence, first=number == 0)))
        yield [fact for fact in stated if fact[0].casefold() != fact[2].casefold()]


def _beginning(sentence: str) -> str:
    return sentence if len(sentence) <= _LONGEST_SENTENCE else sentence[:_LONGEST_SENTENCE].rpartition(" ")[0]


def _stated(topic: Topic, sentence: str, *, first: bool) -> Iterator[Fact]:
    """Read the facts of one sentence, or of a line of fields."""
    if term := _TERM.match(sentence):
        if is_identifier(name := term["term"].strip("`")):
            yield name, "is" if term["article"] else "means", term["told"]
        return
    if fields := fields_of(sentence):
        yield from field_facts(topic.title, fields)
        return
    item = _ITEM.match(sentence)
    sentence = sentence[item.end() :] if item else sentence
    if item and _FRAGMENT.match(sentence):
        return  # it goes on from what stands before the list
    titled = topic.begins(sentence)
    if not titled and (label := _SPEAKER.match(sentence)):
        topic.loses()  # "Ada Renk: It was sold"
        sentence = sentence[label.end() :]
    if _NOT_STATED.match(sentence, titled):
        topic.focused = False
        return
    yield from clauses(sentence, topic, first=first, item=item is not None)


def _fullest(facts: list[Fact]) -> list[Fact]:
    """Leave out a fact of a sentence that another one says as well: "is, film" beside "is film directed by, Bo Ray"."""
    said = [(normalise(head), normalise(f"{relation} {tail}"), normalise(tail)) for head, relation, tail in facts]

    def repeats(place: int) -> bool:
        head, text, tail = said[place]
        for other, (its_head, its_text, its_tail) in enumerate(said):
            if other == place or its_head != head:
                continue
            common = facts[place][2].islower()
            if (common and its_text.startswith(f"{text} ")) or (its_text == text and other < place):
                return True
            if its_tail == tail and text != its_text and set(text.split()) < set(its_text.split()):
                return True
        return False

    return [fact for place, fact in enumerate(facts) if not repeats(place)]
