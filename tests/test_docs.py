"""What the documentation shows is what the code does."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from fakes import ScriptedModel

from langgraph_rag import KnowledgeBase
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


def test_the_example_of_the_readme_gives_the_answer_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert example is not None
    names: dict[str, Any] = {}
    exec(example[1], names)  # noqa: S102
    names["kb"].close()
    assert names["result"]["answer"] == re.search(r'result\["answer"\] +# "(.*)"', example[1])[1]  # type: ignore[index]
