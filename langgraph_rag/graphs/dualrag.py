"""DualRAG: a dual-process approach to integrate reasoning and retrieval (Cheng et al. 2025).

It has two interacting processes. Reasoning-augmented querying reasons over the knowledge so far, and looks up missing
knowledge by entity. Progressive knowledge aggregation summarises the passages into an outline, ordered by entity. The
answer comes from the outline and the reasoning.
"""

from typing import Annotated, Literal

from langchain_core.documents import BaseDocumentCompressor
from langgraph.graph import END, START
from langgraph.types import Send

from langgraph_rag.arguments import expect_flags
from langgraph_rag.context import Context, Settings, context
from langgraph_rag.machine import Machine
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.naming import expect_name
from langgraph_rag.nodes.answer_from_findings import AnswerFromFindings
from langgraph_rag.nodes.conclude import Conclude, as_ranked
from langgraph_rag.nodes.find_support import FindSupport
from langgraph_rag.nodes.identify_entities import Demand, IdentifyEntities, QueryWithThought
from langgraph_rag.nodes.node import Choice, Node
from langgraph_rag.nodes.read_passages import ReadPassages, as_given
from langgraph_rag.nodes.reason import Reason, ReasonAndLookUp
from langgraph_rag.nodes.receive_question import QuestionInput, ReceiveQuestion
from langgraph_rag.nodes.retrieve import Retrieve
from langgraph_rag.nodes.retrieve_for_entity import Found, RetrieveForEntity
from langgraph_rag.nodes.select_documents import Reading, SelectDocuments
from langgraph_rag.nodes.summarize import CollectPassages, Fragment, Summarize
from langgraph_rag.nodes.take_notes import TakeNotes
from langgraph_rag.nodes.update_outline import UpdateOutline, append_support, merge_all
from langgraph_rag.prompts import answering
from langgraph_rag.prompts import dualrag as prompts
from langgraph_rag.records import Result, ScoredPassage, joined
from langgraph_rag.tools.retrieve.ranking import EmbeddingReranker
from langgraph_rag.tools.retrieve.retriever import Retriever


class DualragState(QuestionInput, Result):
    """The state of the graph; `found` and `fragments` join the results of the parallel nodes of a step."""

    query: str
    step: int
    thoughts: list[str]
    needs_retrieval: bool
    demands: list[Demand]
    found: Annotated[list[Found], joined]
    readings: list[Reading]
    fragments: Annotated[list[Fragment], joined]
    outline: list[prompts.OutlineEntry]
    vain: list[str]
    missing: list[str]
    fruitless: int
    ranking: list[ScoredPassage]
    retrieved: list[ScoredPassage]
    first_retrieval: list[ScoredPassage]
    read: list[str]
    thought: str


DEFAULTS = Settings(max_steps=5, read_k=10)


def to_answer(state: DualragState) -> Literal["answer", "read_passages"]:
    """Answer from the outline; from passages if it is empty, as a model would answer from memory."""
    return "answer" if state["outline"] else "read_passages"


def after_reason(state: DualragState) -> Literal["look_up", "answer", "read_passages", "retrieve"]:
    """Look up missing knowledge (the flag f of Eq. 3), or answer; retrieve first if nothing was looked up before."""
    if state["needs_retrieval"]:
        return "look_up"
    return to_answer(state) if state["step"] else "retrieve"


def after_reason_and_look_up(
    state: DualragState,
) -> list[Send] | Literal["conclude", "answer", "read_passages", "retrieve"]:
    """Look up all entities in parallel, end with the answer of the last thought, or answer as usual."""
    if state["needs_retrieval"]:
        return for_each_entity(state)
    if state["answer"]:
        return "conclude"
    return to_answer(state) if state["step"] else "retrieve"


def to_take_notes(state: DualragState) -> Literal["summarize", "update_outline"]:
    """Continue directly if there are no new passages."""
    return "summarize" if state["readings"] else "update_outline"


def for_each_entity(state: DualragState) -> list[Send]:
    """Retrieve for all entities in parallel."""
    return [Send("retrieve_for_entity", {**demand, "step": state["step"]}) for demand in state["demands"]]


def for_each_reading(state: DualragState) -> list[Send] | Literal["update_outline"]:
    """Summarise for all entities in parallel; continue directly if there are no new passages."""
    about = {name: state[name] for name in ("question", "thoughts", "step", "usage")}
    return [Send("summarize", {**about, **reading}) for reading in state["readings"]] or "update_outline"


def after_update(state: DualragState) -> Literal["reason", "answer", "read_passages"]:
    """Continue while a step and budget are left, and one of the last two steps added a fragment."""
    goes_on = state["step"] < context(DEFAULTS).max_steps and state["fruitless"] < 2
    return "reason" if goes_on and not state["usage"]["stopped_by"] else to_answer(state)


