"""More to learn from trajectories: which of two replies led to the right answer, and what a gate measured."""

import json
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, Literal

from typing_extensions import TypedDict

from langgraph_rag.evaluation.judging import Judgement
from langgraph_rag.evaluation.outcomes import Outcome
from langgraph_rag.records import Supported, tokens_spent
from langgraph_rag.training.rows import PROMPTS, RejectedRow, is_right, judged_right, reply_text
from langgraph_rag.training.trajectories import Call, Message

_WRONG = 0.5  # F1 below which an answer is wrong, and not just worded otherwise


class Pair(TypedDict):
    """A prompt with the reply of a run that came to the right answer, and one of a run that did not, for DPO."""

    id: str
    prompt: str
    label: str
    messages: list[Message]
    chosen: str
    rejected: str


def preference_pairs(
    runs: Iterable[Outcome], judgements: Iterable[Judgement] = ()
) -> tuple[list[Pair], list[RejectedRow]]:
    """Return a pair for each right and wrong run of one question, where they part.

    This is the first turn of the right run at which the wrong one was shown the same and replied otherwise: all that
    differs later follows from it. So the runs are of the same method and knowledge base, with other models, or with one
    that does not decode greedily.

    Returns:
        The pairs, each once, and the questions without any, with the reason.
    """
    judged, by_question = judged_right(judgements), defaultdict[str, list[Outcome]](list)
    for run in runs:
        by_question[run["id"]].append(run)
    pairs, rejected = dict[str, Pair](), list[RejectedRow]()
    for id_, of_question in by_question.items():
        right = [run for run in of_question if is_right(run, judged)]
        others = [run for run in of_question if not is_right(run, judged)]
        wrong = [run for run in others if run["f1"] is not None and run["f1"] < _WRONG]
        found = [pair for one in right for other in wrong if (pair := _parting(one, other))]
        pairs |= {json.dumps([pair["messages"], pair["chosen"], pair["rejected"]]): pair for pair in found}
        if not found:
            parted = "the runs were never shown the same" if right and wrong else "there is not a right and a wrong run"
            rejected.append(RejectedRow(id=id_, prompt="", reason=parted))
    return list(pairs.values()), rejected


def _parting(right: Outcome, wrong: Outcome) -> Pair | None:
    others = {_shown(call): call for call in wrong.get("calls", []) if call["reply"] is not None}
    for call in right.get("calls", []):
        other = others.get(_shown(call))
        if other is None or call["reply"] is None:
            continue
        prompt = PROMPTS.get(call["prompt"])
        chosen, rejected = (reply_text(prompt, one["reply"]) for one in (call, other)) if prompt else ("", "")
        if chosen != rejected:
            messages = call["messages"]
            return Pair(
                id=right["id"],
                prompt=call["prompt"],
                label="where a right and a wrong run part",
                messages=messages,
                chosen=chosen,
                rejected=rejected,
            )
    return None


def _shown(call: Call) -> str:
    return json.dumps([call["prompt"], call["messages"]])


class Gating(TypedDict):
    """What the gate of `adaptive` measured after a reading, the way it chose, and how the question ended.

    `missing` counts what the reading said to be missing, `open` what of it was not looked up before. `calls` and
    `tokens` are those of the whole run.
    """

    id: str
    step: int
    titles: int
    cited: int
    answered: bool
    supported: Supported
    missing: int
    open: int
    way: Literal["look_up", "hand_over", "conclude"]
    right: bool
    f1: float | None
    calls: int
    tokens: int


def gatings(runs: Iterable[Outcome], judgements: Iterable[Judgement] = ()) -> list[Gating]:
    """Return what the gate measured in runs of `adaptive`, a row for each of its decisions."""
    judged = judged_right(judgements)
    return [row for run in runs if run["usage"] for row in _gatings(run, run.get("events", []), judged)]


def _gatings(run: Outcome, events: Sequence[Any], judged: Container[tuple[str, str | None]]) -> Iterator[Gating]:
    usage, read = run["usage"], dict[str, Any]()
    assert usage is not None
    for event in events:
        if event["node"] == "read":
            read = event
        elif event["node"] == "assess" and read:
            yield Gating(
                id=run["id"],
                step=event["step"],
                titles=len(read["titles"]),
                cited=len(read["evidence"]),
                answered=read["sufficient"],
                supported=event["supported"],
                missing=len(read["missing"]),
                open=len(event["look_ups"]),
                way=event["way"],
                right=is_right(run, judged),
                f1=run["f1"],
                calls=usage["calls"],
                tokens=tokens_spent(usage),
            )
