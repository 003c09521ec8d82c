"""Methods and the knowledge base as tools: what a model reads, what a program gets, and what is streamed."""

import asyncio
import re
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import Field
from typing_extensions import TypedDict

from langgraph_rag import (
    Context,
    KnowledgeBase,
    as_tool,
    create_cirag,
    create_native_rag,
    create_par_rag,
    knowledge_base_tools,
)
from langgraph_rag.machine import Machine
from langgraph_rag.methods import METHODS
from langgraph_rag.nodes.receive_question import QuestionInput
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.records import Evidence, Result, no_usage

SCHOOL = "Did Nessa Palliver and Sunniva Lockhaven go to the same school?"
LATER = "Who died later, Ilse Tarrant or Tobin Grell?"


@pytest.fixture
def kb(read_kb: KnowledgeBase) -> KnowledgeBase:
    return read_kb


class CallingModel(BaseChatModel):
    """Calls tools as its script says, all of one entry at once, then says that it is done."""

    script: list[list[tuple[str, dict[str, Any]]]] = Field(default_factory=list)
    offered: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "calling"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        self.offered = [tool.name for tool in tools]
        return self

    def _generate(self, messages: Any, *rest: Any, **options: Any) -> ChatResult:
        turn = sum(isinstance(message, AIMessage) for message in messages)
        calls = self.script[turn] if turn < len(self.script) else []
        reply = AIMessage(
            "" if calls else "done",
            tool_calls=[{"name": name, "args": args, "id": f"{turn}-{n}"} for n, (name, args) in enumerate(calls)],
        )
        return ChatResult(generations=[ChatGeneration(message=reply)])


def told(result: dict[str, Any]) -> list[ToolMessage]:
    return [message for message in result["messages"] if isinstance(message, ToolMessage)]


def agent(kb: KnowledgeBase, *script: list[tuple[str, dict[str, Any]]], **options: Any) -> Any:
    rag = as_tool(create_cirag(OfflineModel(), kb).compile(), context=Context(max_steps=2))
    model = CallingModel(script=list(script))
    return create_agent(model, [rag, *knowledge_base_tools(kb)], **options)


@dataclass(frozen=True, kw_only=True)
class Guesses(Context):
    """Settings of a method that has one of its own."""

    guesses: int = 1


class Guessed(QuestionInput, Result):
    """What its only node fills."""


def guessing() -> Any:
    def guess(_: Guessed, runtime: Runtime[Guesses]) -> dict[str, Any]:
        evidence = [
            Evidence(triple=[], sentence="Kell " * 1_000, passage_id=str(n), title="", step=1)
            for n in range(runtime.context.guesses)
        ]
        return {"answer": "yes", "evidence": evidence, "passages": [], "trace": [], "usage": no_usage()}

    graph: Any = Machine(Guessed, context_schema=Guesses, input_schema=QuestionInput, output_schema=Result)
    graph.add_node("guess", guess)
    graph.add_edge(START, "guess")
    graph.add_edge("guess", END)
    return graph.compile()


# --- a method as a tool ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", sorted(METHODS))
async def test_every_method_can_be_a_tool(name: str, sample_kb: KnowledgeBase) -> None:
    graph = METHODS[name].create(OfflineModel(), sample_kb).compile()
    tool = as_tool(graph, name="ask", description="Ask.")
    call = {"type": "tool_call", "name": "ask", "args": {"question": SCHOOL}, "id": "1"}

    awaited, at_once = await tool.ainvoke(call), await asyncio.to_thread(tool.invoke, call)

    assert (tool.name, tool.description, list(tool.args)) == ("ask", "Ask.", ["question"])
    assert awaited.content == at_once.content
    assert awaited.content.startswith(f"Answer: {awaited.artifact['answer']}\n[1] ")
    assert set(awaited.artifact) >= {"answer", "supported", "evidence", "passages", "trace", "usage"}


