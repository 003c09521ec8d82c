"""The sample corpus as a knowledge base, for the examples."""

import tempfile
from importlib import resources
from pathlib import Path

from langgraph_rag import KnowledgeBase
from langgraph_rag.tools.files import read_documents


def open_sample() -> KnowledgeBase:
    """Open a knowledge base with the sample corpus, indexing it the first time."""
    kb = KnowledgeBase.open(Path(tempfile.gettempdir()) / "langgraph_rag_sample")
    with resources.as_file(resources.files("langgraph_rag") / "sample" / "corpus.jsonl") as corpus:
        kb.add(read_documents([corpus]), progress=False)
    return kb
