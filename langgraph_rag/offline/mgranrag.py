"""Splits a question into simpler ones, and finds the sentences that help with each."""

from collections.abc import Iterator, Sequence
from typing import Any

from langgraph_rag.normal_forms import normalise, stands_in
from langgraph_rag.offline import Values
from langgraph_rag.offline.answer import LEAST, conclude
from langgraph_rag.offline.compare import look_up
from langgraph_rag.offline.descriptions import ask_for, descriptions
from langgraph_rag.offline.pages import Fact, Line, Pages
from langgraph_rag.offline.question import analyse
from langgraph_rag.offline.search import ask_about, integrate
from langgraph_rag.tools.ingest.spans import spot

_SUBQUERIES = 5
_MAIN_PATHS = 2  # for the main question; subqueries have one


def decompose(values: Values) -> dict[str, Any]:
    """Return a question for each description and each name in a question, or for each side of a comparison."""
    text = values["question"]
    question = analyse(text)
    if question.compares:
        subqueries = [look_up(question, name, []).missing for name in question.pair]
    else:
        about = [ask_about(question, name, frozenset()) for name in question.names]
        subqueries = [*map(ask_for, descriptions(text)), *about][:_SUBQUERIES]
    subqueries = [subquery for subquery in dict.fromkeys(subqueries) if normalise(subquery) != normalise(text)]
    return {"thought": f"To be found out: {' '.join(subqueries) or text}", "subqueries": subqueries}


def extract_evidence(values: Values) -> dict[str, Any]:
    """Return the numbers of the sentences that help with each question; those for most questions come first."""
    known = [Line(text["title"], text["text"], True) for text in values["known"]]
    told = {line.text for line in known}
    numbered = {
        Line(text["title"], sentence, place == 0): text["first"] + place
        for text in values["passages"]
        for place, sentence in enumerate(text["sentences"])
        if sentence not in told
    }
    found: dict[Line, dict[str, Any]] = {}
    for number, query in enumerate(values["questions"]):
        for line, facts, full in _helping(query, known, list(numbered), 1 if number else _MAIN_PATHS):
            entry = found.setdefault(line, {"sentence": numbered[line], "full": [], "partial": [], "phrases": []})
            entry["full" if full else "partial"].append(number)
            entry["phrases"] = list(dict.fromkeys([*entry["phrases"], *_phrases(line, facts)]))
    order = sorted(found.values(), key=lambda e: (-2 * len(e["full"]) - len(e["partial"]), e["sentence"]))
    thought = f"These sentences help: {'; '.join(line.text for line in found)}" if found else "None of them helps."
    return {"thought": thought, "evidence": order}


def _helping(
    query: str, known: Sequence[Line], read: Sequence[Line], paths: int
) -> Iterator[tuple[Line, list[Fact], bool]]:
    """Yield the sentences that help with a query, their useful facts, and whether they contain the answer."""
    useful = integrate(query, Pages(read).facts, Pages(known).facts, [query], most=paths).facts
    conclusion = conclude(query, Pages([*known, *read]), least=LEAST["sentences"])
    answer = conclusion.answer
    for line in read:
        facts = [fact for fact in line.facts if fact in useful]
        if facts or line in conclusion.lines:
            yield line, facts, bool(answer) and stands_in(answer, f"{line.title} {line.text}")


def _phrases(line: Line, facts: Sequence[Fact]) -> Iterator[str]:
    """Yield the names and dates in some facts, and the title, to which the pronouns of its sentences refer."""
    yield line.topic
    for fact in facts:
        for end in (fact[0], fact[2]):
            yield from (span.text for span in spot(end) if span.kind != "number")
