"""Plan, act and review: split a question from the inside out, answer with citations, check the answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_rag.offline.compare import questions_about
from langgraph_rag.offline.descriptions import ask_for, described, descriptions, put_for
from langgraph_rag.offline.paths import Fact
from langgraph_rag.offline.question import analyse
from langgraph_rag.offline.reason import conclude, integrate
from langgraph_rag.offline.words import name_words
from langgraph_rag.tools.rule_triples import extract_triples
from langgraph_rag.tools.spans import spot
from langgraph_rag.tools.text import text_pipeline

_UNKNOWN = "unknown"
_REASON = " — "  # stands between an answer and the facts it rests on
_MOST_CITED = 3
Source = Mapping[str, str]


def plan(text: str) -> list[tuple[str, str]]:
    """Return the steps that a question needs: (action, question), what it names first."""
    question = analyse(text)
    if question.compares:
        asked = [step for name in question.pair or () for step in questions_about(question, name)]
        return [*(("retrieve", step) for step in asked), ("answer", text)]
    inner = [ask_for(phrase) for phrase in descriptions(text)]
    return [("retrieve", step) for step in [*inner, text]]


def act(question: str, sources: Sequence[Source]) -> str:
    """Answer a question from sources with their numbers, or say what comes closest."""
    read = _read(sources)
    facts = [fact for fact, _ in read]
    conclusion = conclude(question, facts, brief=True)
    if conclusion.answer:
        return f"{conclusion.answer}{_REASON}{_told(conclusion.facts, read)}"
    closest = integrate(question, facts, [], [question]).facts[:_MOST_CITED]
    return f"{_UNKNOWN}; {_told(closest, read)}" if closest else _UNKNOWN


def review(question: str, answer: str, sources: Sequence[Source]) -> dict[str, Any]:
    """Let an answer pass; answer what was not answered from better sources, or ask what would lead on."""
    if not answer.startswith(_UNKNOWN):
        return {"status": "PASS", "answer": None, "question": None}
    better = act(question, sources)
    if not better.startswith(_UNKNOWN):
        return {"status": "REVISED", "answer": better, "question": None}
    following = integrate(question, [fact for fact, _ in _read(sources)], [], [question]).question
    return {"status": "UNCONFIDENT" if following else "PASS", "answer": None, "question": following or None}


def refine(question: str, found: Sequence[tuple[str, str]], following: str) -> str:
    """Put what was found in the place of the description that was asked about.

    Args:
        question: the original question.
        found: what was asked before, with its answer.
        following: the question to refine.
    """
    for asked, answer in found:
        name, phrase = short(asked, answer), described(asked)
        if name and phrase:
            following = put_for(phrase, name, following)
    return following


def short(asked: str, answer: str) -> str:
    """Return the answer alone, without what it rests on: a name in it that was not in the question."""
    if _REASON in answer:
        return answer.split(_REASON)[0]
    known = name_words(asked)
    return next((span.text for span in spot(answer) if not name_words(span.text) <= known), "")


def finish(question: str, trajectories: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Answer a question from what the steps rest on, else with what the last step found; return the thought too."""
    sources = {(s["title"], s["text"]): s for trajectory in trajectories for s in trajectory["sources"]}
    conclusion = conclude(question, [fact for fact, _ in _read(list(sources.values()))])
    if conclusion.answer:
        return conclusion.thought, conclusion.answer
    last = next((t for t in reversed(trajectories) if not t["answer"].startswith(_UNKNOWN)), None)
    if last is None or analyse(question).compares:
        return conclusion.thought, ""
    return f"The last step found: {last['answer']}.", short(last["question"], last["answer"])


def _read(sources: Sequence[Source]) -> list[tuple[Fact, int]]:
    """Return the facts of sources, each with the number of its source."""
    sentences = text_pipeline().sentences
    return [
        (fact, number)
        for number, source in enumerate(sources, start=1)
        for fact in extract_triples(source["title"], sentences(source["text"]))
    ]


def _told(facts: Sequence[Fact], read: Sequence[tuple[Fact, int]]) -> str:
    number = {tuple(fact): number for fact, number in reversed(read)}
    return "; ".join(f"{' '.join(fact)} [{number[tuple(fact)]}]" for fact in facts)
