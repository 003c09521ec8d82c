"""PAR RAG's trajectory chain (section 3.5): records question, answer and cited sources of each step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_rag.nodes.for_each_question import Acting, ActingInput, act_next, found_places, to_act_on
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import stands_in
from langgraph_rag.prompts.answering import evidence_texts
from langgraph_rag.prompts.par_rag import PlanStep, Trajectory
from langgraph_rag.records import Evidence, TraceStep, trace_step
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.ingest.spans import spot_names


class RecordInput(ActingInput):
    """The plan, the results of the questions that were acted on, and the chain so far."""

    plan: list[PlanStep]
    in_order: bool
    evidence: list[Evidence]
    trajectories: list[Trajectory]
    trace: list[TraceStep]


@dataclass(frozen=True)
class RecordTrajectory:
    """Add steps to the chain; continue with the new questions of their reviews, or else with the plan."""

    async def __call__(self, state: RecordInput) -> dict[str, Any]:
        """Return the chain, the evidence, and the next questions, none if the plan is done.

        An answer that the review doubted is removed from both once the question that settles the doubt is answered.
        """
        trajectories, evidence, last = state["trajectories"], state["evidence"], state["acting"][-1]["step"]
        replaced = {acting["step"]: acting["doubting"] for acting in state["acting"] if _settles(acting, trajectories)}
        for acting in state["acting"]:
            if acting["step"] in replaced:
                doubted = max(n for n, t in enumerate(trajectories) if t["place"] == acting["place"])
                trajectories = trajectories[:doubted] + trajectories[doubted + 1 :]
            trajectories = [*trajectories, _trajectory(acting)]
            evidence = [entry for entry in evidence if entry["step"] != replaced.get(acting["step"])]
            evidence = [*evidence, *acting["cited"]]
        following = [
            to_act_on(acting["place"], "retrieve", acting["doubt"], number, acting["step"])
            for number, acting in enumerate((acting for acting in state["acting"] if acting["doubt"]), start=last + 1)
        ] or act_next(state["plan"], trajectories, state["in_order"], last)
        queries = {acting["step"]: acting["doubt"] for acting in state["acting"]}
        queries[last] = queries[last] or " ".join(acting["query"] for acting in following if not acting["doubting"])
        for acting in state["acting"]:
            emit(
                "record",
                step=acting["step"],
                question=acting["query"],
                answer=acting["interim"],
                next_question=queries[acting["step"]],
                evidence=acting["cited"],
                settled=acting["step"] in replaced,
                replaced=replaced.get(acting["step"], 0),
            )
        return {
            "step": last,
            "settled": any(acting["settled"] and not acting["doubt"] for acting in state["acting"]),
            "acting": following,
            "evidence": evidence,
            "trajectories": trajectories,
            "trace": [*state["trace"], *(_traced(acting, queries[acting["step"]]) for acting in state["acting"])],
        }


def _trajectory(acting: Acting) -> Trajectory:
    return Trajectory(
        place=acting["place"],
        question=acting["query"],
        answer=acting["interim"],
        short=acting["short"],
        status=acting["status"],
        sources=evidence_texts(acting["cited"]),
    )


def _traced(acting: Acting, query: str) -> TraceStep:
    thought = f"{acting['interim']} ({acting['status'].lower()})"
    return trace_step(acting["step"], acting["query"], thought, next_question=query)


def _settles(acting: Acting, trajectories: Sequence[Trajectory]) -> bool:
    """Return whether a question settled the doubt about an earlier answer.

    It must contain all names of the doubted one. If one is missing, it asks about something else, which the doubted
    answer may depend on. Without names, the subjects of questions cannot be compared.
    """
    answered = acting["status"] in ("PASS", "REVISED", "QUOTED") and not is_refusal(acting["interim"])
    if not acting["doubting"] or not answered:
        return False
    doubted = [trajectory for trajectory in trajectories if trajectory["place"] == acting["place"]][-1]
    about = [name.text for name in spot_names(doubted["question"])]
    same = bool(about) and all(stands_in(name, acting["query"]) for name in about)
    return same and not is_refusal(doubted["answer"])


def found_last(trajectories: list[Trajectory]) -> list[Trajectory]:
    """Return the findings of the last successful step (Algorithm 1: the current answer goes into the next question)."""
    found = found_so_far(trajectories)
    return [trajectory for trajectory in found if trajectory["place"] == found[-1]["place"]]


def found_so_far(trajectories: list[Trajectory]) -> list[Trajectory]:
    """Return the findings of all successful steps, as in the authors' later code."""
    found = found_places(trajectories)
    return [trajectory for trajectory in trajectories if trajectory["place"] in found]
