"""Plans the rest of a plan anew where a step found nothing that others build on (PAR RAG, not in the paper)."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.context import Settings, context
from langgraph_rag.llm import ask
from langgraph_rag.metering import first_of
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.for_each_question import act_next
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.plan import distinct_steps
from langgraph_rag.normal_forms import normalise
from langgraph_rag.prompts.par_rag import Plan, PlanStep, Trajectory
from langgraph_rag.prompts.prompt import Prompt


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
