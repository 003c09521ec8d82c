"""With messages in and out: what chat user interfaces need of a graph."""

import logging
from typing import Any, assert_type, get_type_hints

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_rag import KnowledgeBase, create_native_rag, create_par_rag, strict_serializer, with_messages
from langgraph_rag.conversation import Replied
from langgraph_rag.errors import QuestionError
from langgraph_rag.methods import METHODS, create, named
from langgraph_rag.offline.model import OfflineModel

SCHOOL = "Did Nessa Palliver and Sunniva Lockhaven go to the same school?"
LATER = "Who died later, Ilse Tarrant or Tobin Grell?"
THREAD: Any = {"configurable": {"thread_id": "1"}}


def saver() -> InMemorySaver:
    return InMemorySaver(serde=strict_serializer())


@pytest.mark.parametrize("name", named("ablations"))
def test_it_answers_as_the_method_does(name: str, sample_kb: KnowledgeBase) -> None:
    method = create(name, OfflineModel(), sample_kb)
    expected: Any = method.compile().invoke({"question": SCHOOL})

    graph: Any = with_messages(method).compile()
    result = graph.invoke({"messages": [{"role": "user", "content": SCHOOL}]})

    question, reply = result["messages"]
    assert (question.text, reply.text) == (SCHOOL, expected["answer"])
    assert reply.additional_kwargs["evidence"] == expected["evidence"] == result["evidence"]
    assert reply.additional_kwargs["usage"]["calls"] == expected["usage"]["calls"]
    assert {**result, "usage": 0, "messages": 0} == {**expected, "usage": 0, "messages": 0}


def test_type_checkers_know_what_comes_out(sample_kb: KnowledgeBase) -> None:
    graph = with_messages(create_native_rag(OfflineModel(), sample_kb)).compile()

    replied = assert_type(graph.invoke({"messages": [HumanMessage(SCHOOL)]}, version="v2").value, Replied)

    assert set(replied) == set(get_type_hints(Replied))


@pytest.mark.parametrize("name", sorted(METHODS))
async def test_turns_are_kept_and_answers_streamed_under_the_ids_they_keep(
    name: str, sample_kb: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    graph: Any = with_messages(METHODS[name].create(OfflineModel(), sample_kb)).compile(checkpointer=saver())

    streamed: list[tuple[str, str]] = []
    with caplog.at_level(logging.WARNING, "langgraph"):
        for asked in (LATER, SCHOOL):
            said: dict[str, str] = {}
            async for token, _ in graph.astream({"messages": [HumanMessage(asked)]}, THREAD, stream_mode="messages"):
                said[token.id] = said.get(token.id, "") + token.text
            streamed += said.items()

    kept = graph.get_state(THREAD).values["messages"]
    assert [message.text for message in kept if isinstance(message, HumanMessage)] == [LATER, SCHOOL]
    assert [(message.id, message.text) for message in kept if isinstance(message, AIMessage)] == streamed
    assert caplog.messages == []


@pytest.mark.parametrize("name", sorted(METHODS))
def test_an_answer_that_was_streamed_stays_in_the_state(name: str, sample_kb: KnowledgeBase) -> None:
    graph: Any = with_messages(METHODS[name].create(OfflineModel(), sample_kb)).compile()

    streamed = ""
    for mode, part in graph.stream({"messages": [HumanMessage(SCHOOL)]}, stream_mode=["messages", "values"]):
        if mode == "messages":
            streamed = part[0].id
        elif streamed:
            assert (part["messages"][-1].id, part["messages"][-1].text) == (streamed, "yes")
    assert streamed


def test_the_last_message_of_a_person_is_the_question(sample_kb: KnowledgeBase) -> None:
    graph: Any = with_messages(METHODS["native_rag"].create(OfflineModel(), sample_kb)).compile()
    talk = [
        HumanMessage("Hello"),
        AIMessage("Hi"),
        HumanMessage([{"type": "text", "text": SCHOOL}]),
        AIMessage("Well,"),
    ]

    events = list(graph.stream({"messages": talk}, stream_mode="custom"))

    assert events[0] == {"v": 1, "node": "receive_question", "question": SCHOOL}


@pytest.mark.parametrize("messages", [[], [AIMessage("Hi")], [HumanMessage("  ")]])
def test_without_a_question_it_says_so(messages: list[Any], sample_kb: KnowledgeBase) -> None:
    graph: Any = with_messages(METHODS["native_rag"].create(OfflineModel(), sample_kb)).compile()

    with pytest.raises(QuestionError, match="expected"):
        graph.invoke({"messages": messages})


def test_a_plan_can_be_approved_in_a_conversation(sample_kb: KnowledgeBase) -> None:
    method = create_par_rag(OfflineModel(), sample_kb, approve_plan=True)
    graph: Any = with_messages(method).compile(checkpointer=saver())

    stopped = graph.invoke({"messages": [HumanMessage(SCHOOL)]}, THREAD)
    result = graph.invoke(Command(resume=["Where did Nessa Palliver go to school?"]), THREAD)

    assert stopped["__interrupt__"][0].value["question"] == SCHOOL
    assert [step["question"] for step in result["plan"]] == ["Where did Nessa Palliver go to school?"]
    assert len(result["messages"]) == 2


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_question_never_shows_with_the_answer_to_the_one_before(name: str, sample_kb: KnowledgeBase) -> None:
    graph: Any = with_messages(METHODS[name].create(OfflineModel(), sample_kb)).compile(checkpointer=saver())
    before = graph.invoke({"messages": [HumanMessage(LATER)]}, THREAD)

    states = list(graph.stream({"messages": [HumanMessage(SCHOOL)]}, THREAD, stream_mode="values"))
    shown = [(state["question"], state["answer"]) for state in states]

    assert set(shown) == {(LATER, before["answer"]), (SCHOOL, ""), (SCHOOL, "yes")}


def test_its_schemas_are_those_of_a_chat(sample_kb: KnowledgeBase) -> None:
    graph: Any = with_messages(METHODS["cirag"].create(OfflineModel(), sample_kb)).compile()

    assert set(graph.get_input_jsonschema()["properties"]) == {"messages"}
    assert {"messages", "answer", "evidence"} <= set(graph.get_output_jsonschema()["properties"])
    assert "top_k" in graph.get_context_jsonschema()["properties"]
