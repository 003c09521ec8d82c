"""A method added by its users: one graph file, one prompt file and this test, and it is asked and compared as any."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes import ScriptedModel
from self_ask import create_self_ask
from self_ask_prompts import FOLLOW_UP
from typer.testing import CliRunner

from langgraph_rag.cli import app
from langgraph_rag.context import Context
from langgraph_rag.evaluation import Question, evaluate, summarise
from langgraph_rag.methods import METHODS, Method, create, parse_methods, register
from langgraph_rag.models.replies import read_reply
from langgraph_rag.tools.knowledge_base import KnowledgeBase

QUESTION = "Where was the director of The Salt Road born?"
ASKED = ["Who directed The Salt Road?", "Where was Orla Vint born?"]
THOUGHT = "Orla Vint directed The Salt Road. Vint was born in Pellworth."
CASE = [
    *(json.dumps({"sentence": sentence}) for sentence in [*ASKED, "So the final answer is: Pellworth."]),
    json.dumps({"thought": THOUGHT, "answer": "Pellworth"}),
]


@pytest.fixture
def registered() -> Iterator[None]:
    register("self_ask", Method(create_self_ask, "Press et al. 2023, Self-Ask"))
    yield
    del METHODS["self_ask"]


def test_it_asks_follow_up_questions_until_there_is_nothing_more_to_ask(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of(CASE)
    graph = create_self_ask(model, kb).compile()

    nodes = [node for chunk in graph.stream({"question": QUESTION}, stream_mode="updates") for node in chunk]
    result = create_self_ask(ScriptedModel.of(CASE), kb).compile().invoke({"question": QUESTION})

    look_up = ["follow_up", "retrieve", "rank_passages"]
    ends = ["follow_up", "read_passages", "find_support", "conclude"]
    assert nodes == ["receive_question", *look_up, *look_up, *ends]
    assert model.prompts() == [*["follow_up"] * 3, "answer_from_passages"]
    assert [step["next_question"] for step in result["trace"]] == [*ASKED, ""]
    assert "Vint was born in Pellworth." in {evidence["sentence"] for evidence in result["evidence"]}
    assert result["answer"] == "Pellworth" and result["passages"][0]["id"] in ("vint", "salt-road")


def test_the_prompt_shows_what_was_found_and_asked_and_an_example_it_would_accept(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of(CASE)
    create_self_ask(model, kb).compile().invoke({"question": QUESTION}, context=Context(top_k=2))

    first, _, third = (messages[1].text for messages in model.received[:3])
    assert first == f"(none)\n\nQuestion: {QUESTION}\nFollow-up questions so far:\n(none yet)"
    assert third.endswith(f"\n\nQuestion: {QUESTION}\nFollow-up questions so far:\n" + "\n".join(ASKED))
    assert "Title: Orla Vint\n" in third
    assert read_reply(FOLLOW_UP.instructions.split("\nReply: ")[1], FOLLOW_UP.reply).sentence


@pytest.mark.usefixtures("registered")
async def test_once_registered_it_is_created_by_name_and_compared_with_the_others(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    assert parse_methods("self_ask,cirag") == ["self_ask", "cirag"] and "self_ask" in parse_methods("all")
    graph: Any = create("self_ask", ScriptedModel.of(CASE), kb).compile()
    question = Question(id="q", question=QUESTION, answers=["Pellworth"], supporting_ids=["vint", "salt-road"])

    summary = summarise(await evaluate(graph, [question], tmp_path))

    assert (summary["em"], summary["recall_at_5"], summary["calls"], summary["steps"]) == (100.0, 100.0, 4.0, 3.0)


def test_what_is_no_method_is_not_registered() -> None:
    given: Any = create_self_ask
    with pytest.raises(TypeError, match="expected a Method"):
        register("self_asking", given)
    assert "self_asking" not in METHODS


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that offers a method, and one that cannot be loaded."""
    about = tmp_path / "asking-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: asking\nVersion: 0.1\n")
    (about / "entry_points.txt").write_text(
        "[langgraph_rag.methods]\ninstalled_ask = asking_methods:SELF_ASK\nbroken = asking_methods:NOTHING\n"
    )
    (tmp_path / "asking_methods.py").write_text(
        "from langgraph_rag.methods import Method\nfrom self_ask import create_self_ask\n"
        "SELF_ASK = Method(create_self_ask, 'Press et al. 2023, Self-Ask')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    METHODS.pop("installed_ask", None)


@pytest.mark.usefixtures("installed")
def test_the_command_line_knows_the_methods_of_installed_packages() -> None:
    said = CliRunner().invoke(app, ["methods"])

    assert "installed_ask" in said.output and "Press et al. 2023, Self-Ask" in said.output
    assert "warning: method broken cannot be loaded from asking_methods:NOTHING" in said.output


@pytest.mark.parametrize("name", ["cirag", "all", "ablations", "self/ask", "self,ask", ""])
def test_a_method_needs_a_name_of_its_own(name: str) -> None:
    with pytest.raises(ValueError, match="expected a new name"):
        register(name, Method(create_self_ask, ""))
    assert name not in METHODS or name == "cirag"
