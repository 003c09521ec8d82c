"""The custom events of the graphs: what each node tells while it runs (`stream_mode="custom"`).

Each time a node has run it sends one event, a plain JSON object. `node` says which kind it is; all kinds below together
are version 1. Fields may be added within a version; a field that goes or changes its meaning makes a new one.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from langgraph_rag.nodes.extract_evidence import EvidenceUnit
from langgraph_rag.nodes.identify_entities import Demand
from langgraph_rag.prompts.par_rag import PlanStep, Standing
from langgraph_rag.records import Evidence, ScoredPassage


# pydantic takes no attribute docstrings from the bases of a TypedDict: their fields are described by `Field`
@with_config(ConfigDict(use_attribute_docstrings=True, extra="forbid"))
class _Event(TypedDict):
    v: Annotated[Literal[1], Field(description="Version of the schema.")]


class _Step(_Event):
    step: Annotated[int, Field(description="The retrieval round this belongs to: 1, 2, ...")]


class _Found(_Step):
    query: Annotated[str, Field(description="What was searched for.")]
    passages: Annotated[list[ScoredPassage], Field(description="The passages found, best first.")]


class _Titled(_Found):
    titles: Annotated[list[str], Field(description="Their titles, in the same order.")]


class _Answered(_Event):
    thought: Annotated[str, Field(description="The reasoning behind the answer.")]
    answer: Annotated[
        str, Field(description="The answer, or the model's word for there being none; empty where none was asked.")
    ]
    sufficient: Annotated[bool, Field(description="Whether it is an answer and no refusal.")]


# --- all methods -----------------------------------------------------------------------------------------------------
class QuestionReceived(_Event):
    """A question was taken in; everything of an earlier one on this thread is forgotten."""

    node: Literal["receive_question"]
    question: str
    """The question as it will be answered."""


class QuestionRestated(_Event):
    """A follow-up question of a conversation was put so that it can be understood alone (`with_messages`)."""

    node: Literal["restate_question"]
    asked: str
    """The question as it was asked."""
    question: str
    """The question as it will be answered; the same where nothing was left open."""
    understood: bool
    """Whether a model read it beside what was said before; else it is answered as it stands."""


class PassagesRetrieved(_Titled):
    """Passages were retrieved for a query."""

    node: Literal["retrieve"]


class PassagesRead(_Answered):
    """The reader answered from the best passages."""

    node: Literal["read_passages"]
    titles: list[str]
    """The passages it read, by title."""


class Concluded(_Event):
    """The run is over: the answer with all its evidence."""

    node: Literal["conclude"]
    answer: str
    """The answer."""
    evidence: list[Evidence]
    """The facts, sentences and passages behind it, each with the step that found it."""


class EvidenceAccumulated(_Step):
    """The triples kept in this step were projected onto the sentences that state them (CIRAG, KiRAG)."""

    node: Literal["accumulate"]
    evidence: list[Evidence]
    """What this step adds to the evidence."""


class PassagesRanked(_Event):
    """The passages of all retrievals so far were merged into one ranking (baselines)."""

    node: Literal["rank_passages"]
    passages: int
    """How many there are now."""


class SupportFound(_Event):
    """The sentences behind thoughts and answer were found in the passages read."""

    node: Literal["find_support"]
    sentences: int
    """How many of them were no evidence yet."""
    evidence: list[Evidence]
    """These sentences."""


# --- CIRAG -----------------------------------------------------------------------------------------------------------
class TriplesExtracted(_Event):
    """A model read triples out of passages retrieved for the first time (the variant `triples="online"`)."""

    node: Literal["extract_triples"]
    triples: int
    """How many triples the retrieved passages have."""


class CandidatesConstructed(_Step):
    """The triples of the retrieved passages were weighed against the query."""

    node: Literal["construct"]
    triples: int
    """How many there are."""
    candidates: int
    """How many of them the integrator is shown."""


class TriplesIntegrated(_Step):
    """The integrator kept the core triples and said what is missing."""

    node: Literal["integrate"]
    thought: str
    """Its reasoning."""
    kept: list[list[str]]
    """The core triples, each as head, relation, tail."""
    dropped: int
    """How many candidates were not kept."""
    next_question: str
    """What is asked next; empty where nothing is missing."""


class AnsweredFromTriples(_Answered):
    """First level of the cascade."""

    node: Literal["answer_from_triples"]


class AnsweredFromSentences(_Answered):
    """Second level of the cascade, where the triples did not suffice."""

    node: Literal["answer_from_sentences"]


class AnsweredFromPassages(_Answered):
    """Third level of the cascade, where the sentences did not suffice either."""

    node: Literal["answer_from_passages"]


# --- KiRAG -----------------------------------------------------------------------------------------------------------
class KnowledgeDecomposed(_Event):
    """The retrieved passages were decomposed into pieces of knowledge: triples, sentences or documents."""

    node: Literal["decompose_knowledge"]
    passages: int
    """How many passages."""
    pieces: int
    """How many pieces."""


class _Identified(_Step):
    query: Annotated[str, Field(description="The question with the chain so far.")]
    candidates: Annotated[int, Field(description="How many pieces the constructor is shown.")]


class CandidatesIdentified(_Identified):
    """The aligner chose the pieces that may continue the chain."""

    node: Literal["identify_candidates"]


class IdentifiedInWholeGraph(_Identified):
    """The aligner chose those pieces out of the whole knowledge base (ablation without retriever)."""

    node: Literal["identify_in_whole_graph"]


class ChainConstructed(_Step):
    """The constructor completed the chain, of which the first piece was taken."""

    node: Literal["construct_chain"]
    thought: str
    """What the completed chain comes to."""
    taken: str
    """The piece taken; empty where there was none."""
    refused: str
    """A piece proposed that is none of the candidates; else empty."""
    answered: bool
    """Whether the chain ended because it holds the answer."""


class DocumentsRanked(_Event):
    """The documents were ranked by the candidates of all steps."""

    node: Literal["rank_documents"]
    passages: int
    """How many there are."""


# --- IRCoT -----------------------------------------------------------------------------------------------------------
class Thought(_Step):
    """One more sentence of reasoning, which is also the next query."""

    node: Literal["think"]
    thought: str
    """The sentence."""
    goes_on: bool
    """Whether anything is retrieved with it."""


# --- DualRAG ---------------------------------------------------------------------------------------------------------
class Reasoned(_Step):
    """The reasoner thought over what is known, and said whether something is missing."""

    node: Literal["reason"]
    thought: str
    """Its reasoning."""
    needs_retrieval: bool
    """Whether something is missing."""


class _Demanded(_Step):
    demands: Annotated[list[Demand], Field(description="The entities, each with the queries about it.")]


class EntitiesIdentified(_Demanded):
    """What is missing was divided into entities to look up, with queries for each."""

    node: Literal["identify_entities"]


class ThoughtTakenAsQuery(_Demanded):
    """The thought itself became the query (ablation without entity identifier)."""

    node: Literal["query_with_thought"]


class PassagesRetrievedForEntity(_Titled):
    """Passages were retrieved for an entity."""

    node: Literal["retrieve_for_entity"]


class DocumentsSelected(_Step):
    """The passages that are new to their entity were chosen for reading."""

    node: Literal["select_documents"]
    new: dict[str, int]
    """How many, by entity."""


class FindingsSummarized(_Step):
    """The passages found for an entity were summarised."""

    node: Literal["summarize"]
    entity: str
    """The entity."""
    summary: str
    """What they say about it; empty where nothing helps."""


class PassagesCollected(_Step):
    """Passages were kept whole (ablation without outline)."""

    node: Literal["collect_passages"]
    titles: list[str]
    """The new passages, by title."""


class OutlineUpdated(_Step):
    """The findings were merged into the outline."""

    node: Literal["update_outline"]
    added: int
    """How many were new."""
    entities: list[str]
    """The outline's entities."""
    evidence: list[Evidence]
    """What this step adds to the evidence."""


