"""Extracts an answer from sentences: the span of the wanted kind that is closest to the words of the question."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from langgraph_rag.normal_forms import normalise
from langgraph_rag.offline.descriptions import ask_for, descriptions, put_for
from langgraph_rag.offline.pages import DEFINED, Line, Pages, key_of
from langgraph_rag.offline.question import DATES, PLACES, Question, analyse
from langgraph_rag.offline.words import DEMONYM, DENIAL, FAMILIES, SURE, is_name, name_likeness, name_words, stem, stems
from langgraph_rag.tools.ingest.spans import Span, spot

_PHRASE_END = re.compile(
    r"\s+(?:who|which|that|by|in|on|at|from|for|to|with|based|located|situated|known|best|is|was|whose|where)\b"
)
_PLACED = re.compile(r"(?:\b(?:in|at|near|from|to|of) (?:the )?|\([^()]*\d{4}, )$", re.IGNORECASE)  # or life dates
_WHERE = re.compile(r"\b(?:in|at|near) (?:the )?(?:[A-Z][\w.]*(?: [A-Z][\w.]*)*, )?$", re.IGNORECASE)
_DENIAL_REACHES, _BEFORE_REACHES = 100, 300  # characters before a span
_DENIED = re.compile(
    r"(?:\b(?:not|never)|n['’]t)\b(?! only)"
    r"(?:(?!\b(?:but|until|till|before|because|since|when|while|where|that|who|which|and)\b)[^,;:])*$"
)
_CAUSE = re.compile(r"\b(?:because(?: of)?|(?:due|owing|thanks) to|as a result of|caused by) ([^.;()]+)")
_DIED_OF = re.compile(
    r"\bdi(?:ed|es|ing)\b[^.;]*? (?:of|from) (?:an? |the )?([a-z][a-z' -]*?)"
    r"(?= (?:in|at|on|aged|after|while)\b|[,.;(]|$)"
)
_ACTING_AS = re.compile(
    r"\bas an? ([a-z][\w-]*(?: (?!(?:who|which|that|by|in|on|at|from|for|to|with|of|and|or)\b)[a-z][\w-]*){0,2})"
)
_LABEL = re.compile(r"(?:^(?:- )?|; )([A-Z][^:;]{0,60}): ")  # "- Owner: Ada; Year: 1883"
_UNIT = r"(?:(?:kilo|centi|milli)?met(?:re|er)s?|[kcm]?m|miles?|mi|yards?|yd|feet|foot|ft|inch(?:es)?|years?)\b"
_MEASURE = re.compile(rf"[\s-](?:square )?(?:{_UNIT}|(?:second|minute|hour|day|week|month|hectare|acre|ton)s?\b)")
_YEAR = re.compile(r"\d{4}")
_LISTED = re.compile(r"(?:[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)*, )+$")  # the larger places follow
_GOES_ON = re.compile(r", [A-Z]")
_REGIONS = frozenset(map(stem, ("state", "province")))
_PARTS = frozenset(map(stem, ("county", "district", "region")))
WIDE = _REGIONS | _PARTS | {"nation"}  # places that contain others
_LEVELS = 2  # depth of nested descriptions
_WIDER = 2  # descriptions, from the innermost, that may refer to the same thing
_BREADTH = 3  # candidates for a description
_BRIDGE = 2.0  # penalty for an answer that is only the referent of a description
_DETOUR = 0.5  # penalty for an answer that depends on the referent of a description
_NEAR = 15  # distance in letters at which nearness is one half
_ALTERNATIVES = 8
_NEVER = 9.0
_NAMED = frozenset({"person", "place", "nationality"})  # wanted kinds that exclude dates and numbers
_STATED = 1.0  # bonus for an answer that a fact states
_SIMPLE = 2  # content words of a question that one sentence about its names may answer
_ALONE = 3.3  # weight of the words of a question in such a sentence
_WHOLE = 0.95  # of a question's weight: such a sentence needs no other
_BESIDE = 1.0  # penalty for a sentence about the name without the words of the question
_OTHER_YEAR = 1.5  # penalty for a sentence about another year
_CLEAR = 0.25  # of a question's weight that a sentence and its neighbour must match


@dataclass(frozen=True)
class Reading:
    """An answer with its score and its sentences: the one that states it and the one that leads to it."""

    answer: str
    score: float
    lines: tuple[Line, ...]


def read(text: str, pages: Pages, levels: int = _LEVELS) -> Reading | None:
    """Answer a question, directly or after its descriptions ("the director of ...") are resolved.

    Args:
        text: the question.
        pages: the sentences to read.
        levels: the maximum depth of nested descriptions to resolve first.

    Returns:
        The best answer, or None if nothing matches. Of answers with a score above 5, three of four are correct; of
        those below 2.5, one of ten.
    """
    direct = _readings(text, pages)[:_ALTERNATIVES]
    phrase, bridges = _bridges(text, pages) if levels else ("", [])
    if bridges:  # the referent of a description is not the answer about it
        direct = [replace(r, score=r.score - _BRIDGE) if r.answer == bridges[0].answer else r for r in direct]
    beyond = [read(put_for(phrase, bridge.answer, text), pages, levels - 1) for bridge in bridges]
    for bridge, further in zip(bridges, beyond, strict=True):
        if further:
            lines = tuple(dict.fromkeys([*bridge.lines, *further.lines]))
            direct.append(Reading(further.answer, (bridge.score + further.score) / 2 - _DETOUR, lines))
    direct = [reading for reading in direct if not name_words(reading.answer) <= name_words(text)]
    best = max(direct, key=lambda reading: reading.score, default=None)
    told = not beyond or beyond[0]  # the best referent has an answer
    return best if best is None or told else replace(best, score=best.score - _BRIDGE)


def _bridges(text: str, pages: Pages) -> tuple[str, list[Reading]]:
    """Return the innermost description in a question and its possible referents.

    If the next wider one has the same referent ("the poet who wrote the words of ..."), it is returned instead.
    """
    phrase, bridges = "", list[Reading]()
    for wider in descriptions(text)[:_WIDER]:
        found = _readings(ask_for(wider), pages)[:_BREADTH]
        if phrase and not (wider.endswith(phrase) and found and bridges and found[0].answer == bridges[0].answer):
            break
        phrase, bridges = wider, found
    return phrase, bridges


def _readings(text: str, pages: Pages) -> list[Reading]:
    """Return the possible answers to a question, each once, best first."""
    question, asked, form = _analyse(text, pages), name_words(text), f" {normalise(text)} "
    weight = weights(stems(text), pages.lines)
    found: dict[str, Reading] = {}
    for base, lines in _scored_lines(text, question, pages, weight):
        line, hits = lines[0], pages.hits(lines[0], weight)
        stated = _stated(question, line)
        for span in filter(partial(_possible, question), _spans(line)):
            key = normalise(span.text)
            if not key or f" {key} " in form or name_words(span.text) <= asked:
                continue
            score = base + _nearness(question, weight, hits, span, line.text) + _fit(question, span, line, pages)
            score += _STATED * (key in stated)
            if score > max(0.0, found[key].score if key in found else 0.0):
                found[key] = Reading(_shaped(question, span, line.text), score, lines)
    return sorted(found.values(), key=lambda reading: -reading.score)


def _analyse(text: str, pages: Pages) -> Question:
    """Analyse a question; titles in it are names if they have one of its names ("Heron team"), or if it has none."""
    question, form = analyse(text), f" {normalise(text)} "
    names = [(name, name_words(name)) for name in question.names]
    there = [(topic, words) for topic, words in pages.topics if f" {normalise(topic)} " in form]
    longer = [(topic, words) for topic, words in there if not names or any(inside < words for _, inside in names)]
    others = [name for name, inside in names if not any(inside <= words for _, words in longer)]
    return question.with_names((*(topic for topic, _ in longer), *others)) if longer else question


def _stated(question: Question, line: Line) -> set[str]:
    """Return what the facts of a sentence relate to the only name of a question in the words of the question."""
    names = [name for name in question.names if not name.isdigit()]
    needed = question.words.keys() - question.kinds or question.kinds
    told = set[str]()
    for head, relation, tail in line.facts if len(names) == 1 and not _in_another_year(question, line) else ():
        said = set(stems(relation))
        if needed and (needed <= said or question.kinds == said):
            told.update(
                normalise(far) for near, far in ((head, tail), (tail, head)) if name_likeness(names[0], near) >= SURE
            )
    return told


def _scored_lines(
    text: str, question: Question, pages: Pages, weight: dict[str, float]
) -> Iterator[tuple[float, tuple[Line, ...]]]:
    """Yield the sentences that may answer a question, each with its score and with the sentence that leads to it."""
    said = [line.words & weight.keys() for line in pages.lines]
    brief = len(question.words) <= _SIMPLE and not descriptions(text)
    simple = brief and len(question.names) == 1
    about = pages.about(question.names[0]) if simple else set()
    needed = set(question.words) - (question.kinds | {"place"} if question.wants == "place" else set())
    linked, own = (1.5, _ALONE) if simple else (3.3, 0.4)
    for place, line in enumerate(pages.lines):
        if not said[place] or (about and place not in about):
            continue
        gains = [(weight_of(weight, said[other] - said[place]), other) for other in pages.linked[place]]
        gain, helper = max(gains, default=(0.0, place))
        matched = weight_of(weight, said[place])
        if matched + gain < _CLEAR:
            continue
        whole = brief and matched > _WHOLE
        score = (_ALONE * matched if whole else linked * gain + own * matched) + (0.5 if line.opens else 0.0)
        if about and needed and needed.isdisjoint(said[place]):
            if needed <= FAMILIES:
                continue  # all words for it are known, and the sentence has none
            score -= _BESIDE
        if _in_another_year(question, line):
            score -= _OTHER_YEAR
        yield score, ((line, pages.lines[helper]) if gain and not whole else (line,))


def _in_another_year(question: Question, line: Line) -> bool:
    asked, told = set(_YEAR.findall(" ".join(question.names))), set(_YEAR.findall(line.text))
    return bool(asked and told) and asked.isdisjoint(told)


def weights(words: Sequence[str], lines: Sequence[Line]) -> dict[str, float]:
    """Return the weights of the words of a question, by rarity in the sentences; their sum is 1."""
    often = Counter(word for line in lines for word in line.words.intersection(words))
    rarity = {word: math.log(1 + (1 + len(lines)) / (1 + often[word])) for word in words}
    total = sum(rarity.values())
    return {word: value / total for word, value in rarity.items()}


def weight_of(weight: dict[str, float], words: frozenset[str]) -> float:
    """Return the sum of the weights of words."""
    return math.fsum(weight[word] for word in words)  # independent of the order of the set


def _nearness(
    question: Question, weight: dict[str, float], hits: Sequence[tuple[int, int, str]], span: Span, text: str
) -> float:
    """Score how near a span is to the words of a question; words near the question word count most."""
    near: dict[str, float] = {}
    for start, end, word in hits:
        kind = question.wants != "number" and word in question.kinds
        named = kind and text[start].isupper()  # "Kell Province" says nothing about the province that it lies in
        if (start < span.start or end > span.end) and not named:
            gap = max(start - span.end, span.start - end, 0)
            near[word] = max(near.get(word, 0.0), 1 / (1 + gap / _NEAR))
    focus = question.nearness
    closest = max((focus[word] * value for word, value in near.items() if word in question.words), default=0.0)
    spread = sum((0.4 + 0.4 * focus[word]) * weight[word] * value for word, value in near.items())
    return 1.9 * closest + spread + 0.7 * math.fsum(focus[word] * weight[word] for word in {word for *_, word in hits})


def _possible(question: Question, span: Span) -> bool:
    """Return whether a span can be an answer: a cause if and only if one is wanted, and no name for a number."""
    unnamed = question.wants != "number" or span.kind not in {"name", "title"}
    return unnamed and (question.wants == "reason") == (span.kind == "reason")


def _fit(question: Question, span: Span, line: Line, pages: Pages) -> float:
    """Score whether a span is of the wanted kind."""
    named = span.kind in {"name", "title"}
    kinds = pages.kinds.get(key_of(span.text), set()) if named else set()
    demonym = named and " " not in span.text and DEMONYM.search(span.text) is not None
    fit = -0.6 if span.kind == "title" else -1.2 if demonym and "nation" not in question.kinds else 0.0
    if question.kinds:
        fit += 1.4 * bool(kinds & question.kinds) + 1.0 * bool(question.kinds.intersection(stems(span.text)))
        fit -= 0.6 * (bool(kinds) and not kinds & question.kinds)
    if span.kind == "date" or question.wants in {"date", "year"}:
        if question.wants not in {"date", "year"}:
            return -_NEVER if question.wants in _NAMED or question.kinds & DATES else fit - 2.0  # how many years
        return fit + 1.2 + (question.wants == "date" and " " in span.text) if span.kind == "date" else -_NEVER
    if span.kind == "number" and question.wants in _NAMED:
        return -_NEVER
    if question.wants == "number" or span.kind == "number":
        return fit + (0.7 if question.wants == span.kind else -2.0 if question.wants == "number" else -1.0)
    before = line.text[max(0, span.start - _BEFORE_REACHES) : span.start]
    placed = named and _PLACED.search(before) is not None
    if question.wants == "person":
        if not named or demonym or _WHERE.search(before):
            return -_NEVER
        person = named and is_name(span.text) and 2 <= len(span.text.split()) <= 4 and not placed
        return fit + (1.1 if person else -0.5)
    if question.wants == "place":
        return fit + 1.8 * _lies_there(question, span, line.text, before) if named else -_NEVER
    if question.wants in {"phrase", "nationality"}:
        return fit + (0.4 if span.kind == "phrase" or demonym else -0.4)
    return fit + (-0.8 if question.words else 0.8) * (span.kind == "phrase")


def _lies_there(question: Question, span: Span, text: str, before: str) -> bool:
    """Return whether a name is at the position of a place of the kind: "in Kirkwood, Missouri, United States"."""
    listed = _LISTED.search(before)
    within = listed[0].count(",") if listed else 0
    if not _PLACED.search(before[: listed.start()] if listed else before):
        return False
    last = not _GOES_ON.match(text, span.end)
    if "nation" in question.kinds:
        return last
    if question.kinds & _REGIONS:
        return within == 1 or (last and not within)
    return not within or not question.kinds.isdisjoint(stems(span.text))  # "Pomeroy, Meigs County"


def stands_as(question: Question, name: str, pages: Pages) -> bool:
    """Return whether a name is a place of the wanted kind, by its words or by its position in a sentence."""
    told = pages.kinds.get(key_of(name), set()).union(stems(name), ["nation"] if DEMONYM.search(name) else [])
    if question.kinds & (_PARTS | told):
        return not question.kinds.isdisjoint(told)
    spans = ((span, line.text) for line in pages.lines for span in spot(line.text) if span.text == name)
    return any(_lies_there(question, span, text, text[: span.start]) for span, text in spans)


def _spans(line: Line) -> Iterator[Span]:
    """Yield possible answers that are neither negated nor a label: not Ost in "She was not born in Ost"."""
    denies = DENIAL.search(line.text) is not None
    labels = {label.start(1) for label in _LABEL.finditer(line.text)}
    for span in _named(line):
        if span.start in labels and span.kind != "title":
            continue
        if not denies or not _DENIED.search(line.text[: span.start][-_DENIAL_REACHES:]):
            yield span


def _named(line: Line) -> Iterator[Span]:
    """Yield the spans, topic ("title", unless it is a file name), predicates ("phrase") and causes of a sentence."""
    if not line.topic[:1].islower() or line.topic in line.text:
        yield Span(0, 0, line.topic, "title")
    yield from spot(line.text)
    if defined := DEFINED.search(line.text):
        words = [word for word in _PHRASE_END.split(defined[1])[0].split() if not word[0].isupper()]
        if words:
            yield Span(defined.start(1), defined.end(1), " ".join(words[-3:]), "phrase")
    for acting in _ACTING_AS.finditer(line.text):
        yield Span(*acting.span(1), acting[1], "phrase")
    if cause := _CAUSE.search(line.text) or _DIED_OF.search(line.text):
        yield Span(*cause.span(1), cause[1].strip(), "reason")


def _shaped(question: Question, span: Span, text: str) -> str:
    if question.measures and span.kind == "number" and (unit := _MEASURE.match(text, span.end)):
        return span.text + unit[0]
    if question.wants == "year" and (year := _YEAR.search(span.text)):
        return year[0]
    head, _, tail = span.text.rpartition(" of ")
    if head and " " not in tail and DEMONYM.search(tail):
        return head  # "by Ada Renk of Kellish folk band Brack"
    if "nation" in question.kinds and not PLACES.isdisjoint(stems(head)):
        return tail  # "Eastern Region of Kell"
    return span.text
