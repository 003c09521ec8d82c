"""IRCoT: interleaving retrieval with chain-of-thought reasoning (Trivedi et al. 2023), a baseline in the papers.

It retrieves with the question. Then it alternates between writing one sentence of reasoning from all passages found so
far and retrieving with that sentence, until a sentence states the answer. A reader then answers from the passages.
"""

from typing import Literal

from langgraph.graph import END, START

from langgraph_rag.context import Context, Settings, context
from langgraph_rag.machine import Machine
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.conclude import Conclude, as_ranked
from langgraph_rag.nodes.find_support import FindSupport
from langgraph_rag.nodes.node import Choice, Node
from langgraph_rag.nodes.rank_passages import RankPassages
from langgraph_rag.nodes.read_passages import ReadPassages
from langgraph_rag.nodes.receive_question import QuestionInput, ReceiveQuestion
from langgraph_rag.nodes.retrieve import Retrieve
from langgraph_rag.nodes.think import Think
from langgraph_rag.prompts import answering, ircot
from langgraph_rag.records import Result, ScoredPassage
from langgraph_rag.tools.retrieve.retriever import Retriever


class IrcotState(QuestionInput, Result):
    """The state of the graph; `query` is empty at the end of the reasoning."""

    query: str
    step: int
    retrieved: list[ScoredPassage]
    first_retrieval: list[ScoredPassage]
    rankings: list[list[ScoredPassage]]
    ranking: list[ScoredPassage]
    read: list[str]
    thought: str
    thoughts: list[str]


DEFAULTS = Settings(max_steps=8, read_k=15)


def after_think(state: IrcotState) -> Literal["retrieve", "read_passages"]:
    """Retrieve with the sentence until one states the answer, repeats another, or is the last allowed."""
    goes_on = state["query"] and state["step"] < context(DEFAULTS).max_steps
    return "retrieve" if goes_on else "read_passages"


def create_ircot(
    llm: ChatModel, kb: Retriever, *, thinker: ChatModel | None = None, reader: ChatModel | None = None
) -> Machine[IrcotState, Context, QuestionInput, Result]:
    """Build IRCoT as a state machine; compile it with a checkpointer and a store of your choice.

    Args:
        llm: the default model, used by every step that is not given another one.
        kb: the knowledge base to ask.
        thinker: the model that writes the sentences of reasoning.
        reader: the model that answers.

    Raises:
        TypeError: when a model is not a chat model, or `kb` is not a knowledge base.
    """
    graph = Machine(IrcotState, context_schema=Context, input_schema=QuestionInput, output_schema=Result)
    graph.title = "IRCoT"
    graph.add_node("receive_question", Node(ReceiveQuestion(kb, IrcotState)))
    graph.add_node("retrieve", Node(Retrieve(kb)))
    graph.add_node("rank_passages", Node(RankPassages()))
    graph.add_node("think", Node(Think(thinker or llm, ircot.NEXT_THOUGHT, kb, DEFAULTS)))
    graph.add_node("read_passages", Node(ReadPassages(reader or llm, answering.ANSWER_FROM_PASSAGES, kb, DEFAULTS)))
    graph.add_node("find_support", Node(FindSupport(kb)))
    graph.add_node("conclude", Node(Conclude(kb, as_ranked)))

    graph.add_edge(START, "receive_question")
    graph.add_edge("receive_question", "retrieve")
    graph.add_edge("retrieve", "rank_passages")
    graph.add_edge("rank_passages", "think")
    graph.add_conditional_edges("think", Choice(after_think), ["retrieve", "read_passages"])
    graph.add_edge("read_passages", "find_support")
    graph.add_edge("find_support", "conclude")
    graph.add_edge("conclude", END)
    return graph
