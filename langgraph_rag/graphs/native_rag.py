"""Single-shot RAG, the baseline of all papers: retrieves once with the question and answers from the passages."""

from langgraph.graph import END, START

from langgraph_rag.context import Context, Settings
from langgraph_rag.machine import Machine
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.conclude import Conclude, as_ranked
from langgraph_rag.nodes.find_support import FindSupport
from langgraph_rag.nodes.node import Node
from langgraph_rag.nodes.rank_passages import RankPassages
from langgraph_rag.nodes.read_passages import ReadPassages
from langgraph_rag.nodes.receive_question import QuestionInput, ReceiveQuestion
from langgraph_rag.nodes.retrieve import Retrieve
from langgraph_rag.prompts import answering
from langgraph_rag.records import Result, ScoredPassage
from langgraph_rag.tools.retrieve.retriever import Retriever


class NativeRagState(QuestionInput, Result):
    """The state of the graph; `thought` is that of the reader."""

    query: str
    step: int
    retrieved: list[ScoredPassage]
    first_retrieval: list[ScoredPassage]
    rankings: list[list[ScoredPassage]]
    ranking: list[ScoredPassage]
    read: list[str]
    thought: str


DEFAULTS = Settings(max_steps=1)


def create_native_rag(
    llm: ChatModel, kb: Retriever, *, reader: ChatModel | None = None
) -> Machine[NativeRagState, Context, QuestionInput, Result]:
    """Build single-shot RAG as a state machine; compile it with a checkpointer and a store of your choice.

    Args:
        llm: the model.
        kb: the knowledge base to ask.
        reader: the model that answers, if it is not `llm`.

    Raises:
        TypeError: when a model is not a chat model, or `kb` is not a knowledge base.
    """
    graph = Machine(NativeRagState, context_schema=Context, input_schema=QuestionInput, output_schema=Result)
    graph.title = "Native RAG"
    graph.add_node("receive_question", Node(ReceiveQuestion(kb, NativeRagState)))
    graph.add_node("retrieve", Node(Retrieve(kb)))
    graph.add_node("rank_passages", Node(RankPassages()))
    graph.add_node("read_passages", Node(ReadPassages(reader or llm, answering.ANSWER_FROM_PASSAGES, kb, DEFAULTS)))
    graph.add_node("find_support", Node(FindSupport(kb)))
    graph.add_node("conclude", Node(Conclude(kb, as_ranked)))

    graph.add_edge(START, "receive_question")
    graph.add_edge("receive_question", "retrieve")
    graph.add_edge("retrieve", "rank_passages")
    graph.add_edge("rank_passages", "read_passages")
    graph.add_edge("read_passages", "find_support")
    graph.add_edge("find_support", "conclude")
    graph.add_edge("conclude", END)
    return graph
