"""What the benchmarks write down, independent of the measured values."""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import kills
import measuring
import published
import pytest
import results_page
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


@pytest.mark.parametrize("names", ["corpus.jsonl questions.jsonl", "2wikimultihopqa_corpus.json 2wikimultihopqa.json"])
def test_the_published_sample_is_taken_in_our_form_and_in_hipporags(names: str, tmp_path: Path) -> None:
    files = tuple(tmp_path / name for name in names.split())
    for file in files:
        file.write_text("[]")

    assert published.files_in(tmp_path) == files
    files[1].unlink()
    with pytest.raises(SystemExit, match="expected corpus.jsonl and questions.jsonl, or 2wikimultihopqa"):
        published.files_in(tmp_path)


def test_the_readme_gets_others_figures_marked_as_theirs_and_ours_with_command_and_commit() -> None:
    figures = {
        "published": [row._asdict() for row in published.PUBLISHED],
        "ours": {"cirag": {"questions": 826, "failures": 0, "recall_at_5": 94.0}},
        "command": "python benchmarks/published.py sample",
        "commit": "abc1234",
    }

    readme = published.with_table(results_page.README.read_text(encoding="utf-8"), figures)

    lines = readme.splitlines()
    here = next(number for number, line in enumerate(lines) if line.startswith("| **cirag** here | **94.0** |"))
    assert "(`python benchmarks/published.py sample` at abc1234, 826 questions)" in readme
    assert lines[here - 1].startswith("| HippoRAG 2 | 90.4 | Llama-3.3-70B-Instruct | NV-Embed-v2 |")
    assert published.with_table(readme, figures) == readme
    with pytest.raises(SystemExit, match="once in the README, got them 0 times"):
        published.with_table("# A page", figures)


def test_the_readme_shows_the_published_figures_that_were_last_measured() -> None:
    written = measuring.RESULTS / "published.json"
    readme = results_page.README.read_text(encoding="utf-8")

    assert not written.exists() or published.with_table(readme, json.loads(written.read_text())["figures"]) == readme
