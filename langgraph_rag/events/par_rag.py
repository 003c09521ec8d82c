"""Events of PAR RAG."""

from typing import Literal

from langgraph_rag.events.base import AnswerEvent, BaseEvent, StepEvent
from langgraph_rag.prompts.par_rag import PlanStep, Standing
from langgraph_rag.records import Evidence, ScoredPassage


class QuestionLookedUp(BaseEvent):
    """Passages were retrieved with the question itself, to complete the ranking of the result."""

    node: Literal["look_up_question"]
    passages: list[ScoredPassage]
    """The passages found, best first."""


class PlanMade(BaseEvent):
    """The question was divided into a plan."""

    node: Literal["plan"]
    plan: list[PlanStep]
    """The steps of the plan."""
    readable: bool
    """Whether the planner gave a plan; if not, the question is the only step."""


class PlanMadeAnew(BaseEvent):
    """The rest of the plan was made anew, because a step found nothing that others built on."""

    node: Literal["plan_anew"]
    plan: list[PlanStep]
    """The steps of the plan: first those that were taken."""
    new: int
    """Number of new steps; 0 if the planner saw no other way."""


class PlanApproved(BaseEvent):
    """A person approved, edited or rejected the plan (the variant `approve_plan=True`)."""

    node: Literal["approve_plan"]
    plan: list[PlanStep]
    """The plan that will be executed, or that was rejected."""
    edited: bool
    """Whether it was edited."""
    rejected: bool
    """Whether it was rejected; the run then ends without an answer."""


class CitedRecalled(StepEvent):
    """A step that only combines earlier answers recalled the passages that they cite."""

    node: Literal["recall"]
    query: str
    """The step's question."""
    passages: list[ScoredPassage]
    """The passages that earlier steps cited, taken from these steps in turn."""


class StepAnswered(StepEvent):
    """The question of a step was answered from its sources."""

    node: Literal["act"]
    question: str
    """The step's question."""
    answer: str
    """The interim answer."""
    cited: list[str]
    """Titles of the cited passages, one for each sentence."""


class FactsRetrieved(StepEvent):
    """Facts were retrieved to check the interim answer."""

    node: Literal["retrieve_finely"]
    passages: list[str]
    """Ids of the passages with these facts."""
    by_graph: int
    """Number of passages found by the triple graph."""
    sources: int
    """Number of sentences that the reviewer is shown."""


class AnswerReviewed(StepEvent):
    """The interim answer was checked."""

    node: Literal["review"]
    status: Standing
    """The verdict."""
    answer: str
    """The interim answer after the check."""
    new_question: str
    """A question to resolve a doubt; else empty."""


class StepRecorded(StepEvent):
    """A step has ended."""

    node: Literal["record"]
    question: str
    """Its question."""
    answer: str
    """Its answer."""
    next_question: str
    """The next question, or several; empty if the plan is complete."""
    evidence: list[Evidence]
    """The evidence that this step adds."""
    settled: bool
    """Whether it resolves a doubt: the evidence of the step with the number `replaced` is removed."""
    replaced: int
    """Number of the step whose answer and evidence it replaces; else 0."""


class QuestionRefined(BaseEvent):
    """The next question was made specific with the findings."""

    node: Literal["refine"]
    planned: str
    """The question in the plan."""
    refined: str
    """The question that will be asked."""


class AnsweredFromTrajectories(AnswerEvent):
    """The answer to the whole question, from the answers of the steps."""

    node: Literal["answer_from_trajectories"]


ParRagEvent = (
    QuestionLookedUp
    | PlanMade
    | PlanMadeAnew
    | PlanApproved
    | CitedRecalled
    | StepAnswered
    | FactsRetrieved
    | AnswerReviewed
    | StepRecorded
    | QuestionRefined
    | AnsweredFromTrajectories
)
