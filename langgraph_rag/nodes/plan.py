"""PAR RAG's plan module (section 3.4): splits the question into steps; and, not in the paper, plans the rest anew."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.context import Settings, context
from langgraph_rag.llm import ask
from langgraph_rag.metering import first_of
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.for_each_question import act_next
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.receive_question import QuestionInput
from langgraph_rag.normal_forms import first_of_each, normalise
from langgraph_rag.prompts.par_rag import Plan, PlanStep, StepReply, Trajectory
from langgraph_rag.prompts.prompt import Prompt


def one_step(question: str) -> list[PlanStep]:
    """Return a plan whose only step is the question."""
    return [PlanStep(thought="", question=question, action="retrieve")]


def as_step(step: StepReply) -> PlanStep:
    """Return a step in the form of the state."""
    return PlanStep(thought=step.thought, question=step.question, action=step.action)


def begin(plan: list[PlanStep], *, in_order: bool) -> dict[str, Any]:
    """Return the update that starts a plan; its first step always retrieves."""
    plan = [PlanStep({**plan[0], "action": "retrieve"}), *plan[1:]]
    return {"plan": plan, "in_order": in_order, "acting": act_next(plan, [], in_order, 0)}


def distinct_steps(steps: list[StepReply]) -> list[PlanStep]:
    """Return the steps of a reply that ask something, each once."""
    return [
        as_step(step) for step in first_of_each(steps, lambda step: normalise(step.question)).values() if step.question
    ]


@dataclass(frozen=True)
class MakePlan:
    """Ask for a plan of at most `max_steps` steps, without duplicates; an unusable plan becomes a single step.

    The steps of a plan `in_order` are taken one after the other. Otherwise only those wait that refer to others.
    """

    llm: ChatModel
    prompt: Prompt[Plan]
    defaults: Settings
    in_order: bool

    async def __call__(self, state: QuestionInput) -> dict[str, Any]:
        """Return the plan and its first question."""
        question, most = state["question"], context(self.defaults).max_steps
        reply = await ask(self.llm, self.prompt, question=question, most=most)
        plan = first_of(distinct_steps(reply.steps), most)
        update = begin(plan or one_step(question), in_order=self.in_order)
        emit("plan", plan=update["plan"], readable=bool(plan))
        return update


@dataclass(frozen=True)
class PlanOneStep:
    """Use the question as the only step of the plan (ablation "w/o Plan Module")."""

    async def __call__(self, state: QuestionInput) -> dict[str, Any]:
        """Return the plan and its first question."""
        update = begin(one_step(state["question"]), in_order=True)
        emit("plan", plan=update["plan"], readable=True)
        return update


class PlanAnewInput(TypedDict):
    """The question, its plan, the steps taken, and the number of the last one."""

    question: str
    plan: list[PlanStep]
    trajectories: list[Trajectory]
    step: int


@dataclass(frozen=True)
class PlanAnew:
    """Ask for other steps in place of those that are left, once; the steps taken come first in the new plan."""

    llm: ChatModel
    prompt: Prompt[Plan]
    defaults: Settings

    async def __call__(self, state: PlanAnewInput) -> dict[str, Any]:
        """Return the new plan, and its next questions."""
        places = sorted({trajectory["place"] for trajectory in state["trajectories"]})
        taken = [state["plan"][place] for place in places]
        moved = [Trajectory({**t, "place": places.index(t["place"])}) for t in state["trajectories"]]
        most = max(context(self.defaults).max_steps - len(taken), 1)
        reply = await ask(self.llm, self.prompt, question=state["question"], found=moved, most=most)
        asked = {normalise(question) for t in moved for question in (t["question"], taken[t["place"]]["question"])}
        new = first_of([step for step in distinct_steps(reply.steps) if normalise(step["question"]) not in asked], most)
        plan = [*taken, *new]
        emit("plan_anew", plan=plan, new=len(new))
        acting = act_next(plan, moved, False, state["step"])
        return {"plan": plan, "trajectories": moved, "acting": acting, "planned_anew": True}
