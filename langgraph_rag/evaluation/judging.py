"""Answers judged by a model, because exact match rejects other spellings of an answer (Acc† in the papers)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from langgraph_rag.arguments import expect_count
from langgraph_rag.errors import RagError
from langgraph_rag.evaluation.metrics import refused_rightly
from langgraph_rag.evaluation.outcomes import Outcome
from langgraph_rag.evaluation.run_folder import (
    CircuitBreaker,
    OutcomesError,
    alone,
    keeping,
    read_entries,
    work_through,
)
from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.prompts.judging import JUDGE

JUDGEMENTS = "judgements.jsonl"


class Judgement(TypedDict):
    """A judgement of one answer; if the judge failed, `correct` is None and `error` says why.

    `answers` are the gold answers that the judge was given.
    """

    id: str
    judge: str
    answer: str
    answers: list[str]
    correct: bool | None
    error: str | None


_READER = TypeAdapter(Judgement)


def read_judgements(out: str | Path) -> list[Judgement]:
    """Read the judgements in a folder; blank lines and an incomplete last line, as after a kill, are skipped.

    Raises:
        OutcomesError: when any other line is not a judgement, or the file cannot be read.
    """
    return read_entries(Path(out) / JUDGEMENTS, _READER, "a judgement", "its answer is judged again")


def judgements_of(outcomes: Sequence[Outcome], out: str | Path, judge: str | None = None) -> list[Judgement]:
    """Return the judgements of these outcomes in a folder, without those of earlier answers; none without a judge.

    Raises:
        OutcomesError: when no `judge` is named and there was more than one, or the file cannot be read.
    """
    made = [one for one in read_judgements(out) if judge in (None, one["judge"])]
    judges = list(dict.fromkeys(one["judge"] for one in made))
    if len(judges) > 1:
        raise OutcomesError(f"{out} holds judgements of {', '.join(judges)}: expected those of one judge, or its name")
    return [*_last_of_each(made, _answered(outcomes)).values()]


def _answered(outcomes: Sequence[Outcome]) -> dict[str, Outcome]:
    return {outcome["id"]: outcome for outcome in outcomes if outcome["answer"] is not None and outcome["answers"]}


def _last_of_each(made: Iterable[Judgement], answered: Mapping[str, Outcome]) -> dict[str, Judgement]:
    return {one["id"]: one for one in made if _is_of(one, answered)}


def told_by_judge(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Return the judgements for which the judge was asked; correct refusals do not need it."""
    return [one for one in judgements if not refused_rightly(one["answer"], one["answers"])]


async def judge(
    llm: ChatModel,
    outcomes: Sequence[Outcome],
    out: str | Path,
    *,
    name: str,
    concurrency: int = 1,
    on_result: Callable[[Judgement], None] | None = None,
) -> list[Judgement]:
    """Judge each answer without a judgement in the folder, and return the judgements of all answered questions.

    Each judgement is written to `judgements.jsonl` as soon as it is made. The next run repeats those that failed.

    Args:
        llm: the judge.
        outcomes: the outcomes of the questions; failed ones and those without gold answers are left out.
        out: the folder of the outcomes.
        name: the name of the judge; judgements of other judges are not reused.
        concurrency: how many answers are judged at once.
        on_result: called with each new judgement after it is written.

    Raises:
        OutcomesError: when the folder is in use by another run, holds lines that are not judgements, or cannot be
            written to.
        ModelCallError: when the judge denies access, or could not be called for ten answers in a row; a later run
            continues from there.
        ValueError: when the concurrency is not a whole number of at least 1.
    """
    expect_count(concurrency, "concurrency")
    out = Path(out)
    answered = _answered(outcomes)
    with alone(out):
        kept = [judgement for judgement in read_judgements(out) if judgement["correct"] is not None]
        judged = _last_of_each((one for one in kept if one["judge"] == name), answered)
        unjudged = [outcome for id_, outcome in answered.items() if id_ not in judged]
        with keeping(out / JUDGEMENTS, kept) as keep:
            found = await work_through(unjudged, _Judge(llm, name), concurrency, keep, on_result)
    judged |= {judgement["id"]: judgement for judgement in found}
    return [judged[id_] for id_ in answered]


@dataclass
class _Judge:
    """Judges answers until the judge is lost."""

    llm: ChatModel
    name: str
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)

    async def __call__(self, outcome: Outcome) -> Judgement:
        answer, answers = outcome["answer"] or "", outcome["answers"]
        judgement = Judgement(
            id=outcome["id"], judge=self.name, answer=answer, answers=answers, correct=None, error=None
        )
        if refused_rightly(answer, answers):  # in any wording; judges are told to count refusals as wrong
            return {**judgement, "correct": True}
        try:
            verdict = await ask(self.llm, JUDGE, question=outcome["question"], accepted=answers, given=answer)
        except RagError as error:
            if self.breaker.trips(error):
                raise type(error)(
                    f"the judge {self.name} could not be asked, and no more answers were judged: {error}; what there "
                    "is so far is kept, and the next run has the rest judged"
                ) from error
            return {**judgement, "error": f"{type(error).__name__}: {error}"}
        self.breaker.reset()
        return {**judgement, "correct": verdict.correct}


def _is_of(judgement: Judgement, answered: Mapping[str, Outcome]) -> bool:
    outcome = answered.get(judgement["id"])
    judged = judgement["answer"], judgement["answers"]
    return outcome is not None and judged == (outcome["answer"], outcome["answers"])
