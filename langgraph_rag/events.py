"""The custom events of the graphs (`stream_mode="custom"`).

After each run, a node sends one event, a plain JSON object. `node` names the kind of event. All kinds below together
are version 1. A version may add fields; if a field is removed or changes its meaning, there is a new version.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from langgraph_rag.nodes.extract_evidence import EvidenceUnit
from langgraph_rag.nodes.identify_entities import Demand
from langgraph_rag.prompts.par_rag import PlanStep, Standing
from langgraph_rag.records import Evidence, ScoredPassage


# Pydantic ignores attribute docstrings in the bases of a TypedDict, so their fields are described by `Field`.
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
        str, Field(description="The answer, or a refusal in the model's words; empty if no model was asked.")
    ]
    sufficient: Annotated[bool, Field(description="Whether it is an answer and no refusal.")]


# --- all methods -----------------------------------------------------------------------------------------------------
class QuestionReceived(_Event):
    """A question was received; the state of an earlier one on this thread was cleared."""

    node: Literal["receive_question"]
    question: str
    """The question that will be answered."""


class QuestionRestated(_Event):
    """A follow-up question of a conversation was rewritten as a standalone question (`with_messages`)."""

    node: Literal["restate_question"]
    asked: str
    """The original question."""
    question: str
    """The question that will be answered; the same if it was standalone already."""
    understood: bool
    """Whether a model read it together with the conversation; if not, the original question is answered."""


class PassagesRetrieved(_Titled):
    """Passages were retrieved for a query."""

    node: Literal["retrieve"]


class PassagesRead(_Answered):
    """The reader gave an answer from the best passages."""

    node: Literal["read_passages"]
    titles: list[str]
    """Titles of the passages it read."""


class Concluded(_Event):
    """The run has ended: the answer with all its evidence."""

    node: Literal["conclude"]
    answer: str
    """The answer."""
    evidence: list[Evidence]
    """The facts, sentences and passages that support it, each with the step that found it."""


class EvidenceAccumulated(_Step):
    """The triples kept in this step were mapped to the sentences that state them (CIRAG, KiRAG)."""

    node: Literal["accumulate"]
    evidence: list[Evidence]
    """The evidence that this step adds."""


class PassagesRanked(_Event):
    """The passages of all retrievals so far were merged into one ranking (baselines)."""

    node: Literal["rank_passages"]
    passages: int
    """Number of passages in the ranking."""


class SupportFound(_Event):
    """The sentences that support the thoughts and the answer were found in the passages that were read."""

    node: Literal["find_support"]
    sentences: int
    """Number of these sentences that are new evidence."""
    evidence: list[Evidence]
    """These sentences."""


# --- CIRAG -----------------------------------------------------------------------------------------------------------
class TriplesExtracted(_Event):
    """A model extracted triples from newly retrieved passages (the variant `triples="online"`)."""

    node: Literal["extract_triples"]
    triples: int
    """Number of triples of the retrieved passages."""


class CandidatesConstructed(_Step):
    """The candidates for the query were selected from the triples of the retrieved passages."""

    node: Literal["construct"]
    triples: int
    """Number of triples of these passages."""
    candidates: int
    """Number of triples that the integrator is shown."""


class TriplesIntegrated(_Step):
    """The integrator selected the core triples and named what is missing."""

    node: Literal["integrate"]
    thought: str
    """Its reasoning."""
    kept: list[list[str]]
    """The core triples, each as head, relation, tail."""
    dropped: int
    """Number of candidates that were not kept."""
    next_question: str
    """The next question; empty if nothing is missing."""


class AnsweredFromTriples(_Answered):
    """First level of the cascade."""

    node: Literal["answer_from_triples"]


class AnsweredFromSentences(_Answered):
    """Second level of the cascade: the triples did not suffice."""

    node: Literal["answer_from_sentences"]


class AnsweredFromPassages(_Answered):
    """Third level of the cascade: the sentences did not suffice, either."""

    node: Literal["answer_from_passages"]


# --- KiRAG -----------------------------------------------------------------------------------------------------------
class KnowledgeDecomposed(_Event):
    """The retrieved passages were decomposed into pieces of knowledge: triples, sentences or documents."""

    node: Literal["decompose_knowledge"]
    passages: int
    """Number of passages."""
    pieces: int
    """Number of pieces."""


class _Identified(_Step):
    query: Annotated[str, Field(description="The question with the chain so far.")]
    candidates: Annotated[int, Field(description="How many pieces the constructor is shown.")]


class CandidatesIdentified(_Identified):
    """The aligner selected the pieces that may continue the chain."""

    node: Literal["identify_candidates"]


class IdentifiedInWholeGraph(_Identified):
    """The aligner selected these pieces from the whole knowledge base (ablation without retriever)."""

    node: Literal["identify_in_whole_graph"]


class ChainConstructed(_Step):
    """The constructor completed the chain; its first new piece was taken."""

    node: Literal["construct_chain"]
    thought: str
    """The conclusion of the completed chain."""
    taken: str
    """The piece that was taken; empty if there was none."""
    refused: str
    """A proposed piece that is not among the candidates; else empty."""
    answered: bool
    """Whether the chain ended because it contains the answer."""


class DocumentsRanked(_Event):
    """The documents were ranked by the candidates of all steps."""

    node: Literal["rank_documents"]
    passages: int
    """Number of documents."""


# --- IRCoT -----------------------------------------------------------------------------------------------------------
class Thought(_Step):
    """One more sentence of reasoning, which is also the next query."""

    node: Literal["think"]
    thought: str
    """The sentence."""
    goes_on: bool
    """Whether passages are retrieved with it."""


# --- DualRAG ---------------------------------------------------------------------------------------------------------
class Reasoned(_Step):
    """The reasoner considered what is known, and decided whether something is missing."""

    node: Literal["reason"]
    thought: str
    """Its reasoning."""
    needs_retrieval: bool
    """Whether something is missing."""


class _Demanded(_Step):
    demands: Annotated[list[Demand], Field(description="The entities, each with the queries about it.")]


class EntitiesIdentified(_Demanded):
    """The missing knowledge was divided into entities, with queries for each."""

    node: Literal["identify_entities"]


class ThoughtTakenAsQuery(_Demanded):
    """The thought was used as the query (ablation without entity identifier)."""

    node: Literal["query_with_thought"]


class PassagesRetrievedForEntity(_Titled):
    """Passages were retrieved for an entity."""

    node: Literal["retrieve_for_entity"]


class DocumentsSelected(_Step):
    """The passages that are new for their entity were selected for reading."""

    node: Literal["select_documents"]
    new: dict[str, int]
    """Number of passages by entity."""


class FindingsSummarized(_Step):
    """The passages found for an entity were summarised."""

    node: Literal["summarize"]
    entity: str
    """The entity."""
    summary: str
    """What they say about it; empty if nothing helps."""


class PassagesCollected(_Step):
    """Whole passages were kept (ablation without outline)."""

    node: Literal["collect_passages"]
    titles: list[str]
    """Titles of the new passages."""


class OutlineUpdated(_Step):
    """The findings were merged into the outline."""

    node: Literal["update_outline"]
    added: int
    """Number of new findings."""
    entities: list[str]
    """The entities of the outline."""
    evidence: list[Evidence]
    """The evidence that this step adds."""


class AnsweredFromOutline(_Answered):
    """The answer from the outline and the reasoning."""

    node: Literal["answer"]


# --- MGranRAG --------------------------------------------------------------------------------------------------------
class QuestionDecomposed(_Event):
    """The question was divided into sub-queries."""

    node: Literal["decompose"]
    thought: str
    """The reasoning."""
    subqueries: list[str]
    """The sub-queries; none if the question has only one part."""


class EvidenceExtracted(_Step):
    """Helpful sentences were extracted from the passages."""

    node: Literal["extract_evidence"]
    thought: str
    """The conclusion of the reading."""
    found: list[EvidenceUnit]
    """The sentences with their key phrases and the questions that each supports (0: the main one); without scores."""
    passages: int
    """Number of passages that were read."""


class EvidenceRemembered(_Event):
    """The extracted sentences were added to the memory."""

    node: Literal["remember"]
    fresh: int
    """Number of new sentences."""
    known: int
    """Number of sentences in the memory."""
    evidence: list[Evidence]
    """All sentences in the memory."""


class QueryAugmented(_Event):
    """The query was built from the question and the best evidence."""

    node: Literal["augment_query"]
    query: str
    """The query, one line for each part."""


class PhrasesAligned(_Event):
    """The phrases of the evidence were matched with those of the graph."""

    node: Literal["align_phrases"]
    phrases: list[str]
    """The phrases."""
    new: list[str]
    """The phrases that are not in the graph."""


class PassagesCalibrated(_Event):
    """The passages were ranked by a walk on the graph from the question and the evidence."""

    node: Literal["calibrate"]
    passages: list[ScoredPassage]
    """The best passages."""
    titles: list[str]
    """Their titles, in the same order."""
    seeds: int
    """Number of evidence sentences from which the walk starts."""
    new_phrases: int
    """Number of phrases added to the graph for this question."""
    new_links: int
    """Number of links added to the graph for this question."""


# --- PAR RAG ---------------------------------------------------------------------------------------------------------
class QuestionLookedUp(_Event):
    """Passages were retrieved with the question itself, to complete the ranking of the result."""

    node: Literal["look_up_question"]
    passages: list[ScoredPassage]
    """The passages found, best first."""


class PlanMade(_Event):
    """The question was divided into a plan."""

    node: Literal["plan"]
    plan: list[PlanStep]
    """The steps of the plan."""
    readable: bool
    """Whether the planner gave a plan; if not, the question is the only step."""


class PlanApproved(_Event):
    """A person approved, edited or rejected the plan (the variant `approve_plan=True`)."""

    node: Literal["approve_plan"]
    plan: list[PlanStep]
    """The plan that will be executed, or that was rejected."""
    edited: bool
    """Whether it was edited."""
    rejected: bool
    """Whether it was rejected; the run then ends without an answer."""


class CitedRecalled(_Step):
    """A step that only combines earlier answers recalled the passages that they cite."""

    node: Literal["recall"]
    query: str
    """The step's question."""
    passages: list[ScoredPassage]
    """The passages that earlier steps cited, taken from these steps in turn."""