def create_dualrag(
    llm: ChatModel,
    kb: Retriever,
    *,
    reranker: BaseDocumentCompressor | None = None,
    reasoner: ChatModel | None = None,
    identifier: ChatModel | None = None,
    summarizer: ChatModel | None = None,
    reader: ChatModel | None = None,
    detect_gaps: bool = True,
    identify_entities: bool = True,
    keep_outline: bool = True,
    course: Literal["short", "published"] = "short",
) -> Machine[DualragState, Context, QuestionInput, Result]:
    """Build DualRAG as a state machine; compile it with a checkpointer and a store of your choice.

    Args:
        llm: the default model, used by every step that is not given another one.
        kb: the knowledge base to ask.
        reranker: any LangChain document compressor, e.g. a cross-encoder; by default the order of the search and the
            knowledge base's embeddings rank, fused.
        reasoner: the model that reasons, e.g. a fine-tuned one (section 3.2).
        identifier: the model that names entities and writes queries for them.
        summarizer: the model that summarises passages.
        reader: the model that answers.
        detect_gaps: True lets the reasoner decide whether knowledge is missing; False retrieves after every thought
            (table 3, "w/o R").
        identify_entities: True makes queries per entity; False takes the thought as the query (table 3, "w/o EI").
        keep_outline: True summarises findings by entity; False keeps the passages as they are (table 3, "w/o KO").
        course: "short" asks for the thought and the entities in one reply, unless there is an `identifier`, reads the
            passages of a round together, and takes the answer of the last thought; "published" has a call for each, as
            in the paper.

    Raises:
        TypeError: when a model is not a chat model, `kb` is not a knowledge base, or a boolean option is not
            True or False.
        UnknownNameError: when an option has a value that is not listed for it.
    """
    expect_flags(detect_gaps=detect_gaps, identify_entities=identify_entities, keep_outline=keep_outline)
    expect_name("course", course, ("short", "published"))
    short = course == "short"
    at_once = short and detect_gaps and identify_entities and identifier is None
    thinking = reasoner or llm
    reason = Node(Reason(thinking, prompts.REASON) if detect_gaps else Reason(thinking, prompts.THINK_ON))
    look_up = "identify_entities" if identify_entities else "query_with_thought"
    querying = (
        IdentifyEntities(identifier or llm, prompts.IDENTIFY_ENTITIES) if identify_entities else QueryWithThought()
    )

    graph = Machine(DualragState, context_schema=Context, input_schema=QuestionInput, output_schema=Result)
    graph.title = "DualRAG"
    graph.add_node("receive_question", Node(ReceiveQuestion(kb, DualragState)))
    if at_once:
        graph.add_node("reason", Node(ReasonAndLookUp(thinking, prompts.REASON_AND_LOOK_UP)))
    else:
        graph.add_node("reason", reason)
        graph.add_node(look_up, Node(querying))
    graph.add_node("retrieve_for_entity", Node(RetrieveForEntity(kb, reranker or EmbeddingReranker(kb=kb))))
    graph.add_node("retrieve", Node(Retrieve(kb)))
    answer = AnswerFromFindings(reader or llm, prompts.ANSWER_FROM_OUTLINE, "answer", ["outline", "thoughts"])
    graph.add_node("answer", Node(answer))
    fallback = ReadPassages(reader or llm, answering.ANSWER_FROM_PASSAGES, kb, DEFAULTS, choose=as_given)  # as reranked
    graph.add_node("read_passages", Node(fallback))
    graph.add_node("find_support", Node(FindSupport(kb)))
    graph.add_node("conclude", Node(Conclude(kb, as_ranked)))

    graph.add_edge(START, "receive_question")
    graph.add_edge("receive_question", "reason")
    ends = ["answer", "read_passages", "retrieve"]
    if at_once:
        found = [*ends, "retrieve_for_entity", "conclude"]
        graph.add_conditional_edges("reason", Choice(after_reason_and_look_up), found)
    else:
        graph.add_conditional_edges(
            "reason", Choice(after_reason), {"look_up": look_up, **dict(zip(ends, ends, strict=True))}
        )
        graph.add_conditional_edges(look_up, Choice(for_each_entity), ["retrieve_for_entity"])
    if keep_outline:
        graph.add_node("select_documents", Node(SelectDocuments()))
        reading = TakeNotes(summarizer or llm, prompts.TAKE_NOTES, kb)
        each = Summarize(summarizer or llm, prompts.SUMMARIZE, kb)
        graph.add_node("summarize", Node(reading if short else each))
        graph.add_node("update_outline", Node(UpdateOutline(append_support)))
        graph.add_edge("retrieve_for_entity", "select_documents")
        selected = Choice(to_take_notes if short else for_each_reading)
        graph.add_conditional_edges("select_documents", selected, ["summarize", "update_outline"])
        graph.add_edge("summarize", "update_outline")
    else:
        graph.add_node("collect_passages", Node(CollectPassages(kb)))
        graph.add_node("update_outline", Node(UpdateOutline(merge_all)))
        graph.add_edge("retrieve_for_entity", "collect_passages")
        graph.add_edge("collect_passages", "update_outline")
    graph.add_conditional_edges("update_outline", Choice(after_update), ["reason", "answer", "read_passages"])
    graph.add_edge("retrieve", "read_passages")
    graph.add_edge("answer", "conclude")
    graph.add_edge("read_passages", "find_support")
    graph.add_edge("find_support", "conclude")
    graph.add_edge("conclude", END)
    return graph
