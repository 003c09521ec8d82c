"""The sample corpus as a knowledge base, for the examples."""

from importlib import resources

from langgraph_rag import KnowledgeBase, read_documents


def open_sample() -> KnowledgeBase:
    """Open the knowledge base of `langgraph-rag demo` in the working folder, after indexing what it lacks."""
    kb = KnowledgeBase.open("demo_kb")
    with resources.as_file(resources.files("langgraph_rag") / "sample" / "corpus.jsonl") as corpus:
        kb.update(read_documents([corpus]), progress=False)
    return kb