class AnsweredFromOutline(_Answered):
    """The answer out of outline and reasoning."""

    node: Literal["answer"]


# --- MGranRAG --------------------------------------------------------------------------------------------------------
class QuestionDecomposed(_Event):
    """The question was divided into sub-queries."""

    node: Literal["decompose"]
    thought: str
    """The reasoning behind them."""
    subqueries: list[str]
    """The sub-queries; none where the question has one part."""


class EvidenceExtracted(_Step):
    """The passages were read for sentences that help."""

    node: Literal["extract_evidence"]
    thought: str
    """What the reading came to."""
    found: list[EvidenceUnit]
    """The sentences with their key phrases, and the questions each supports (0: the main one); not scored yet."""
    passages: int
    """How many passages were read."""


class EvidenceRemembered(_Event):
    """What was found was added to the memory."""

    node: Literal["remember"]
    fresh: int
    """How many sentences are new."""
    known: int
    """How many there are now."""
    evidence: list[Evidence]
    """All of them."""


class QueryAugmented(_Event):
    """The question and the best of what is known became the query."""

    node: Literal["augment_query"]
    query: str
    """The query, a line for each part."""


class PhrasesAligned(_Event):
    """The evidence's phrases were matched with those of the graph."""

    node: Literal["align_phrases"]
    phrases: list[str]
    """The phrases."""
    new: list[str]
    """Those the graph does not have."""


