"""PAR RAG: Plan-then-Act-and-Review (Zhang et al. 2025, "Credible plan-driven RAG method for multi-hop QA").

The question is first split into a plan. Each step retrieves passages for its question and answers with citations. A
review checks the answer against fine-grained facts, which are retrieved with the answer itself. Answers are inserted
into the next question; the final answer comes from the chain of questions, answers and sources.
"""

from typing import Literal

from langgraph.graph import END, START

from langgraph_rag.arguments import expect_flags
from langgraph_rag.context import Context, Settings
from langgraph_rag.machine import Machine
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.naming import expect_name
from langgraph_rag.nodes.act import Act
from langgraph_rag.nodes.answer_from_findings import AnswerFromFindings
from langgraph_rag.nodes.approve_plan import ApprovePlan
from langgraph_rag.nodes.conclude import Conclude, evidence_round_robin, planned
from langgraph_rag.nodes.find_support import FindSupport
from langgraph_rag.nodes.look_up_question import LookUpQuestion
from langgraph_rag.nodes.node import Choice, Node
from langgraph_rag.nodes.plan import MakePlan, PlanOneStep
from langgraph_rag.nodes.read_passages import ReadPassages
from langgraph_rag.nodes.recall import Recall
from langgraph_rag.nodes.receive_question import QuestionInput, ReceiveQuestion
from langgraph_rag.nodes.record_trajectory import RecordTrajectory, found_last, found_so_far
from langgraph_rag.nodes.refine import FoundBefore, Refine
from langgraph_rag.nodes.retrieve import Retrieve
from langgraph_rag.nodes.retrieve_finely import RetrieveFinely
from langgraph_rag.nodes.review import Review
from langgraph_rag.prompts import par_rag as prompts
from langgraph_rag.prompts.answering import ANSWER_FROM_PASSAGES
from langgraph_rag.records import Evidence, Result, ScoredPassage
from langgraph_rag.tools.knowledge_base import KnowledgeBase

DEFAULTS = Settings(max_steps=6, max_candidates=6, read_k=4)


class ParRagResult(Result):
    """What a run of PAR RAG returns: a `Result`, and two more fields.

    `plan` is a list of `PlanStep`, `trajectories` a list of `Trajectory`, with the result of each step.
    """

    plan: list[prompts.PlanStep]
    trajectories: list[prompts.Trajectory]


class ParRagState(QuestionInput, ParRagResult):
    """The state of the graph.

    `problem` is what is wrong with an edited plan. `place` is the position of the current or next step in the plan;
    `step` counts retrievals. `interim`, `cited`, `status` and `doubt` (a question that would settle it) belong to the
    current answer; `doubting` says that its question was asked because of a doubt. The last three fields are used if
    the budget ends before any step is answered.
    """

    problem: str
    query: str
    place: int
    step: int
    retrieved: list[ScoredPassage]
    first_retrieval: list[ScoredPassage]
    interim: str
    cited: list[Evidence]
    fine_sources: list[Evidence]
    status: prompts.Standing
    doubt: str
    doubting: bool
    ranking: list[ScoredPassage]
    read: list[str]
    thought: str


_FOUND: dict[str, FoundBefore] = {"last": found_last, "all": found_so_far}


def after_approve(state: ParRagState) -> Literal["approve_plan", "retrieve", "conclude"]:
    """Retrieve, or ask for a plan again if the edited one cannot be used, or end if the plan was rejected."""
    if state["problem"]:
        return "approve_plan"
    return "conclude" if state["answer"] else "retrieve"


def after_refine(state: ParRagState) -> Literal["retrieve", "recall"]:
    """Retrieve, unless the step only combines findings."""
    combines = state["plan"][state["place"]]["action"] == "answer"
    return "recall" if combines and state["evidence"] else "retrieve"


