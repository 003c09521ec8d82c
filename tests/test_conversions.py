"""The documentation's scripts for other data sets convert rows in the form of these data sets."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fakes import ArithmeticEmbeddings
from pages import DOCS
from test_cli import run

from langgraph_rag.evaluation import load_questions
from langgraph_rag.tools.reading.files import read_documents

PAGE = (DOCS / "evaluation.md").read_text(encoding="utf-8")
HOTPOT, MUSIQUE, TABLE = re.findall(
    r"```python\n(.*?)```", PAGE.partition("## Questions from elsewhere")[2], re.DOTALL
)[:3]
NINE_TIDES = ["Nine Tides is a film of 1954.", " It was directed by Ilse Tarrant."]
ILSE = ["Ilse Tarrant was a director.", " In 1938 she married Corwen Ashlade."]
QUESTION = "Whom did the director of Nine Tides marry?"


def paragraph(number: int, title: str, sentences: list[str], supporting: bool) -> dict[str, Any]:
    return {"idx": number, "title": title, "paragraph_text": "".join(sentences), "is_supporting": supporting}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def converted(script: str, file: str, content: str) -> tuple[list[Any], dict[str, Any]]:
    """Run a script beside a file; return the questions it makes, and by id the documents if it makes any."""
    Path(file).write_text(content, encoding="utf-8")
    exec(script, {})
    documents = read_documents("corpus.jsonl") if Path("corpus.jsonl").exists() else []
    return load_questions("questions.jsonl"), {str(document["id"]): document for document in documents}


@pytest.mark.parametrize("file", ["hotpot_dev_distractor_v1.json", "dev.json"])
def test_hotpotqa_and_2wikimultihopqa(file: str, caplog: pytest.LogCaptureFixture) -> None:
    context = [["Nine Tides", NINE_TIDES], ["Ilse Tarrant", ILSE], ["Empty", []]]
    facts = [["Ilse Tarrant", 1], ["Nine Tides", 1], ["Ilse Tarrant", 0]]
    row = {
        "_id": "5a8b",
        "question": QUESTION,
        "answer": "Corwen Ashlade",
        "supporting_facts": facts,
        "context": context,
    }
    rows = [
        row | {"type": "bridge", "level": "hard"},
        row | {"_id": "5a8c", "context": [*context, ["Tides", ["Two a day."]]]},
    ]

    questions, documents = converted(HOTPOT.replace("hotpot_dev_distractor_v1.json", file), file, json.dumps(rows))

    assert [documents[id_]["title"] for id_ in questions[0]["supporting_ids"]] == ["Ilse Tarrant", "Nine Tides"]
    assert [(one["id"], one["answers"], one.get("type")) for one in questions] == [
        ("5a8b", ["Corwen Ashlade"], "bridge"), ("5a8c", ["Corwen Ashlade"], None),
    ]  # fmt: skip
    texts = {document["title"]: document["text"] for document in documents.values()}
    assert texts.keys() == {"Nine Tides", "Ilse Tarrant", "Tides"} and texts["Nine Tides"] == "".join(NINE_TIDES)
    assert caplog.messages == []


def test_musique(caplog: pytest.LogCaptureFixture) -> None:
    both = [paragraph(0, "Nine Tides", NINE_TIDES, True), paragraph(1, "Ilse Tarrant", ILSE, True)]
    others = [paragraph(2, "Ilse Tarrant", ["Ilse Tarrant is a ship, too."], False)]
    row = {"id": "2hop__1_2", "question": QUESTION, "answer": "Corwen Ashlade", "answer_aliases": ["C. Ashlade"]}
    rows = [row | {"paragraphs": both + others, "answerable": True}, row | {"paragraphs": others, "answerable": False}]

    questions, documents = converted(MUSIQUE, "musique_full_v1.0_dev.jsonl", "\n".join(map(json.dumps, rows)) + "\n")

    assert [(one["id"], one["answers"]) for one in questions] == [
        ("2hop__1_2", ["Corwen Ashlade", "C. Ashlade"]), ("2hop__1_2, unanswerable", ["unanswerable"]),
    ]  # fmt: skip
    assert [documents[id_]["text"] for id_ in questions[0]["supporting_ids"]] == ["".join(NINE_TIDES), "".join(ILSE)]
    assert "supporting_ids" not in questions[1] and len(documents) == 3
    assert caplog.messages == []


def test_a_table() -> None:
    questions, _ = converted(TABLE, "questions.csv", '\ufeffid,question,answer\r\n7,"Who, then?",Zoë\r\n')
    assert questions == [{"id": "1", "question": "Who, then?", "answers": ["Zoë"]}]


def test_what_a_script_makes_is_indexed_and_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.tools.embedding.embeddings.MiniLMEmbeddings", ArithmeticEmbeddings)
    monkeypatch.setattr("langgraph_rag.tools.embedding.embeddings.MINILM", "arithmetic")
    context = [["Nine Tides", NINE_TIDES], ["Ilse Tarrant", ILSE]]
    facts = [["Nine Tides", 1], ["Ilse Tarrant", 1]]
    row = {
        "_id": "5a8b",
        "question": QUESTION,
        "answer": "Corwen Ashlade",
        "supporting_facts": facts,
        "context": context,
    }
    converted(HOTPOT, "hotpot_dev_distractor_v1.json", json.dumps([row]))

    run("index", "corpus.jsonl", "--kb", "kb")
    run("eval", "--kb", "kb", "--questions", "questions.jsonl", "--out", "out")

    assert json.loads(Path("out/report.json").read_text())["cirag"]["recall_at_5"] == 100.0
