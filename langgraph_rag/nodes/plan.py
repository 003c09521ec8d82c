"""PAR RAG's plan module (section 3.4): splits the question into steps before the first retrieval."""

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
    """Return a plan whose only step is the question."""
    return [PlanStep(thought="", question=question, action="retrieve")]


def as_step(step: StepReply) -> PlanStep:
    """Return a step in the form of the state."""
    return PlanStep(thought=step.thought, question=step.question, action=step.action)


def begin(plan: list[PlanStep]) -> dict[str, Any]:
    """Return the update that starts a plan; its first step always retrieves."""
    first = PlanStep({**plan[0], "action": "retrieve"})
    return {"plan": [first, *plan[1:]], "query": first["question"]}


@dataclass(frozen=True)
class MakePlan:
    """Ask for a plan of at most `max_steps` steps, without duplicates; an unusable plan becomes a single step."""

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
    """Use the question as the only step of the plan (ablation "w/o Plan Module")."""

    async def __call__(self, state: QuestionInput) -> dict[str, Any]:
        """Return the plan and its first question."""
        update = begin(one_step(state["question"]))
        emit("plan", plan=update["plan"], readable=True)
        return update
