"""What the documentation shows is what the code does."""

import importlib.util
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from fakes import ScriptedModel

from langgraph_rag import KnowledgeBase
from langgraph_rag.evaluation import Outcome, summarise
from langgraph_rag.methods import METHODS

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", METHODS)
def test_the_diagram_of_each_method_is_the_one_of_its_graph(name: str, tmp_path: Path) -> None:
    page = ROOT / "docs" / f"{name}.md"
    with KnowledgeBase.open(tmp_path / "kb") as kb:
        mermaid = METHODS[name].create(ScriptedModel(), kb).compile().get_graph().draw_mermaid()
    diagram = f"<!-- diagram -->\n```mermaid\n{mermaid.strip()}\n```\n<!-- end of diagram -->"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        pattern = r"<!-- diagram -->(.*<!-- end of diagram -->)?"
        page.write_text(re.sub(pattern, lambda _: diagram, page.read_text(), count=1, flags=re.DOTALL))
    assert diagram in page.read_text(), "UPDATE_SNAPSHOTS=1 make test draws it anew"


def test_the_pages_of_results_show_the_figures_that_were_measured() -> None:
    """`python benchmarks/comparing.py` writes the figures and both pages; nobody edits either."""
    figures = ROOT / "benchmarks" / "results" / "comparing.json"
    if not figures.exists():
        pytest.skip("no figures of all methods have been written yet")
    page = results_page()
    measured = json.loads(figures.read_text(encoding="utf-8"))
    assert page.results_page(measured) == (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert page.readme_table(measured) in (ROOT / "README.md").read_text(encoding="utf-8")


def test_pages_of_results_are_made_of_summaries() -> None:
    page = results_page()
    outcome: Any = dict.fromkeys(Outcome.__annotations__)
    answered = summarise([{**outcome, "em": 1.0, "f1": 0.5, "acc": 1.0, "answer": "x", "wall_seconds": 1.0}])  # type: ignore[typeddict-item]
    less: Any = {**answered, "f1": 40.0, "recall_at_5": 30.0, "calls": 3.0, "input_tokens": 90.0, "output_tokens": 9.0}
    whole = {**less, "recall_at_5": 50.0}
    rows = {page.DENSE: whole, "cirag": whole, "cirag/only-triples": less}
    figures = {
        "commit": "abc", "date": "2026-01-31", "machine": {"cores": 2, "cpu": "one"}, "questions": 2,
        "minutes": {"dense": 1.0, "methods": 2.4}, "data": {"2wiki": rows, "hotpotqa": rows},
    }  # fmt: skip

    assert "| cirag | 50.0 | 40.0 | 50.0 | 40.0 | 3.0 | 99 |" in page.readme_table(figures)
    assert "only-triples" not in page.readme_table(figures)
    shown = page.results_page(figures)
    assert "| cirag/only-triples | -20.0 | +0.0 | -20.0 | +0.0 |" in shown
    assert shown.index("## HotpotQA") < shown.index("## 2WikiMultiHopQA")
    assert "at commit abc on 2026-01-31: 2 cores (one)" in shown and "2 minutes for the methods." in shown
    readme = "before\n<!-- results -->\nold\n<!-- end of results -->\nafter\n"
    written = page.with_table(readme, figures)
    assert page.readme_table(figures) in written and "old" not in written and written.endswith("\nafter\n")
    assert page.with_table(written, figures) == written
    assert "<!-- results -->" in (ROOT / "README.md").read_text(encoding="utf-8")


def results_page() -> Any:
    spec = importlib.util.spec_from_file_location("results_page", ROOT / "benchmarks" / "results_page.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_of_the_readme_gives_the_answer_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert example is not None
    names: dict[str, Any] = {}
    exec(example[1], names)  # noqa: S102
    names["kb"].close()
    assert names["result"]["answer"] == re.search(r'result\["answer"\] +# "(.*)"', example[1])[1]  # type: ignore[index]
