"""Adaptive: a method of our own that takes the cheapest way that is enough for each question.

It reads once, in one call that answers or says what is missing. What is missing is looked up, and the new passages are
read. If that does not suffice, another method goes on from what is known. Between these steps a gate decides, by rules
on what was measured in the run and without a model.
"""

from typing import Annotated, Any, Literal, get_type_hints

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from langgraph_rag.arguments import expect
from langgraph_rag.context import Context, Settings
from langgraph_rag.machine import Machine, copy_edges, copy_nodes
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.assess import Assess, Way
from langgraph_rag.nodes.conclude import Conclude
from langgraph_rag.nodes.hand_over import HandOver, cited_and_found
from langgraph_rag.nodes.identify_entities import Demand
from langgraph_rag.nodes.node import Choice, Node
from langgraph_rag.nodes.read_or_look_up import ReadOrLookUp
from langgraph_rag.nodes.receive_question import QuestionInput, ReceiveQuestion
from langgraph_rag.nodes.retrieve import Retrieve
from langgraph_rag.nodes.retrieve_for_entity import Found, RetrieveForEntity
from langgraph_rag.prompts.adaptive import ANSWER_OR_LOOK_UP
from langgraph_rag.records import Result, ScoredPassage, joined
from langgraph_rag.tools.retrieve.ranking import EmbeddingReranker
from langgraph_rag.tools.retrieve.retriever import Retriever


class AdaptiveResult(Result):
    """What a run returns: a `Result`, and in `effort` how far it went: "low", "medium", or "high" (another method)."""

    effort: Literal["high", "medium", "low"]


class AdaptiveState(QuestionInput, AdaptiveResult):
    """The state of the graph, besides that of the method which goes on.

    `retrieved` is what was found for the question, `found` for the look-ups of a round, `looked_up` for all of them.
    `read` are the passages that were read, `asked` the look-ups so far, and `bridged` whether the last
    of them are about a name that was just found. `so_far` is the last answer that stands in the
    evidence.
    """

    query: str
    step: int
    retrieved: list[ScoredPassage]
    first_retrieval: list[ScoredPassage]
    found: Annotated[list[Found], joined]
    demands: list[Demand]
    looked_up: list[ScoredPassage]
    read: list[str]
    asked: list[str]
    bridged: bool
    missing: list[str]
    thought: str
    so_far: str
    way: Way


DEFAULTS = Settings(max_steps=5, read_k=7)
_ENDS = ("receive_question", "conclude")  # of the method which goes on; this one has its own


def after_assess(state: AdaptiveState) -> list[Send] | Literal["hand_over", "conclude"]:
    """Look up all that is missing in parallel, hand over, or end."""
    if state["way"] == "look_up":
        return [Send("look_up", {**demand, "step": state["step"]}) for demand in state["demands"]]
    return state["way"]


def create_adaptive(
    llm: ChatModel, kb: Retriever, fallback: CompiledStateGraph[Any, Any, Any, Any], *, reader: ChatModel | None
) -> Machine[Any, Context, QuestionInput, AdaptiveResult]:
    """Build the graph; `methods.create_adaptive` is the same with a default for each option."""
    expect(CompiledStateGraph, fallback, "a compiled graph", "create_dualrag(llm, kb).compile() returns one")
    after: StateGraph[Any, Any, Any, Any] = fallback.builder
    if missing := set(_ENDS).difference(after.nodes):
        raise ValueError(f"expected the graph of a method, got one without the nodes {', '.join(sorted(missing))}")
    fields, own = (get_type_hints(schema, include_extras=True) for schema in (after.state_schema, AdaptiveState))
    state: Any = TypedDict("AdaptiveState", {**fields, **own})  # type: ignore[misc]

    graph = Machine(state, context_schema=Context, input_schema=QuestionInput, output_schema=AdaptiveResult)
    graph.title = "Adaptive"
    graph.add_node("receive_question", Node(ReceiveQuestion(kb, state)))
    graph.add_node("search", Node(Retrieve(kb, "search")))
    graph.add_node("read", Node(ReadOrLookUp(reader or llm, ANSWER_OR_LOOK_UP, kb, DEFAULTS)))
    graph.add_node("assess", Node(Assess(kb, DEFAULTS)))
    graph.add_node("look_up", Node(RetrieveForEntity(kb, EmbeddingReranker(kb=kb), "look_up")))
    graph.add_node("hand_over", Node(HandOver(after.state_schema)))
    graph.add_node("conclude", Node(Conclude(kb, cited_and_found)))
    copy_nodes(after, graph, state, Node, without=_ENDS)

    graph.add_edge(START, "receive_question")
    graph.add_edge("receive_question", "search")
    graph.add_edge("search", "read")
    graph.add_edge("read", "assess")
    graph.add_conditional_edges("assess", Choice(after_assess), ["look_up", "hand_over", "conclude"])
    graph.add_edge("look_up", "read")
    copy_edges(after, graph, {"receive_question": "hand_over"}, {}, without=(START, "conclude"))
    graph.add_edge("conclude", END)
    return graph
