"""What the benchmarks write down, independent of the measured values."""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import kills
import measuring
import pytest
import tokens


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        (["/home/ada/sets/2wiki", "--limit", "10"], "2wiki --limit 10"),
        (["/home/ada/my sets/", "--kb=/tmp/kb", "--kb", "~/kb"], "'my sets/' --kb=kb --kb kb"),
        (["../sets", "--out", "./runs/one"], "sets --out one"),
        (["sets", "--method", "cirag/only-triples,kirag"], "sets --method cirag/only-triples,kirag"),
    ],
)
def test_results_say_what_was_run_and_not_where_the_files_lie(
    arguments: list[str], written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "tokens.py"), *arguments])

    measuring.report("tokens", tmp_path, {}, [("figure", "value", "goal")])

    content: dict[str, Any] = json.loads((tmp_path / "tokens.json").read_text(encoding="utf-8"))
    assert content["command"] == f"python benchmarks/tokens.py {written}"


def test_a_package_that_is_not_installed_is_no_reason_to_lose_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_PACKAGES", ["langgraph", "no-such-package"])

    machine = measuring.machine()

    assert machine["langgraph"] == version("langgraph")
    assert machine["no-such-package"] == "not installed"


def test_kills_before_anything_was_stored_prove_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus.jsonl").write_text("{}\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["kills.py", str(tmp_path)])
    for name, result in {"_finish": 63, "_killed": True, "_stored": 0, "_same": {}}.items():
        monkeypatch.setattr(kills, name, lambda *_, result=result: result)
    monkeypatch.setattr(measuring, "RESULTS", tmp_path)

    with pytest.raises(SystemExit):
        kills.main()

    assert "nothing of 63 passages was stored before any kill" in capsys.readouterr().err
    assert not (tmp_path / "kills.json").exists()


def test_methods_are_held_to_the_goals_of_the_data_that_are_there() -> None:
    spent = {"tokens": {"2wiki": 3000, "own": 5000}, "retrieval": {"2wiki": 2000, "own": 4000}}
    assert tokens._row("mgranrag", spent)[1:] == (
        "4,000 (2wiki 3,000, own 5,000)",
        "at most 2,600 for retrieval on 2wiki: met",
    )
    own = {"tokens": {"own": 5000}, "retrieval": {"own": 4000}}
    assert tokens._row("mgranrag", own) == ("mgranrag", "5,000 (own 5,000)", "")
    assert tokens._row("par_rag", {"tokens": {"own": 6000}})[2] == "at most 5,040: missed"
    assert tokens._row("cirag", {"tokens": {"2wiki": 1}})[2] == ""
