"""Let a person approve or edit a plan before it is acted on."""

from dataclasses import dataclass
from typing import Any

from langgraph.types import interrupt
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from langgraph_rag.context import Settings, context
from langgraph_rag.errors import PlanError
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.plan import as_step, begin
from langgraph_rag.prompts.par_rag import PlanStep, StepReply

_STEPS = TypeAdapter(list[StepReply])
_APPROVALS = (True, None, "", "approve", "approved", "yes", "ok")


class ApproveInput(TypedDict):
    """The question and the plan made for it."""

    question: str
    plan: list[PlanStep]


@dataclass(frozen=True)
class ApprovePlan:
    """Stop with the plan as an interrupt's value; go on with what `Command(resume=...)` brings.

    That is `True` for approval, or the edited plan: a list of questions or of steps like those shown.
    """

    defaults: Settings

    async def __call__(self, state: ApproveInput) -> dict[str, Any]:
        """Return the plan as approved or edited, and its first question.

        An edited plan that is no list of questions or steps, empty, or too long is asked for again, with the `problem`:
        LangGraph keeps what a thread is resumed with, so that an error here would come back at every further try.
        """
        asked: dict[str, Any] = {"question": state["question"], "plan": state["plan"]}
        while True:
            given = interrupt(asked)
            approved = given is None or isinstance(given, bool | str) and given in _APPROVALS
            try:
                update = begin(state["plan"] if approved else self._edited(given))
            except PlanError as error:
                asked = {**asked, "problem": str(error)}
            else:
                emit("approve_plan", plan=update["plan"], edited=not approved)
                return update

    def _edited(self, given: object) -> list[PlanStep]:
        most = context(self.defaults).max_steps
        expected = f"expected True or a plan of 1 to {most} questions or steps with a question"
        if not isinstance(given, list):
            raise PlanError(f"{expected}, got {given!r}")
        if not 1 <= len(given) <= most:
            raise PlanError(f"expected 1 to {most} questions, got {len(given) or 'none'}")
        try:
            steps = _STEPS.validate_python([{"question": step} if isinstance(step, str) else step for step in given])
        except ValidationError as error:
            raise PlanError(f"{expected}, got {given!r}") from error
        if not all(step.question for step in steps):
            raise PlanError(f"{expected}, got an empty question in {given!r}")
        return [as_step(step) for step in steps]
