"""Whether an answer stands in what was shown: its names, numbers and dates, in sentences that bear on the question.

No model is asked. Where sentences state by what two things are compared, it is computed as the offline model does.
"""

import re
from collections.abc import Iterator, Sequence

from langgraph_rag.normal_forms import apart
from langgraph_rag.offline.compare import compare, judge, look_up
from langgraph_rag.offline.confirm import confirm
from langgraph_rag.offline.descriptions import descriptions
from langgraph_rag.offline.pages import DEFINED, Line, Pages, key_of
from langgraph_rag.offline.question import PERSONS, PLACES, Question, analyse
from langgraph_rag.offline.reading import read, weight_of, weights
from langgraph_rag.offline.words import (
    DEMONYM,
    DENIAL,
    LIKELY,
    SURE,
    date_of,
    is_measured,
    name_likeness,
    name_words,
    number_of,
    plain,
    stems,
)
from langgraph_rag.records import Evidence, Record, Supported, evidence_of
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.ingest.spans import DATE, MONTHS, NUMBER, spot

_VERDICT = re.compile(r"\W*(yes|no|both|neither|same|equal)\b", re.IGNORECASE)
_COUNTED = re.compile(rf"\d|{NUMBER.pattern}", re.IGNORECASE)
_DATED = re.compile(rf"\d|{NUMBER.pattern}|{DATE.pattern}|\b(?:century|decade)\b", re.IGNORECASE)
_WRITTEN = re.compile(NUMBER.pattern, re.IGNORECASE)
_NONE = re.compile(rf"{DENIAL.pattern}|\bno\b", re.IGNORECASE)
_WORD = re.compile(r"[\s-]?[^\W\d_]+")
_SCALES = frozenset({"hundred", "thousand", "million", "billion"})
_SHORT_MONTH = re.compile(rf"\b({'|'.join(month[:3] for month in MONTHS)}|Sept)\b\.?(?=,? \d)", re.IGNORECASE)
_MONTH = {month[:3]: month.title() for month in MONTHS}
_HOW_MANY = re.compile(r"\bhow (?:many|much)\b|\bnumber of\b", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)
_BEARING = 0.12  # least share of the weight of a question's words in a sentence and one that it leads to
_CONFIRMING = 0.5  # the same for a sentence that a verdict rests on
_MOST_CLAIMS = 50  # that are looked up
_CLEAR = 5.0  # least score of a reading that contradicts an answer
_SAME_ORIGIN = 4  # first letters that "Norway" and "Norwegian" share


def support_of(question: str, answer: str, passages: Sequence[Record], step: int) -> tuple[Supported, list[Evidence]]:
    """Return whether an answer stands in passages, and the sentences in which it does.

    Each name, date and number of the answer must stand in a sentence, or its title, that shares words with the question
    or leads to a sentence that does. "When" asks for a date, "how many" for a number, and a place or a film is no
    person. A verdict ("yes"), and the choice of one of several things, needs sentences about each thing.

    Returns:
        "yes" if the whole answer stands there; "partly" if a part of it does, or only in sentences about something
        else, or the sentences clearly state something else; "no" if nothing does, also for a refusal.
    """
    if is_refusal(answer):
        return "no", []
    answer = _SHORT_MONTH.sub(lambda month: _MONTH[month[1][:3].lower()], answer)
    told = {line: passage for passage in passages for line in _lines(passage)}
    supported, lines = _support(question, answer, Pages(told))
    return supported, [evidence_of(told[line], line.text, step) for line in dict.fromkeys(lines)]


def _lines(passage: Record) -> list[Line]:
    opening = passage["sentences"][0] if passage["sentences"] else ""
    return [Line(passage["title"], told, not place, opening=opening) for place, told in enumerate(passage["sentences"])]


def _support(text: str, answer: str, pages: Pages) -> tuple[Supported, Sequence[Line]]:
    question = analyse(text)
    verdict = _VERDICT.match(answer)
    if question.compares:
        chosen = verdict[1].lower() if verdict else _chosen(question, answer)
        if chosen:
            return _compared(question, chosen, pages)
    if verdict and question.wants == "yes or no":
        return _confirmed(text, question, verdict[1].lower(), pages)
    return _claimed(text, question, answer, pages)


