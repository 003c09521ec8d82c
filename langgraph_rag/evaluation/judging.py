"""Have a model judge answers: exact match is blind to other spellings of the same thing (Acc† of the papers)."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from langchain_core.language_models import BaseChatModel
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from langgraph_rag.errors import RagError
from langgraph_rag.evaluation.outcomes import Outcome
from langgraph_rag.llm import ask
from langgraph_rag.prompts.judging import JUDGE

_FILE = "judgements.jsonl"


class Judgement(TypedDict):
    """What a judge said of one answer; `correct` is None where the judge failed, and `error` says how.

    `answers` are the gold answers that the judge was told.
    """

    id: str
    judge: str
    answer: str
    answers: list[str]
    correct: bool | None
    error: str | None


_READER = TypeAdapter(Judgement)


async def judge(
    llm: BaseChatModel,
    name: str,
    outcomes: Sequence[Outcome],
    out: Path,
    *,
    concurrency: int = 1,
    on_result: Callable[[Judgement], None] | None = None,
) -> list[Judgement]:
    """Judge each answer that the folder holds no judgement of yet, and return those of all answered questions.

    Judgements are kept in `judgements.jsonl`, one by one; what the judge failed at is asked again the next time.

    Args:
        llm: the judge.
        name: what the judge goes by; judgements of another judge are not taken over.
        outcomes: what came of the questions; failed ones are left out, and those that name no accepted answer.
        out: the folder of the outcomes.
        concurrency: answers under way at once.
        on_result: called with each new judgement once it is written.
    """
    answered = {outcome["id"]: outcome for outcome in outcomes if outcome["answer"] is not None and outcome["answers"]}
    judged = {id_: found for id_, found in _kept(out, name).items() if _is_of(found, answered.get(id_))}
    gate = asyncio.Semaphore(concurrency)
    with (out / _FILE).open("a", encoding="utf-8", errors="replace", newline="\n") as file:

        async def settle(outcome: Outcome) -> None:
            async with gate:
                judgement = await _judge(llm, name, outcome)
            file.write(json.dumps(judgement, ensure_ascii=False) + "\n")
            file.flush()
            judged[outcome["id"]] = judgement
            if on_result is not None:
                on_result(judgement)

        async with asyncio.TaskGroup() as group:
            for id_, outcome in answered.items():
                if id_ not in judged:
                    group.create_task(settle(outcome))
    return [judged[id_] for id_ in answered]


async def _judge(llm: BaseChatModel, name: str, outcome: Outcome) -> Judgement:
    answer, answers = outcome["answer"] or "", outcome["answers"]
    judgement = Judgement(id=outcome["id"], judge=name, answer=answer, answers=answers, correct=None, error=None)
    try:
        verdict = await ask(llm, JUDGE, question=outcome["question"], accepted=answers, given=answer)
    except RagError as error:
        return {**judgement, "error": f"{type(error).__name__}: {error}"}
    return {**judgement, "correct": verdict.correct}


def _kept(out: Path, name: str) -> dict[str, Judgement]:
    """Read what a judge decided earlier; what a kill cut off or earlier versions wrote is left out."""
    path, kept = out / _FILE, {}
    for line in path.read_bytes().split(b"\n") if path.exists() else []:
        try:
            judgement = _READER.validate_json(line)
        except ValidationError:
            continue
        if judgement["judge"] == name and judgement["correct"] is not None:
            kept[judgement["id"]] = judgement
    return kept


def _is_of(judgement: Judgement, outcome: Outcome | None) -> bool:
    judged = judgement["answer"], judgement["answers"]
    return outcome is not None and judged == (outcome["answer"], outcome["answers"])
