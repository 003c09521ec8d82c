"""PAR RAG's trajectory chain (section 3.5): records question, answer and cited sources of each step."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import stands_in
from langgraph_rag.prompts.answering import evidence_texts
from langgraph_rag.prompts.par_rag import PlanStep, Standing, Trajectory
from langgraph_rag.records import Evidence, TraceStep, trace_step
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.language.spans import spot_names


class RecordInput(TypedDict):
    """The plan, the result of this step, and the chain so far."""

    plan: list[PlanStep]
    place: int
    query: str
    step: int
    interim: str
    cited: list[Evidence]
    status: Standing
    doubt: str
    doubting: bool
    evidence: list[Evidence]
    trajectories: list[Trajectory]
    trace: list[TraceStep]


@dataclass(frozen=True)
class RecordTrajectory:
    """Add a step to the chain; continue with the new question of the review, or else with the next step of the plan."""

    async def __call__(self, state: RecordInput) -> dict[str, Any]:
        """Return the chain, the evidence, and the next query, empty if the plan is done.

        An answer that the review doubted is removed from both once the question that settles the doubt is answered.
        """
        plan, place, doubt = state["plan"], state["place"], state["doubt"]
        following = place if doubt else place + 1
        looked_up = any(step["action"] != "answer" for step in plan[following:])
        query = doubt or (plan[following]["question"] if looked_up else "")
        earlier, evidence = state["trajectories"], state["evidence"]
        settled = _settles(state)
        if settled:
            earlier = earlier[:-1]
            evidence = [entry for entry in evidence if entry["step"] != state["step"] - 1]
        trajectory = Trajectory(
            place=place,
            question=state["query"],
            answer=state["interim"],
            status=state["status"],
            sources=evidence_texts(state["cited"]),
        )
        thought = f"{state['interim']} ({state['status'].lower()})"
        step = trace_step(state["step"], state["query"], thought, next_question=query)
        emit(
            "record",
            step=state["step"],
            question=state["query"],
            answer=state["interim"],
            next_question=query,
            evidence=state["cited"],
            settled=settled,
        )
        return {
            "place": following,
            "query": query,
            "doubting": bool(doubt),
            "evidence": [*evidence, *state["cited"]],
            "trajectories": [*earlier, trajectory],
            "trace": [*state["trace"], step],
        }


def _settles(state: RecordInput) -> bool:
    """Return whether this step settles the doubt about the answer of the last step.

    Its question must contain all names of the doubted one. If one is missing, it asks about something else, which the
    doubted answer may depend on. Without names, the subjects of questions cannot be compared.
    """
    if not state["doubting"] or state["status"] not in ("PASS", "REVISED") or is_refusal(state["interim"]):
        return False
    doubted = state["trajectories"][-1]
    about = [name.text for name in spot_names(doubted["question"])]
    same = bool(about) and all(stands_in(name, state["query"]) for name in about)
    return same and not is_refusal(doubted["answer"])


def found_last(trajectories: list[Trajectory]) -> list[Trajectory]:
    """Return the findings of the last successful step (Algorithm 1: the current answer goes into the next question)."""
    found = found_so_far(trajectories)
    return [trajectory for trajectory in found if trajectory["place"] == found[-1]["place"]]


def found_so_far(trajectories: list[Trajectory]) -> list[Trajectory]:
    """Return the findings of all successful steps, as in the authors' later code."""
    found = {trajectory["place"] for trajectory in trajectories if not is_refusal(trajectory["answer"])}
    return [trajectory for trajectory in trajectories if trajectory["place"] in found]
