"""What every method promises whoever embeds it in LangGraph; runs on the sample corpus with the offline model."""

import asyncio
import json
import logging
from dataclasses import dataclass, field
from operator import add
from typing import Annotated, Any

import pytest
from fakes import asked_for
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from pydantic import Field
from typing_extensions import TypedDict

from langgraph_rag import Context, Result, create_cirag, is_refusal, strict_serializer, with_messages
from langgraph_rag.errors import EmptyKnowledgeBaseError, ModelCallError, QuestionError
from langgraph_rag.machine import Machine
from langgraph_rag.methods import METHODS, create, parse_methods
from langgraph_rag.nodes import conclude
from langgraph_rag.nodes.conclude import Conclude
from langgraph_rag.nodes.receive_question import initial_state
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.records import Evidence, Usage, add_usage
from langgraph_rag.tools.knowledge_base import KnowledgeBase

SCHOOL = {"question": "Did Nessa Palliver and Sunniva Lockhaven go to the same school?"}
LATER = {"question": "Who died later, Ilse Tarrant or Tobin Grell?"}
QUICK = {"max_steps": 2}
NAMES = {"answer", "supported", "evidence", "passages", "trace", "usage"}
OWN = {"granularity", "plan", "trajectories", "effort"}  # what only some methods return


@pytest.fixture(params=sorted(METHODS))
def builder(request: pytest.FixtureRequest, sample_kb: KnowledgeBase) -> Any:
    return METHODS[request.param].create(OfflineModel(), sample_kb)


@pytest.fixture
def graph(builder: Any) -> Any:
    return builder.compile()


