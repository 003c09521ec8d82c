"""Adaptive: how far a question goes, by what the readings gave."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from fakes import ArithmeticEmbeddings, ScriptedModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from langgraph_rag import Context, KnowledgeBase, create_adaptive, create_cirag, create_native_rag, create_par_rag
from langgraph_rag.nodes.hand_over import cited_and_found
from langgraph_rag.nodes.read_or_look_up import ReadOrLookUp
from langgraph_rag.records import reciprocal_ranks

QUESTION = {"question": "In which country was the director of The Salt Road born?"}
TOP: dict[str, Any] = {"top_k": 2, "effort": "high"}  # the other documents are found by look-ups alone


@pytest.fixture
def kb(read_kb: KnowledgeBase) -> KnowledgeBase:
    return read_kb


def reading(answer: str = "unanswerable", sentences: Sequence[Any] = (), missing: Sequence[str] = ()) -> str:
    return json.dumps({"thought": "So.", "sentences": sentences, "missing": missing, "answer": answer})


def number_of(values: Mapping[str, Any], sentence: str) -> int:
    """Return the number of a sentence in a prompt."""
    for text in values["passages"]:
        for place, shown in enumerate(text["sentences"]):
            if shown == sentence:
                return int(text["first"] + place)
    raise AssertionError(f"{sentence} was not shown")


def titles(values: Mapping[str, Any]) -> list[str]:
    return [text["title"] for text in values["passages"]]


class Story:
    """Answers readings as a model would that needs to know where Pellworth lies, and notes what it is shown."""

    def __init__(self, **others: Any) -> None:
        self.readings: list[Mapping[str, Any]] = []
        self.others = others
        self.model = ScriptedModel.of(self.reply)

    def reply(self, prompt: str, values: Mapping[str, Any]) -> str:
        if prompt != "answer_or_look_up":
            return json.dumps(self.others[prompt])
        self.readings.append(values)
        if len(self.readings) == 1:
            born = number_of(values, "Vint was born in Pellworth.")
            return reading(sentences=[born], missing=["Pellworth country"])
        return reading("Norland", [number_of(values, "Pellworth is a harbour town in Norland.")])


def ask(story: Story, kb: KnowledgeBase, **settings: Any) -> dict[str, Any]:
    graph: Any = create_adaptive(story.model, kb).compile()
    result: dict[str, Any] = graph.invoke(QUESTION, context=Context(**TOP | settings))
    return result


def test_what_is_missing_is_looked_up_and_nothing_is_read_twice(kb: KnowledgeBase) -> None:
    story = Story()

    result = ask(story, kb)

    first, second = story.readings
    assert (result["answer"], result["effort"], result["usage"]["calls"]) == ("Norland", "medium", 2)
    assert [text["text"] for text in second["known"]] == [
        "Vint was born in Pellworth.",
        "The film was shot in Pellworth.",  # of a passage that was read before, and that the look-up finds again
    ]
    assert "Pellworth" in titles(second)
    assert set(titles(first)).isdisjoint(titles(second))
    assert second["looked_up"] == ["Pellworth country"]
    assert [(e["sentence"], e["step"]) for e in result["evidence"]] == [
        ("Vint was born in Pellworth.", 1),
        ("Pellworth is a harbour town in Norland.", 2),
    ]
    assert [passage["id"] for passage in result["passages"]][:2] == ["vint", "pellworth"]
    assert [step["decision"] for step in result["trace"]] == [
        "1 sentence cited, no answer, 1 gap open: looked up",
        "1 sentence cited, answer supported: yes, 0 gaps open: that is enough",
    ]


def test_no_reading_shows_more_passages_than_read_k(kb: KnowledgeBase) -> None:
    story = Story()

    ask(story, kb, top_k=5, read_k=3)

    assert [len(titles(values)) for values in story.readings] == [3, 3]


def test_an_answer_that_stands_in_a_cited_sentence_takes_one_call(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of(lambda _, values: reading("Pellworth", [number_of(values, "Vint was born in Pellworth.")]))
    graph: Any = create_adaptive(model, kb).compile()

    result = graph.invoke({"question": "Where was Orla Vint born?"})

    assert (result["answer"], result["effort"], result["usage"]["calls"]) == ("Pellworth", "low", 1)
    assert result["passages"][0]["id"] == "vint"


def test_an_answer_that_stands_nowhere_is_looked_up(kb: KnowledgeBase) -> None:
    asked: list[Mapping[str, Any]] = []

    def reply(_: str, values: Mapping[str, Any]) -> str:
        asked.append(values)
        return reading("Napoleon", []) if len(asked) == 1 else reading()

    graph: Any = create_adaptive(ScriptedModel.of(reply), kb).compile()
    result = graph.invoke({"question": "Where was Orla Vint born?"}, context=TOP | {"effort": "medium"})

    assert asked[1]["looked_up"] == ["Where was Orla Vint born? Napoleon"]
    assert result["answer"] == "unanswerable"


def test_passages_that_were_found_and_cited_come_first_and_those_of_look_ups_last() -> None:
    found = {"first_retrieval": reciprocal_ranks(["a", "b", "c"]), "looked_up": reciprocal_ranks(["d", "c"])}
    cited = [{"passage_id": "c"}, {"passage_id": "c"}, {"passage_id": "e"}]

    answered = cited_and_found({**found, "answer": "Norland", "evidence": cited})
    unanswered = cited_and_found({**found, "answer": "unanswerable", "evidence": cited})
    handed_over = cited_and_found({**found, "answer": "x", "evidence": cited, "ranking": reciprocal_ranks(["e"])})

    assert answered == ["c", "a", "e", "b", "d"]
    assert unanswered == ["c", "a", "b", "d", "e"]
    assert handed_over[:2] == ["e", "c"]


def test_a_refusal_without_a_gap_looks_up_names_that_no_passage_has(kb: KnowledgeBase) -> None:
    asked: list[Mapping[str, Any]] = []

    def reply(_: str, values: Mapping[str, Any]) -> str:
        asked.append(values)
        return reading()

    graph: Any = create_adaptive(ScriptedModel.of(reply), kb).compile()
    result = graph.invoke({"question": "Did Orla Vint meet Napoleon Bonaparte?"})

    assert [values["looked_up"] for values in asked] == [[], ["Napoleon Bonaparte"]]
    assert result["answer"] == "unanswerable"
    assert graph.invoke({"question": "Did Orla Vint like it?"})["usage"]["calls"] == 1


@pytest.mark.parametrize(("names_it", "last"), [(True, [False] * 4 + [True]), (False, [False, False, True])])
def test_more_readings_follow_while_each_looks_up_a_name_that_was_just_found(
    names_it: bool, last: list[bool], tmp_path: Path, embeddings: ArithmeticEmbeddings
) -> None:
    towns = "Arlow Brask Corvo Delph Ennis Farel Garth Hollin Istra Jorvik".split()
    told: list[bool] = []

    def reply(_: str, values: Mapping[str, Any]) -> str:
        told.append(values["last"])
        start = towns[len(told) - 1]
        bordered = f"{start} borders on {towns[len(told)]}."
        gap = f"What does {towns[len(told)] if names_it else 'it'} border on, asked time {len(told)}?"
        return reading(sentences=[number_of(values, bordered)], missing=[] if values["last"] else [gap])

    with KnowledgeBase.open(tmp_path / "kb", embeddings) as kb:
        for near, far in pairwise(towns):
            many = [f"{near} borders on {far}.", f"The {near} mill stands still."]
            kb.add([{"title": near, "text": text} for text in many], progress=False)
        graph: Any = create_adaptive(ScriptedModel.of(reply), kb).compile()
        context: dict[str, Any] = {"effort": "medium", "read_k": 20, "max_steps": 5}
        with patch.object(ReadOrLookUp, "__call__", _rereading(ReadOrLookUp.__call__)):
            graph.invoke({"question": "What does the town that Arlow borders on border on?"}, context=context)

    assert told == last


def _rereading(read: Any) -> Any:
    """Have readings show what was read before, too: these few passages are read at once."""
    return lambda self, state: read(self, state | {"read": []})


class Stuck(Story):
    """Never gets an answer from reading."""

    def reply(self, prompt: str, values: Mapping[str, Any]) -> str:
        if prompt != "answer_or_look_up":
            reply = self.others[prompt]
            return json.dumps(reply(values) if callable(reply) else reply)
        self.readings.append(values)
        if len(self.readings) == 1:
            return reading(sentences=[number_of(values, "Vint was born in Pellworth.")], missing=["Pellworth country"])
        return reading(sentences=[1], missing=["Norland capital", "Pellworth country"])


@pytest.mark.parametrize(("effort", "calls"), [("low", 1), ("medium", 3)])
def test_the_last_reading_is_told_that_it_is_the_last(effort: str, calls: int, kb: KnowledgeBase) -> None:
    story = Stuck()

    result = ask(story, kb, effort=effort)

    assert [values["last"] for values in story.readings] == [False] * (calls - 1) + [True]
    assert (result["effort"], result["usage"]["calls"]) == (effort, calls)


@pytest.mark.parametrize("most", [1, 2])
def test_a_budget_of_calls_ends_it_with_a_reading_that_knows(most: int, kb: KnowledgeBase) -> None:
    story = Story()

    ask(story, kb, max_model_calls=most)

    assert [values["last"] for values in story.readings] == [False] * (most - 1) + [True]


def test_another_method_goes_on_from_what_is_known(kb: KnowledgeBase) -> None:
    shown: list[Mapping[str, Any]] = []

    def reason(values: Mapping[str, Any]) -> dict[str, Any]:
        shown.append(values)
        return {"thought": "Pellworth lies in Norland.", "entities": [], "answer": "Norland"}

    story = Stuck(reason_and_look_up=reason)
    result = ask(story, kb)

    assert [(entry["entity"], entry["fragments"]) for entry in shown[0]["outline"]] == [
        ("Orla Vint", ["Vint was born in Pellworth."]),
        ("Pellworth", ["Pellworth is a harbour town in Norland."]),
    ]
    assert shown[0]["vain"] == ["Pellworth country"]
    assert (result["answer"], result["effort"], result["usage"]["calls"]) == ("Norland", "high", 3)
    assert [step["step"] for step in result["trace"]] == [1, 2, 3]
    assert result["evidence"][0]["sentence"] == "Vint was born in Pellworth."


def test_any_method_may_go_on(kb: KnowledgeBase) -> None:
    story = Stuck(
        integrate={"thought": "", "facts": [], "question": None},
        answer_from_triples={"thought": "", "answer": "unanswerable"},
        answer_from_sentences={"thought": "", "answer": "Norland"},
        answer_from_passages={"thought": "", "answer": "Norland"},
    )
    for create in (create_cirag, create_native_rag):
        story.readings.clear()
        fallback = create(story.model, kb).compile()
        graph: Any = create_adaptive(story.model, kb, fallback=fallback).compile()

        result = graph.invoke(QUESTION, context=TOP)

        assert (result["answer"], result["effort"]) == ("Norland", "high")


def test_a_plan_of_the_other_method_waits_for_a_person(kb: KnowledgeBase) -> None:
    story = Stuck(plan={"steps": [{"question": "In which country is Pellworth?"}]})
    fallback = create_par_rag(story.model, kb, approve_plan=True).compile()
    graph: Any = create_adaptive(story.model, kb, fallback=fallback).compile(checkpointer=InMemorySaver())

    stopped = graph.invoke(QUESTION, {"configurable": {"thread_id": "1"}}, context=TOP)

    assert stopped["__interrupt__"][0].value["plan"][0]["question"] == "In which country is Pellworth?"


def test_what_is_no_compiled_method_cannot_go_on(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of([])
    fallback: Any = create_cirag(model, kb)
    with pytest.raises(TypeError, match="expected a compiled graph"):
        create_adaptive(model, kb, fallback=fallback)
    with pytest.raises(ValueError, match="expected nodes with other names than those that are there, got search"):
        create_adaptive(model, kb, fallback=create_adaptive(model, kb).compile())
    plain: Any = StateGraph(MessagesState)
    plain.add_node("answer", lambda state: state)
    plain.add_edge(START, "answer")
    with pytest.raises(ValueError, match="got one without the nodes conclude, receive_question"):
        create_adaptive(model, kb, fallback=plain.compile())


def test_an_effort_has_one_of_three_names() -> None:
    given: Any = "most"
    with pytest.raises(ValueError, match="effort must be one of low, medium, high, got 'most'"):
        Context(effort=given)


def test_numbers_that_no_sentence_has_are_dropped_and_counted(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of(lambda *_: reading("yes", ["1", "[2]", 99, "nothing"]))
    graph: Any = create_adaptive(model, kb).compile()

    result = graph.invoke({"question": "Was Orla Vint a director?"})

    assert len(result["evidence"]) == 2
    assert result["usage"]["dropped"] == 2


@pytest.mark.parametrize(
    "reply",
    [
        '{"thought": "", "sentences": 1, "missing": null, "answer": "Pellworth"}',
        '{"thought": "", "sentences": "1, 2", "missing": "none", "answer": "Pellworth"}',
        '{"answer": "Pellworth"}',
    ],
)
def test_replies_are_read_as_models_write_them(reply: str, kb: KnowledgeBase) -> None:
    graph: Any = create_adaptive(ScriptedModel.of(lambda *_: reply), kb).compile()

    result = graph.invoke({"question": "Where was Orla Vint born?"})

    assert (result["answer"], result["usage"]["calls"]) == ("Pellworth", 1)
    assert result["evidence"]
