"""MGranRAG: Iterative Multi-Granular RAG with Contextual Hierarchical Graph (Hu et al. 2026).

The question is decomposed. Each round extracts labelled evidence from the best passages (local refinement) and stores
it in a memory. The evidence extends the query and a graph of passages, sentences and phrases, and a walk on that graph
ranks all passages again (global calibration). The answer comes from the best passages of the last ranking.
"""

from typing import Literal

from langgraph.graph import END, START

from langgraph_rag.context import Context, Settings, context
from langgraph_rag.machine import Machine
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.naming import expect_name
from langgraph_rag.nodes.align_phrases import AlignPhrases
from langgraph_rag.nodes.augment_query import AugmentQuery, with_evidence, with_open_questions, with_subqueries
from langgraph_rag.nodes.calibrate import Calibrate
from langgraph_rag.nodes.conclude import Conclude, as_ranked
from langgraph_rag.nodes.decompose import Decompose
from langgraph_rag.nodes.extract_evidence import EvidenceUnit, ExtractEvidence
from langgraph_rag.nodes.find_support import FindSupport
from langgraph_rag.nodes.node import Choice, Node
from langgraph_rag.nodes.read_passages import ReadPassages, as_given, worth_reading
from langgraph_rag.nodes.receive_question import QuestionInput, ReceiveQuestion
from langgraph_rag.nodes.remember import Remember
from langgraph_rag.nodes.retrieve import Retrieve
from langgraph_rag.nodes.weigh import OFFICIAL, PAPER
from langgraph_rag.prompts import answering
from langgraph_rag.prompts import mgranrag as prompts
from langgraph_rag.records import Result, ScoredPassage
from langgraph_rag.tools.retrieve.retriever import Retriever

DEFAULTS = Settings(max_steps=3, read_k=5)
PUBLISHED = Settings(max_steps=1, read_k=5)


class MgranragState(QuestionInput, Result):
    """The state of the graph; `query` becomes the augmented query, and `seen` are the passages read so far."""

    query: str
    step: int
    subqueries: list[str]
    retrieved: list[ScoredPassage]
    first_retrieval: list[ScoredPassage]
    found: list[EvidenceUnit]
    memory: list[EvidenceUnit]
    fresh: int
    aligned: dict[str, str]
    ranking: list[ScoredPassage]
    seen: list[str]
    open: list[str]
    unread: int
    read: list[str]
    thought: str


_WEIGHTS = {"paper": PAPER, "official": OFFICIAL}
_PARTS = ("graph", "graph+decomposition", "graph+decomposition+evidence")


def _goes_on(state: MgranragState, defaults: Settings) -> bool:
    """Return whether rounds and budget are left and the last round found something new."""
    left = len(state["trace"]) < context(defaults).max_steps and not state["usage"]["stopped_by"]
    return left and bool(state["fresh"] or state["unread"])


def after_calibrate(state: MgranragState) -> Literal["extract_evidence", "read_passages"]:
    """Begin another round while one of the questions is open, too."""
    return "extract_evidence" if _goes_on(state, DEFAULTS) and state["open"] else "read_passages"


def after_calibrate_published(state: MgranragState) -> Literal["extract_evidence", "read_passages"]:
    """Begin another round, whatever was found."""
    return "extract_evidence" if _goes_on(state, PUBLISHED) else "read_passages"


def create_mgranrag(
    llm: ChatModel,
    kb: Retriever,
    *,
    extractor: ChatModel | None = None,
    reader: ChatModel | None = None,
    weights: Literal["paper", "official"] = "paper",
    parts: Literal["graph", "graph+decomposition", "graph+decomposition+evidence"] = "graph+decomposition+evidence",
    course: Literal["short", "published"] = "short",
) -> Machine[MgranragState, Context, QuestionInput, Result]:
    """Build MGranRAG as a state machine; compile it with a checkpointer and a store of your choice.

    Args:
        llm: the default model, used by every step that is not given another one.
        kb: the knowledge base to ask.
        extractor: the model that splits the question into sub-queries and extracts evidence.
        reader: the model that answers.
        weights: how nodes are weighted (Eqs. 2-4): with the factors of the paper, or with those of the authors' code.
        parts: which parts of the method run (table 4): only the graph (+ CHG), also query decomposition (+ QD), or also
            evidence, which is the whole method. Without evidence there is only one round.

        course: "short" makes up to three rounds, until the evidence answers all questions, and writes the names found
            into the open ones; "published" makes as many rounds as `max_steps` says, by default one.

    Raises:
        TypeError: when a model is not a chat model, or `kb` is not a knowledge base.
        UnknownNameError: when an option has a value that is not listed for it.
    """
    expect_name("weights", weights, _WEIGHTS)
    expect_name("parts", parts, _PARTS)
    expect_name("course", course, ("short", "published"))
    short = course == "short"

    graph = Machine(MgranragState, context_schema=Context, input_schema=QuestionInput, output_schema=Result)
    graph.title = "MGranRAG"
    graph.add_node("receive_question", Node(ReceiveQuestion(kb, MgranragState)))
    graph.add_node("retrieve", Node(Retrieve(kb)))
    graph.add_node("calibrate", Node(Calibrate(kb, _WEIGHTS[weights])))
    choose = worth_reading if course == "short" else as_given
    reading = ReadPassages(reader or llm, answering.ANSWER_FROM_PASSAGES, kb, DEFAULTS, choose=choose)
    graph.add_node("read_passages", Node(reading))
    graph.add_node("find_support", Node(FindSupport(kb)))
    graph.add_node("conclude", Node(Conclude(kb, as_ranked)))

    graph.add_edge(START, "receive_question")
    if parts != "graph":
        graph.add_node("decompose", Node(Decompose(extractor or llm, prompts.DECOMPOSE)))
        graph.add_edge("receive_question", "decompose")
        graph.add_edge("decompose", "retrieve")
    if parts == "graph":
        graph.add_edge("receive_question", "retrieve")
        graph.add_edge("retrieve", "calibrate")
        graph.add_edge("calibrate", "read_passages")
    elif parts == "graph+decomposition":
        graph.add_node("augment_query", Node(AugmentQuery(with_subqueries)))
        graph.add_edge("retrieve", "augment_query")
        graph.add_edge("augment_query", "calibrate")
        graph.add_edge("calibrate", "read_passages")
    else:
        extracting = prompts.EXTRACT_AND_GO_ON if short else prompts.EXTRACT_EVIDENCE
        graph.add_node("extract_evidence", Node(ExtractEvidence(extractor or llm, extracting, kb)))
        graph.add_node("remember", Node(Remember()))
        graph.add_node("augment_query", Node(AugmentQuery(with_open_questions if short else with_evidence)))
        graph.add_node("align_phrases", Node(AlignPhrases(kb)))
        graph.add_edge("retrieve", "extract_evidence")
        graph.add_edge("extract_evidence", "remember")
        graph.add_edge("remember", "augment_query")
        graph.add_edge("augment_query", "align_phrases")
        graph.add_edge("align_phrases", "calibrate")
        after = Choice(after_calibrate if short else after_calibrate_published)
        graph.add_conditional_edges("calibrate", after, ["extract_evidence", "read_passages"])
    graph.add_edge("read_passages", "find_support")
    graph.add_edge("find_support", "conclude")
    graph.add_edge("conclude", END)
    return graph
