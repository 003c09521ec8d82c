"""The Python code of README and documentation runs, page by page from top to bottom, on the sample corpus."""

import shutil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pages import DOCS, ROOT
from psycopg import Connection
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

import langgraph_rag
from langgraph_rag import load_model
from langgraph_rag.methods import METHODS

SYBIL = Sybil([PythonCodeBlockParser(), SkipParser()])
PAGES = [page for page in [ROOT / "README.md", *sorted(DOCS.glob("*.md"))] if "```python" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(
    page: Path, sample_folder: Path, tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page imports and defines all that it uses; only the knowledge base of its reader is there, as `kb`.

    Served models are made as it says; for them the offline model answers. Its database is one of the tests.
    """

    def answered_offline(name: str, **options: Any) -> Any:
        made = load_model(name, **options)
        return load_model("offline") if name.startswith("vllm") else made

    connect = Connection.connect

    def connected_here(url: str, **options: Any) -> Any:
        return connect(database, **options)

    monkeypatch.setattr(langgraph_rag, "load_model", answered_offline)
    monkeypatch.setattr(Connection, "connect", connected_here)
    shutil.copytree(sample_folder, tmp_path / "kb")
    monkeypatch.chdir(tmp_path)
    with patch.dict(METHODS):  # a page registers one of its own
        for example in SYBIL.parse(page).examples():
            example.evaluate()
