"""Answers a question from sentences: compares things, answers yes or no, or extracts the answer."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_rag.offline import Values
from langgraph_rag.offline.compare import compare, judge, look_up
from langgraph_rag.offline.confirm import MUTUAL, confirm
from langgraph_rag.offline.pages import Line, Pages, pages_of, spelled_out
from langgraph_rag.offline.question import Question, analyse
from langgraph_rag.offline.reading import read
from langgraph_rag.refusals import UNANSWERABLE

_ELAPSED = re.compile(r"\bhow (?:long|many (?:years|months|weeks|days)) (?:after|before|between)\b", re.IGNORECASE)
CONCLUSION = "So the answer is"
LEAST = {"triples": 4.0, "sentences": 3.0, "passages": 2.5}
"""The minimum score of an answer from each kind of text; below it, more text should be read."""


@dataclass(frozen=True)
class Conclusion:
    """An answer and the sentences that support it; the answer is empty if there is none."""

    answer: str = ""
    lines: Sequence[Line] = ()

    def __bool__(self) -> bool:
        """Return whether there is an answer."""
        return bool(self.answer)

    @property
    def thought(self) -> str:
        """Return the reasoning that leads to the answer."""
        if not self.answer:
            return "What was read does not answer the question."
        return " ".join([*(line.text for line in self.lines), f"{CONCLUSION} {self.answer}."])

    @property
    def reply(self) -> Mapping[str, Any]:
        """Return the reply to a prompt for an answer."""
        return {"thought": self.thought, "answer": self.answer or UNANSWERABLE}


def conclude(text: str, pages: Pages, *, least: float) -> Conclusion:
    """Answer a question; the conclusion is empty if the sentences do not answer it."""
    question = analyse(text)
    if not MUTUAL.isdisjoint(question.told) and (confirmed := Conclusion(*confirm(text, question, pages))):
        return confirmed  # "are A and B married" does not compare them
    if question.compares:
        return _compared(question, pages)
    if question.wants == "yes or no":
        return Conclusion(*confirm(text, question, pages))
    if _ELAPSED.search(text) or not all(map(pages.hold, question.given)):
        return Conclusion()  # durations are not computed, and sentences about other things do not help
    reading = read(text, pages)
    return Conclusion(reading.answer, reading.lines) if reading and reading.score >= least else Conclusion()


def _compared(question: Question, pages: Pages) -> Conclusion:
    sides = [look_up(question, name, pages.facts) for name in question.pair]
    if (question.ordered or question.wants == "yes or no") and (answer := compare(question, sides)):
        return Conclusion(answer, pages.stating([fact for side in sides for fact in side.facts]))
    return Conclusion(*judge(question, pages))


def answer_from_triples(values: Values) -> Mapping[str, Any]:
    """Answer a question from triples."""
    return conclude(values["question"], Pages(spelled_out(values["triples"])), least=LEAST["triples"]).reply


def answer_from_texts(values: Values) -> Mapping[str, Any]:
    """Answer a question from sentences or passages, each with its title."""
    kind = "sentences" if "sentences" in values else "passages"
    return conclude(values["question"], pages_of(values[kind]), least=LEAST[kind]).reply
