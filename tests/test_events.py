"""The events of graphs follow the documented schema, one event for each run of a node."""

import json
import os
from collections import Counter
from typing import Any, get_args

import pytest
from fakes import ScriptedModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pages import DOCS, check_part
from pydantic import ValidationError

from langgraph_rag import KnowledgeBase, ModelExtractor, create_cirag, create_par_rag, with_messages
from langgraph_rag.events import Event, check_event, event_schema
from langgraph_rag.methods import METHODS, create, parse_methods
from langgraph_rag.narration import narrate, narrate_cost
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.records import Usage, no_usage

KINDS = {get_args(kind.__annotations__["node"])[0]: kind for kind in get_args(get_args(Event)[0])}
QUESTIONS = (
    "Did Nessa Palliver and Sunniva Lockhaven go to the same school?",
    "Into which strait does the river that runs through the birthplace of Corwen Ashlade flow?",
)


def run(graph: Any, asked: Any, config: Any = None) -> tuple[list[Any], Counter[str]]:
    """Return the events of a run, and how often each node ran."""
    events, ran = [], Counter[str]()
    for mode, chunk in graph.stream(asked, config, stream_mode=["custom", "updates"]):
        if mode == "custom":
            events.append(check_event(chunk))
        else:
            ran.update(node for node in chunk if node != "__interrupt__")
    return events, ran


@pytest.mark.parametrize("name", parse_methods("ablations"))
def test_each_node_that_has_run_has_sent_an_event_of_the_schema_and_each_step_is_told_by_its_number(
    name: str, sample_kb: KnowledgeBase
) -> None:
    graph = create(name, OfflineModel(), sample_kb).compile()

    for question in QUESTIONS if name in METHODS else QUESTIONS[:1]:
        events, ran = run(graph, {"question": question})
        told = Counter(event["node"] for event in events)
        assert told >= ran if name.startswith("par_rag") else told == ran  # PAR RAG tells each question side by side
        assert told.keys() == ran.keys()
        assert events[0]["node"] == "receive_question"
        assert events[-1]["node"] == "conclude"
        if question == QUESTIONS[0]:
            assert any(narrate(event).startswith("Step 1: ") for event in events)


def test_the_story_says_what_the_budget_left_unasked(kb: KnowledgeBase) -> None:
    graph: Any = create("cirag", OfflineModel(), kb).compile()
    asked = {"question": "Who directed The Salt Road?"}

    told = [narrate(event) for event in graph.stream(asked, context={"max_model_calls": 1}, stream_mode="custom")]

    assert "  thought   not asked" in told


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_node_has_a_kind_of_event(name: str, sample_kb: KnowledgeBase) -> None:
    nodes = METHODS[name].create(OfflineModel(), sample_kb).nodes

    assert set(nodes) <= set(KINDS)


def test_every_kind_is_that_of_a_node(sample_kb: KnowledgeBase) -> None:
    graphs = [create(name, OfflineModel(), sample_kb) for name in parse_methods("ablations")]
    graphs.append(create_cirag(OfflineModel(), sample_kb, triples="online"))
    graphs.append(create_par_rag(OfflineModel(), sample_kb, approve_plan=True))
    graphs.append(with_messages(create_par_rag(OfflineModel(), sample_kb), OfflineModel()))

    assert set(KINDS) <= {node for graph in graphs for node in graph.nodes}


def test_reading_triples_on_the_way_sends_an_event(kb: KnowledgeBase) -> None:
    llm = OfflineModel()
    graph = create_cirag(llm, kb, triples="online").compile()

    events, ran = run(graph, {"question": "Who directed The Salt Road?"})

    assert Counter(event["node"] for event in events) == ran
    assert ran["extract_triples"]
    assert ModelExtractor(llm).version != kb.extractor.version


