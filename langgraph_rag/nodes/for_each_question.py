"""Questions of a plan that are acted on side by side (PAR RAG)."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.concurrency.tasks import gather
from langgraph_rag.prompts.par_rag import Action, PlanStep, Standing, Trajectory
from langgraph_rag.records import Evidence, ScoredPassage
from langgraph_rag.refusals import is_refusal

_REFERENCE = re.compile(r"#([1-9]\d?)\b")


class Acting(TypedDict):
    """A question that is acted on, and what came of it so far.

    `place` is the position of its step in the plan, `step` its number in the trace. `doubt` is a question that would
    settle a doubt about the answer; `doubting` is the number of the step whose answer is doubted, or 0.
    """

    place: int
    action: Action
    query: str
    step: int
    doubting: int
    retrieved: list[ScoredPassage]
    interim: str
    short: str
    settled: bool
    cited: list[Evidence]
    fine_sources: list[Evidence]
    status: Standing
    doubt: str


class ActingInput(TypedDict):
    """The questions that are acted on."""

    acting: list[Acting]


class ForEachQuestion(ABC):
    """A step that is taken for all questions that are acted on, side by side."""

    @abstractmethod
    async def one(self, state: Any) -> dict[str, Any]:
        """Return the fields to change of one question, given with the rest of the state."""

    async def __call__(self, state: ActingInput) -> dict[str, Any]:
        """Return the questions with what came of them."""
        updates = await gather(self.one({**state, **acting}) for acting in state["acting"])
        pairs = zip(state["acting"], updates, strict=True)
        return {"acting": [{**acting, **update} for acting, update in pairs]}


def to_act_on(place: int, action: Action, query: str, step: int, doubting: int = 0) -> Acting:
    """Return a question before it is acted on."""
    return Acting(
        place=place,
        action=action,
        query=query,
        step=step,
        doubting=doubting,
        retrieved=[],
        interim="",
        short="",
        settled=False,
        cited=[],
        fine_sources=[],
        status="NOT REVIEWED",
        doubt="",
    )


def references(question: str) -> set[int]:
    """Return the positions of the steps that a question refers to, such as #1."""
    return {int(number) - 1 for number in _REFERENCE.findall(question)}


def put_in(question: str, names: dict[int, str]) -> str:
    """Replace the references in a question by the names found, where there is one."""
    return _REFERENCE.sub(lambda found: names.get(int(found[1]) - 1) or found[0], question)


def found_places(trajectories: Sequence[Trajectory]) -> set[int]:
    """Return the positions of the steps that found an answer."""
    return {trajectory["place"] for trajectory in trajectories if not is_refusal(trajectory["answer"])}


def looked_up(plan: Sequence[PlanStep], trajectories: Sequence[Trajectory]) -> list[int]:
    """Return the positions of the steps that are left, if one of them retrieves; the final answer combines the rest."""
    done = {trajectory["place"] for trajectory in trajectories}
    left = [place for place in range(len(plan)) if place not in done]
    return left if any(plan[place]["action"] == "retrieve" for place in left) else []


def following(plan: Sequence[PlanStep], trajectories: Sequence[Trajectory], in_order: bool) -> list[int]:
    """Return the positions of the steps to take next.

    In order, that is one. Otherwise it is every step that refers only to earlier steps that found something; those that
    retrieve nothing wait for the others.
    """
    left = looked_up(plan, trajectories)
    if in_order:
        return left[:1]
    found = found_places(trajectories)
    ready = [place for place in left if {n for n in references(plan[place]["question"]) if n < place} <= found]
    return [place for place in ready if plan[place]["action"] == "retrieve"] or ready


def act_next(plan: Sequence[PlanStep], trajectories: Sequence[Trajectory], in_order: bool, step: int) -> list[Acting]:
    """Return the questions to act on next; `step` is the number of the last one."""
    return [
        to_act_on(place, plan[place]["action"], plan[place]["question"], number)
        for number, place in enumerate(following(plan, trajectories, in_order), start=step + 1)
    ]