def create_par_rag(
    llm: ChatModel,
    kb: KnowledgeBase,
    *,
    planner: ChatModel | None = None,
    executor: ChatModel | None = None,
    reviewer: ChatModel | None = None,
    reader: ChatModel | None = None,
    plan: bool = True,
    review: bool = True,
    approve_plan: bool = False,
    refine_with: Literal["last", "all"] = "all",
) -> Machine[ParRagState, Context, QuestionInput, ParRagResult]:
    """Build PAR RAG as a state machine; compile it with a checkpointer and a store of your choice.

    Args:
        llm: the default model, used by every step that is not given another one.
        kb: the knowledge base to ask.
        planner: the model that writes the plan.
        executor: the model that answers each step and puts the answers into the next step's question.
        reviewer: the model that reviews the answers of steps.
        reader: the model that answers the whole question.
        plan: True splits the question into steps; False asks it as the only step (figure 2, "w/o Plan Module").
        review: whether to review the answers of steps (figure 2, "w/o Review Module").
        approve_plan: True stops with an interrupt, so that a person can approve, edit or reject the plan. Continue with
            `Command(resume=True)`, `Command(resume=[...])` or `Command(resume=False)`. Needs a checkpointer.
        refine_with: which answers go into the next question: "all" so far, or only the "last" one (Algorithm 1).

    Raises:
        TypeError: when a model is not a chat model, `kb` is not a knowledge base, or a boolean option is not
            True or False.
        UnknownNameError: when an option has a value that is not listed for it.
    """
    expect_flags(plan=plan, review=review, approve_plan=approve_plan)
    expect_name("refine_with", refine_with, _FOUND)
    found = _FOUND[refine_with]

    def after_record(
        state: ParRagState,
    ) -> Literal["retrieve", "recall", "refine", "answer_from_trajectories", "read_passages"]:
        """Settle a doubt first; answer after the last step with a retrieval; refine the question if there are findings.

        If the budget is spent, answer directly: from the findings, or from passages if some are missing.
        """
        looked_up = {place for place, step in enumerate(state["plan"]) if step["action"] != "answer"}
        if state["usage"]["stopped_by"]:
            places = {trajectory["place"] for trajectory in found_so_far(state["trajectories"])}
            return "answer_from_trajectories" if places and looked_up <= places else "read_passages"
        if state["doubting"]:
            return "retrieve"
        if not any(place >= state["place"] for place in looked_up):
            return "answer_from_trajectories"
        return "refine" if found(state["trajectories"]) else after_refine(state)

    graph = Machine(ParRagState, context_schema=Context, input_schema=QuestionInput, output_schema=ParRagResult)
    graph.title = "PAR RAG"
    graph.add_node("receive_question", Node(ReceiveQuestion(kb, ParRagState)))
    graph.add_node("look_up_question", Node(LookUpQuestion(kb)))
    graph.add_node("plan", Node(MakePlan(planner or llm, prompts.PLAN, DEFAULTS) if plan else PlanOneStep()))
    graph.add_node("retrieve", Node(Retrieve(kb)))
    graph.add_node("recall", Node(Recall()))
    graph.add_node("act", Node(Act(executor or llm, prompts.ACT, kb, DEFAULTS)))
    graph.add_node("record", Node(RecordTrajectory()))
    graph.add_node("refine", Node(Refine(executor or llm, prompts.REFINE, found)))
    answer = AnswerFromFindings(
        reader or llm, prompts.ANSWER_FROM_TRAJECTORIES, "answer_from_trajectories", ["trajectories"]
    )
    graph.add_node("answer_from_trajectories", Node(answer))
    graph.add_node("read_passages", Node(ReadPassages(reader or llm, ANSWER_FROM_PASSAGES, kb, DEFAULTS)))
    graph.add_node("find_support", Node(FindSupport(kb)))
    graph.add_node("conclude", Node(Conclude(kb, evidence_round_robin, planned)))

    graph.add_edge(START, "receive_question")
    graph.add_edge("receive_question", "look_up_question")
    graph.add_edge("look_up_question", "plan")
    if approve_plan:
        graph.add_node("approve_plan", Node(ApprovePlan(DEFAULTS)))
        graph.add_edge("plan", "approve_plan")
        graph.add_conditional_edges("approve_plan", Choice(after_approve), ["approve_plan", "retrieve", "conclude"])
    else:
        graph.add_edge("plan", "retrieve")
    graph.add_edge("retrieve", "act")
    graph.add_edge("recall", "act")
    if review:
        graph.add_node("retrieve_finely", Node(RetrieveFinely(kb, DEFAULTS)))
        graph.add_node("review", Node(Review(reviewer or llm, prompts.REVIEW)))
        graph.add_edge("act", "retrieve_finely")
        graph.add_edge("retrieve_finely", "review")
        graph.add_edge("review", "record")
    else:
        graph.add_edge("act", "record")
    graph.add_conditional_edges(
        "record",
        Choice(after_record),
        ["retrieve", "recall", "refine", "answer_from_trajectories", "read_passages"],
    )
    graph.add_conditional_edges("refine", Choice(after_refine), ["retrieve", "recall"])
    graph.add_edge("answer_from_trajectories", "conclude")
    graph.add_edge("read_passages", "find_support")
    graph.add_edge("find_support", "conclude")
    graph.add_edge("conclude", END)
    return graph
