"""The Python code of README and documentation runs, page by page from top to bottom, on the sample corpus."""

from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pages import DOCS, ROOT
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

import langgraph_rag
from langgraph_rag import KnowledgeBase
from langgraph_rag.offline.model import OfflineModel

SYBIL = Sybil([PythonCodeBlockParser(), SkipParser()])
PAGES = [page for page in [ROOT / "README.md", *sorted(DOCS.glob("*.md"))] if "```python" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(
    page: Path, sample_kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page may use the public names and those given here without saying where they come from."""
    monkeypatch.chdir(tmp_path)
    document = SYBIL.parse(page)
    document.namespace.update(
        {name: getattr(langgraph_rag, name) for name in langgraph_rag.__all__},
        AgentState=dict,
        Command=Command,
        HumanMessage=HumanMessage,
        InMemorySaver=InMemorySaver,
        kb=sample_kb,
        llm=OfflineModel(),
        model=OfflineModel(),
        question="Whom did the director of Nine Tides marry?",
        saver=InMemorySaver(),
        thread={"configurable": {"thread_id": "1"}},
    )
    for example in document.examples():
        example.evaluate()
