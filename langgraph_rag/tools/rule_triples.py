"""Triples by rules: what a sentence says of its subject, read off the words between the names in it.

A weak but general extractor that needs no model: it works on any text in plain expository English.
"""

import re
from collections.abc import Iterator
from functools import cache

from langgraph_rag.matching import normalise
from langgraph_rag.tools.code import is_code
from langgraph_rag.tools.spans import DATE, Span, spot
from langgraph_rag.tools.stop_words import stop_words
from langgraph_rag.tools.topics import opening_name, topic_of

_PRONOUN = re.compile(r"(?:He|She|It|They|His|Her|Its|Their|This|These|Who|Both)\b")
_DESCRIPTION = re.compile(r"(?:The|This) [a-z]+\b(?! of\b)")
_POSSESSIVE = re.compile(r"(?:his|her|its|their)\b", re.IGNORECASE)
_OWN = re.compile(r"(?:His|Her|Its|Their) ((?:[a-z][\w-]* ){0,2}([a-z][\w-]*(?<!ed))),? (?:[Tt]he )?(?=[A-Z])")
_AND = re.compile(r",? (?:and|or|&) |, (?=[A-Z])")
_COPULA = re.compile(r"\b(?:is|was|are|were|became|remains)\s+(?:an?|the|one of the)\s+([^,.;()]+)", re.IGNORECASE)
_NOUN_PHRASE_END = re.compile(
    r"\s+(?:who|which|that|by|in|on|at|from|for|of|to|with|based|located|situated|known|best|is|was|whose|where"
    r"|\w+ed(?= by| in| on| at| from| for| to))\b"
)
_OF_TOPIC = re.compile(r"(?:The|This) [a-z]+ of\b")
_ACT = re.compile(r"\s+((?:[a-z]+\s+){0,3}[a-z]+)")
_LIFE_DATES = re.compile(r"\(([^()]*\d{4}[^()]*)\)")
_DASH = re.compile(r"\s*[–—]\s*|\s+-\s+|(?<=\d)-(?=\d)")
_BORN, _DIED = re.compile(r"\bborn\b|\bb\."), re.compile(r"\bdied\b|\bd\.")
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_COUNTED = re.compile(r"(?: (?!(?:and|or|in|of|on|at|to|by|as|is|was|were|for|from|with|the)\b)[a-z]+){1,2}")
_LINKERS = {"and", "or", ",", "&", "as", "well"}
_DROPPED = {"the", "a", "an", "also", "who", "which", "that", "and", "or", "but", "then", "later", "he", "she", "it",
            "they", "his", "her", "its", "their", "respectively", "subsequently"}  # fmt: skip
_LONGEST_RELATION = 6
_MENTIONED = "mentioned in"
_NAMED = re.compile(r"\s+[\"“(]?[A-Z0-9]")
_LABELLED = re.compile(r"([A-Z][^:;.!?]{0,60}): (\w[^:;.!?]{0,40}): ([^:;!?]{1,80}[^:;.!?])")
_FIELD = re.compile(r"(?P<name>[A-Z][^:;.!?]{0,40}): (?P<value>[^:;!?]{1,80}[^:;.!?])")


def extract_triples(title: str, sentences: list[str]) -> list[list[str]]:
    """Return the facts `[head, relation, tail]` of a passage, in reading order, without repetition.

    Code states none.
    """
    found: dict[tuple[str, str, str], list[str]] = {}
    for head, relation, tail in _triples(topic_of(title), [text for text in sentences if not is_code(text)]):
        if head and relation and tail and head.casefold() != tail.casefold():
            found.setdefault((head.casefold(), relation.casefold(), tail.casefold()), [head, relation, tail])
    return list(found.values())


def _triples(topic: str, sentences: list[str]) -> Iterator[tuple[str, str, str]]:
    of_topic, meant = _is_about(topic, sentences), topic
    for number, sentence in enumerate(sentences):
        first = number == 0
        if fields := _fields(sentence):
            yield from _of_fields(topic, fields)
            continue
        if of_topic:
            subject, begin = _subject(topic, sentence, first=first)
        else:
            meant, begin = subject, begin = _other_subject(meant, sentence)
        if first or subject == topic:
            yield from _life_dates(subject, sentence)
        said = list(_said_by(subject, begin, sentence))
        yield from said
        if subject != topic and normalise(topic) not in normalise(sentence):
            act = _act_upon_topic(sentence, begin) if of_topic else ""
            yield subject, act or (_MENTIONED if said else ""), topic


def _said_by(subject: str, begin: int, sentence: str) -> Iterator[tuple[str, str, str]]:
    """Read what a sentence says of its subject, or of somebody of the subject's: `Her brother Karl built the mill`."""
    own = _OWN.match(sentence)
    name = next((span for span in spot(sentence) if own and span.start == own.end() and span.kind == "name"), None)
    if own and name and own[2] not in _function_words() and not _AND.match(sentence, name.end):
        yield subject, own[1], name.text
        yield from _said_of(name.text, name.end, sentence)
    else:
        yield from _said_of(subject, begin, sentence)


def _said_of(subject: str, begin: int, sentence: str) -> Iterator[tuple[str, str, str]]:
    """Read what a sentence says of its subject, which ends at `begin`."""
    if (copula := _COPULA.search(sentence, begin)) and not _OF_TOPIC.match(sentence):
        yield subject, copula[0].split()[0].lower(), _noun_phrase(copula[1])
    relation, position, hidden = "", begin, _parenthesised(sentence)
    for span in spot(sentence):
        if span.start < begin or any(start <= span.start < end for start, end in hidden):
            continue
        relation = _relation(sentence[position : span.start], relation)
        tail = _counted(sentence, span) if span.kind == "number" else span.text
        position = span.start + len(tail) if span.kind == "number" else span.end
        if relation:
            yield subject, relation, tail