class PassagesCalibrated(_Event):
    """The passages were ranked by a walk on the graph that starts at question and evidence."""

    node: Literal["calibrate"]
    passages: list[ScoredPassage]
    """The best passages."""
    titles: list[str]
    """Their titles, in the same order."""
    seeds: int
    """How many sentences of the evidence the walk starts at."""
    new_phrases: int
    """How many phrases were added to the graph for this question."""
    new_links: int
    """How many links were added to the graph for this question."""


# --- PAR RAG ---------------------------------------------------------------------------------------------------------
class QuestionLookedUp(_Event):
    """Passages were retrieved with the question itself, to fill up the result's ranking."""

    node: Literal["look_up_question"]
    passages: list[ScoredPassage]
    """The passages found, best first."""


class PlanMade(_Event):
    """The question was divided into a plan."""

    node: Literal["plan"]
    plan: list[PlanStep]
    """Its steps."""
    readable: bool
    """Whether the planner gave a plan; where not, the question is the only step."""


class PlanApproved(_Event):
    """A person approved, edited or rejected the plan (the variant `approve_plan=True`)."""

    node: Literal["approve_plan"]
    plan: list[PlanStep]
    """The plan as it will be acted on, or as it was rejected."""
    edited: bool
    """Whether it was edited."""
    rejected: bool
    """Whether it was rejected, which ends the question without an answer."""


class CitedRecalled(_Step):
    """A step that only combines goes back to what was cited before."""

    node: Literal["recall"]
    query: str
    """The step's question."""
    passages: list[ScoredPassage]
    """The passages that earlier steps cited, one of each step by turns."""


class StepAnswered(_Step):
    """A step's question was answered from its sources."""

    node: Literal["act"]
    question: str
    """The step's question."""
    answer: str
    """The interim answer."""
    cited: list[str]
    """Titles of the passages it cites, one for each sentence."""


class FactsRetrieved(_Step):
    """Facts were gathered that the interim answer is to be checked against."""

    node: Literal["retrieve_finely"]
    passages: list[str]
    """Ids of the passages they come from."""
    by_graph: int
    """How many passages the triple graph found."""
    sources: int
    """How many sentences the reviewer is shown."""


class AnswerReviewed(_Step):
    """The interim answer was checked."""

    node: Literal["review"]
    status: Standing
    """The verdict."""
    answer: str
    """The interim answer as it stands now."""
    new_question: str
    """A question that would settle a doubt; else empty."""


class StepRecorded(_Step):
    """A step came to its end."""

    node: Literal["record"]
    question: str
    """Its question."""
    answer: str
    """Its answer."""
    next_question: str
    """What comes next; empty where the plan is done."""
    evidence: list[Evidence]
    """What this step adds to the evidence."""
    settled: bool
    """Whether it settles a doubt: what the step before, with the number below this one, had added goes."""


class QuestionRefined(_Event):
    """The next question was made concrete with what was found."""

    node: Literal["refine"]
    planned: str
    """The question of the plan."""
    refined: str
    """The question as it will be asked."""


class AnsweredFromTrajectories(_Answered):
    """The answer to the whole question out of the answers of the steps."""

    node: Literal["answer_from_trajectories"]


Event = Annotated[
    QuestionReceived
    | QuestionRestated
    | PassagesRetrieved
    | PassagesRead
    | Concluded
    | EvidenceAccumulated
    | PassagesRanked
    | SupportFound
    | TriplesExtracted
    | CandidatesConstructed
    | TriplesIntegrated
    | AnsweredFromTriples
    | AnsweredFromSentences
    | AnsweredFromPassages
    | KnowledgeDecomposed
    | CandidatesIdentified
    | IdentifiedInWholeGraph
    | ChainConstructed
    | DocumentsRanked
    | Thought
    | Reasoned
    | EntitiesIdentified
    | ThoughtTakenAsQuery
    | PassagesRetrievedForEntity
    | DocumentsSelected
    | FindingsSummarized
    | PassagesCollected
    | OutlineUpdated
    | AnsweredFromOutline
    | QuestionDecomposed
    | EvidenceExtracted
    | EvidenceRemembered
    | QueryAugmented
    | PhrasesAligned
    | PassagesCalibrated
    | QuestionLookedUp
    | PlanMade
    | PlanApproved
    | CitedRecalled
    | StepAnswered
    | FactsRetrieved
    | AnswerReviewed
    | StepRecorded
    | QuestionRefined
    | AnsweredFromTrajectories,
    Field(discriminator="node"),
]
"""Any event."""

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def event_schema() -> dict[str, Any]:
    """Return the JSON schema of an event; it allows fields that a version may add, as `check_event` does not."""
    schema = _EVENT.json_schema()
    for part in schema["$defs"].values():
        part.pop("additionalProperties", None)
    return schema


def check_event(event: object) -> Event:
    """Return a received event, typed by its `node`.

    Raises:
        pydantic.ValidationError: when it is no event of this version.
    """
    return _EVENT.validate_python(event, strict=True)
