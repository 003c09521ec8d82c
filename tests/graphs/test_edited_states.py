"""A person may edit the state of a run that stopped; what does not fit is told."""

import re
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_rag.errors import StateError
from langgraph_rag.methods import create
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.records import no_usage
from langgraph_rag.tools.knowledge_base import KnowledgeBase

QUESTION = "Where was the director of The Salt Road born?"
THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}


@pytest.fixture
def kb(read_kb: KnowledgeBase) -> KnowledgeBase:
    return read_kb


def stopped(name: str, kb: KnowledgeBase, before: str, **options: Any) -> Any:
    """Return a graph with a run that stopped before a node."""
    graph = create(name, OfflineModel(), kb, **options).compile(InMemorySaver(), interrupt_before=[before])
    graph.invoke({"question": QUESTION}, THREAD)
    return graph


@pytest.mark.parametrize(
    ("name", "before", "edit", "told"),
    [
        ("cirag", "construct", {"retrieved": ["vint"]}, "Construct: the field 'retrieved' .* with 'vint' in it"),
        ("cirag", "construct", {"retrieved": "vint"}, "Construct: the field 'retrieved' .* with 'vint' in it"),
        ("cirag", "integrate", {"candidates": [["Vint", "is", "poet"]]}, "Integrate: the field 'candidates' of the"),
        ("native_rag", "read_passages", {"ranking": [{}]}, r"ReadPassages: the field 'ranking' .*Field required"),
        ("native_rag", "conclude", {"answer": 5}, "Conclude: the field 'answer' .* with 5 in it"),
        ("par_rag", "retrieve", {"acting": [{"x": 1}]}, "RetrieveForSteps: the field 'acting' .*Field required"),
    ],
)
def test_a_field_of_another_form_is_named(
    name: str, before: str, edit: dict[str, Any], told: str, kb: KnowledgeBase
) -> None:
    graph = stopped(name, kb, before)
    graph.update_state(THREAD, edit)

    with pytest.raises(StateError, match=told):
        graph.invoke(None, THREAD)


def test_a_field_of_another_form_is_named_where_the_next_step_is_chosen(kb: KnowledgeBase) -> None:
    graph = stopped("par_rag", kb, "refine")

    with pytest.raises(StateError, match=r"after_record: the field 'plan' .* with 'Who\?' in it"):
        graph.update_state(THREAD, {"plan": ["Who?", "When?"]})


def test_an_error_in_a_state_of_the_right_form_stays_what_it_is(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = stopped("cirag", kb, "integrate")
    monkeypatch.setattr("langgraph_rag.nodes.integrate.ask", None)

    with pytest.raises(TypeError, match="'NoneType' object is not callable"):
        graph.invoke(None, THREAD)


def test_some_fields_of_the_usage_replace_it(kb: KnowledgeBase) -> None:
    graph = stopped("cirag", kb, "integrate")

    graph.update_state(THREAD, {"usage": {"calls": 7}})

    assert graph.get_state(THREAD).values["usage"] == {**no_usage(), "calls": 7}
    assert graph.invoke(None, THREAD)["usage"]["calls"] > 7


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ([], r"expected .*questions.*, got (\[\]|none)"),
        ("Who?", r"expected .*questions or steps, got 'Who\?'"),
        ([{"foo": 1}], "step 1: expected thought, question, action, got foo as well"),
        ([{"question": 5}], "step 1: question: expected text, got 5"),
        ([{"question": ["Who?"]}], r"step 1: question: expected text, got \['Who\?'\]"),
    ],
)
@pytest.mark.parametrize("edited", ["state", "reply"])
def test_a_plan_that_cannot_be_used_is_asked_for_again(edited: str, plan: Any, problem: str, kb: KnowledgeBase) -> None:
    graph = create("par_rag", OfflineModel(), kb, approve_plan=True).compile(InMemorySaver())
    graph.invoke({"question": QUESTION}, THREAD)
    if edited == "state":
        graph.update_state(THREAD, {"plan": plan})

    again = graph.invoke(Command(resume=True if edited == "state" else {"plan": plan}), THREAD)["__interrupt__"][0]
    result = graph.invoke(Command(resume=["Where was Orla Vint born?"]), THREAD)

    assert re.match(problem, again.value["problem"])
    assert [step["question"] for step in result["plan"]] == ["Where was Orla Vint born?"]


def test_questions_in_the_place_of_a_plan_are_carried_out_once_it_is_approved(kb: KnowledgeBase) -> None:
    graph = create("par_rag", OfflineModel(), kb, approve_plan=True).compile(InMemorySaver())
    graph.invoke({"question": QUESTION}, THREAD)
    graph.update_state(THREAD, {"plan": ["Where was Orla Vint born?"]})

    result = graph.invoke(Command(resume=True), THREAD)

    assert [step["question"] for step in result["plan"]] == ["Where was Orla Vint born?"]
    assert result["answer"] == "Pellworth"