def test_an_approved_plan_and_a_step_that_combines_send_events(kb: KnowledgeBase) -> None:
    replies: dict[str, Any] = {
        "plan": {"steps": [{"question": "Who directed The Salt Road?"}]},
        "act": {"answer": "Orla Vint [1]"},
        "review": {"status": "PASS"},
        "refine": {"question": "Which is it, all in all?"},
        "answer_from_trajectories": {"thought": "", "answer": "Orla Vint"},
    }
    model = ScriptedModel.of(lambda prompt, values: json.dumps(replies[prompt]))
    graph = create_par_rag(model, kb, approve_plan=True).compile(checkpointer=InMemorySaver())
    edited = [
        {"question": "Who directed The Salt Road?"},
        {"question": "Which is it?", "action": "answer"},
        {"question": "Where was she born?"},
    ]

    run(graph, {"question": "Who made The Salt Road?"}, thread := {"configurable": {"thread_id": "1"}})
    events, ran = run(graph, Command(resume=edited), thread)

    assert Counter(event["node"] for event in events) == ran
    assert {"approve_plan", "recall", "refine", "record"} <= set(ran)

    run(graph, {"question": "Who made The Salt Road?"}, thread)
    events, ran = run(graph, Command(resume=False), thread)

    assert Counter(event["node"] for event in events) == ran == {"approve_plan": 1, "conclude": 1}
    assert narrate(events[0]) == "The plan was rejected."

    waiting, _ = run(graph, {"question": "Who made The Salt Road?"}, thread)
    events, _ = run(graph, Command(resume=waiting[-1]["plan"]), thread)

    assert [narrate(event) for event in events if event["node"] == "approve_plan"] == ["The plan was approved."]


LINES = "One thing.\n\n  Another.\nA third."


@pytest.mark.parametrize(
    "event",
    [
        {"node": "integrate", "thought": LINES, "kept": [["Kell", "lies in", LINES]], "next_question": LINES},
        {"node": "construct_chain", "thought": LINES, "taken": "", "refused": LINES},
        {"node": "summarize", "entity": "Kell", "summary": LINES},
        {"node": "reason", "thought": LINES},
        {"node": "plan", "plan": [{"question": LINES}]},
        {"node": "act", "answer": LINES, "cited": [LINES]},
        {"node": "identify_entities", "demands": [{"entity": LINES}]},
        {"node": "answer_from_triples", "answer": LINES, "sufficient": True},
    ],
)
def test_the_further_lines_of_a_text_are_told_under_its_first_one(event: dict[str, Any]) -> None:
    told = narrate({"v": 1, **event})

    further = [line for line in told.splitlines() if line.endswith(("Another.", "A third."))]
    assert len(further) == 2 * json.dumps(event).count("A third.")
    assert all(line.startswith(" " * 12) for line in further)
    assert "" not in told.splitlines()


@pytest.mark.parametrize(
    "event", ["Looking up.", 3, None, ["retrieve"], {"node": "retrieve"}, {"v": 2, "node": "retrieve"}]
)
def test_nothing_is_told_of_an_event_of_somebody_else(event: Any) -> None:
    assert narrate(event) == ""


def test_the_cost_is_told_in_words() -> None:
    usage = {**no_usage(), "calls": 1, "estimated_tokens": 1200, "seconds": 0.5, "stopped_by": "deadline_s"}

    assert narrate_cost(Usage(**usage)) == "1 model call, about 1,200 tokens, 0.50 s; stopped by deadline"  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    "event",
    [
        {"v": 1, "node": "dream"},
        {"v": 2, "node": "receive_question", "question": "Who?"},
        {"v": 1, "node": "receive_question"},
        {"v": 1, "node": "receive_question", "question": "Who?", "mood": "calm"},
        {"v": 1, "node": "rank_passages", "passages": "3"},
    ],
)
def test_what_is_no_event_is_refused(event: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        check_event(event)


# --- the documentation -----------------------------------------------------------------------------------------------
def described(node: str) -> str:
    """Return a kind as an item of a list, with the names of its fields."""
    schema = event_schema()["$defs"][KINDS[node].__name__]
    fields = ", ".join(f"`{name}`" for name in schema["properties"] if name not in ("v", "node"))
    return f"- **`{node}`**: {' '.join(schema['description'].split())} {fields}"


def test_the_documentation_lists_every_kind_with_its_fields() -> None:
    check_part(DOCS / "streaming.md", "events", "\n".join(map(described, KINDS)))


def test_the_json_schema_in_the_documentation_is_that_of_the_events() -> None:
    page = DOCS / "events.schema.json"
    generated = json.dumps(event_schema(), indent=2) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        page.write_text(generated)
    assert page.read_text() == generated, "UPDATE_SNAPSHOTS=1 make test writes it anew"
