"""Plan, act and review: splits a question from the innermost description, answers with citations, checks the answer."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from langgraph_rag.offline import Values
from langgraph_rag.offline.answer import LEAST, conclude
from langgraph_rag.offline.compare import questions_about
from langgraph_rag.offline.conversation import restate_question
from langgraph_rag.offline.descriptions import ask_for, described, descriptions, put_for
from langgraph_rag.offline.pages import Line, Pages, lines_of, pages_of
from langgraph_rag.offline.question import analyse
from langgraph_rag.offline.reading import WIDE, stands_as
from langgraph_rag.offline.search import integrate
from langgraph_rag.offline.words import name_words
from langgraph_rag.prompts.conversation import Utterance
from langgraph_rag.tools.ingest.spans import spot

_UNKNOWN = "unknown"
_REASON = " — "  # between an answer and the sentences that support it
_LIES = " where {} is located"


def plan(values: Values) -> dict[str, Any]:
    """Plan the steps of a question, with the numbers of earlier steps in place of the descriptions they ask for."""
    steps = plan_in_order(values)["steps"]
    phrases = {described(step["question"]): number for number, step in enumerate(steps, start=1)}
    for number, step in enumerate(steps, start=1):
        for phrase in sorted((p for p, earlier in phrases.items() if p and earlier < number), key=len, reverse=True):
            step["question"] = put_for(phrase, f"#{phrases[phrase]}", step["question"])
    return {"steps": steps}


def plan_in_order(values: Values) -> dict[str, Any]:
    """Plan the steps that a question needs, the innermost description first."""
    text = values["question"]
    question = analyse(text)
    if question.compares:
        asked = [step for name in question.pair for step in questions_about(question, name)]
    else:
        asked = [*map(ask_for, descriptions(text)), text]
    return {"steps": [{"thought": "", "question": step, "action": "retrieve"} for step in asked]}


def act(values: Values) -> dict[str, Any]:
    """Answer a question from sources with their numbers, or return the closest sentence."""
    question, sources = values["question"], values["sources"]
    pages = pages_of(sources)
    if conclusion := conclude(question, pages, least=LEAST["passages"]):
        told = f"{conclusion.answer}{_REASON}{_told(conclusion.lines, sources)}"
        return {"answer": told, "short": conclusion.answer}
    closest = pages.stating(integrate(question, pages.facts, [], [question]).facts)[:1]
    return {"answer": f"{_UNKNOWN}; {_told(closest, sources)}" if closest else _UNKNOWN}


def review(values: Values) -> dict[str, Any]:
    """Accept an answer; answer an unanswered question from better sources, or ask a further question."""
    if not values["answer"].startswith(_UNKNOWN):
        wider = _wider(values["question"], _short(values["question"], values["answer"]), pages_of(values["sources"]))
        return {"status": "UNCONFIDENT" if wider else "PASS", "answer": None, "question": wider or None}
    better = act(values)["answer"]
    if not better.startswith(_UNKNOWN):
        return {"status": "REVISED", "answer": better, "question": None}
    following = integrate(values["question"], pages_of(values["sources"]).facts, [], [values["question"]]).question
    return {"status": "UNCONFIDENT" if following else "PASS", "answer": None, "question": following or None}


def _wider(text: str, place: str, pages: Pages) -> str:
    """Ask in which county, state or country a place lies, if the question asks for one and the place is none."""
    question = analyse(text)
    kind = next((spelled for word, spelled in question.words.items() if word in question.kinds & WIDE), "")
    asks = question.wants == "place" and kind and place and not stands_as(question, place, pages)
    return f"What is the {kind}{_LIES.format(place)}?" if asks else ""


def refine(values: Values) -> dict[str, Any]:
    """Replace the descriptions and pronouns in the next question by the answers of earlier steps."""
    following, told = values["following"], list[Utterance]()
    for found, later in pairwise([*values["found"], None]):
        name, phrase = _short(found["question"], found["answer"]), described(found["question"])
        if later and _LIES.format(name) in later["question"]:  # the later question describes the referent
            name = described(later["question"])
        if name and phrase and not found["answer"].startswith(_UNKNOWN):
            following = put_for(phrase, name, following)
        told += [Utterance(speaker="Person", text=found["question"]), Utterance(speaker="Assistant", text=name)]
    return {"question": restate_question({"question": following, "conversation": told})["question"]}


def answer_from_trajectories(values: Values) -> Mapping[str, Any]:
    """Answer a question from the sources of all steps, or else with the answer of the last step."""
    question, trajectories = values["question"], values["trajectories"]
    sources = [source for trajectory in trajectories for source in trajectory["sources"]]
    conclusion = conclude(question, pages_of(sources), least=LEAST["passages"])
    last = trajectories[-1] if trajectories else None  # earlier steps have only intermediate answers
    if conclusion or last is None or last["answer"].startswith(_UNKNOWN) or analyse(question).compares:
        return conclusion.reply
    answer = _short(last["question"], last["answer"])
    if name_words(answer) <= name_words(question):
        return conclusion.reply
    return {"thought": f"The last step found: {last['answer']}.", "answer": answer}


def _short(asked: str, answer: str) -> str:
    """Return the answer without its sentences, or else a name in it that is not in the question."""
    if _REASON in answer:
        return answer.split(_REASON)[0]
    known = name_words(asked)
    return next((span.text for span in spot(answer) if not name_words(span.text) <= known), "")


def _told(lines: Sequence[Line], sources: Sequence[Mapping[str, str]]) -> str:
    """Return sentences, each with the number of its source."""
    numbered = reversed(list(enumerate(sources, start=1)))
    number = {line: place for place, source in numbered for line in lines_of(source["title"], source["text"])}
    return " ".join(f"{line.text} [{number[line]}]" for line in lines)
