"""The Python code of README and documentation runs, page by page from top to bottom, on the sample corpus."""

from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from pages import DOCS, ROOT
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

from langgraph_rag import KnowledgeBase
from langgraph_rag.offline.model import OfflineModel

SYBIL = Sybil([PythonCodeBlockParser(), SkipParser()])
PAGES = [page for page in [ROOT / "README.md", *sorted(DOCS.glob("*.md"))] if "```python" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(
    page: Path, sample_kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page imports what it uses; only the names given here stand for what its reader has."""
    monkeypatch.chdir(tmp_path)
    document = SYBIL.parse(page)
    document.namespace.update(
        AgentState=dict,
        kb=sample_kb,
        llm=OfflineModel(),
        model=OfflineModel(),
        question="Whom did the director of Nine Tides marry?",
        saver=InMemorySaver(),
        thread={"configurable": {"thread_id": "1"}},
    )
    for example in document.examples():
        example.evaluate()
