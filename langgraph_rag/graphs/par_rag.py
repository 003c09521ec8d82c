"""PAR RAG: Plan-then-Act-and-Review (Zhang et al. 2025, "Credible plan-driven RAG method for multi-hop QA").

The question is first split into a plan. Each step retrieves passages for its question and answers with citations. A
review checks the answer against fine-grained facts, which are retrieved with the answer itself. Answers are inserted
into the next question; the final answer comes from the chain of questions, answers and sources.

By default, unlike in the paper, steps that do not depend on each other are taken side by side, and only what is needed
is reviewed, refined and looked up.
"""

from typing import Literal

from langgraph.graph import END, START

from langgraph_rag.arguments import expect_flags
from langgraph_rag.context import Context, Settings
from langgraph_rag.machine import Machine
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.naming import expect_name
from langgraph_rag.nodes.act import Act, quoted, unjudged
from langgraph_rag.nodes.answer_from_findings import AnswerFromFindings
from langgraph_rag.nodes.approve_plan import ApprovePlan
from langgraph_rag.nodes.conclude import Conclude, evidence_round_robin, planned
from langgraph_rag.nodes.find_support import FindSupport
from langgraph_rag.nodes.for_each_question import Acting, found_places, looked_up, references
from langgraph_rag.nodes.node import Choice, Node
from langgraph_rag.nodes.plan import MakePlan, PlanAnew, PlanOneStep
from langgraph_rag.nodes.read_passages import ReadPassages
from langgraph_rag.nodes.receive_question import QuestionInput, ReceiveQuestion
from langgraph_rag.nodes.record_trajectory import RecordTrajectory, found_last, found_so_far
from langgraph_rag.nodes.refine import FoundBefore, Refine
from langgraph_rag.nodes.retrieve import LookUpQuestion
from langgraph_rag.nodes.retrieve_finely import RetrieveFinely
from langgraph_rag.nodes.retrieve_for_steps import Recall, RetrieveForSteps
from langgraph_rag.nodes.review import Review
from langgraph_rag.prompts import par_rag as prompts
from langgraph_rag.prompts.answering import ANSWER_FROM_PASSAGES
from langgraph_rag.records import Result, ScoredPassage
from langgraph_rag.tools.retrieve.retriever import Retriever

DEFAULTS = Settings(max_steps=6, max_candidates=6, read_k=4)


class ParRagResult(Result):
    """What a run of PAR RAG returns: a `Result`, and two more fields.

    `plan` is a list of `PlanStep`, `trajectories` a list of `Trajectory`, with the result of each step.
    """

    plan: list[prompts.PlanStep]
    trajectories: list[prompts.Trajectory]


class ParRagState(QuestionInput, ParRagResult):
    """The state of the graph.

    `problem` is what is wrong with an edited plan. `acting` are the questions that are acted on, side by side unless
    the plan is taken `in_order`; `step` counts them. `settled` says that the last of them answer the whole question.
    The last four fields are used if the budget ends before any step is answered.
    """

    problem: str
    in_order: bool
    acting: list[Acting]
    step: int
    settled: bool
    planned_anew: bool
    first_retrieval: list[ScoredPassage]
    ranking: list[ScoredPassage]
    read: list[str]
    thought: str


_FOUND: dict[str, FoundBefore] = {"last": found_last, "all": found_so_far}
_COURSES = {
    "short": (prompts.PLAN, prompts.ACT, quoted),
    "published": (prompts.PLAN_IN_ORDER, prompts.ACT_IN_ORDER, unjudged),
}


def after_approve(state: ParRagState) -> Literal["approve_plan", "retrieve", "conclude"]:
    """Retrieve, or ask for a plan again if the edited one cannot be used, or end if the plan was rejected."""
    if state["problem"]:
        return "approve_plan"
    return "conclude" if state["answer"] else "retrieve"


def after_act(state: ParRagState) -> Literal["retrieve_finely", "record"]:
    """Review the answers, unless all are quoted from their sources."""
    return "record" if all(acting["status"] == "QUOTED" for acting in state["acting"]) else "retrieve_finely"


