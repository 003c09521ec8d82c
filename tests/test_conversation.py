"""Graphs with messages as input and output, as chat user interfaces need them."""

import json
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, assert_type, get_type_hints

import pytest
from fakes import ScriptedModel, WritingModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy
from running import values
from typing_extensions import TypedDict

from langgraph_rag import (
    Context,
    KnowledgeBase,
    Result,
    create_cirag,
    create_native_rag,
    create_par_rag,
    strict_serializer,
    with_messages,
)
from langgraph_rag.conversation import Replied
from langgraph_rag.errors import BudgetReachedError, QuestionError, RequestRefusedError
from langgraph_rag.methods import METHODS, create, parse_methods
from langgraph_rag.narration import narrate
from langgraph_rag.nodes.node import Choice, Node
from langgraph_rag.nodes.receive_question import QuestionInput, ReceiveQuestion
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.prompts.conversation import RESTATE_QUESTION, Utterance

SCHOOL = "Did Nessa Palliver and Sunniva Lockhaven go to the same school?"
LATER = "Who died later, Ilse Tarrant or Tobin Grell?"
ASKED: Any = {"messages": [HumanMessage(SCHOOL)]}
THREAD: Any = {"configurable": {"thread_id": "1"}}


@pytest.fixture
def kb(read_kb: KnowledgeBase) -> KnowledgeBase:
    return read_kb


def saver() -> InMemorySaver:
    return InMemorySaver(serde=strict_serializer())


EACH = [  # an ablation runs through nodes of its method
    pytest.param(name, marks=() if name in METHODS else pytest.mark.slow) for name in parse_methods("ablations")
]


@pytest.mark.parametrize("name", EACH)
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


class Told(QuestionInput, Result):
    """The state of the graph below."""


@dataclass(frozen=True)
class Say:
    """Add a word to the answer."""

    word: str
    fails: list[int] = field(default_factory=list)

    async def __call__(self, state: Told) -> dict[str, Any]:
        if self.fails:
            raise ConnectionError(self.fails.pop())
        return {"answer": f"{state['answer']} {self.word}".strip()}


def always(choice: str) -> Choice:
    return Choice(lambda state: choice)


def of_all_kinds_of_edges(kb: KnowledgeBase, fails: list[int]) -> Any:
    graph = StateGraph(Told, context_schema=Context, input_schema=QuestionInput, output_schema=Result)
    graph.add_node("receive_question", Node(ReceiveQuestion(kb, Told)))
    graph.add_node("one", Node(Say("one", fails)), retry_policy=RetryPolicy(initial_interval=0.01))
    graph.add_node("two", Node(Say("two")))
    graph.add_conditional_edges(START, always("ask"), {"ask": "receive_question"})
    graph.add_edge(["receive_question"], "one")
    graph.add_edge(["one"], "two")
    graph.add_conditional_edges("two", always("end"), {"end": END})
    return graph


def test_edges_and_options_of_every_kind_are_taken_over(kb: KnowledgeBase) -> None:
    asked: Any = {"messages": [HumanMessage(SCHOOL)]}

    result = with_messages(of_all_kinds_of_edges(kb, fails=[1])).compile().invoke(asked)

    assert result["messages"][-1].text == "one two"
    assert "evidence" in result["messages"][-1].additional_kwargs


def test_options_of_all_nodes_together_are_taken_over(kb: KnowledgeBase) -> None:
    graph = of_all_kinds_of_edges(kb, fails=[1])
    graph.nodes["one"].retry_policy = None
    graph.set_node_defaults(retry_policy=RetryPolicy(initial_interval=0.01))

    assert with_messages(graph).compile().invoke({"messages": [HumanMessage(SCHOOL)]})["answer"] == "one two"


