"""Arguments of the wrong type are refused at the call; the error says what was expected, what came, how to get it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListLLM
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from langgraph_rag import (
    Context,
    KnowledgeBase,
    ModelExtractor,
    as_tool,
    create_cirag,
    create_dualrag,
    create_kirag,
    create_native_rag,
    create_par_rag,
    is_refusal,
    knowledge_base_tools,
    load_embeddings,
    read_documents,
    with_messages,
)
from langgraph_rag.context import Settings
from langgraph_rag.errors import ModelCallError, QuestionError
from langgraph_rag.methods import parse_methods
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.training.aligner import train_aligner

LLM: Any = OfflineModel()
NAME: Any = "offline"
NOTHING: Any = None


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        (
            lambda path: KnowledgeBase.open(path, NAME),
            r"an embedder \(LangChain Embeddings\), got 'offline': load_embeddings\(NAME\) returns one",
        ),
        (
            lambda path: KnowledgeBase.open(path, extractor=LLM),
            r"an extractor of triples, got OfflineModel\(.*: ModelExtractor\(llm\) is one",
        ),
        (lambda path: ModelExtractor(NAME), r"a chat model, got 'offline': load_model\(NAME\) returns one"),
        (
            lambda path: knowledge_base_tools(NAME),
            r"a knowledge base, got 'offline': KnowledgeBase.open\(PATH\) returns",
        ),
        (
            lambda path: load_embeddings(NOTHING),
            "the name or the folder of an embedder, got None: 'all-MiniLM-L6-v2' is",
        ),
        (lambda path: read_documents(NOTHING), "a list of files and folders, got None"),
        (lambda path: read_documents([NOTHING]), "the path of a file or a folder, got None"),
        (lambda path: parse_methods(NOTHING), "the names of methods in one text, got None: 'cirag,kirag'"),
        (lambda path: train_aligner(LLM, NOTHING, [], out=LLM), r"the path of a folder \(out\), got OfflineModel"),
    ],
    ids="embedder extractor model knowledge-base name files file methods out".split(),
)
def test_something_else_in_place_of_a_part_is_refused(
    mistake: Callable[[Path], object], told: str, tmp_path: Path
) -> None:
    with pytest.raises(TypeError, match=f"expected {told}"):
        mistake(tmp_path / "kb")
    assert not (tmp_path / "kb").exists()


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        ({"id": "a", "text": "Ada Moss."}, "got one dict: put it into a list"),
        (Document("Ada Moss."), "got one Document: put it into a list"),
        ("Ada Moss.", "got the string 'Ada Moss.'"),
        (None, "got None"),
    ],
    ids=["dict", "document", "text", "nothing"],
)
def test_one_document_in_place_of_several_is_refused(mistake: Any, told: str, kb: KnowledgeBase) -> None:
    for change in (kb.add, kb.update):
        with pytest.raises(TypeError, match=f"expected a list of documents, {told}"):
            change(mistake)


def test_something_else_in_place_of_a_reranker_is_refused_when_the_graph_is_built(kb: KnowledgeBase) -> None:
    with pytest.raises(TypeError, match="expected a reranker, got 'offline': any LangChain document compressor is one"):
        create_dualrag(LLM, kb, reranker=NAME)


def test_something_else_in_place_of_an_aligner_is_refused_when_the_graph_is_built(kb: KnowledgeBase) -> None:
    with pytest.raises(
        TypeError, match=r"expected an aligner \(LangChain Embeddings\), got 42: load_embeddings\(NAME\)"
    ):
        create_kirag(LLM, kb, aligner=42)  # type: ignore[arg-type]


@pytest.mark.parametrize("folder", ["/no/where", "./nowhere", Path("nowhere")])
def test_the_folder_of_an_aligner_has_to_be_there_when_the_graph_is_built(folder: Any, kb: KnowledgeBase) -> None:
    with pytest.raises(
        ValueError, match=r"expected the folder of an aligner, got '(nowhere|/no/where|./nowhere)', which does not"
    ):
        create_kirag(LLM, kb, aligner=folder)


@pytest.mark.parametrize(
    ("create", "flag"),
    [
        *((create_par_rag, flag) for flag in ("plan", "review", "approve_plan")),
        *((create_dualrag, flag) for flag in ("detect_gaps", "identify_entities", "keep_outline")),
    ],
)
def test_a_word_in_place_of_true_or_false_is_refused(
    create: Callable[..., object], flag: str, kb: KnowledgeBase
) -> None:
    with pytest.raises(TypeError, match=f"expected {flag} as True or False, got 'no': any text counts as true"):
        create(LLM, kb, **{flag: "no"})


def test_one_level_of_granularity_in_place_of_several_is_refused(kb: KnowledgeBase) -> None:
    level: Any = "triples"
    with pytest.raises(TypeError, match="expected a list of levels of granularity, got the string 'triples'"):
        create_cirag(LLM, kb, granularities=level)


def test_a_graph_has_to_be_compiled_for_a_tool_and_not_yet_for_messages(kb: KnowledgeBase) -> None:
    graph: Any = create_native_rag(LLM, kb)

    with pytest.raises(TypeError, match=r"expected a compiled graph, got <.*>: create_cirag\(llm, kb\)\.compile\(\)"):
        as_tool(graph)
    with pytest.raises(TypeError, match="expected a graph that is not compiled yet, got <.*>: give what create_cirag"):
        with_messages(graph.compile())


def test_a_graph_has_to_be_compiled_before_it_is_asked(kb: KnowledgeBase) -> None:
    graph: Any = create_native_rag(LLM, kb)

    with pytest.raises(
        AttributeError, match=r"no attribute 'invoke': compile the graph first, graph\.compile\(\)\.invoke$"
    ):
        graph.invoke({"question": "Who directed The Salt Road?"})
    with pytest.raises(AttributeError, match="no attribute 'nothing'$"):
        _ = graph.nothing


def test_a_number_in_place_of_a_name_is_refused(kb: KnowledgeBase) -> None:
    number: Any = 5
    with pytest.raises(QuestionError, match="must be text, got 5"):
        kb.near_entities([number])


def test_what_completes_text_is_no_chat_model(kb: KnowledgeBase) -> None:
    completing: Any = FakeListLLM(responses=["The Salt Road"])

    with pytest.raises(ModelCallError, match="replied with a str in place of a message: is it a chat model"):
        create_native_rag(completing, kb).compile().invoke({"question": "Who directed The Salt Road?"})


LIMITED: Any = SimpleNamespace(max_model_calls=1)


@pytest.mark.parametrize("context", [LIMITED, [], "max_model_calls", {"max_model_call": 1}])
def test_settings_of_another_kind_are_refused_and_not_left_out(context: Any, kb: KnowledgeBase) -> None:
    graph: Any = create_native_rag(LLM, kb).compile()
    asked = {"question": "Who directed The Salt Road?"}
    told = "expected settings, got .*: give a Context|there is no setting max_model_call, but"

    for run in (graph.invoke, lambda asked, context: asyncio.run(graph.ainvoke(asked, context=context))):
        with pytest.raises(TypeError, match=told):
            run(asked, context=context)
    with pytest.raises(TypeError, match=told):
        as_tool(graph, context=context)


def test_settings_read_from_a_request_are_refused_likewise() -> None:
    reader = TypeAdapter(Context)

    assert reader.validate_python({"top_k": 3}) == Context(top_k=3)
    with pytest.raises(ValidationError, match="top"):
        reader.validate_python({"top": 3})


def test_a_graph_that_takes_messages_is_no_tool(kb: KnowledgeBase) -> None:
    with pytest.raises(ValueError, match="a graph that takes question, got one of messages: leave out with_messages"):
        as_tool(with_messages(create_native_rag(LLM, kb)).compile())


class Answered(TypedDict):
    question: str
    answer: str


def test_a_graph_around_a_method_is_no_tool_unless_it_returns_what_the_method_does(kb: KnowledgeBase) -> None:
    around = StateGraph(Answered).add_node("rag", create_native_rag(LLM, kb).compile()).add_edge(START, "rag")

    with pytest.raises(ValueError, match="a method's graph, got one that does not return evidence, usage"):
        as_tool(around.compile())


@pytest.mark.parametrize(("approve", "before"), [(True, []), (False, ["retrieve"]), (False, ["receive_question"])])
def test_a_run_that_stops_for_a_person_cannot_go_on_in_a_tool_called_on_its_own(
    approve: bool, before: list[str], kb: KnowledgeBase
) -> None:
    graph = create_par_rag(LLM, kb, approve_plan=approve).compile(InMemorySaver(), interrupt_before=before)
    tool = as_tool(graph)

    with pytest.raises(ValueError, match="for a person.*checkpointer"):
        tool.invoke({"question": "Who directed The Salt Road?"}, {"configurable": {"thread_id": "1"}})


def test_what_is_no_answer_is_no_refusal_either() -> None:
    answer: Any = None
    with pytest.raises(TypeError, match=r"""expected an answer as a string, got None: result\["answer"\] is one"""):
        is_refusal(answer)


@pytest.mark.parametrize("read", [KnowledgeBase.triples, KnowledgeBase.passages])
def test_one_id_in_place_of_several_is_refused(read: Callable[..., object], kb: KnowledgeBase) -> None:
    with pytest.raises(TypeError, match="expected a list of ids, got the string 'heron'"):
        read(kb, "heron")


async def test_and_by_the_coroutine(kb: KnowledgeBase) -> None:
    with pytest.raises(TypeError, match="expected a list of ids, got the string 'heron'"):
        await kb.apassages("heron")


async def test_one_query_in_place_of_several_is_refused(kb: KnowledgeBase) -> None:
    for call in (kb.atriple_cosines("heron", []), kb.apassage_cosines("heron", ["heron"])):
        with pytest.raises(TypeError, match="expected a list of queries, got the string 'heron'"):
            await call


@pytest.mark.parametrize("several", [set, tuple, iter, lambda ids: dict.fromkeys(ids).keys()])
async def test_ids_are_given_in_whatever_way_as_text_or_as_the_numbers_they_were(
    several: Callable[[list[Any]], Any], empty_kb: KnowledgeBase
) -> None:
    empty_kb.add([{"id": 7, "text": "Ada Moss was born in Kell.", "source": "a.md"}], progress=False)

    for ids in (["7"], [7]):
        assert [record["id"] for record in empty_kb.passages(several(ids))] == ["7"]
        assert [record["id"] for record in await empty_kb.apassages(several(ids))] == ["7"]
        triples = empty_kb.triples(several(ids))
        assert await empty_kb.apassages_with_triples(several(ids)) == (empty_kb.passages(["7"]), triples) != ([], [])
        assert empty_kb.without_triples(several(ids)) == await empty_kb.aunread(several(ids), empty_kb.extractor) == []
        assert list(await empty_kb.apassage_cosines(["Kell"], several(ids))) == ["7"]
    assert empty_kb.delete(several([8]), sources=several(["b.md", Path("a.md")])) == 1


def test_sources_that_are_none_are_refused_before_anything_is_deleted(kb: KnowledgeBase) -> None:
    mistake: Any = 7

    with pytest.raises(TypeError, match="expected a list of sources, got 7"):
        kb.delete(["heron"], sources=mistake)

    assert kb.passages(["heron"])


def test_a_method_has_no_default_of_its_own_where_callers_see_one_for_all() -> None:
    with pytest.raises(ValueError, match="top_k, search: a method has no default of its own"):
        Settings(max_steps=1, top_k=3, search="bm25")
    assert Settings(max_steps=1, read_k=3, max_tokens=900).read_k == 3
