"""PAR RAG's plan module (section 3.4): split the question into steps before anything is looked up."""

from dataclasses import dataclass
from typing import Any

from langgraph_rag.context import Settings, context
from langgraph_rag.llm import ask
from langgraph_rag.metering import first_of
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.receive_question import QuestionInput
from langgraph_rag.normal_forms import first_of_each, normalise
from langgraph_rag.prompts.par_rag import Plan, PlanStep, StepReply
from langgraph_rag.prompts.prompt import Prompt


def one_step(question: str) -> list[PlanStep]:
    """Return the plan that asks the question as it is."""
    return [PlanStep(thought="", question=question, action="retrieve")]


def as_step(step: StepReply) -> PlanStep:
    """Return a step as the state holds it."""
    return PlanStep(thought=step.thought, question=step.question, action=step.action)


def begin(plan: list[PlanStep]) -> dict[str, Any]:
    """Return the update that starts a plan: its first step always retrieves, there is nothing yet to answer from."""
    first = PlanStep({**plan[0], "action": "retrieve"})
    return {"plan": [first, *plan[1:]], "query": first["question"]}


@dataclass(frozen=True)
class MakePlan:
    """Ask the planner for steps, `max_steps` at most; a plan that cannot be read becomes one step.

    A question that is planned again says nothing new.
    """

    llm: ChatModel
    prompt: Prompt[Plan]
    defaults: Settings

    async def __call__(self, state: QuestionInput) -> dict[str, Any]:
        """Return the plan and its first question."""
        question, most = state["question"], context(self.defaults).max_steps
        reply = await ask(self.llm, self.prompt, question=question, most=most)
        steps = first_of_each(reply.steps, lambda step: normalise(step.question))
        plan = first_of([as_step(step) for step in steps.values() if step.question], most)
        update = begin(plan or one_step(question))
        emit("plan", plan=update["plan"], readable=bool(plan))
        return update


@dataclass(frozen=True)
class PlanOneStep:
    """Take the question itself for a plan of one step (ablation "w/o Plan Module")."""

    async def __call__(self, state: QuestionInput) -> dict[str, Any]:
        """Return the plan and its first question."""
        update = begin(one_step(state["question"]))
        emit("plan", plan=update["plan"], readable=True)
        return update
