"""Self-Ask (Press et al. 2023, "Measuring and Narrowing the Compositionality Gap in Language Models").

Ask a follow-up question, look it up, and so on until there is nothing more to ask; then answer from what was found.
"""

from typing import Literal

from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START
from self_ask_prompts import FOLLOW_UP

from langgraph_rag.context import Context, Settings, context
from langgraph_rag.machine import Machine
from langgraph_rag.nodes.conclude import Conclude, as_ranked
from langgraph_rag.nodes.find_support import FindSupport
from langgraph_rag.nodes.node import Node
from langgraph_rag.nodes.rank_passages import RankPassages
from langgraph_rag.nodes.read_passages import ReadPassages
from langgraph_rag.nodes.receive_question import QuestionInput, ReceiveQuestion
from langgraph_rag.nodes.retrieve import Retrieve
from langgraph_rag.nodes.think import Think
from langgraph_rag.prompts.answering import ANSWER_FROM_PASSAGES
from langgraph_rag.records import Result, ScoredPassage
from langgraph_rag.tools.knowledge_base import KnowledgeBase


class SelfAskState(QuestionInput, Result):
    """What the nodes share; `query` is the follow-up question, empty once there is none."""

    query: str
    step: int
    retrieved: list[ScoredPassage]
    first_retrieval: list[ScoredPassage]
    rankings: list[list[ScoredPassage]]
    ranking: list[ScoredPassage]
    read: list[str]
    thought: str
    thoughts: list[str]


DEFAULTS = Settings(max_steps=4, read_k=5)


def after_follow_up(state: SelfAskState) -> Literal["retrieve", "read_passages"]:
    """Look the follow-up question up unless there is none or enough were asked."""
    return "retrieve" if state["query"] and state["step"] < context(DEFAULTS).max_steps else "read_passages"


def create_self_ask(llm: BaseChatModel, kb: KnowledgeBase) -> Machine[SelfAskState, Context, QuestionInput, Result]:
    """Build Self-Ask as a state machine."""
    graph = Machine(SelfAskState, context_schema=Context, input_schema=QuestionInput, output_schema=Result)
    graph.add_node("receive_question", Node(ReceiveQuestion(kb, SelfAskState)))
    graph.add_node("follow_up", Node(Think(llm, FOLLOW_UP, kb, DEFAULTS)))
    graph.add_node("retrieve", Node(Retrieve(kb)))
    graph.add_node("rank_passages", Node(RankPassages()))
    graph.add_node("read_passages", Node(ReadPassages(llm, ANSWER_FROM_PASSAGES, kb, DEFAULTS)))
    graph.add_node("find_support", Node(FindSupport(kb)))
    graph.add_node("conclude", Node(Conclude(kb, as_ranked)))

    graph.add_edge(START, "receive_question")
    graph.add_edge("receive_question", "follow_up")
    graph.add_conditional_edges("follow_up", after_follow_up)
    graph.add_edge("retrieve", "rank_passages")
    graph.add_edge("rank_passages", "follow_up")
    graph.add_edge("read_passages", "find_support")
    graph.add_edge("find_support", "conclude")
    graph.add_edge("conclude", END)
    return graph