def test_what_the_documents_do_not_say_is_told_as_that(kb: KnowledgeBase) -> None:
    tool = as_tool(create_native_rag(OfflineModel(), kb).compile())
    call = {"type": "tool_call", "name": "answer_question", "args": {"question": "What is love?"}, "id": "1"}

    assert tool.invoke(call).content == "The documents do not answer this question."


def test_what_a_limit_left_unread_is_not_told_as_missing(kb: KnowledgeBase) -> None:
    tool = as_tool(create_native_rag(OfflineModel(), kb).compile(), context=Context(max_tokens=1))
    call = {"type": "tool_call", "name": "answer_question", "args": {"question": "What is love?"}, "id": "1"}

    assert "before the limit max_tokens was reached" in tool.invoke(call).content


def test_an_answer_that_a_limit_cut_short_is_told_as_that(sample_kb: KnowledgeBase) -> None:
    tool = as_tool(create_par_rag(OfflineModel(), sample_kb).compile(), context={"max_tokens": 2_000})
    call = {"type": "tool_call", "name": "answer_question", "args": {"question": SCHOOL}, "id": "1"}

    answer, limit, *_ = tool.invoke(call).content.splitlines()

    assert answer.startswith("Answer: ")
    assert limit == "The limit max_tokens ended the search before it was complete: the answer may be wrong."


def test_a_model_reads_the_beginning_of_long_sentences_and_of_many() -> None:
    tool = as_tool(guessing(), context={"guesses": 30, "top_k": 3})
    call = {"type": "tool_call", "name": "answer_question", "args": {"question": SCHOOL}, "id": "1"}

    message = tool.invoke(call)

    answer, *sentences, others = message.content.splitlines()
    assert (answer, len(sentences), others) == ("Answer: yes", 20, "(20 of 30 sentences)")
    assert sentences[0].endswith(" ... (4,000 more characters)")
    assert len(message.artifact["evidence"]) == 30


def test_a_setting_that_a_method_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="there is no setting guess, but .*guesses, "):
        as_tool(guessing(), context={"guess": 3})


def test_an_agent_reads_the_answer_and_keeps_the_evidence(sample_kb: KnowledgeBase) -> None:
    result = agent(sample_kb, [("answer_question", {"question": SCHOOL})]).invoke({"messages": [HumanMessage("?")]})

    (message,) = told(result)
    assert message.text.startswith("Answer: yes\n[1] ")
    assert {entry["title"] for entry in message.artifact["evidence"]} == {"Nessa Palliver", "Sunniva Lockhaven"}


async def test_a_refused_question_is_told_to_the_model(kb: KnowledgeBase) -> None:
    result = await agent(kb, [("answer_question", {"question": "  "})]).ainvoke({"messages": [HumanMessage("?")]})

    (message,) = told(result)
    assert (message.status, message.text) == ("error", "expected a question as a non-empty string, got '  '")
    assert result["messages"][-1].text == "done"


async def test_what_happens_inside_reaches_whoever_streams_the_agent(sample_kb: KnowledgeBase) -> None:
    asked = {"messages": [HumanMessage("?")]}
    parts = agent(sample_kb, [("answer_question", {"question": SCHOOL})]).astream(
        asked, stream_mode=["custom", "messages"], subgraphs=True
    )

    events, tokens = [], []
    async for path, mode, chunk in parts:
        if mode == "custom":
            assert path[0].startswith("tools:")
            events.append(chunk["node"])
        elif path:
            tokens.append(chunk[0].text)
    assert (events[0], events[-1]) == ("receive_question", "conclude")
    assert "".join(tokens) == "yes"


async def test_questions_called_for_at_once_do_not_mix(sample_kb: KnowledgeBase) -> None:
    calls = [("answer_question", {"question": question}) for question in (SCHOOL, LATER)]
    asking = agent(sample_kb, calls, calls, checkpointer=InMemorySaver())
    asked = {"messages": [HumanMessage("?")]}

    awaited = await asking.ainvoke(asked, {"configurable": {"thread_id": "1"}})
    at_once = asking.invoke(asked, {"configurable": {"thread_id": "2"}})

    for result in (awaited, at_once):
        assert [message.artifact["answer"] for message in told(result)] == ["yes", "Ilse Tarrant"] * 2