class StepAnswered(_Step):
    """The question of a step was answered from its sources."""

    node: Literal["act"]
    question: str
    """The step's question."""
    answer: str
    """The interim answer."""
    cited: list[str]
    """Titles of the cited passages, one for each sentence."""


class FactsRetrieved(_Step):
    """Facts were retrieved to check the interim answer."""

    node: Literal["retrieve_finely"]
    passages: list[str]
    """Ids of the passages with these facts."""
    by_graph: int
    """Number of passages found by the triple graph."""
    sources: int
    """Number of sentences that the reviewer is shown."""


class AnswerReviewed(_Step):
    """The interim answer was checked."""

    node: Literal["review"]
    status: Standing
    """The verdict."""
    answer: str
    """The interim answer after the check."""
    new_question: str
    """A question to resolve a doubt; else empty."""


class StepRecorded(_Step):
    """A step has ended."""

    node: Literal["record"]
    question: str
    """Its question."""
    answer: str
    """Its answer."""
    next_question: str
    """The next question; empty if the plan is complete."""
    evidence: list[Evidence]
    """The evidence that this step adds."""
    settled: bool
    """Whether it resolves a doubt: the evidence of the step before, numbered one less, is removed."""


class QuestionRefined(_Event):
    """The next question was made specific with the findings."""

    node: Literal["refine"]
    planned: str
    """The question in the plan."""
    refined: str
    """The question that will be asked."""


class AnsweredFromTrajectories(_Answered):
    """The answer to the whole question, from the answers of the steps."""

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
    """Return the JSON schema of an event; unlike `check_event`, it allows further fields."""
    schema = _EVENT.json_schema()
    for part in schema["$defs"].values():
        part.pop("additionalProperties", None)
    return schema


def check_event(event: object) -> Event:
    """Return a received event, typed by its `node`.

    Raises:
        pydantic.ValidationError: when it is not an event of this version.
    """
    return _EVENT.validate_python(event, strict=True)
