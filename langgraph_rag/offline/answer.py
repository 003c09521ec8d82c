"""Answer a question from sentences: compare things, tell whether something is so, or read the answer out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_rag.offline.compare import compare, judge, look_up
from langgraph_rag.offline.confirm import confirm
from langgraph_rag.offline.pages import Line, Pages
from langgraph_rag.offline.question import Question, analyse
from langgraph_rag.offline.reading import read
from langgraph_rag.refusals import UNANSWERABLE

_ELAPSED = re.compile(r"\bhow (?:long|many (?:years|months|weeks|days)) (?:after|before|between)\b", re.IGNORECASE)
CONCLUSION = "So the answer is"


@dataclass(frozen=True)
class Conclusion:
    """An answer, empty where the sentences do not give one, with the sentences it rests on."""

    answer: str = ""
    lines: Sequence[Line] = ()

    def __bool__(self) -> bool:
        """Tell whether there is an answer."""
        return bool(self.answer)

    @property
    def thought(self) -> str:
        """Tell how the answer came about."""
        if not self.answer:
            return "What was read does not answer the question."
        return " ".join([*(line.text for line in self.lines), f"{CONCLUSION} {self.answer}."])

    @property
    def reply(self) -> Mapping[str, Any]:
        """Return what is replied to a prompt for an answer."""
        return {"thought": self.thought, "answer": self.answer or UNANSWERABLE}


def conclude(text: str, pages: Pages, *, least: float) -> Conclusion:
    """Answer a question, or say that the sentences do not answer it.

    Args:
        text: the question.
        pages: what to read.
        least: the score that an answer needs (`reading.read`).
    """
    question = analyse(text)
    if question.compares:
        return _compared(question, pages)
    if question.wants == "yes or no":
        return Conclusion(*confirm(text, question, pages))
    if _ELAPSED.search(text) or not all(map(pages.hold, question.given)):
        return Conclusion()  # times are not reckoned here, and what is said of others says nothing
    reading = read(text, pages)
    return Conclusion(reading.answer, reading.lines) if reading and reading.score >= least else Conclusion()


def _compared(question: Question, pages: Pages) -> Conclusion:
    sides = [look_up(question, name, pages.facts) for name in question.pair]
    if (question.ordered or question.wants == "yes or no") and (answer := compare(question, sides)):
        return Conclusion(answer, pages.stating([fact for side in sides for fact in side.facts]))
    return Conclusion(*judge(question, pages))
