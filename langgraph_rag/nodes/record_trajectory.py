"""PAR RAG's trajectory chain (section 3.5): question, answer and cited sources of each step, for those that follow."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import stands_in
from langgraph_rag.prompts.answering import evidence_texts
from langgraph_rag.prompts.par_rag import PlanStep, Standing, Trajectory
from langgraph_rag.records import Evidence, TraceStep, trace_step
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.language.spans import spot


class RecordInput(TypedDict):
    """What this step came to, and the chain so far."""

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
    """Add this step to the chain; go on with the new question of a review, else with the plan's next step."""

    async def __call__(self, state: RecordInput) -> dict[str, Any]:
        """Return the chain, the evidence, and what is asked next, empty where the plan is done.

        An answer under doubt leaves both, with its sources, once the question that was to settle it has its answer.
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
    """Tell whether this step answers what was asked because of doubt about the answer before.

    Only one about the same names does: a question that leaves one out asks about something else, on which the doubted
    answer may rest, and of a question without names nobody can tell what it is about.
    """
    if not state["doubting"] or state["status"] not in ("PASS", "REVISED") or is_refusal(state["interim"]):
        return False
    doubted = state["trajectories"][-1]
    about = [span.text for span in spot(doubted["question"]) if span.kind == "name"]
    same = bool(about) and all(stands_in(name, state["query"]) for name in about)
    return same and not is_refusal(doubted["answer"])


def found_last(trajectories: list[Trajectory]) -> list[Trajectory]:
    """Return what the last step that found anything found (Algorithm 1: the next question takes the current answer)."""
    found = found_so_far(trajectories)
    return [trajectory for trajectory in found if trajectory["place"] == found[-1]["place"]]


def found_so_far(trajectories: list[Trajectory]) -> list[Trajectory]:
    """Return everything found, as in the authors' later code, each with what led to it within its step."""
    found = {trajectory["place"] for trajectory in trajectories if not is_refusal(trajectory["answer"])}
    return [trajectory for trajectory in trajectories if trajectory["place"] in found]