def after_record(
    state: ParRagState,
) -> Literal["retrieve", "recall", "refine", "plan_anew", "answer_from_trajectories", "read_passages"]:
    """Settle doubts first; answer after the last step with a retrieval, or sooner if a step settled the question.

    If the budget is spent, answer directly: from the findings, or from passages if some are missing. Plan anew, once,
    where all that is left builds on a step that found nothing.
    """
    if state["usage"]["stopped_by"]:
        known = found_places(state["trajectories"])
        needed = {place for place, step in enumerate(state["plan"]) if step["action"] != "answer"}
        return "answer_from_trajectories" if known and needed <= known else "read_passages"
    if any(acting["doubting"] for acting in state["acting"]):
        return "retrieve"
    if not looked_up(state["plan"], state["trajectories"]) or state["settled"] and not state["in_order"]:
        return "answer_from_trajectories"
    if not state["acting"] and not state["planned_anew"]:
        return "plan_anew"
    return after_plan_anew(state)


def after_plan_anew(state: ParRagState) -> Literal["retrieve", "recall", "refine", "answer_from_trajectories"]:
    """Refine questions that refer to findings, in the order of the plan all; answer if there is none to act on."""
    if not state["acting"]:
        return "answer_from_trajectories"
    refers = state["in_order"] or any(references(acting["query"]) for acting in state["acting"])
    return "refine" if refers and found_places(state["trajectories"]) else after_refine(state)


def after_refine(state: ParRagState) -> Literal["retrieve", "recall"]:
    """Retrieve, unless the steps only combine findings."""
    combines = all(acting["action"] == "answer" for acting in state["acting"])
    return "recall" if combines and state["evidence"] else "retrieve"


def create_par_rag(
    llm: ChatModel,
    kb: Retriever,
    *,
    planner: ChatModel | None = None,
    executor: ChatModel | None = None,
    reviewer: ChatModel | None = None,
    reader: ChatModel | None = None,
    plan: bool = True,
    review: bool = True,
    approve_plan: bool = False,
    refine_with: Literal["last", "all"] = "all",
    course: Literal["short", "published"] = "short",
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
        course: "short" takes steps that do not depend on each other side by side, reviews only answers that do not
            stand in their sources, ends when the question can be answered, and plans anew what found nothing;
            "published" takes all steps in order and reviews each, as in the paper.

    Raises:
        TypeError: when a model is not a chat model, `kb` is not a knowledge base, or a boolean option is not
            True or False.
        UnknownNameError: when an option has a value that is not listed for it.
    """
    expect_flags(plan=plan, review=review, approve_plan=approve_plan)
    expect_name("refine_with", refine_with, _FOUND)
    expect_name("course", course, _COURSES)
    published = course == "published"
    found, (planning, acting, judge) = _FOUND[refine_with], _COURSES[course]
    make_plan = MakePlan(planner or llm, planning, DEFAULTS, in_order=published)

    graph = Machine(ParRagState, context_schema=Context, input_schema=QuestionInput, output_schema=ParRagResult)
    graph.title = "PAR RAG"
    graph.add_node("receive_question", Node(ReceiveQuestion(kb, ParRagState)))
    graph.add_node("look_up_question", Node(LookUpQuestion(kb)))
    graph.add_node("plan", Node(make_plan if plan else PlanOneStep()))
    graph.add_node("retrieve", Node(RetrieveForSteps(kb)))
    graph.add_node("recall", Node(Recall()))
    graph.add_node("act", Node(Act(executor or llm, acting, kb, DEFAULTS, judge)))
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
        if published:
            graph.add_edge("act", "retrieve_finely")
        else:
            graph.add_conditional_edges("act", Choice(after_act), ["retrieve_finely", "record"])
        graph.add_edge("retrieve_finely", "review")
        graph.add_edge("review", "record")
    else:
        graph.add_edge("act", "record")
    after = ["retrieve", "recall", "refine", "answer_from_trajectories"]
    if published:
        graph.add_conditional_edges("record", Choice(after_record), [*after, "read_passages"])
    else:
        graph.add_node("plan_anew", Node(PlanAnew(planner or llm, prompts.PLAN_ANEW, DEFAULTS)))
        graph.add_conditional_edges("record", Choice(after_record), [*after, "plan_anew", "read_passages"])
        graph.add_conditional_edges("plan_anew", Choice(after_plan_anew), after)
    graph.add_conditional_edges("refine", Choice(after_refine), ["retrieve", "recall"])
    graph.add_edge("answer_from_trajectories", "conclude")
    graph.add_edge("read_passages", "find_support")
    graph.add_edge("find_support", "conclude")
    graph.add_edge("conclude", END)
    return graph