# --- comparisons and verdicts ----------------------------------------------------------------------------------------
def _chosen(question: Question, answer: str) -> str:
    """Return which of the compared things an answer names; empty if none."""
    likely = [(name_likeness(answer, name), name) for name in question.pair]
    likeness, name = max(likely)
    return name if likeness >= LIKELY else ""


def _compared(question: Question, chosen: str, pages: Pages) -> tuple[Supported, Sequence[Line]]:
    about = [line for name in question.pair if (line := _best(question, _about(name, pages)))]
    if len(about) < len(question.pair):
        return "partly" if about else "no", about
    sides = [look_up(question, name, pages.facts) for name in question.pair]
    found = compare(question, sides) or judge(question, pages)[0]
    stating = pages.stating([fact for side in sides for fact in side.facts])
    return "partly" if found and found != chosen else "yes", stating or about


def _about(name: str, pages: Pages) -> list[Line]:
    places = pages.about(name)
    return [line for place, line in enumerate(pages.lines) if place in places or _has(line, name)]


def _best(question: Question, lines: Sequence[Line]) -> Line | None:
    wanted = question.words.keys() | question.kinds
    return max(lines, key=lambda line: (len(wanted & line.words), line.opens), default=None)


def _confirmed(text: str, question: Question, verdict: str, pages: Pages) -> tuple[Supported, Sequence[Line]]:
    found, lines = confirm(text, question, pages)
    if found:
        return "yes" if found == verdict else "partly", lines
    bearing, place = max(((share, place) for place, share in enumerate(_bearing(text, pages))), default=(0.0, 0))
    held = all(map(pages.hold, question.given)) and not (verdict == "yes" and _denied(text, pages))
    supported: Supported = "yes" if held and bearing >= _CONFIRMING else "partly" if bearing else "no"
    return supported, pages.lines[place : place + 1] if bearing else []


def _denied(text: str, pages: Pages) -> bool:
    """Return whether a sentence with most of the words of a question denies something, unless the question does."""
    said = _said(text, pages)
    best = [line.text for line, share in zip(pages.lines, said, strict=True) if share == max(said)]
    return not _NONE.search(text) and any(map(_NONE.search, best))


# --- names, dates and numbers ----------------------------------------------------------------------------------------
def _claimed(text: str, question: Question, answer: str, pages: Pages) -> tuple[Supported, Sequence[Line]]:
    claims, bearing = _claims(text, answer, pages), _bearing(text, pages)
    standing = [[place for place, line in enumerate(pages.lines) if _stands(claim, line)] for claim in claims]
    best = [max(places, key=bearing.__getitem__) for places in standing if places]
    whole = len(best) == len(claims) and all(bearing[place] >= _BEARING for place in best)
    found = [pages.lines[place] for place in best]
    borne_out = whole and _is_of_kind(text, question, answer, pages) and not _contradicted(text, answer, best, pages)
    return "yes" if borne_out else "partly" if found else "no", found


def _contradicted(text: str, answer: str, places: Sequence[int], pages: Pages) -> bool:
    """Return whether a sentence with more of the words of a simple question clearly has another answer of its kind."""
    found = None if descriptions(text) else read(text, pages, 0)
    if found is None or found.score < _CLEAR or len(found.lines) > 1 or name_words(found.answer) & name_words(answer):
        return False
    said = _said(text, pages)
    more = said[pages.lines.index(found.lines[0])] > max(said[place] for place in places)
    kinds = {span.kind for span in spot(answer)}
    return more and kinds in ({"date"}, {"name"}) and kinds == {span.kind for span in spot(found.answer)}


def _said(text: str, pages: Pages) -> list[float]:
    """Return, for each sentence, the share of a question whose words it has."""
    weight = weights(stems(text), pages.lines)
    return [weight_of(weight, line.words & weight.keys()) for line in pages.lines]


def _claims(text: str, answer: str, pages: Pages) -> list[str]:
    """Return an answer, if it stands somewhere as it is, or else the names, dates and numbers that it adds."""
    if any(_stands(answer, line) for line in pages.lines):
        return [answer]
    asked = name_words(text)
    added = dict.fromkeys(claim for claim in _spans(answer) if not name_words(claim) <= asked)
    return [*added][:_MOST_CLAIMS] or [answer]


