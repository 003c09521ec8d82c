"""A state machine can be changed, and its own settings limit it, however it is called."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from fakes import ScriptedModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from langgraph_rag import (
    KnowledgeBase,
    Result,
    create_cirag,
    create_dualrag,
    create_native_rag,
    create_par_rag,
    with_messages,
)
from langgraph_rag.errors import UnknownNameError
from langgraph_rag.machine import Machine
from langgraph_rag.nodes.node import Node
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.records import Usage

LONG = 60
BEGIN = {"count": 0}


class Metered(TypedDict):
    count: int
    usage: Usage


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


# --- looked at and changed -------------------------------------------------------------------------------------------
def test_a_step_can_have_another_prompt_and_model(kb: KnowledgeBase) -> None:
    asked, other = ScriptedModel.of([]), ScriptedModel.of([json.dumps({"thought": "", "answer": "Pellworth"})])
    graph = create_native_rag(asked, kb)
    prompt = graph.step("read_passages").prompt

    graph.change("read_passages", prompt=replace(prompt, instructions=f"{prompt.instructions} Say please."), llm=other)
    result = graph.compile().invoke({"question": "Where was Orla Vint born?"})

    assert result["answer"] == "Pellworth"
    assert "Say please." in other.received[0][0].text and asked.received == []


@pytest.mark.parametrize(
    ("node", "changes", "message"),
    [
        ("read", {}, "unknown node 'read': expected one of receive_question, retrieve"),
        ("read_passages", {"promt": None}, "unknown field of read_passages 'promt': expected one of llm, prompt"),
    ],
)
def test_what_is_not_there_cannot_be_changed(
    node: str, changes: dict[str, None], message: str, kb: KnowledgeBase
) -> None:
    with pytest.raises(UnknownNameError, match=message):
        create_native_rag(OfflineModel(), kb).change(node, **changes)


def test_a_step_of_a_conversation_can_be_changed_likewise(kb: KnowledgeBase) -> None:
    other = ScriptedModel.of([json.dumps({"thought": "", "answer": "Pellworth"})])
    graph = with_messages(create_native_rag(OfflineModel(), kb), OfflineModel())
    restating = graph.step("restate_question").prompt

    graph.change("restate_question", prompt=replace(restating, instructions="Say it whole."))
    graph.change("read_passages", llm=other)
    result = graph.compile().invoke({"messages": [HumanMessage("Where was Orla Vint born?")]})

    assert result["messages"][-1].text == "Pellworth"
    assert graph.step("restate_question").prompt.instructions == "Say it whole."


def test_a_field_may_have_any_name(kb: KnowledgeBase) -> None:
    graph = create_dualrag(OfflineModel(), kb)
    graph.change("answer", node="answer")
    assert graph.step("answer").node == "answer"


def test_a_step_cannot_get_what_is_no_model(kb: KnowledgeBase) -> None:
    with pytest.raises(TypeError, match="expected a chat model"):
        create_native_rag(OfflineModel(), kb).change("read_passages", llm="gpt")


async def run(graph: Any, way: str) -> None:
    await graph.ainvoke(BEGIN) if way == "ainvoke" else graph.invoke(BEGIN)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_what_the_state_has_no_field_for_is_not_lost_silently(way: str) -> None:
    async def misspelt(state: Counting) -> dict[str, int]:
        return {"cuont": 1}

    graph = Machine(Metered)
    graph.add_node("step", Node(misspelt))
    graph.add_edge(START, "step")

    with pytest.raises(TypeError, match="function returned cuont, which the state has no field for"):
        await run(graph.compile(), way)
