"""Reasons over an outline of the found texts: what is missing, what to search for, what to keep, and the answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_rag.offline import Values
from langgraph_rag.offline.answer import CONCLUSION, LEAST, conclude
from langgraph_rag.offline.kirag import next_sentence
from langgraph_rag.offline.pages import Line, Pages, lines_of, pages_of
from langgraph_rag.offline.search import integrate, leading_on
from langgraph_rag.offline.words import name_likeness
from langgraph_rag.tools.ingest.spans import spot_names

_MISSING = " To be found out: "
_SEVERAL = " | "
_BREADTH = 3  # questions in parallel
_LONGEST_TITLE = 100


def reason(values: Values) -> dict[str, Any]:
    """Return the next thought, and whether information is still missing."""
    question, pages = values["question"], _read(values["outline"])
    missing = open_questions(question, pages, [question, *(m for told in values["thoughts"] for m in _missing(told))])
    if not missing and not values["thoughts"]:
        missing = [question]
    if missing:
        return {"thought": f"Something is missing.{_MISSING}{_SEVERAL.join(missing)}", "needs_retrieval": True}
    return {"thought": conclude(question, pages, least=LEAST["passages"]).thought, "needs_retrieval": False}


def open_questions(question: str, pages: Pages, asked: Sequence[str]) -> list[str]:
    """Return at most three questions that the sentences leave open and that were not asked yet."""
    missing: list[str] = []
    while len(missing) < _BREADTH:
        following = integrate(question, pages.facts, [], [*asked, *missing]).question
        if not following:
            break
        missing.append(following)
    return missing


def reason_and_look_up(values: Values) -> dict[str, Any]:
    """Return the next thought with the entities to look up, or the answer."""
    said = reason(values)
    if said["needs_retrieval"]:
        return said | identify_entities({**values, "thoughts": [*values["thoughts"], said["thought"]]})
    return said | {"answer": conclude(values["question"], _read(values["outline"]), least=LEAST["passages"]).answer}


def take_notes(values: Values) -> dict[str, Any]:
    """Return what `summarize` says for each entity."""
    said = [(each["entity"], summarize({**values, **each})["summary"]) for each in values["wanted"]]
    return {"notes": [{"entity": entity, "summary": summary} for entity, summary in said if summary]}


def think_on(values: Values) -> dict[str, Any]:
    """Return the next fact on the way to the answer, and whether it is the last; nothing more is searched for."""
    question, thoughts = values["question"], values["thoughts"]
    thought = next_sentence(question, thoughts, _read(values["outline"]).facts)
    concludes = thought.startswith(CONCLUSION)
    return {"thought": thought if thoughts or not concludes else question, "final": concludes and bool(thoughts)}


def identify_entities(values: Values) -> dict[str, Any]:
    """Return the entities in the questions of the last thought, each with its queries."""
    entities: dict[str, list[str]] = {}
    for wanted in _missing(values["thoughts"][-1]):
        names = [name.text for name in spot_names(wanted)]
        if names:
            name = next((known for known in values["names"] if name_likeness(known, names[0]) == 1.0), names[0])
            entities.setdefault(name, [] if values["outline"] else [values["question"]]).extend([wanted, name])
    found = [{"entity": name, "queries": list(dict.fromkeys(queries))} for name, queries in entities.items()]
    return {"entities": found}


def summarize(values: Values) -> dict[str, Any]:
    """Return the sentences that lead from the entity or the names of the question to the answer, or state it."""
    question, entity = values["question"], values["entity"]
    pages = pages_of(values["documents"])
    itself = [fact for fact in pages.facts if name_likeness(entity, fact[0]) == 1.0][:1]
    useful = pages.stating([*itself, *leading_on(question, entity, pages.facts)])
    useful += conclude(question, pages, least=LEAST["passages"]).lines
    told: dict[str, list[str]] = {}
    for line in (line for line in pages.lines if line in useful):
        told.setdefault(line.title, []).append(line.text)
    return {"summary": "\n".join(f"{title}: {' '.join(texts)}" for title, texts in told.items()) or None}


def answer_from_outline(values: Values) -> Mapping[str, Any]:
    """Answer a question from an outline."""
    return conclude(values["question"], _read(values["outline"]), least=LEAST["passages"]).reply


def _read(outline: Sequence[Mapping[str, Any]]) -> Pages:
    """Parse an outline, whose lines are "Title: sentences"."""
    lines: list[Line] = []
    for entry in outline:
        for told in (told for fragment in entry["fragments"] for told in fragment.splitlines()):
            title, colon, text = told.partition(": ")
            titled = colon and len(title) <= _LONGEST_TITLE
            lines += lines_of(title, text) if titled else lines_of(entry["entity"], told)
    return Pages(lines)


def _missing(thought: str) -> list[str]:
    """Return the questions in a thought of this model; of another model, the whole thought."""
    _, marker, asked = thought.partition(_MISSING)
    return asked.split(_SEVERAL) if marker else [thought]