def _spans(answer: str) -> Iterator[str]:
    """Yield names, dates, and numbers with their scale or unit: "ninety thousand", "74 km"."""
    end = 0
    for span in spot(answer):
        following = _WORD.match(answer, span.end) if span.kind == "number" else None
        more = following and (is_measured(span.text + following[0]) or following[0].strip() in _SCALES)
        if span.start >= end:
            end = following.end() if following and more else span.end
            yield answer[span.start : end]


def _stands(claim: str, line: Line) -> bool:
    if _has(line, claim):
        return True
    if DATE.fullmatch(claim) or _COUNTED.match(claim):
        return _dated(claim, line.text) or _counted(claim, line.text)
    if spans := spot(claim):
        names = [line.topic, *(span.text for span in spot(line.text) if span.kind == "name")]
        return len(spans) == 1 and any(
            name_likeness(claim, name) >= SURE or _same_origin(claim, name) or _shortens(claim, name) for name in names
        )
    words = stems(claim)
    return bool(words) and set(words) <= line.words


def _has(line: Line, part: str) -> bool:
    """Return whether the words of a name stand in a sentence or its title, in any case and without accents."""
    wanted = plain(apart(_ARTICLE.sub("", part, count=1) if _ARTICLE.match(part) else part))
    return bool(wanted) and f" {wanted} " in f" {plain(apart(line.title))} {plain(apart(line.text))} "


def _dated(claim: str, text: str) -> bool:
    """Return whether a text has a date that is at least as precise."""
    wanted = date_of(claim)
    known = [part for part in wanted or () if part]
    return bool(known) and any((date_of(found[0]) or ())[: len(known)] == tuple(known) for found in DATE.finditer(text))


def _counted(claim: str, text: str) -> bool:
    """Return whether a text has a number, if both have units in the same or a converted one."""
    wanted = number_of(claim)
    if wanted is None or date_of(claim):
        return False
    for found in _WRITTEN.finditer(text):
        following = _WORD.match(text, found.end())
        measured = found[0] + (following[0] if following else "")
        unit = is_measured(claim) and is_measured(measured)
        if wanted == number_of(measured if unit else found[0]):
            return True
    return False


def _shortens(claim: str, name: str) -> bool:
    """Return whether a claim is a name with initials: "A. Holm"."""
    short, words = claim.replace(".", " ").split(), name.split()
    pairs = [*zip(short, words, strict=False)]
    return (
        len(short) == len(words) > 1
        and "." in claim
        and short[-1] == words[-1]
        and all(one == word or (len(one) == 1 and word.startswith(one)) for one, word in pairs)
    )


def _same_origin(claim: str, name: str) -> bool:
    one, other = plain(claim), plain(name)
    related = DEMONYM.search(claim) or DEMONYM.search(name)
    return bool(related) and len(one) >= _SAME_ORIGIN and one[:_SAME_ORIGIN] == other[:_SAME_ORIGIN]


def _bearing(text: str, pages: Pages) -> list[float]:
    """Return, for each sentence, the share of a question whose words it has together with one that it leads to.

    The share is 1 for all if no sentence has a word of the question: it may be in another language.
    """
    weight = weights(stems(text), pages.lines)
    said = [line.words & weight.keys() for line in pages.lines]
    if not any(said):
        return [1.0] * len(said)
    return [
        weight_of(weight, own) + max((weight_of(weight, said[other] - own) for other in pages.linked[place]), default=0)
        for place, own in enumerate(said)
    ]


def _is_of_kind(text: str, question: Question, answer: str, pages: Pages) -> bool:
    """Return whether an answer is of the kind that is asked for, as far as that is known."""
    if question.wants in {"date", "year"}:
        return _DATED.search(answer) is not None
    if _HOW_MANY.search(text):
        return _COUNTED.search(answer) is not None
    if question.wants not in {"person", "place", "nationality"}:
        return True
    own = (line for line in pages.lines if line.opens and key_of(line.topic) == key_of(answer))
    kinds = {kind for line in own if (defined := DEFINED.search(line.text)) for kind in stems(defined[1])}
    wanted, others = (PERSONS, PLACES) if question.wants == "person" else (PLACES, PERSONS)
    alone = DATE.fullmatch(answer) or NUMBER.fullmatch(answer)
    return not alone and (kinds.isdisjoint(others) or not kinds.isdisjoint(wanted))
