"""Lets a person approve, edit or reject a plan before it runs."""

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from langgraph.config import get_config
from langgraph.constants import CONFIG_KEY_CHECKPOINTER
from langgraph.types import interrupt
from pydantic import ValidationError
from typing_extensions import TypedDict

from langgraph_rag.context import Settings, context
from langgraph_rag.errors import PlanError, QuestionError
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.plan import as_step, begin
from langgraph_rag.nodes.receive_question import checked_question
from langgraph_rag.prompts.par_rag import PlanStep, StepReply

REJECTED = "No answer: the plan was rejected."
_APPROVALS = ("approve", "approved", "ok", "yes", "true")
_REJECTIONS = ("reject", "rejected", "no", "false")


class ApproveInput(TypedDict):
    """The question, its plan, and what was wrong with the last edited plan, if there was one."""

    question: str
    plan: list[PlanStep]
    problem: str
    in_order: bool


@dataclass(frozen=True)
class ApprovePlan:
    """Interrupt the run with the plan, and continue with the value of `Command(resume=...)`.

    `True` (or "true", "approve", "approved", "ok", "yes") approves the plan. `False` ("false", "reject", "rejected",
    "no") ends the run without an answer. An edited plan is a list of questions or of steps, also in a dict like the
    value of the interrupt. Each of these can also be JSON in a string.
    """

    defaults: Settings

    async def __call__(self, state: ApproveInput) -> dict[str, Any]:
        """Return the approved or edited plan and its first question, or the rejection as the answer.

        If an edited plan cannot be used, the `problem` is returned, and the node runs again. LangGraph stores the
        values that a node was resumed with, so an error here would be raised again by every further attempt.

        Raises:
            ValueError: when there is no checkpointer, without which the run cannot continue.
        """
        if get_config()["configurable"].get(CONFIG_KEY_CHECKPOINTER) is None:
            raise ValueError(
                "a plan that waits for a person needs a checkpointer: compile the graph, or the one around it, with "
                "one, e.g. .compile(checkpointer=InMemorySaver()), or build it without approve_plan; on LangGraph's "
                "server, which brings its own, run it on a thread"
            )
        problem = {"problem": state["problem"]} if state["problem"] else {}
        given = interrupt({"question": state["question"], "plan": state["plan"], **problem})
        if _means(given, False, _REJECTIONS):
            emit("approve_plan", plan=state["plan"], edited=False, rejected=True)
            return {"answer": REJECTED, "problem": ""}
        approved = _means(given, True, _APPROVALS)
        try:
            plan = _steps(state["plan"]) if approved else self._edited(given)  # the state may be edited, too
        except PlanError as error:
            return {"problem": str(error)}
        edited = not approved and plan != state["plan"]
        update = begin(plan, in_order=edited or state["in_order"])  # people refer to earlier steps in words
        emit("approve_plan", plan=update["plan"], edited=edited, rejected=False)
        return {**update, "problem": ""}

    def _edited(self, given: object) -> list[PlanStep]:
        most = context(self.defaults).max_steps
        if isinstance(given, str):
            with suppress(ValueError, RecursionError):
                given = json.loads(given)
        if isinstance(given, dict) and "plan" in given:
            given = given["plan"]
        if not isinstance(given, list | tuple):
            raise PlanError(
                f"expected approve, reject, True, False or a plan of 1 to {most} questions or steps, got {given!r:.200}"
            )
        if not 1 <= len(given) <= most:
            wanted = f"1 to {most} questions" if most > 1 else "1 question"
            raise PlanError(f"expected {wanted}, got {len(given) or 'none'}")
        return _steps(given)


def _steps(given: Any) -> list[PlanStep]:
    if not isinstance(given, list | tuple) or not given:
        raise PlanError(f"expected a plan of questions or steps, got {given!r:.200}")
    return [_step(number, step) for number, step in enumerate(given, start=1)]


def _means(given: object, answer: bool, words: tuple[str, ...]) -> bool:
    return given is answer or isinstance(given, str) and given.strip().rstrip(".!").lower() in words


def _step(number: int, given: object) -> PlanStep:
    if not isinstance(given, str | dict):
        raise PlanError(f"step {number}: expected a question or a step with a question, got {given!r:.200}")
    if isinstance(given, dict) and (unknown := given.keys() - StepReply.model_fields.keys()):
        known = ", ".join(StepReply.model_fields)
        raise PlanError(f"step {number}: expected {known}, got {', '.join(sorted(map(str, unknown)))} as well")
    if isinstance(given, dict) and not isinstance(given.get("question", ""), str):  # which is read from models' replies
        raise PlanError(f"step {number}: question: expected text, got {given['question']!r:.200}")
    try:
        step = StepReply.model_validate({"question": given} if isinstance(given, str) else given)
        step.question = checked_question(step.question)
    except ValidationError as error:
        wrong = error.errors()[0]
        where = "".join(f"{part}: " for part in wrong["loc"])
        raise PlanError(f"step {number}: {where}{wrong['msg']}, got {wrong['input']!r:.200}") from error
    except QuestionError as error:
        raise PlanError(f"step {number}: {error}") from error
    return as_step(step)