def _is_about(topic: str, sentences: list[str]) -> bool:
    """Tell whether a text names its topic, or the topic is a name that it may be about without naming it."""
    words = [word for word in _WORD.findall(topic) if normalise(word) not in _function_words()]
    a_name = len(words) > 1 and not any(word[0].islower() for word in words)
    return a_name or any(_words(topic) & _words(sentence) for sentence in sentences)


def _subject(topic: str, sentence: str, *, first: bool) -> tuple[str, int]:
    """Return the subject of a sentence about the topic and where the rest of it begins.

    The topic stands in for anything unnamed, and for a longer or shorter name of it; in the first sentence for any name
    if the sentence has words of the topic, too. A paragraph from the middle of a text may open with something else.
    """
    opening = _PRONOUN.match(sentence) or _DESCRIPTION.match(sentence)
    if opening:
        return topic, 0 if _POSSESSIVE.match(sentence) else opening.end()
    name = opening_name(sentence)
    if name is None:
        return topic, 0
    about = _words(topic)
    opens = first and any(word in normalise(sentence) for word in about)
    return (topic if topic and (opens or about & _words(name.text)) else name.text), name.end


def _other_subject(meant: str, sentence: str) -> tuple[str, int]:
    """Return the subject of a sentence that is not about the topic: the first name, or what was meant before."""
    opening = _PRONOUN.match(sentence)
    if opening:
        return meant, 0 if _POSSESSIVE.match(sentence) else opening.end()
    name = next((span for span in spot(sentence) if span.kind == "name"), None)
    return (name.text, name.end) if name else (meant, 0)


def _act_upon_topic(sentence: str, begin: int) -> str:
    """Return what the subject does if that may be done to the topic; an act with an object of its own is not."""
    act = _ACT.match(sentence, begin)
    if act is None or _NAMED.match(sentence, act.end()):
        return ""
    return " ".join(act[1].split()[:_LONGEST_RELATION])


def _fields(line: str) -> list[tuple[str, str]]:
    """Return the fields of a line such as `- Product: HX-200; Price: 400`; none where it is a sentence.

    That of a line such as `- Mill: owner: Ada Renk` follows one without a name, which says what it is of.
    """
    if labelled := _LABELLED.fullmatch(line.removeprefix("- ")):
        return [("", labelled[1]), (labelled[2], labelled[3])]
    parts = [_FIELD.fullmatch(part) for part in line.removeprefix("- ").split("; ")]
    fields = [(part["name"], part["value"]) for part in parts if part]
    return fields if len(fields) == len(parts) else []


def _of_fields(topic: str, fields: list[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Read a single field as one of the topic; of several the first says what the others are of."""
    subject = topic if len(fields) == 1 else fields[0][1]
    for name, value in fields:
        yield subject, name.lower(), value


def _life_dates(subject: str, sentence: str) -> Iterator[tuple[str, str, str]]:
    """Read when and where somebody was born and died from the parentheses after the name."""
    match = _LIFE_DATES.search(sentence[:250])
    if not match:
        return
    inside = match[1]
    halves = _DASH.split(inside, maxsplit=1)
    if len(halves) == 2 and DATE.search(halves[0]) and DATE.search(halves[1]):
        events = [("born", halves[0]), ("died", halves[1])]
    elif _BORN.search(inside):
        events = [("born", inside)]
    elif _DIED.search(inside):
        events = [("died", inside)]
    else:
        return
    for event, text in events:
        dates = [span.start for span in spot(text) if span.kind == "date"]
        for span in spot(text):
            named = dates and span.kind == "name" and span.start < dates[0]  # "born John Smith, 3 May 1900"
            if span.kind != "number" and not named:
                yield subject, f"{event} {'on' if span.kind == 'date' else 'in'}", span.text


def _parenthesised(sentence: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\([^()]*\)", sentence)]


def _noun_phrase(text: str) -> str:
    end = _NOUN_PHRASE_END.search(text)
    return " ".join((text[: end.start()] if end else text).split()[:8])


def _relation(between: str, previous: str) -> str:
    """Read the relation off the text between two names; mere list punctuation repeats the previous one."""
    text = re.sub(r"\([^()]*\)", " ", between)
    words = _WORD.findall(text)
    if all(word.lower() in _LINKERS for word in words):
        return previous
    if len(words) == 1 and words[0].lower() in _function_words() and previous:
        content = previous.split()
        while len(content) > 1 and content[-1].lower() in _function_words():
            content.pop()
        return " ".join([*content, words[0].lower()])
    kept = [word for word in words if word.lower() not in _DROPPED]
    if not previous and all(word.lower() in _function_words() for word in kept):
        return ""
    return " ".join(kept[-_LONGEST_RELATION:])


def _counted(sentence: str, number: Span) -> str:
    """Return a number with what it counts: `120 passengers`."""
    counted = _COUNTED.match(sentence, number.end)
    return number.text + (counted[0] if counted else "")


@cache
def _function_words() -> frozenset[str]:
    return stop_words() - {"has", "had", "have"} | {"also"}


def _words(text: str) -> set[str]:
    return set(normalise(text).split()).difference(_function_words(), {"s"})
