"""LangGraph's `messages` mode streams the tokens of the answer, and nothing else."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from fakes import ScriptedModel, WritingModel
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import BaseDocumentCompressor
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from langgraph_rag import KnowledgeBase, create_cirag, create_dualrag, create_native_rag, with_messages
from langgraph_rag.llm import ask
from langgraph_rag.methods import METHODS
from langgraph_rag.models import streaming
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.prompts.answering import ANSWER_FROM_PASSAGES

QUESTION = {"question": "Who directed The Salt Road?"}
LATE = {"answer": "Orla Vint, who made it", "thought": ""}
FACT = '["Orla Vint", "directed", "The Salt Road"]'


@pytest.fixture
def kb(read_kb: KnowledgeBase) -> KnowledgeBase:
    return read_kb


def answering(*replies: str) -> Any:
    return WritingModel.of(list(replies))


def reply(answer: str, thought: str = "So it says.") -> str:
    return json.dumps({"thought": thought, "answer": answer})


async def tokens(graph: Any, asked: Any = QUESTION, **options: Any) -> list[tuple[str | None, str]]:
    """Return the id and text of each piece streamed, once asked for in each of the two ways."""
    awaited = [part async for part in graph.astream(asked, stream_mode="messages", **options)]
    return [(message.id, message.text) for message, _ in awaited]


def texts(pieces: list[tuple[str | None, str]]) -> list[str]:
    """Return the text of each message, joined."""
    joined: dict[str | None, str] = {}
    for id_, text in pieces:
        joined[id_] = joined.get(id_, "") + text
    return list(joined.values())


# --- the answer ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", sorted(METHODS))
async def test_every_method_streams_its_answer_and_nothing_else(name: str, sample_kb: KnowledgeBase) -> None:
    graph: Any = METHODS[name].create(OfflineModel(), sample_kb).compile()
    for question in (
        "Did Nessa Palliver and Sunniva Lockhaven go to the same school?",
        "In which year was the university founded at which Alys Wendover taught?",
    ):
        asked = {"question": question}

        awaited = await tokens(graph, asked)
        streamed = list(graph.stream(asked, stream_mode=["messages", "values"]))
        at_once = [(told[0].id, told[0].text) for mode, told in streamed if mode == "messages"]

        assert texts(awaited) == texts(at_once) == [streamed[-1][1]["answer"]]


@pytest.mark.parametrize("tag", ["nostream", "mine"])
async def test_langgraphs_tag_leaves_a_graph_out_of_the_stream(tag: str, kb: KnowledgeBase) -> None:
    graph = create_native_rag(answering(reply("Pellworth")), kb).compile().with_config(tags=[tag])
    parent: Any = StateGraph(Talk).add_node("rag", graph).add_edge(START, "rag").compile()

    streamed = [part async for part in parent.astream(QUESTION, stream_mode="messages", subgraphs=True)]
    assert bool(streamed) == (tag == "mine")


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
@pytest.mark.parametrize("name", sorted(METHODS))
async def test_v3_events_have_the_answer_as_one_message(name: str, sample_kb: KnowledgeBase) -> None:
    builder: Any = METHODS[name].create(OfflineModel(), sample_kb)
    asked = {"question": "Whom did the director of Nine Tides marry?"}
    in_messages: Any = {"messages": [HumanMessage(asked["question"])]}

    alone = builder.compile().stream_events(asked, version="v3").messages
    talking = with_messages(builder, OfflineModel()).compile().stream_events(in_messages, version="v3").messages

    assert [str(message.text) for message in alone] == ["Corwen Ashlade"]
    assert [str(message.text) for message in talking] == ["Corwen Ashlade"]


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        (reply("Orla Vint, the director of Winter Light"), "Orla Vint, the director of Winter Light"),
        (reply('A "salt" {road}\nwith é, ü and \\'), 'A "salt" {road}\nwith é, ü and \\'),
        (reply("Orla Vint", thought='Not "answer": "Casper Holm", but \\ {"answer": "Ines"}.'), "Orla Vint"),
        (f"<think>{reply('Casper Holm')}</think>\n```json\n{reply('Orla Vint')}\n```", "Orla Vint"),
        ('{"answer": "  Orla Vint of Pellworth  ", "thought": "late"}', "Orla Vint of Pellworth"),
        ("{'thought': 'Python', 'answer': 'Orla Vint'}", "Orla Vint"),
        (f"Sure {{thing}}: {reply('Orla Vint')}", "Orla Vint"),
        (reply("No, Norland"), "No, Norland"),
        (reply("Unknown Pleasures"), "Unknown Pleasures"),
        (reply("no"), "no"),
        (reply("unanswerable"), "unanswerable"),
    ],
)
async def test_whatever_is_written_around_it_the_answer_arrives_as_it_is(
    written: str, answer: str, kb: KnowledgeBase
) -> None:
    graph = create_native_rag(answering(written), kb).compile()

    assert texts(await tokens(graph)) == [answer]


async def test_tokens_come_while_the_model_is_still_writing(kb: KnowledgeBase) -> None:
    model = answering(reply("Orla Vint, who was born in Pellworth"))
    pieces = await tokens(create_native_rag(model, kb).compile())

    assert len(pieces) > 5
    assert len({id_ for id_, _ in pieces}) == 1


@pytest.mark.parametrize("size", [1, 2, 3, 7, 500])
@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("<think>", "</THINK>"),
        ("<thought>", "</thought>"),
        ("[THINK]", "[/THINK]"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        ("◁think▷", "◁/think▷"),
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>"),
    ],
)
async def test_whatever_is_escaped_or_cut_in_two_pieces_grow_into_the_answer(
    begin: str, end: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[AIMessage] = []
    monkeypatch.setattr(streaming, "_push", shown.append)
    answer = 'Zoë said "\\o/" 😀\n and \u00ab{"answer": "no"}\u00bb'
    written = f'{begin}{{"answer": "No"}}{end}{json.dumps({"thought": "So", "answer": answer, "note": "end"})}'
    stream = streaming.AnswerStream()

    for start in range(0, len(written), size):
        await stream.on_llm_new_token(written[start : start + size])

    assert "".join(piece.text for piece in shown) == answer
    stream.finish(answer)
    assert [message.text for message in shown if not isinstance(message, AIMessageChunk)] == [answer]
    assert "".join(message.text for message in shown[:-1]) == answer


async def test_marks_of_reasoning_within_the_answer_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[AIMessage] = []
    monkeypatch.setattr(streaming, "_push", shown.append)
    stream = streaming.AnswerStream()

    for token in reply("It begins with <think> and ends with </think>, always"):
        await stream.on_llm_new_token(token)

    assert "".join(piece.text for piece in shown) == "It begins with <think> and ends with </think>, always"


async def test_each_token_is_read_once_while_a_model_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def reading(reply: str) -> str:
        read.append(reply)
        return ""

    monkeypatch.setattr(streaming, "_answer_so_far", reading)
    stream = streaming.AnswerStream()

    for token in ["<thi", "nk>", *["word "] * 100, "</th", "ink>", '{"answer"']:
        await stream.on_llm_new_token(token)

    assert read == ["<thi", "", '{"answer"']


async def test_an_answer_without_end_is_read_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    found = streaming._answer_so_far

    def reading(reply: str) -> str:
        read.append(len(reply))
        return found(reply)

    monkeypatch.setattr(streaming, "_answer_so_far", reading)
    stream = streaming.AnswerStream()

    for token in ['{"answer": "', *["word "] * 10_000]:
        await stream.on_llm_new_token(token)

    assert read[:20] == [12 + 5 * number for number in range(20)]
    assert sum(read) < 150 * 50_000


async def test_once_an_answer_shows_its_growth_is_not_read_as_a_refusal_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def reading(answer: str) -> bool:
        read.append(answer)
        return answer == "Or"

    monkeypatch.setattr(streaming, "may_begin_as_refusal", reading)
    stream = streaming.AnswerStream()

    for token in ['{"answer": "Or', "la", *[" Vint"] * 100]:
        await stream.on_llm_new_token(token)

    assert read == ["Or", "Orla"]


async def test_a_model_that_cannot_stream_gives_its_answer_in_one_piece(kb: KnowledgeBase) -> None:
    graph = create_native_rag(ScriptedModel.of([reply("Orla Vint")]), kb).compile()

    assert [text for _, text in await tokens(graph)] == ["Orla Vint"]


async def test_a_reply_that_has_to_be_repaired_is_followed_by_a_message_of_its_own(kb: KnowledgeBase) -> None:
    model = answering('{"answer": "Orla Vint and then some, cut', reply("Orla Vint"))

    said = texts(await tokens(create_native_rag(model, kb).compile()))

    assert said[-1] == "Orla Vint"
    assert len(said) == 2


@pytest.mark.parametrize("mode", ["values", "updates", "custom"])
async def test_without_the_messages_mode_no_model_streams(mode: str, kb: KnowledgeBase) -> None:
    model = answering(reply("Orla Vint"), reply("Orla Vint"))
    graph: Any = create_native_rag(model, kb).compile()

    assert [chunk async for chunk in graph.astream(QUESTION, stream_mode=mode)]
    assert (await graph.ainvoke(QUESTION))["answer"] == "Orla Vint"
    assert model.calls_streamed == 0


async def test_outside_a_graph_answers_are_given_as_ever() -> None:
    found = await ask(answering(reply("Orla Vint")), ANSWER_FROM_PASSAGES, passages=[], question="Who?")

    assert found.answer == "Orla Vint"


# --- models that call other models ----------------------------------------------------------------------------------
class Router(BaseChatModel):
    """Hands its messages on to another model."""

    inner: Any

    @property
    def _llm_type(self) -> str:
        return "router"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return self._result(self.inner.invoke(messages))

    def _result(self, message: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=message)])


class AwaitingRouter(Router):
    """Does so when it is awaited, with a tag of its own."""

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return self._result(await self.inner.ainvoke(messages, config={"tags": ["routed"]}))


class WritingRouter(Router):
    """Passes on what the other model writes, as it writes it."""

    async def _astream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        async for chunk in self.inner.astream(messages):
            yield ChatGenerationChunk(message=chunk)


ROUTERS: list[Callable[[Any], Any]] = [
    lambda inner: Router(inner=inner),
    lambda inner: AwaitingRouter(inner=inner),
    lambda inner: WritingRouter(inner=inner),
    lambda inner: Router(inner=Router(inner=inner)),
    lambda inner: Router(inner=inner).with_config(tags=["mine"]),
    lambda inner: AwaitingRouter(inner=inner).with_retry(),
    lambda inner: Router(inner=answering()).with_fallbacks([WritingRouter(inner=inner)]),
    lambda inner: Router(inner=inner.with_config(tags=["mine"])).bind(stop=["."]),
]


@pytest.mark.parametrize("route", ROUTERS)
async def test_of_a_model_that_calls_another_one_the_answer_is_streamed_once_and_nothing_else(
    route: Callable[[Any], Any], kb: KnowledgeBase
) -> None:
    def script(prompt: str, values: Any) -> str:
        facts = f'{{"thought": "", "facts": [{FACT}], "question": null}}'
        return facts if prompt == "integrate" else reply("Orla Vint")

    method: Any = create_cirag(route(WritingModel.of(script)), kb)
    talk = {"messages": [HumanMessage(QUESTION["question"])]}

    assert texts(await tokens(method.compile())) == ["Orla Vint"]
    assert texts(await tokens(with_messages(method).compile(), talk)) == ["Orla Vint"]
    at_once = method.compile().stream(QUESTION, stream_mode="messages")
    assert "".join(message.text for message, _ in at_once) == "Orla Vint"


class BreakingOff(WritingModel):
    """Loses its connection after some characters of its first reply."""

    broken: bool = False

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        written = 0
        async for chunk in super()._astream(*args, **kwargs):
            if not self.broken and (written := written + len(chunk.text)) > 20:
                self.broken = True
                raise ConnectionError("lost")
            yield chunk


@pytest.mark.parametrize(
    "again", [lambda model: model.with_retry(), lambda model: model.with_fallbacks([answering(json.dumps(LATE))])]
)
async def test_after_a_broken_stream_the_answer_begins_anew_whoever_asks_again(
    again: Callable[[Any], Any], kb: KnowledgeBase
) -> None:
    graph: Any = create_native_rag(again(BreakingOff.of([json.dumps(LATE)] * 2)), kb).compile()

    pieces = await tokens(graph)

    begun, whole = texts(pieces)
    assert LATE["answer"].startswith(begun)
    assert whole == LATE["answer"]
    assert len(pieces) > 5  # piece by piece both times


class Asking(BaseDocumentCompressor):
    """A reranker that asks a model."""

    model: Any

    def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
        self.model.invoke(query)
        return documents


async def test_what_a_reranker_asks_a_model_is_not_streamed(sample_kb: KnowledgeBase) -> None:
    ranking = FakeListChatModel(responses=["3, 1, 2"])
    graph: Any = create_dualrag(OfflineModel(), sample_kb, reranker=Asking(model=ranking)).compile()
    asked = {"question": "Whom did the director of Nine Tides marry?"}

    assert texts(await tokens(graph, asked)) == [graph.invoke(asked)["answer"]]


class Calls(BaseCallbackHandler):
    """Counts the calls of models."""

    def __init__(self) -> None:
        self.tags: list[Any] = []

    def on_chat_model_start(self, *args: Any, tags: list[str] | None = None, **kwargs: Any) -> None:
        self.tags.append(tags)


@pytest.mark.parametrize("route", [Router, AwaitingRouter])
async def test_callbacks_of_the_caller_see_both_calls(route: Any, kb: KnowledgeBase) -> None:
    calls = Calls()
    graph: Any = create_native_rag(route(inner=answering(reply("Orla Vint"))), kb).compile()

    await graph.ainvoke(QUESTION, {"callbacks": [calls], "tags": ["caller"]})

    assert len(calls.tags) == 2
    assert all("caller" in tags for tags in calls.tags)


# --- levels that do not suffice --------------------------------------------------------------------------------------
def cascade(kb: KnowledgeBase, **answers: str) -> Any:
    def script(prompt: str, values: Any) -> str:
        if prompt == "integrate":
            return f'{{"thought": "", "facts": [{FACT}], "question": null}}'
        return reply(answers[prompt.removeprefix("answer_from_")])

    return create_cirag(WritingModel.of(script), kb).compile()


@pytest.mark.parametrize(
    "refusal", ["unanswerable", "Unanswerable: nothing says so.", "The facts do not tell who made it.", "", "No answer"]
)
async def test_a_level_that_does_not_suffice_shows_nothing(refusal: str, kb: KnowledgeBase) -> None:
    graph = cascade(kb, triples=refusal, sentences=refusal, passages="Orla Vint")

    assert graph.invoke(QUESTION)["granularity"] == "passages"
    assert texts(await tokens(graph)) == ["Orla Vint"]


async def test_a_refusal_of_all_levels_is_shown_once(kb: KnowledgeBase) -> None:
    graph = cascade(kb, triples="unanswerable", sentences="unknown", passages="cannot be determined from this")

    assert texts(await tokens(graph)) == ["cannot be determined from this"]


# --- inside another graph --------------------------------------------------------------------------------------------
class Talk(TypedDict):
    question: str
    answer: str


def as_a_node(graph: Any) -> Any:
    return graph


def called_in_a_node(graph: Any) -> Any:
    async def look_up(state: Talk) -> dict[str, Any]:
        return {"answer": (await graph.ainvoke({"question": state["question"]}))["answer"]}

    return look_up


@pytest.mark.parametrize("embedded", [as_a_node, called_in_a_node])
async def test_inside_another_graph_tokens_come_with_subgraphs(
    embedded: Callable[[Any], Any], kb: KnowledgeBase
) -> None:
    replies = [reply("Orla Vint")] * 3
    parent: Any = StateGraph(Talk)
    parent.add_node("rag", embedded(create_native_rag(answering(*replies), kb).compile()))
    parent.add_edge(START, "rag")
    parent.add_edge("rag", END)
    graph = parent.compile()

    parts = [part async for part in graph.astream(QUESTION, stream_mode="messages", subgraphs=True)]

    assert "".join(message.text for _, (message, _) in parts) == "Orla Vint"
    assert {path[0].split(":")[0] for path, _ in parts} == {"rag"}
    assert await tokens(graph) == []


async def test_answers_asked_for_side_by_side_do_not_mix(sample_kb: KnowledgeBase) -> None:
    graph = METHODS["cirag"].create(OfflineModel(), sample_kb).compile()
    asked = [
        {"question": "Did Nessa Palliver and Sunniva Lockhaven go to the same school?"},
        {"question": "Who died later, Ilse Tarrant or Tobin Grell?"},
    ] * 3

    streamed = await asyncio.gather(*(tokens(graph, question) for question in asked))

    assert [texts(pieces) for pieces in streamed] == [[graph.invoke(question)["answer"]] for question in asked]


async def test_a_repaired_answer_is_a_message_of_its_own_also_where_it_begins_alike(kb: KnowledgeBase) -> None:
    model = answering('{"answer": "Orla Vint", "thought": 1, cut', reply("Orla Vint, who was born in Pellworth"))

    pieces = await tokens(create_native_rag(model, kb).compile())

    first, *_, last = pieces
    assert "".join(text for id_, text in pieces if id_ == last[0]) == "Orla Vint, who was born in Pellworth"
    assert first[0] != last[0]
