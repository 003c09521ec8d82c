"""A state machine is bounded by its own settings, however it is called."""

from functools import partial
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from langgraph_rag import KnowledgeBase, Result, create_cirag, create_par_rag, with_messages
from langgraph_rag.machine import Machine
from langgraph_rag.offline.model import OfflineModel

LONG = 60
BEGIN = {"count": 0}


class Counting(TypedDict):
    count: int


def counter(kind: type[StateGraph[Any, Any, Any, Any]]) -> Any:
    builder = kind(Counting)
    builder.add_node("step", lambda state: {"count": state["count"] + 1})
    builder.add_edge(START, "step")
    builder.add_conditional_edges("step", lambda state: END if state["count"] == LONG else "step", ["step", END])
    return builder.compile()


def parent(inner: Any) -> Any:
    return StateGraph(Counting).add_node("count", inner).add_edge(START, "count").add_edge("count", END).compile()


WAYS = {
    "batch": lambda graph: graph.batch([BEGIN])[0],
    "chain": lambda graph: (RunnableLambda(dict) | graph).invoke(BEGIN),
    "parent": lambda graph: parent(graph).batch([BEGIN])[0],
    "called inside": lambda graph: RunnableLambda(lambda begin: graph.invoke(begin)).batch([BEGIN])[0],
    "configured": lambda graph: graph.with_config(tags=["counting"]).batch([BEGIN])[0],
    "stream": lambda graph: list(graph.stream(BEGIN, stream_mode="values"))[-1],
}


@pytest.mark.parametrize("way", WAYS)
def test_langchains_default_limit_does_not_end_a_machine(way: str) -> None:
    assert WAYS[way](counter(Machine)) == {"count": LONG}


async def test_nor_does_it_where_many_are_asked_asynchronously() -> None:
    assert await counter(Machine).abatch([BEGIN, BEGIN]) == [{"count": LONG}] * 2


def test_two_methods_are_told_apart_by_their_names(kb: KnowledgeBase) -> None:
    cirag, par_rag = create_cirag(OfflineModel(), kb), create_par_rag(OfflineModel(), kb)

    parent = StateGraph(Result).add_node(cirag.compile()).add_node(par_rag.compile())

    assert parent.nodes.keys() == {"CIRAG", "PAR RAG"}
    assert with_messages(cirag).compile().name == "CIRAG chat"
    assert cirag.compile(name="Asker").name == "Asker"


def test_it_would_end_any_other_graph() -> None:
    with pytest.raises(GraphRecursionError):
        counter(StateGraph).batch([BEGIN])


def test_a_limit_that_somebody_asks_for_stands() -> None:
    graph, asked = counter(Machine), {"recursion_limit": 10}
    for run in (graph.with_config(**asked).invoke, partial(graph.invoke, config=asked)):
        with pytest.raises(GraphRecursionError):
            run(BEGIN)
    with pytest.raises(GraphRecursionError):
        graph.batch([BEGIN], asked)
