"""A served model of which 30 % of the replies are broken: every question ends, and no fault becomes an answer."""

import pytest
from faults import METHODS, ask_all, faulty, faulty_server, level
from faulty_server import FAULTS, MARK, TEXTS
from record import sample_questions

from langgraph_rag.prompts.answering import Answer
from langgraph_rag.replies import read_reply
from langgraph_rag.tools.knowledge_base import KnowledgeBase

GOOD = Answer(thought="The fact says so.", answer="Ilse Tarrant")
READABLE = {"fences", "reasoning tags"}


@pytest.mark.filterwarnings("ignore:A test tried to use socket")
async def test_every_question_ends_in_an_answer_or_a_typed_error(localhost: None, sample_kb: KnowledgeBase) -> None:
    asked = [question["question"] for question in sample_questions().values()]
    with faulty_server() as url:
        await ask_all(sample_kb, url, asked[:5], METHODS, deadline_s=20.0)
        before = level()
        endings = await ask_all(sample_kb, url, [*asked, *asked[:8]], METHODS, deadline_s=20.0)

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
        with pytest.raises(ValueError, match=r"^(it contains no JSON object|field )"):
            read_reply(text, Answer)
    assert MARK in text or kind in ("empty", "half JSON")


def test_there_is_a_fault_of_every_kind() -> None:
    assert len(FAULTS) == len(set(FAULTS)) >= 15
