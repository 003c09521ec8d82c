"""A model server with 30 % broken replies: every question ends, and no fault becomes an answer."""

from typing import Any

import pytest
from faults import METHODS, ask_all, faulty, faulty_model, level
from faulty_server import FAULTS, MARK, TEXTS, FaultyServer
from measuring import served
from record import sample_questions
from servers import serving

from langgraph_rag import load_model
from langgraph_rag.errors import ModelCallError
from langgraph_rag.llm import ask
from langgraph_rag.models.replies import read_reply
from langgraph_rag.prompts.answering import ANSWER_FROM_PASSAGES, Answer
from langgraph_rag.tools.knowledge_base import KnowledgeBase

GOOD = Answer(thought="The fact says so.", answer="Ilse Tarrant")
READABLE = {"fences", "reasoning tags"}


@pytest.mark.filterwarnings("ignore:A test tried to use socket")
async def test_every_question_ends_in_an_answer_or_a_typed_error(localhost: None, sample_kb: KnowledgeBase) -> None:
    asked = [question["question"] for question in sample_questions().values()]
    with served("faulty_server.py") as url:
        llm = faulty_model(url, deadline_s=20.0)
        await ask_all(sample_kb, llm, asked[:2], METHODS, deadline_s=20.0)
        before = level()
        endings = await ask_all(sample_kb, llm, asked[:8], METHODS, deadline_s=20.0)

    # calls are given up after 2 s and questions after 20: far below this, however busy the machine is
    wrong = faulty(endings, deadline_s=120.0)
    assert wrong == dict.fromkeys(wrong, [])
    assert any(ending["answer"] for ending in endings)
    assert level()["files"] <= before["files"] + 10


@pytest.mark.parametrize("kind", TEXTS)
def test_a_broken_text_is_read_rightly_or_not_at_all(kind: str) -> None:
    text = TEXTS[kind](GOOD.model_dump_json())

    if kind in READABLE:
        assert read_reply(text, Answer) == GOOD
    else:
        with pytest.raises(
            ValueError, match=r"^(it contains no JSON object|its JSON object is not complete|it has none of|field )"
        ):
            read_reply(text, Answer)
    assert MARK in text or kind in ("empty", "half JSON")


def test_there_is_a_fault_of_every_kind() -> None:
    assert len(FAULTS) == len(set(FAULTS)) >= 15


@pytest.mark.parametrize(
    ("fault", "options", "told"),
    [
        ("no end", {}, "expected a JSON object with choices, got more than 8,388,608 bytes"),
        ("no end", {"streaming": True}, "the stream of 127.0.0.1 has no end: more than 33,554,432 bytes came"),
        ("trickle", {"timeout": 0.3}, "expected a JSON object with choices, got no end of it within 0.3 seconds"),
    ],
)
async def test_a_reply_without_end_is_given_up(
    localhost: None, monkeypatch: pytest.MonkeyPatch, fault: str, options: dict[str, Any], told: str
) -> None:
    monkeypatch.setattr("faulty_server.FAULTS", [fault])
    with serving(FaultyServer(share=1.0)) as server:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        llm = load_model("vllm:endless", base_url=url, max_retries=0, **options)

        with pytest.raises(ModelCallError, match=told):
            await ask(llm, ANSWER_FROM_PASSAGES, question="Who?", passages=[{"title": "Vint", "text": "A name."}])
