"""Multi-hop question answering as LangGraph state machines over one knowledge base."""

from langgraph_rag.context import Context
from langgraph_rag.errors import RagError
from langgraph_rag.graphs.cirag import create_cirag
from langgraph_rag.models import load_model
from langgraph_rag.nodes.extract_triples import ModelExtractor
from langgraph_rag.tools.embeddings import load_embeddings
from langgraph_rag.tools.knowledge_base import KnowledgeBase

__all__ = [
    "Context",
    "KnowledgeBase",
    "ModelExtractor",
    "RagError",
    "create_cirag",
    "load_embeddings",
    "load_model",
]