class OfItsOwn(TypedDict):
    draft: str


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda graph: graph.add_conditional_edges("two", always(END)),
            "edges that name the nodes they choose from",
        ),
        (
            lambda graph: graph.add_node("plain", lambda state: {}),
            "got plain as well: add it to the graph that this call returns",
        ),
        (lambda graph: graph.add_node("three", Node(Say("three")), input_schema=OfItsOwn), "got some that take draft"),
    ],
    ids=["edge", "function", "key"],
)
def test_what_cannot_be_taken_over_is_refused(change: Callable[[Any], Any], told: str, kb: KnowledgeBase) -> None:
    graph = of_all_kinds_of_edges(kb, fails=[])
    graph.branches["two"].clear()
    change(graph)

    with pytest.raises(ValueError, match=told):
        with_messages(graph)


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


def test_blocks_of_text_are_lines_of_the_question(sample_kb: KnowledgeBase) -> None:
    graph: Any = with_messages(create_cirag(OfflineModel(), sample_kb), OfflineModel()).compile()
    blocks: list[Any] = [{"type": "text", "text": text} for text in ("Whom did the director", "of Nine Tides marry?")]

    assert graph.invoke({"messages": [HumanMessage(blocks)]})["answer"] == "Corwen Ashlade"


TEXTLESS: Any = [{"type": "text"}, {"type": "image", "url": "https://a.b/c.png"}]


@pytest.mark.parametrize(
    ("messages", "got"),
    [
        ([], "none"),
        ([AIMessage("Hi")], "none"),
        ([HumanMessage("  ")], "'  '"),
        ([HumanMessage(TEXTLESS)], "text, image"),
    ],
)
def test_without_a_question_it_says_so(messages: list[Any], got: str, sample_kb: KnowledgeBase) -> None:
    graph: Any = with_messages(METHODS["native_rag"].create(OfflineModel(), sample_kb)).compile()

    with pytest.raises(QuestionError, match=f"expected .*, got {got}"):
        graph.invoke({"messages": messages})


class BreaksOff(WritingModel):
    """Breaks off in the middle of its first answers, for one reason after the other."""

    reasons: list[Exception]

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        written = 0
        async for chunk in super()._astream(*args, **kwargs):
            written += 1
            if written == 8 and self.reasons:
                raise self.reasons.pop(0)
            yield chunk


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (
            BudgetReachedError("deadline_s", 9.0),
            [
                "Kell, in",
                "This question cannot be answered: the deadline_s of the run around it was reached before the model "
                "replied.",
            ],
        ),
        (RequestRefusedError("Not today."), ["Kell, in", "Kell, in the hills of Norrland"]),
    ],
    ids=["budget", "retry"],
)
async def test_two_texts_are_two_messages_of_which_the_last_stays(
    reason: Exception, said: list[str], kb: KnowledgeBase
) -> None:
    model = BreaksOff(script=['{"answer": "Kell, in the hills of Norrland", "thought": ""}'] * 2, reasons=[reason])
    graph = with_messages(create_native_rag(model, kb))
    graph.set_node_defaults(retry_policy=RetryPolicy(initial_interval=0.01, retry_on=RequestRefusedError))
    talking: Any = graph.compile()

    streamed: dict[str, str] = {}
    state: Any = {}
    async for mode, part in talking.astream(ASKED, stream_mode=["messages", "values"]):
        if mode == "messages":
            streamed[part[0].id] = streamed.get(part[0].id, "") + part[0].text
        else:
            state = part

    assert [text.strip() for text in streamed.values()] == said
    assert [(message.id, message.text) for message in state["messages"][1:]] == list(streamed.items())[1:]


def test_a_question_that_is_asked_again_has_one_reply(sample_kb: KnowledgeBase) -> None:
    graph: Any = with_messages(create_native_rag(OfflineModel(), sample_kb)).compile(checkpointer=saver())
    asked = {"messages": [HumanMessage(SCHOOL, id="1")]}

    first, second = (graph.invoke(asked, THREAD)["messages"] for _ in range(2))

    assert [message.text for message in first] == [message.text for message in second] == [SCHOOL, "yes"]


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


# --- follow-up questions ---------------------------------------------------------------------------------------------
FIRST = "In which town was the engineer who designed the Sarl Viaduct born?"


def a_conversation(*texts: str) -> dict[str, Any]:
    return {"messages": [(HumanMessage, AIMessage)[place % 2](text) for place, text in enumerate(texts)]}