def test_a_graph_that_stops_for_a_person_stops_the_agent_which_goes_on_with_the_reply(sample_kb: KnowledgeBase) -> None:
    rag = as_tool(create_par_rag(OfflineModel(), sample_kb, approve_plan=True).compile())
    model = CallingModel(script=[[("answer_question", {"question": SCHOOL})]])
    asking: Any = create_agent(model, [rag], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}

    stopped = asking.invoke({"messages": [HumanMessage("?")]}, thread)
    result = asking.invoke(Command(resume=True), thread)

    assert stopped["__interrupt__"][0].value["question"] == SCHOOL
    assert told(result)[0].artifact["answer"] == "yes"


def test_a_rejected_plan_is_told_as_that(sample_kb: KnowledgeBase) -> None:
    rag = as_tool(create_par_rag(OfflineModel(), sample_kb, approve_plan=True).compile())
    model = CallingModel(script=[[("answer_question", {"question": SCHOOL})]])
    asking: Any = create_agent(model, [rag], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    asking.invoke({"messages": [HumanMessage("?")]}, thread)

    assert told(asking.invoke(Command(resume=False), thread))[0].text == "No answer: the plan was rejected."


def asked_once(kb: KnowledgeBase, **options: Any) -> Any:
    """Return an agent whose tool was given no settings."""
    model = CallingModel(script=[[("answer_question", {"question": SCHOOL})]])
    return create_agent(model, [as_tool(create_cirag(OfflineModel(), kb).compile())], **options)


def test_an_agents_recursion_limit_does_not_end_the_method(sample_kb: KnowledgeBase) -> None:
    (message,) = told(asked_once(sample_kb).invoke({"messages": [HumanMessage("?")]}, {"recursion_limit": 6}))

    assert message.artifact["answer"] == "yes"


async def test_the_settings_of_the_agents_run_are_those_of_a_tool_without_its_own(sample_kb: KnowledgeBase) -> None:
    asking, asked = asked_once(sample_kb, context_schema=Context), {"messages": [HumanMessage("?")]}

    awaited = await asking.ainvoke(asked, context=Context(max_model_calls=1))
    at_once = asking.invoke(asked, context=Context(max_model_calls=1))
    unlimited = asking.invoke(asked)

    stopped_by = [told(result)[0].artifact["usage"]["stopped_by"] for result in (awaited, at_once, unlimited)]
    assert stopped_by == ["max_model_calls", "max_model_calls", ""]


class Mood(TypedDict):
    """Settings of an agent that are none of ours."""

    mood: str


async def test_a_tools_own_settings_keep_within_the_limits_of_the_agents_run(sample_kb: KnowledgeBase) -> None:
    tool = as_tool(create_cirag(OfflineModel(), sample_kb).compile(), context={"max_model_calls": 3, "max_steps": 2})
    model = CallingModel(script=[[("answer_question", {"question": SCHOOL})]])
    asking: Any = create_agent(model, [tool], context_schema=Context)

    calls = [
        told(asking.invoke({"messages": [HumanMessage("?")]}, context=context))[0].artifact["usage"]["calls"]
        for context in (None, Context(max_model_calls=1), Context(max_model_calls=9))
    ]

    awaited = await asking.ainvoke({"messages": [HumanMessage("?")]}, context=Context(max_model_calls=1))

    assert calls == [2, 1, 2]
    assert told(awaited)[0].artifact["usage"]["calls"] == 1


def test_an_agents_own_settings_are_not_taken_for_ours(sample_kb: KnowledgeBase) -> None:
    asking = asked_once(sample_kb, context_schema=Mood)

    (message,) = told(asking.invoke({"messages": [HumanMessage("?")]}, context={"mood": "calm"}))

    assert message.artifact["answer"] == "yes"


def test_settings_as_a_dict_count_in_an_agent_that_knows_none(sample_kb: KnowledgeBase) -> None:
    asking: Any = asked_once(sample_kb)

    (message,) = told(asking.invoke({"messages": [HumanMessage("?")]}, context={"max_model_calls": 1}))

    assert message.artifact["usage"]["calls"] == 1


def test_and_so_do_those_among_the_agents_own(sample_kb: KnowledgeBase) -> None:
    asking: Any = asked_once(sample_kb)

    (message,) = told(asking.invoke({"messages": [HumanMessage("?")]}, context={"max_model_calls": 1, "mood": "calm"}))

    assert message.artifact["usage"]["calls"] == 1


def test_a_setting_that_cannot_be_is_refused_and_one_of_the_agents_by_its_name_told(
    sample_kb: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    asking: Any = asked_once(sample_kb)

    with pytest.raises(ValueError, match="max_model_calls"):
        asking.invoke({"messages": [HumanMessage("?")]}, context={"max_model_calls": "1"})
    mixed = {"search": "the web", "mood": "calm", "max_model_calls": 1}
    (message,) = told(asking.invoke({"messages": [HumanMessage("?")]}, context=mixed))

    assert "a setting in this run's context does not count for the method: search must be one of" in caplog.text
    assert message.artifact["usage"]["calls"] == 1


def test_a_tool_leaves_the_checkpointer_of_its_graph_aside(kb: KnowledgeBase) -> None:
    graph = create_native_rag(OfflineModel(), kb).compile(checkpointer=InMemorySaver())

    assert as_tool(graph).invoke({"question": "Who directed The Salt Road?"}).startswith("Answer: Orla Vint")


# --- the knowledge base as tools -------------------------------------------------------------------------------------
async def call(kb: KnowledgeBase, name: str, **args: Any) -> Any:
    (tool,) = [tool for tool in knowledge_base_tools(kb) if tool.name == name]
    request = {"type": "tool_call", "name": name, "args": args, "id": "1"}
    awaited, at_once = await tool.ainvoke(request), await asyncio.to_thread(tool.invoke, request)
    assert awaited.content == at_once.content
    return awaited


async def test_passages_are_searched(kb: KnowledgeBase) -> None:
    found = await call(kb, "search_passages", query="harbour town founded", k=1)

    assert (
        found.content == "Pellworth (pellworth)\nPellworth is a harbour town in Norland. The town was founded in 1644."
    )
    (passage,) = found.artifact
    assert (passage["id"], passage["source"]) == ("pellworth", "gazetteer.txt")


async def test_of_a_long_passage_the_beginning_is_shown(empty_kb: KnowledgeBase) -> None:
    text = "Gulls nest in Skellby. " * 1_000
    empty_kb.add([{"id": "gulls", "text": text}], progress=False)

    found = await call(empty_kb, "search_passages", query="gulls")

    assert found.content.endswith(" ... (18,999 more characters)")
    assert len(found.content) < 4_100
    assert found.artifact[0]["text"] == text.strip()


async def test_triples_are_searched(kb: KnowledgeBase) -> None:
    found = await call(kb, "search_triples", query="Casper Holm produced Winter Tide", k=2)

    assert "Casper Holm | produced | Winter Tide" in found.content.splitlines()
    assert len(found.artifact) == len(found.content.splitlines()) == 2
    assert all(entry["sources"] for entry in found.artifact)


@pytest.mark.parametrize("entity", ["Pellworth", "pellworth!", "the old town of Pellworth"])
async def test_neighbours_of_an_entity_are_the_facts_that_name_it(entity: str, kb: KnowledgeBase) -> None:
    found = await call(kb, "neighbours", entity=entity)

    assert found.artifact
    assert all("Pellworth" in (fact[0], fact[2]) for fact in found.artifact)


async def test_facts_that_two_names_share_are_listed_once(kb: KnowledgeBase) -> None:
    found = await call(kb, "neighbours", entity="Casper Holm and Winter Tide")

    assert found.artifact.count(["Casper Holm", "produced", "Winter Tide"]) == 1


async def test_of_many_facts_the_first_are_listed_and_the_others_counted(kb: KnowledgeBase) -> None:
    found = await call(kb, "neighbours", entity="Pellworth", k=1)

    assert found.content == "Pellworth | is harbour town in | Norland\n(1 of 5 facts)"
    assert found.artifact == [["Pellworth", "is harbour town in", "Norland"]]


async def test_passages_near_entities_are_found_by_pagerank(kb: KnowledgeBase) -> None:
    found = await call(kb, "passages_near", entities=["Ines Barrow", "Skellby"], k=2)

    assert {passage["id"] for passage in found.artifact} <= {"barrow", "skellby", "winter-tide"}
    assert len(found.artifact) == 2


@pytest.mark.parametrize(
    ("name", "args"), [("neighbours", {"entity": "Xyx"}), ("passages_near", {"entities": ["Xyx"]})]
)
async def test_what_is_not_there_is_told(name: str, args: dict[str, Any], kb: KnowledgeBase) -> None:
    found = await call(kb, name, **args)

    assert (found.content, found.artifact) == ("Nothing was found.", [])


async def test_a_query_that_is_no_text_is_told_to_the_model(kb: KnowledgeBase) -> None:
    found = await call(kb, "search_passages", query="half of \ud83d")

    assert found.content.startswith("the query must be text, got 'half of")


@pytest.mark.parametrize("given", ["  ", "\u200b", "Kell " * 1_000])
@pytest.mark.parametrize(
    ("name", "argument"), [("search_passages", "query"), ("neighbours", "entity"), ("passages_near", "entities")]
)
async def test_an_empty_or_endless_query_is_told_to_the_model(
    name: str, argument: str, given: str, kb: KnowledgeBase
) -> None:
    found = await call(kb, name, **{argument: ["Kell", given] if argument == "entities" else given})

    got = f"{given!r:.80} ({len(given):,} characters)"
    expected = f"{argument}: expected words, at most 4,000 characters, got {got}"
    assert (found.status, found.content) == ("error", expected)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        *[("search_passages", {"query": "anything"}), ("search_triples", {"query": "anything"})],
        *[("neighbours", {"entity": "Kell"}), ("passages_near", {"entities": ["Kell"]})],
    ],
)
async def test_an_empty_knowledge_base_is_told_to_the_model(
    name: str, asked: dict[str, Any], empty_kb: KnowledgeBase
) -> None:
    found = await call(empty_kb, name, **asked)

    assert found.status == "error"
    assert "is empty: add documents first" in found.content


