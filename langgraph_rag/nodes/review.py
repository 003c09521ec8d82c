"""PAR RAG's review module (section 3.6): checks an interim answer against fine-grained sources."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.citations import UNCITED, cited, uncited
from langgraph_rag.nodes.for_each_question import ForEachQuestion
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import normalise
from langgraph_rag.prompts.answering import evidence_texts
from langgraph_rag.prompts.par_rag import Reviewed, Standing, Trajectory
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Evidence
from langgraph_rag.refusals import asks_nothing, is_refusal


class ReviewInput(TypedDict):
    """The question, the interim answer, the sources to check it against, and the earlier steps."""

    query: str
    step: int
    interim: str
    status: Standing
    cited: list[Evidence]
    fine_sources: list[Evidence]
    doubting: int
    trajectories: list[Trajectory]


@dataclass(frozen=True)
class Review(ForEachQuestion):
    """Accept an answer, correct it, or ask a new question if a detail is missing (once per step).

    An answer that was quoted is not looked at.
    """

    llm: ChatModel
    prompt: Prompt[Reviewed]

    async def one(self, state: ReviewInput) -> dict[str, Any]:
        """Return the status, the answer with its evidence, and the new question, empty if there is none."""
        if state["status"] == "QUOTED":
            return {}
        shown = evidence_texts(state["fine_sources"])
        reply = await ask(self.llm, self.prompt, question=state["query"], answer=state["interim"], sources=shown)
        fine = reply.shown(state["fine_sources"])
        update: dict[str, Any] = {"status": reply.status, "doubt": ""}
        better = uncited(reply.answer or "")
        answers = is_refusal(state["interim"]) and not is_refusal(better)  # regardless of the status
        if reply.status == "REVISED" and is_refusal(better):  # nothing better came
            rejected = better and not is_refusal(state["interim"])
            update["status"] = "UNCONFIDENT" if rejected else "PASS"
        elif reply.status == "REVISED" or answers:
            update["status"] = "REVISED"
            fresh = [evidence for evidence in fine if evidence not in state["cited"]]
            supporting = [fine[position] for position in cited(reply.answer or "", len(fine))]
            unchanged = state["cited"] if normalise(better) == normalise(state["interim"]) else []
            update |= {
                "interim": better,
                "short": "",
                "settled": False,
                "cited": supporting or unchanged or (fresh or fine)[:UNCITED],
            }
        elif reply.status == "UNCONFIDENT" and not state["doubting"]:
            asked = [normalise(state["query"]), *(normalise(earlier["question"]) for earlier in state["trajectories"])]
            new = reply.question or ""
            update["doubt"] = "" if asks_nothing(new) or normalise(new) in asked else new
        emit(
            "review",
            step=state["step"],
            status=update["status"],
            answer=update.get("interim", state["interim"]),
            new_question=update["doubt"],
        )
        return update
