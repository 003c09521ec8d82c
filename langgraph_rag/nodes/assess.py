"""The gate of our own method: decides by what was measured, without a model, how a question goes on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from typing_extensions import TypedDict

from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.context import Effort, Settings, context
from langgraph_rag.metering import first_of, stopped
from langgraph_rag.naming import counted
from langgraph_rag.nodes.identify_entities import Demand
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.read_or_look_up import goes_on, reads_on
from langgraph_rag.normal_forms import first_of_each, normalise, stands_in
from langgraph_rag.offline.support import support_of
from langgraph_rag.records import Evidence, Record, Supported, TraceStep, Usage, trace_step
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.ingest.spans import spot_names
from langgraph_rag.tools.retrieve.retriever import Retriever

MOST_LOOK_UPS = 3
Way = Literal["look_up", "hand_over", "conclude"]


class AssessInput(TypedDict):
    """What a reading said, what was read and looked up so far, and the cost."""

    question: str
    step: int
    answer: str
    so_far: str
    thought: str
    missing: list[str]
    demands: list[Demand]
    asked: list[str]
    bridged: bool
    read: list[str]
    evidence: list[Evidence]
    trace: list[TraceStep]
    usage: Usage


class Verdict(NamedTuple):
    """The way a question takes, what is looked up on it, and why."""

    way: Way
    look_ups: list[str]
    why: str


@dataclass(frozen=True)
class Assess:
    """Measure what a reading gave, and choose: conclude, look up what is open, or hand over to another method.

    - An answer that stands in the passages that were read, if only in part, ends the question, unless something is said
      to be missing.
    - What is missing is looked up, unless it was already. If the answer does not stand there, passages for question and
      answer together are looked up; if there is neither an answer nor a gap, the names of the question that no passage
      read so far has.
    - If nothing is left to look up, or the effort or the budget allows no more, the question ends. What is looked up
      about a name that was just found allows one reading more.
    """

    kb: Retriever
    defaults: Settings

    async def __call__(self, state: AssessInput) -> dict[str, Any]:
        """Return the way, the look-ups, and the trace."""
        records = await self.kb.apassages(state["read"])
        settings, step = context(self.defaults), state["step"]
        supported, _ = await in_thread(support_of, state["question"], state["answer"], records, step)
        verdict = await in_thread(_verdict, state, settings, records, supported)
        told = "no answer" if is_refusal(state["answer"]) else f"answer supported: {supported}"
        gaps = counted(len(verdict.look_ups), "gap")
        why = f"{counted(_cited(state), 'sentence')} cited, {told}, {gaps} open: {verdict.why}"
        emit("assess", step=step, way=verdict.way, look_ups=verdict.look_ups, supported=supported, why=why)
        query = "; ".join(query for demand in state["demands"] for query in demand["queries"]) or state["question"]
        following = "; ".join(verdict.look_ups)
        traced = trace_step(step, query, state["thought"], next_question=following)
        common = {
            "way": verdict.way,
            "effort": _effort(step),
            "so_far": state["so_far"] if supported == "no" else state["answer"],
            "trace": [*state["trace"], {**traced, "decision": why}],
            "found": [],
        }
        if verdict.way != "look_up":
            return common
        demands = [Demand(entity="", queries=[text]) for text in verdict.look_ups]
        bridged = await in_thread(_has_bridge, state, verdict.look_ups)
        asked = [*state["asked"], *verdict.look_ups]
        return {**common, "step": step + 1, "demands": demands, "asked": asked, "bridged": bridged}


def _verdict(state: AssessInput, settings: Settings, records: Sequence[Record], supported: Supported) -> Verdict:
    step = state["step"]
    look_ups = first_of(_look_ups(state, records, supported), MOST_LOOK_UPS)
    if not look_ups:
        return Verdict("conclude", [], "nothing is left to look up" if supported == "no" else "that is enough")
    if stopped() or not goes_on(settings, step, state["usage"]["calls"], state["bridged"]):
        return Verdict("conclude", look_ups, f"no more with effort {settings.effort} and this budget")
    if reads_on(settings, step, state["bridged"]):
        return Verdict("look_up", look_ups, "looked up")
    return Verdict("hand_over", look_ups, "handed over")


def _has_bridge(state: AssessInput, look_ups: Sequence[str]) -> bool:
    """Return whether something is looked up about a name that this reading found."""
    known = "\n".join([state["question"], *state["asked"]])
    found = [entry["sentence"] for entry in state["evidence"] if entry["step"] == state["step"]]
    names = [name.text for text in look_ups for name in spot_names(text)]
    return any(not stands_in(name, known) and any(stands_in(name, text) for text in found) for name in names)


def _cited(state: AssessInput) -> int:
    """Return the number of sentences that the last reading added to the evidence."""
    return sum(entry["step"] == state["step"] for entry in state["evidence"])


def _look_ups(state: AssessInput, records: Sequence[Record], supported: Supported) -> list[str]:
    """Return what is open and was not looked up yet."""
    look_ups = [*state["missing"]]
    answered = not is_refusal(state["answer"])
    if not look_ups and answered and supported == "no":
        look_ups = [f"{state['question']} {state['answer']}"]
    if not look_ups and not answered:
        shown = [f"{record['title']} {record['text']}" for record in records]
        names = [name.text for name in spot_names(state["question"])]
        look_ups = [name for name in names if not any(stands_in(name, text) for text in shown)]
    asked = set(map(normalise, state["asked"]))
    return [query for form, query in first_of_each(look_ups, normalise).items() if form and form not in asked]


def _effort(step: int) -> Effort:
    return "low" if step == 1 else "medium"
