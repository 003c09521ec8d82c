"""The examples run as they stand, on the sample corpus with the offline model."""

import runpy
import shutil
import sys
from importlib import import_module
from pathlib import Path

import pytest
from conftest import SAMPLE

from langgraph_rag import KnowledgeBase
from langgraph_rag.tools.documents.files import read_documents

EXAMPLES = Path(__file__).parent.parent / "examples"
PRINTED = {
    "subgraph": ["same keys:  Ilse Tarrant", "other keys: Ilse Tarrant", "   conclude"],
    "agent": ["Answer: yes", "Nessa Palliver | was educated at | Ennick Academy"],
    "conversation": ["> Ilse Tarrant", "> 3 March 1912", "ai | 3 March 1912 |"],
    "many_questions": ["  yes (", "  Narrow Sound ("],
    "resume": ["resumed: yes", "forked with only three candidates:", "answers to the edited plan: ['Ennick Academy"],
}


@pytest.fixture
def place(sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be the working folder, in which the demo has left its knowledge base."""
    shutil.copytree(sample_folder, tmp_path / "demo_kb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    return tmp_path


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("name", PRINTED)
def test_the_example_runs_and_prints_what_it_shows(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])

    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")

    printed = capsys.readouterr().out
    assert [line for line in PRINTED[name] if line not in printed] == []


def test_a_sample_of_an_earlier_version_is_brought_up_to_date(place: Path) -> None:
    (now,) = [document for document in read_documents([SAMPLE / "corpus.jsonl"]) if document["id"] == "anstrey"]
    with KnowledgeBase.open(place / "demo_kb") as earlier:
        earlier.update([{**now, "source": "the sample corpus", "text": "Anstrey is a town."}], progress=False)

    with import_module("sample").open_sample() as kb:
        assert kb.path == Path("demo_kb")
        assert kb.passages(["anstrey"])[0]["text"] == now["text"]


def test_every_example_is_run() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.py")} == {*PRINTED, "sample"}
