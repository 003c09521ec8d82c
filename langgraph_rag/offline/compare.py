"""Comparison questions: finds the same attribute of two or more things, directly or over a role, and compares."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_rag.offline.pages import Fact, Key, Line, Pages
from langgraph_rag.offline.question import Question
from langgraph_rag.offline.words import (
    DEMONYM,
    DENIAL,
    LIKELY,
    SURE,
    date_of,
    is_measured,
    is_name,
    name_likeness,
    name_words,
    number_of,
    stems,
)

_ROLES = frozenset(
    "director author composer performer founder wife father brother producer editor screenwriter creator "
    "manager coach owner designer architect leader publisher actor actress".split()
)
_ORIGIN = frozenset({"nation", "place"})
_COPULA = frozenset({"is", "was", "are", "were"})
_NATION = re.compile(r"(?:ish|an|ese|ch|i|ic)$")  # more endings than DEMONYM, as the compared texts are origins


@dataclass(frozen=True)
class Side:
    """One of the things: the facts that lead to its attribute, the attribute, and the question that is still open."""

    name: str
    facts: tuple[Fact, ...]
    value: str
    missing: str


def look_up(question: Question, name: str, facts: Sequence[Fact]) -> Side:
    """Find the attribute of one side, over a role if the question names one (the director of the film)."""
    roles = _roles(question)
    entity, chain = name, []
    if roles:
        step = _role_holder(name, roles, facts)
        if step is None:
            return Side(name, (), "", f"Who is the {_spelled(roles[0])} of {name}?")
        entity, chain = step[2], [step]
    if question.compared == "age":
        age = _age(entity, facts)
        return Side(name, (*chain, *age.facts), age.value, age.missing)
    found = _attribute(question, entity, facts)
    if found is None:
        return Side(name, tuple(chain), "", _attribute_question(question, entity))
    return Side(name, (*chain, found), found[2], "")


def questions_about(question: Question, name: str) -> list[str]:
    """Return the questions that find the attribute of one side: first who has the role, then the attribute."""
    asked = [look_up(question, name, ()).missing]
    if roles := _roles(question):
        asked.append(_attribute_question(question, f"the {_spelled(roles[0])} of {name}"))
    return asked


def judge(question: Question, pages: Pages) -> tuple[str, tuple[Line, ...]]:
    """Compare things by the sentences about each: which of them matches the words of the question, or do all?

    Returns:
        The name of the thing, "yes" or "no", with the sentences; empty if there is no sentence about one of them, or if
        several match equally well.
    """
    pair = question.pair
    wanted = question.kinds.union(question.words, *(stems(name) for name in question.names if name not in pair))
    lines = tuple(line for name in pair if (line := _best_line(name, wanted, pages)))
    if len(lines) < len(pair):
        return "", ()
    said = [wanted & line.words for line in lines]
    if question.wants == "yes or no":
        alike = frozenset.intersection(*map(_names_in, lines)) if question.same else all(s == wanted for s in said)
        return (answer, lines) if (answer := _verdict(question, alike=bool(alike and wanted))) else ("", ())
    best = [name for name, told in zip(pair, said, strict=True) if len(told) == max(map(len, said))]
    return ("", ()) if question.ordered or len(best) > 1 else (best[0], lines)


def _verdict(question: Question, *, alike: bool) -> str:
    """Return "yes", or "no" if a missing statement means "no": for what things are, but not for what they did."""
    if alike:
        return "yes"
    named = [name for name in question.names if name not in question.pair and not DEMONYM.search(name)]
    return "no" if question.same or (question.told and not named) else ""


def _best_line(name: str, wanted: frozenset[str], pages: Pages) -> Line | None:
    lines = [line for line in pages.lines if name_likeness(name, line.topic) >= LIKELY and not DENIAL.search(line.text)]
    return max(lines, key=lambda line: (len(wanted & line.words), line.opens), default=None)


def _names_in(line: Line) -> frozenset[Key]:
    """Return the names in a sentence that are not part of its topic."""
    return frozenset(key for key in line.mentioned if not set(key) & name_words(line.topic))


def _roles(question: Question) -> list[str]:
    """Return the words for roles of persons behind the compared things, but not for what the things are themselves.

    Numbers are those of the things, not of persons.
    """
    if question.compared == "number":
        return []
    taken = question.kinds | question.told
    words = question.words.items()
    return [word for word, spelled in words if spelled.removesuffix("s") in _ROLES and word not in taken]


def _age(name: str, facts: Sequence[Fact]) -> Side:
    """Compute the age of a person at death, in years."""
    life: list[Fact] = []
    for event in ("birth", "death"):
        dated = (fact for fact in facts if _about(name, fact) and event in stems(fact[1]) and date_of(fact[2]))
        if (fact := next(dated, None)) is None:
            return Side(name, tuple(life), "", _life_of(name))
        life.append(fact)
    born, died = (date_of(fact[2]) or (0, 0, 0) for fact in life)
    known = min(_known_parts(born), _known_parts(died))
    years = died[0] - born[0] - (died[1:known] < born[1:known])
    return Side(name, tuple(life), f"{years} years", "")


def compare(question: Question, sides: Sequence[Side]) -> str:
    """Return the name of the wanted side, "yes" or "no"; empty if a value is missing."""
    if not all(side.value for side in sides):
        return ""
    if question.wants == "yes or no":
        first, *others = sides
        return _verdict(question, alike=all(_alike(question, first, other) for other in others))
    values = _numbers(sides) if question.compared in {"number", "age"} else _dates(sides)
    wanted = (min if question.least else max)(values, default=None)
    if len(values) < len(sides) or values.count(wanted) > 1:
        return ""
    return sides[values.index(wanted)].name


def _numbers(sides: Sequence[Side]) -> list[Any]:
    return [value for side in sides if (value := number_of(side.value)) is not None]


def _dates(sides: Sequence[Side]) -> list[Any]:
    """Return the dates of the sides, all with the precision of the least precise: 1900 is not before 5 March 1900."""
    dates = [date for side in sides if (date := date_of(side.value))]
    known = min(map(_known_parts, dates), default=0)
    return [date[:known] for date in dates]


def _known_parts(date: tuple[int, int, int]) -> int:
    """Count the known parts of a date: year, month, day."""
    return 1 + bool(date[1]) + bool(date[1] and date[2])


def _role_holder(name: str, roles: Sequence[str], facts: Sequence[Fact]) -> Fact | None:
    """Return the fact that names the director, author, ... of a thing."""
    held = [fact for fact in facts if is_name(fact[2]) and set(roles) & set(stems(fact[1])) and _about(name, fact)]
    return max(held, key=lambda fact: name_likeness(name, fact[0]), default=None)


def _about(name: str, fact: Fact) -> bool:
    return name_likeness(name, fact[0]) >= LIKELY and not DENIAL.search(fact[1])


def _attribute(question: Question, entity: str, facts: Sequence[Fact]) -> Fact | None:
    fitting = [(fit + name_likeness(entity, fact[0]), fact) for fact in facts if _about(entity, fact)
               if (fit := _fit(question, fact))]  # fmt: skip
    return max(fitting, key=lambda item: item[0])[1] if fitting else None


def _fit(question: Question, fact: Fact) -> float:
    """Return how well a fact states the compared attribute; 0 means not at all."""
    relation = set(stems(fact[1]))
    shared = len(relation & set(question.words))
    if question.wants == "yes or no":
        return _kind_fit(question, fact)
    if question.compared == "number":
        return 1.0 + shared if number_of(fact[2]) is not None and not _dates_only(fact, shared) else 0.0
    if date_of(fact[2]) is None:
        return 0.0
    if question.compared == "date":
        return 1.0 + shared + (0.5 if "release" in relation or "found" in relation else 0.0)
    return 2.0 if question.compared in relation else 0.0


def _dates_only(fact: Fact, shared: int) -> bool:
    """Return whether a number is of a day, or of a year: it has no unit, and its relation is not asked for."""
    date = date_of(fact[2])
    return date is not None and bool(date[1] or not (shared or is_measured(fact[2])))


def _kind_fit(question: Question, fact: Fact) -> float:
    """Return how well a fact states the kind or the origin of its head."""
    shared = len(set(question.words) & set(stems(" ".join(fact[1:]))))
    if not _ORIGIN & set(question.words):
        return 2 * shared + (1.0 if fact[1] in _COPULA else 0.0)
    if fact[1] in _COPULA and _nations(fact[2]):
        return 1.5 + 0.1 * shared
    return 1.0 + 0.1 * shared if "birth" in stems(fact[1]) and fact[1].endswith("in") and is_name(fact[2]) else 0.0


def _alike(question: Question, one: Side, other: Side) -> bool:
    values = one.value, other.value
    if _ORIGIN & set(question.words):
        first, second = (_nations(value) or name_words(value) for value in values)
        return bool(first & second)
    wanted = set(question.words)
    if not question.same:
        named = {word for name in question.names if name not in question.pair for word in stems(name)}
        told = (set(stems(" ".join(side.facts[-1][1:]))) for side in (one, other))
        return all(wanted & words and named <= words for words in told)
    return name_likeness(*values) >= SURE or not set(stems(values[0])).isdisjoint(stems(values[1]))


def _nations(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[^\W\d_]+", text) if word[0].isupper() and _NATION.search(word)}


def _attribute_question(question: Question, entity: str) -> str:
    if question.compared == "age":
        return _life_of(entity)
    if question.wants == "yes or no" or question.compared == "number":
        return " ".join([entity, *map(_spelled, question.words)])
    if question.compared == "birth":
        return f"When was {entity} born?"
    if question.compared == "death":
        return f"When did {entity} die?"
    done = next((word for word in question.words.values() if word.endswith("ed")), "released")
    return f"When was {entity} {done}?"


def _life_of(person: str) -> str:
    return f"When was {person} born and when did {person} die?"


_SPELLED = {"direct": "director", "write": "author", "perform": "performer", "compos": "composer", "found": "founder",
            "act": "actor", "nation": "nationality", "place": "location", "birth": "born", "death": "died"}  # fmt: skip


def _spelled(word: str) -> str:
    return _SPELLED.get(word, word)
