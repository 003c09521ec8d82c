"""The outcome of a question: without an answer, with one, and scored by gold answers and supporting passages."""

from collections.abc import Sequence
from typing import Any, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from langgraph_rag.evaluation.metrics import all_at, contains, exact_match, f1, recall_at, refused_rightly
from langgraph_rag.evaluation.outcomes import Outcome
from langgraph_rag.evaluation.questions import Question
from langgraph_rag.records import Supported, Usage

RECALL_DEPTHS = (2, 3, 5, 10)


class _FoundPassage(TypedDict):
    id: str


class _Reply(TypedDict):
    answer: str
    passages: list[_FoundPassage]
    supported: NotRequired[Supported | None]
    granularity: NotRequired[str | None]
    effort: NotRequired[str]
    evidence: NotRequired[list[Any]]
    trace: list[Any]
    usage: Usage
    calls: NotRequired[list[Any]]
    events: NotRequired[list[Any]]


_READER = TypeAdapter(_Reply)


def unanswered(question: Question) -> Outcome:
    """Return the outcome of a question before it is asked."""
    return Outcome(
        id=question["id"],
        type=question.get("type", ""),
        question=question["question"],
        answers=question.get("answers", []),
        answer=None,
        em=None,
        f1=None,
        acc=None,
        recall=None,
        all_at_5=None,
        granularity=None,
        steps=None,
        usage=None,
        wall_seconds=0.0,
        error=None,
        supported=None,
    )


def answered(outcome: Outcome, found: object) -> Outcome:
    """Return the outcome with the result of a graph."""
    reply = _READER.validate_python(found)
    told: Outcome = {
        **outcome,
        "answer": reply["answer"],
        "supported": reply.get("supported"),
        "granularity": reply.get("granularity"),
        "steps": len(reply["trace"]),
        "usage": reply["usage"],
        "passages": [passage["id"] for passage in reply["passages"]],
        "evidence": reply.get("evidence", []),
        "trace": reply["trace"],
    }
    for recorded in ("effort", "calls", "events"):
        if recorded in reply:
            told[recorded] = reply[recorded]
    return told


def scored(outcome: Outcome, question: Question) -> Outcome:
    """Score an answer, and its passages if they are stored, by the gold answers and passages of its question."""
    answers = question.get("answers", [])
    gold: Sequence[str | list[str]] = question.get("places") or question.get("supporting_ids", [])
    answer = outcome["answer"] or ""
    answer = refused_rightly(answer, answers) or answer
    result: Outcome = {
        **outcome,
        "type": question.get("type", ""),
        "answers": answers,
        "em": exact_match(answer, answers) if answers else None,
        "f1": f1(answer, answers) if answers else None,
        "acc": contains(answer, answers) if answers else None,
    }
    if (ids := outcome.get("passages")) is not None:
        recall = {str(k): share for k in RECALL_DEPTHS if (share := recall_at(ids, gold, k)) is not None}
        result["recall"], result["all_at_5"] = recall or None, all_at(ids, gold, 5)
    return result