def told(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result without what differs from run to run, and without inner state."""
    found = {name: result[name] for name in NAMES}
    own = {name: result[name] for name in OWN if name in result}
    return found | own | {"usage": found["usage"] | {"seconds": 0, "longest_call": 0, "ended_at": 0}}


# --- ways to run -----------------------------------------------------------------------------------------------------
async def test_every_way_to_run_gives_the_same_result(graph: Any) -> None:
    expected = told(await graph.ainvoke(SCHOOL, context=QUICK))

    assert expected["answer"]
    assert told(graph.invoke(SCHOOL, context=QUICK)) == expected
    assert told(list(graph.stream(SCHOOL, context=QUICK, stream_mode="values"))[-1]) == expected
    assert told([chunk async for chunk in graph.astream(SCHOOL, context=QUICK, stream_mode="values")][-1]) == expected


def test_a_method_and_its_conversation_may_take_more_steps_than_langchains_default(builder: Any) -> None:
    assert isinstance(builder, Machine)
    assert isinstance(with_messages(builder), Machine)


async def test_a_limit_of_steps_that_somebody_asks_for_stands(graph: Any) -> None:
    with pytest.raises(GraphRecursionError):
        graph.invoke(SCHOOL, {"recursion_limit": 2})
    with pytest.raises(GraphRecursionError):
        await graph.with_config(recursion_limit=2).ainvoke(SCHOOL)


async def test_different_questions_asked_at_once_do_not_mix(graph: Any) -> None:
    alone = [told(await graph.ainvoke(asked, context=QUICK)) for asked in (SCHOOL, LATER)]

    assert [told(result) for result in graph.batch([SCHOOL, LATER] * 2, context=QUICK)] == alone * 2
    assert [told(result) for result in await graph.abatch([SCHOOL, LATER] * 2, context=QUICK)] == alone * 2


async def test_the_result_is_the_declared_output_and_nothing_else(graph: Any) -> None:
    declared = set(graph.get_output_jsonschema()["properties"])

    assert set(graph.invoke(SCHOOL, context=QUICK)) == set(await graph.ainvoke(SCHOOL, context=QUICK)) == declared
    assert NAMES <= declared <= NAMES | OWN


@pytest.mark.parametrize("context", [{"top_k": 3}, {"search": "bm25"}, {"top_k": 3, "search": "bm25"}])
def test_at_least_ten_passages_are_listed_and_none_twice(graph: Any, context: dict[str, Any]) -> None:
    listed = [passage["id"] for passage in graph.invoke({"question": "Anstrey?"}, context=QUICK | context)["passages"]]

    assert len(set(listed)) == len(listed) >= 10


def test_no_evidence_is_listed_twice(graph: Any) -> None:
    river = "the river that runs through the birthplace of the man who composed the music for The Marrow Road"
    question = f"Into which strait does {river} flow?"
    found = [
        json.dumps(entry | {"step": 0}, sort_keys=True) for entry in graph.invoke({"question": question})["evidence"]
    ]

    assert len(set(found)) == len(found) > 1


def test_the_schemas_studio_shows_are_there(graph: Any) -> None:
    assert graph.get_input_jsonschema()["required"] == ["question"]
    assert set(graph.get_output_jsonschema()["properties"]) >= NAMES
    assert {"top_k", "max_steps", "search"} <= set(graph.get_context_jsonschema()["properties"])


def test_a_result_needs_no_cast_where_types_are_checked(sample_kb: KnowledgeBase) -> None:
    graph = create_cirag(OfflineModel(), sample_kb).compile()
    result: Result = graph.invoke({"question": SCHOOL["question"]}, context=Context(max_steps=2), version="v2").value

    assert result["answer"] == "yes"


class SpeechlessModel(OfflineModel):
    """Does everything but answer: it leaves that empty."""

    def _generate(self, messages: list[BaseMessage], *rest: Any, **options: Any) -> ChatResult:
        if not asked_for(messages)["prompt"].startswith("answer_"):
            return super()._generate(messages, *rest, **options)
        return ChatResult(generations=[ChatGeneration(message=AIMessage('{"thought": "", "answer": ""}'))])


@pytest.mark.parametrize(
    "name", sorted({*METHODS, "dualrag/published"} - {"dualrag"})
)  # which takes a thought's answer
def test_an_empty_answer_is_said_to_be_none(name: str, sample_kb: KnowledgeBase) -> None:
    # dualrag takes the answer of a thought
    builder: Any = create(name, SpeechlessModel(), sample_kb)
    streamed = builder.compile().stream(SCHOOL, context=QUICK, stream_mode=["messages", "custom", "values"])
    shown = {mode: chunk for mode, chunk in streamed}

    assert shown["values"]["answer"] == shown["custom"]["answer"] == shown["messages"][0].text == "unanswerable"
    assert is_refusal(shown["values"]["answer"])


def test_what_is_done_to_a_result_does_not_reach_the_next_question(builder: Any) -> None:
    returned = initial_state(builder.state_schema)
    for value in returned.values():
        if isinstance(value, list):
            value.append("mine")

    assert "mine" not in str(initial_state(builder.state_schema))


# --- inside event loops ----------------------------------------------------------------------------------------------
async def test_invoke_works_in_a_thread_beside_a_running_loop_and_in_its_own_as_in_a_notebook(graph: Any) -> None:
    beside, within = await asyncio.gather(
        asyncio.to_thread(graph.invoke, SCHOOL, context=QUICK), graph.ainvoke(SCHOOL, context=QUICK)
    )

    assert asyncio.get_running_loop().is_running()
    assert told(graph.invoke(SCHOOL, context=QUICK)) == told(beside) == told(within)


def test_one_graph_serves_several_event_loops_one_after_the_other(graph: Any) -> None:
    first, second = (asyncio.run(graph.ainvoke(SCHOOL, context=QUICK)) for _ in range(2))

    assert told(first) == told(second)


# --- events ----------------------------------------------------------------------------------------------------------
async def test_the_same_custom_events_arrive_in_both_modes(graph: Any) -> None:
    events = list(graph.stream(SCHOOL, context=QUICK, stream_mode="custom"))
    awaited = [event async for event in graph.astream(SCHOOL, context=QUICK, stream_mode="custom")]

    assert sorted(awaited, key=json.dumps) == sorted(events, key=json.dumps)  # parallel nodes end in any order
    assert {event["v"] for event in events} == {1}
    assert {event["node"] for event in events} <= set(graph.get_graph().nodes)
    assert {event["node"] for event in events} >= {"receive_question", "conclude"}
    assert json.loads(json.dumps(events)) == events


def test_the_updates_of_nodes_are_plain_json(graph: Any) -> None:
    updates = list(graph.stream(SCHOOL, context=QUICK, stream_mode="updates"))

    assert json.loads(json.dumps(updates)) == updates


# --- threads and checkpoints -----------------------------------------------------------------------------------------
async def test_a_thread_answers_a_second_question_as_if_it_were_the_first(builder: Any) -> None:
    alone = [told(await builder.compile().ainvoke(asked, context=QUICK)) for asked in (SCHOOL, LATER)]
    graph, thread = builder.compile(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}

    in_a_row = [told(graph.invoke(asked, thread, context=QUICK)) for asked in (SCHOOL, LATER)]
    in_another = {"configurable": {"thread_id": "2"}}

    assert in_a_row == alone
    assert [told(await graph.ainvoke(asked, in_another, context=QUICK)) for asked in (LATER, SCHOOL)] == alone[::-1]


def shown(graph: Any, thread: Any = None) -> list[dict[str, Any]]:
    """Return the states streamed once the question was received, without the times in them."""
    _, *states = graph.stream(LATER, thread, context=QUICK, stream_mode="values")
    return [state | {"usage": state["usage"] | {"seconds": 0, "longest_call": 0, "ended_at": 0}} for state in states]


EACH = [  # an ablation runs through nodes of its method
    pytest.param(name, marks=() if name in METHODS else pytest.mark.slow) for name in parse_methods("ablations")
]


@pytest.mark.parametrize("name", EACH)
def test_nothing_of_an_earlier_question_shows_under_the_second(name: str, sample_kb: KnowledgeBase) -> None:
    method: Any = create(name, OfflineModel(), sample_kb)
    graph, thread = method.compile(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    graph.invoke(SCHOOL, thread, context=QUICK)

    assert shown(graph, thread) == shown(method.compile())


def test_a_run_survives_strict_checkpoints_with_a_stop_before_every_node(
    builder: Any, caplog: pytest.LogCaptureFixture
) -> None:
    strict = InMemorySaver(serde=strict_serializer())
    graph, thread = builder.compile(checkpointer=strict, interrupt_before="*"), {"configurable": {"thread_id": "1"}}

    with caplog.at_level(logging.WARNING, "langgraph"):
        graph.invoke(SCHOOL, thread, context=QUICK)
        while graph.get_state(thread).next:
            graph.invoke(None, thread, context=QUICK)
        history = list(graph.get_state_history(thread))

    assert told(graph.get_state(thread).values) == told(builder.compile().invoke(SCHOOL, context=QUICK))
    assert len(history) > 6
    assert caplog.messages == []


class NotedModel(OfflineModel):
    """Notes what it is asked."""

    received: list[list[BaseMessage]] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.received.append(messages)
        return super()._generate(messages, *args, **kwargs)


@pytest.mark.parametrize("name", METHODS)
def test_a_style_is_asked_for_by_the_call_that_answers_alone(name: str, sample_kb: KnowledgeBase) -> None:
    model = NotedModel()
    graph: Any = METHODS[name].create(model, sample_kb).compile()

    graph.invoke(SCHOOL, context=Context(answer_style="in German"))

    styled = [
        messages for messages in model.received if messages[-1].text.endswith("possible, but like this: in German")
    ]
    assert {asked_for(messages)["prompt"].split("_")[0] for messages in styled} == {"answer"}
    assert styled[-1] == model.received[-1]


@dataclass
class Place:
    name: str


def test_strict_checkpoints_read_back_the_classes_that_are_named() -> None:
    kind, written = strict_serializer().dumps_typed(Place("Kell"))

    assert strict_serializer(Place).loads_typed((kind, written)) == Place("Kell")
    assert strict_serializer().loads_typed((kind, written)) != Place("Kell")


def test_what_is_no_class_cannot_be_named() -> None:
    named: Any = "Place"
    with pytest.raises(TypeError, match="expected classes of a state, got 'Place'"):
        strict_serializer(named)


class StumblingModel(OfflineModel):
    """Breaks down at one of its calls, once."""

    max_retries: int = 0
    calls: int = 0
    at: int = 2

    def _generate(self, *messages: Any, **options: Any) -> ChatResult:
        self.calls += 1
        if self.calls == self.at:
            raise ConnectionError("the line is dead")
        return super()._generate(*messages, **options)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_run_that_failed_goes_on_where_it_failed(name: str, sample_kb: KnowledgeBase) -> None:
    steady = METHODS[name].create(OfflineModel(), sample_kb).compile().invoke(SCHOOL, context=QUICK)
    model = StumblingModel(at=min(2, steady["usage"]["calls"]))
    stumbling: Any = METHODS[name].create(model, sample_kb).compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}

    with pytest.raises(ModelCallError, match="the line is dead"):
        stumbling.invoke(SCHOOL, thread, context=QUICK)
    resumed = stumbling.invoke(None, thread, context=QUICK)

    assert told(resumed) == told(steady)


def test_the_state_can_be_edited_after_every_step(builder: Any) -> None:
    graph, thread = builder.compile(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    graph.invoke(SCHOOL, thread, context=QUICK)

    for snapshot in list(graph.get_state_history(thread)):
        graph.update_state(snapshot.config, LATER)

        assert graph.get_state(thread).values["question"] == LATER["question"]


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_thread_shows_no_answer_of_before_after_a_question_that_failed(name: str, sample_kb: KnowledgeBase) -> None:
    model = StumblingModel(at=0)
    graph = METHODS[name].create(model, sample_kb).compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    graph.invoke(SCHOOL, thread, context=QUICK)
    model.at = model.calls + 1

    with pytest.raises(ModelCallError, match="the line is dead"):
        graph.invoke(LATER, thread, context=QUICK)

    left = graph.get_state(thread).values
    assert (left["question"], left["answer"], left["passages"]) == (LATER["question"], "", [])
    assert left.get("granularity", "none") == "none"


@pytest.mark.parametrize("name", parse_methods("ablations"))
async def test_no_model_is_asked_about_an_empty_knowledge_base(name: str, empty_kb: KnowledgeBase) -> None:
    model = StumblingModel(at=1)
    graph = create(name, model, empty_kb).compile()

    with pytest.raises(EmptyKnowledgeBaseError, match="is empty: add documents first"):
        await graph.ainvoke(SCHOOL)
    assert model.calls == 0


def test_checkpoints_hold_plain_json(builder: Any) -> None:
    graph, thread = builder.compile(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}

    graph.invoke(SCHOOL, thread, context=QUICK)

    for snapshot in graph.get_state_history(thread):
        assert json.loads(json.dumps(snapshot.values)) == snapshot.values


@dataclass(frozen=True, kw_only=True)
class OfAnAgent(Context):
    """Settings with some of the caller's own."""

    tags: list[str] = field(default_factory=list)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_caller_may_add_settings_of_any_kind(name: str, sample_kb: KnowledgeBase) -> None:
    graph: Any = METHODS[name].create(OfflineModel(), sample_kb).compile()

    assert told(graph.invoke(SCHOOL, context=OfAnAgent(max_steps=1))) == told(
        graph.invoke(SCHOOL, context=Context(max_steps=1))
    )


# --- inside other graphs ---------------------------------------------------------------------------------------------
class Desk(TypedDict):
    """A parent with keys of its own."""

    asked: str
    replies: Annotated[list[str], add]


@pytest.mark.parametrize("awaited", [False, True])
async def test_a_node_of_another_graph_can_call_it_with_mapped_keys(graph: Any, awaited: bool) -> None:
    def reply(state: Desk) -> dict[str, Any]:
        return {"replies": [graph.invoke({"question": state["asked"]}, context=QUICK)["answer"]]}

    async def areply(state: Desk) -> dict[str, Any]:
        result = await graph.ainvoke({"question": state["asked"]}, context=QUICK)
        return {"replies": [result["answer"]]}

    parent: Any = StateGraph(Desk)
    parent.add_node("reply", areply if awaited else reply)
    parent.add_edge(START, "reply")
    parent.add_edge("reply", END)
    asked = {"asked": SCHOOL["question"], "replies": ["hello"]}

    expected = ["hello", graph.invoke(SCHOOL, context=QUICK)["answer"]]
    assert await parent.compile().ainvoke(asked) == {"asked": SCHOOL["question"], "replies": expected}
    if not awaited:
        assert parent.compile().invoke(asked)["replies"] == expected


class Talk(TypedDict):
    """A parent that shares only the question and the answer."""

    question: str
    answer: str
    mood: str


class Bill(Talk):
    """A parent that also sums up costs."""

    usage: Annotated[Usage, add_usage]


def around(graph: Any, state: Any) -> Any:
    """Put a graph between two nodes of a parent; the second asks it anew."""
    parent: Any = StateGraph(state, context_schema=Context)
    parent.add_node("rag", graph)
    parent.add_node("ask_more", lambda _: dict(LATER, mood="curious"))
    parent.add_node("rag_again", graph)
    parent.add_edge(START, "rag")
    parent.add_edge("rag", "ask_more")
    parent.add_edge("ask_more", "rag_again")
    parent.add_edge("rag_again", END)
    return parent.compile(checkpointer=InMemorySaver())


async def test_it_can_be_added_as_a_node_that_shares_question_and_answer(graph: Any) -> None:
    parent = around(graph, Talk)
    threads = [{"configurable": {"thread_id": name}} for name in "ab"]
    asked = SCHOOL | {"mood": "calm"}

    expected = LATER | {"answer": graph.invoke(LATER, context=QUICK)["answer"], "mood": "curious"}
    assert parent.invoke(asked, threads[0], context=QUICK) == expected
    assert await parent.ainvoke(asked, threads[1], context=QUICK) == expected


def test_as_a_node_its_events_and_updates_can_be_streamed_from_the_parent(graph: Any) -> None:
    parent, thread = around(graph, Talk), {"configurable": {"thread_id": "1"}}

    chunks = list(parent.stream(SCHOOL, thread, context=QUICK, stream_mode=["custom", "updates"], subgraphs=True))

    assert {path[0].split(":")[0] for path, _, _ in chunks if path} == {"rag", "rag_again"}
    assert {chunk["node"] for _, mode, chunk in chunks if mode == "custom"} >= {"receive_question", "conclude"}


def test_a_parent_that_sums_usage_gets_each_run_once(graph: Any) -> None:
    parent, thread = around(graph, Bill), {"configurable": {"thread_id": "1"}}

    calls = parent.invoke(SCHOOL, thread, context=QUICK)["usage"]["calls"]

    assert calls == sum(graph.invoke(asked, context=QUICK)["usage"]["calls"] for asked in (SCHOOL, LATER))


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_name_in_place_of_a_model_is_refused_when_the_graph_is_built(name: str, sample_kb: KnowledgeBase) -> None:
    with pytest.raises(TypeError, match=r"expected a chat model, got 'offline': load_model\(NAME\) returns one"):
        METHODS[name].create("offline", sample_kb)


def test_a_method_by_name_takes_its_options_which_go_before_those_of_an_ablation(sample_kb: KnowledgeBase) -> None:
    read_online = create("cirag", OfflineModel(), sample_kb, triples="online")
    reranked = create("cirag/without-reranker", OfflineModel(), sample_kb, ranking="similarity")

    assert "extract_triples" in read_online.nodes
    assert reranked.step("construct") == create("cirag", OfflineModel(), sample_kb).step("construct")


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_path_in_place_of_a_knowledge_base_is_refused_when_the_graph_is_built(name: str) -> None:
    with pytest.raises(TypeError, match=r"expected a knowledge base, got 'kb': KnowledgeBase.open\(PATH\) returns one"):
        METHODS[name].create(OfflineModel(), "kb")


def test_a_question_under_another_name_is_asked_for_by_its_own(graph: Any) -> None:
    with pytest.raises(QuestionError, match=r"expected a question, \{'question': '\.\.\.'\}, got nothing by that name"):
        graph.invoke({"query": "Who died later?"})


async def test_what_two_passages_say_in_the_same_words_has_both_as_sources(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conclude, "emit", lambda *_, **__: None)
    said = {"title": "Quill Abbey", "text": "Quill Abbey stands in Pellworth."}
    kb.add([{**said, "id": "a"}, {**said, "id": "b"}], progress=False)
    evidence = [
        Evidence(step=1, triple=[], sentence=said["text"], passage_id=id_, title=said["title"])
        for id_ in ("a", "b", "a")
    ]

    found = await Conclude(kb)(
        {"question": "Where is it?", "answer": "Pellworth", "evidence": evidence, "first_retrieval": [], "trace": []}
    )

    assert [entry["passage_id"] for entry in found["evidence"]] == ["a", "b"]