def test_a_follow_up_is_answered_as_the_question_that_it_means(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of(['{"question": "Where was Orla Vint born?"}', '{"thought": "", "answer": "Skellby"}'])
    graph: Any = with_messages(create_native_rag(model, kb), model).compile()
    asked = a_conversation("Who painted Out of the Harbour?", "Orla Vint", "And where was she born?")

    events = []
    for mode, chunk in graph.stream(asked, stream_mode=["custom", "values"]):
        if mode == "custom":
            events.append(chunk)
        else:
            result = chunk

    conversation = values(model, "restate_question")[0]["conversation"]
    assert [entry["speaker"] for entry in conversation] == ["Person", "Assistant"]
    assert values(model, "answer_from_passages")[0]["question"] == "Where was Orla Vint born?"
    assert [message.text for message in result["messages"][-2:]] == ["And where was she born?", "Skellby"]
    assert result["usage"]["calls"] == 2
    assert next(event for event in events if event["node"] == "retrieve")["query"] == "Where was Orla Vint born?"
    restated = next(event for event in events if event["node"] == "restate_question")
    assert (restated["asked"], restated["question"]) == ("And where was she born?", "Where was Orla Vint born?")


def test_a_follow_up_may_be_put_to_a_method_without_a_query(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of(['{"question": "Where was Orla Vint born?"}'])
    graph: Any = with_messages(of_all_kinds_of_edges(kb, []), model).compile()

    result = graph.invoke(a_conversation("Who painted Out of the Harbour?", "Orla Vint", "And where was she born?"))

    assert result["messages"][-1].text == "one two"
    assert model.prompts() == ["restate_question"]


def test_a_first_question_costs_no_call_of_its_own(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of(['{"thought": "", "answer": "Skellby"}'])

    graph: Any = with_messages(create_native_rag(model, kb), model).compile()
    result = graph.invoke(a_conversation("Where is it?"))

    assert result["usage"]["calls"] == 1


@pytest.mark.parametrize(("answer", "answered"), [("Skellby", True), ("unanswerable", False)])
def test_a_page_can_tell_an_answer_from_none(kb: KnowledgeBase, answer: str, answered: bool) -> None:
    model = ScriptedModel.of([json.dumps({"thought": "", "answer": answer})])

    graph: Any = with_messages(create_native_rag(model, kb)).compile()
    result = graph.invoke(a_conversation("Where is it?"))

    assert result["messages"][-1].additional_kwargs["answered"] is answered


def test_a_graph_with_messages_takes_no_second_ones(kb: KnowledgeBase) -> None:
    graph = with_messages(create_native_rag(OfflineModel(), kb))

    with pytest.raises(ValueError, match="with_messages was called already"):
        with_messages(graph)


@pytest.mark.parametrize(
    "reply",
    ['{"question": ""}', '{"question": "  "}', '{"question": "N/A"}', f'{{"question": "{"Who? " * 1000}"}}'],
)
def test_a_follow_up_that_is_not_restated_is_asked_as_it_stands(kb: KnowledgeBase, reply: str) -> None:
    model = ScriptedModel.of([reply, '{"thought": "", "answer": "Skellby"}'])

    graph: Any = with_messages(create_native_rag(model, kb), model).compile()
    graph.invoke(a_conversation("Who?", "Orla Vint", "Where was she born?"))

    assert values(model, "answer_from_passages")[0]["question"] == "Where was she born?"


def test_of_a_message_that_is_too_long_for_a_question_only_the_beginning_is_shown(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of(['{"question": "Where\\n was she born?"}', '{"thought": "", "answer": "Skellby"}'])

    graph: Any = with_messages(create_native_rag(model, kb), model).compile()
    graph.invoke(a_conversation("Who? " * 100, "Orla Vint", "And?"), context=Context(max_question_chars=100))

    said = values(model, "restate_question")[0]["conversation"]
    assert [entry["text"] for entry in said] == ["Who? " * 20, "Orla Vint"]
    assert values(model, "answer_from_passages")[0]["question"] == "Where was she born?"


def test_a_spent_budget_leaves_the_follow_up_as_it_stands(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of(['{"thought": "", "answer": "Skellby"}'])
    graph: Any = with_messages(create_native_rag(model, kb), model).compile()

    asked = a_conversation("Who?", "Orla Vint", "Where?")
    *events, (_, result) = graph.stream(asked, context=Context(max_model_calls=1), stream_mode=["custom", "values"])

    assert (result["answer"], result["usage"]["stopped_by"]) == ("Skellby", "max_model_calls")
    lines = [narrate(event) for mode, event in events if mode == "custom"]
    assert "Taken as it stands: what was said before could not be looked at" in lines


@pytest.mark.parametrize("name", METHODS)
def test_every_method_answers_a_follow_up(name: str, sample_kb: KnowledgeBase) -> None:
    llm = OfflineModel()
    graph: Any = with_messages(create(name, llm, sample_kb), llm).compile(checkpointer=saver())

    graph.invoke(a_conversation("Who directed Nine Tides?"), THREAD)
    result = graph.invoke(a_conversation("And whom did she marry?"), THREAD)

    assert (graph.get_state(THREAD).values["question"], result["answer"]) == (
        "Whom did Ilse Tarrant marry?",
        "Corwen Ashlade",
    )


@pytest.mark.parametrize("name", METHODS)
def test_every_method_answers_a_question_in_small_letters(name: str, sample_kb: KnowledgeBase) -> None:
    graph: Any = create(name, OfflineModel(), sample_kb).compile()

    assert graph.invoke({"question": "who directed nine tides"})["answer"] == "Ilse Tarrant"


@pytest.mark.parametrize(
    ("turns", "question", "restated"),
    [
        (["Where was Ada Renk born?", "Kell"], "And Orla Vint?", "Where was Orla Vint born?"),
        (["And where was she born?", "Kell"], "What about Orla Vint?", "where was Orla Vint born?"),
        (["Who is older, Ada Renk or Karl Senn?", "Karl Senn"], "And Orla Vint?", "And Orla Vint?"),
        (["Where was Ada Renk born?", "Kell"], "Orla Vint?", "Where was Orla Vint born?"),
        (["Who built Ost Mill?", "Ada Renk"], "And where was she born?", "Where was Ada Renk born?"),
        (["Who built Ost Mill?", "Ada Renk"], "When was it built?", "When was Ost Mill built?"),
        (["Who built Ost Mill?", "Ada Renk"], "Who was her mother?", "Who was Ada Renk's mother?"),
        (["When was Ada Renk born?", "1901"], "Who taught her?", "Who taught Ada Renk?"),
        (["Where is Ost Mill?", "Hale"], "Which river flows past it?", "Which river flows past Hale?"),
        (["Where was the wife of Karl Senn born?", "Hale"], "When did she die?", "When did she die?"),
        (["Who built Ost Mill?", "unknown"], "Where was he born?", "Where was he born?"),
        (["Who came in 2023?", "Ada Renk"], "Where does it take place?", "Where does it take place?"),
        (["When was the Kell Fair held?", "1901"], "Who won it in 2023?", "Who won Kell Fair in 2023?"),
        (["Who built Ost Mill?", "Ada Renk"], "Did Karl Senn know his wife?", "Did Karl Senn know his wife?"),
        (["Who built Ost Mill?", "Ada Renk"], "Who built Hale Bridge?", "Who built Hale Bridge?"),
        (["Who built Ost Mill?", "Ada Renk"], "When did she build it?", "When did Ada Renk build Ost Mill?"),
        (["Who built Ost Mill?", "Ada Renk"], "Did she marry him?", "Did Ada Renk marry him?"),
        (["Who taught Ada Renk?", "Eva Lund"], "When did she meet her?", "When did Eva Lund meet Ada Renk?"),
        (["Who runs Ost Ltd?", "Ada Renk and Karl Senn"], "How did they meet?", "How did Ada Renk and Karl Senn meet?"),
        (["Whom did Ada Renk marry?", "Karl Senn"], "When did they part?", "When did Ada Renk and Karl Senn part?"),
        (["Did Ada Renk know Eva Lund?", "yes"], "Which of them is older?", "Which of Ada Renk and Eva Lund is older?"),
        (["Who built Ost Mill?", "Ada Renk"], "Which of them is older?", "Which of them is older?"),
    ],
)
def test_the_offline_model_puts_names_for_pronouns(turns: list[str], question: str, restated: str) -> None:
    assert said_again(turns, question)["question"] == restated


@pytest.mark.parametrize(
    ("turns", "question", "others"),
    [
        (["Where is Ost Mill?", "Hale"], "Which river flows past it?", ["Ost Mill"]),
        (["Which river flows past Hale?", "Orm"], "How long is it?", ["Hale"]),
        (["Who built Ost Mill?", "Ada Renk"], "When was it built?", []),
        (["When was Ada Renk born?", "1901"], "Who taught her?", []),
        (["Who taught Ada Renk?", "Eva Lund"], "Where did she live?", ["Ada Renk"]),
        (["Who was Ada Renk's mother?", "Eva Lund"], "Where was she born?", ["Ada Renk"]),
        (["Who is older, Ada Renk or Karl Senn?", "Karl Senn"], "Where was he born?", ["Ada Renk"]),
        (["Did Ada Renk know Eva Lund?", "yes"], "Where was she born?", ["Eva Lund"]),
        (["Is Ost Mill older than Hale Bridge?", "no"], "Who built it?", ["Hale Bridge"]),
        (["Who killed Karl Senn?", "Jon Vale"], "When did he die?", ["Karl Senn"]),
        (["Who runs Ost Ltd?", "Ada Renk"], "When did they move?", ["Ada Renk"]),
    ],
)
def test_the_offline_model_tells_what_a_pronoun_may_mean_besides(
    turns: list[str], question: str, others: list[str]
) -> None:
    assert said_again(turns, question)["others"] == others


def said_again(turns: list[str], question: str) -> dict[str, Any]:
    speakers = ["Person", "Assistant"]
    conversation = [Utterance(speaker=speaker, text=text) for speaker, text in zip(speakers, turns, strict=True)]
    reply = OfflineModel().invoke(RESTATE_QUESTION.render(conversation=conversation, question=question))
    said: dict[str, Any] = json.loads(reply.text)
    return said


@pytest.mark.parametrize(
    ("others", "told"),
    [
        (["Ada Moss"], " (or is it about Ada Moss?)"),
        (["Ada Moss", "ada moss", "Ada Moss", "Nobody", ""], " (or is it about Ada Moss or ada moss?)"),
        ([], ""),
    ],
)
def test_what_a_pronoun_may_mean_besides_is_told(kb: KnowledgeBase, others: list[str], told: str) -> None:
    restated = json.dumps({"question": "Where was Orla Vint born?", "others": others})
    model = ScriptedModel.of([restated, '{"thought": "", "answer": "Pellworth"}'])
    graph: Any = with_messages(create_native_rag(model, kb), model).compile()
    said = a_conversation("Who taught Ada Moss?", "Orla Vint", "And where was she born?")

    events = [event for event in graph.stream(said, stream_mode="custom") if event["node"] == "restate_question"]

    assert [narrate(event) for event in events] == [f"Understood as: Where was Orla Vint born?{told}"]


def test_nodes_after_waiting_edges_begin_once_the_question_is_restated(kb: KnowledgeBase) -> None:
    graph = with_messages(of_all_kinds_of_edges(kb, fails=[]), OfflineModel()).compile()

    nodes = [node for update in graph.stream({"messages": [HumanMessage(SCHOOL)]}) for node in update]

    assert nodes == ["take_message", "receive_question", "restate_question", "one", "two", "reply"]


def test_a_graph_that_receives_no_question_cannot_restate_one(kb: KnowledgeBase) -> None:
    graph = StateGraph(Told, context_schema=Context, input_schema=QuestionInput, output_schema=Result)
    graph.add_node("one", Node(Say("one")))
    graph.add_edge(START, "one")
    graph.add_edge("one", END)

    with pytest.raises(ValueError, match="expected a graph with a node receive_question"):
        with_messages(graph, OfflineModel())