@pytest.mark.parametrize("name", ["", "has space", "größe", "x" * 65])
def test_a_name_that_servers_would_refuse_is_refused(name: str, kb: KnowledgeBase) -> None:
    wanted = re.escape(f"expected a tool's name of 1 to 64 letters (a to z), digits, - and _, got {name!r}")
    with pytest.raises(ValueError, match=wanted):
        as_tool(create_native_rag(OfflineModel(), kb).compile(), name=name)


def test_an_agent_is_offered_all_tools(kb: KnowledgeBase) -> None:
    model = CallingModel()
    create_agent(model, knowledge_base_tools(kb)).invoke({"messages": [HumanMessage("?")]})

    assert model.offered == ["search_passages", "search_triples", "neighbours", "passages_near"]
    assert all(tool.description and tool.args for tool in knowledge_base_tools(kb))


def test_the_tools_of_several_knowledge_bases_are_told_apart(kb: KnowledgeBase, sample_kb: KnowledgeBase) -> None:
    tools = [
        *knowledge_base_tools(kb, prefix="films_", about="films and their makers"),
        *knowledge_base_tools(sample_kb, prefix="island_"),
    ]
    calls: list[Any] = [
        ("films_search_passages", {"query": "harbour town", "k": 1}),
        ("island_neighbours", {"entity": "Anstrey"}),
    ]
    searching: Any = create_agent(CallingModel(script=[calls]), tools)

    found, facts = told(searching.invoke({"messages": [HumanMessage("?")]}))

    assert found.artifact[0]["id"] == "pellworth"
    assert "Anstrey" in facts.text
    assert tools[0].description.endswith(" best. The documents are about films and their makers.")
