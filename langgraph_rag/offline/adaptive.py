"""Answers a question from numbered sentences, or says what has to be looked up first."""

from typing import Any

from langgraph_rag.offline import Values
from langgraph_rag.offline.answer import LEAST, conclude
from langgraph_rag.offline.dualrag import open_questions
from langgraph_rag.offline.pages import Line, Pages
from langgraph_rag.offline.search import integrate
from langgraph_rag.refusals import UNANSWERABLE

_SURE = 5.0  # score of an answer for which nothing more is looked up: three of four are correct


def answer_or_look_up(values: Values) -> dict[str, Any]:
    """Return the answer, or as long as there are open questions, these; and the sentences that help with either."""
    question, asked = values["question"], [values["question"], *values["looked_up"]]
    known = [Line(text["title"], text["text"], True) for text in values["known"]]
    numbered = {
        Line(text["title"], sentence, place == 0, opening=text["sentences"][0]): text["first"] + place
        for text in values["passages"]
        for place, sentence in enumerate(text["sentences"])
    }
    read, pages = Pages(numbered), Pages([*known, *numbered])
    conclusion = conclude(question, pages, least=_SURE)
    useful = [] if conclusion else read.stating(integrate(question, read.facts, Pages(known).facts, asked).facts)
    missing = [] if conclusion or values["last"] else open_questions(question, pages, asked)
    conclusion = conclusion or conclude(question, pages, least=LEAST["passages"])
    helping = dict.fromkeys([*conclusion.lines, *useful])
    return {
        "thought": f"To be found out: {' '.join(missing)}" if missing else conclusion.thought,
        "sentences": [numbered[line] for line in helping if line in numbered],
        "missing": missing,
        "answer": UNANSWERABLE if missing else conclusion.answer or UNANSWERABLE,
    }
