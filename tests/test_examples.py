"""The examples run as they stand, on the sample corpus with the offline model."""

import runpy
import shutil
import sys
from pathlib import Path

import pytest

from langgraph_rag import KnowledgeBase

EXAMPLES = Path(__file__).parent.parent / "examples"
PRINTED = {
    "subgraph": ["same keys:  Ilse Tarrant", "other keys: Ilse Tarrant", "   conclude"],
    "agent": ["Answer: yes", "Nessa Palliver | was educated at | Ennick Academy"],
    "conversation": ["> Ilse Tarrant", "> 3 March 1912", "ai | 3 March 1912 |"],
    "many_questions": ["  yes (", "  Narrow Sound ("],
    "resume": ["resumed: yes", "forked with only three candidates:", "answers to the edited plan: ['Ennick Academy"],
}


@pytest.mark.parametrize("name", PRINTED)
def test_the_example_runs_and_prints_what_it_shows(
    name: str,
    sample_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(sample_folder, tmp_path / "kb")
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])
    monkeypatch.setattr("sample.open_sample", lambda: KnowledgeBase.open(tmp_path / "kb"))

    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")

    printed = capsys.readouterr().out
    assert [line for line in PRINTED[name] if line not in printed] == []


def test_every_example_is_run() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.py")} == {*PRINTED, "sample"}
