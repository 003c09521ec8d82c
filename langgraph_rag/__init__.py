"""Multi-hop question answering as LangGraph state machines over one knowledge base."""

from langgraph_rag.agents import as_tool, knowledge_base_tools
from langgraph_rag.checkpoints import strict_serializer
from langgraph_rag.context import Context
from langgraph_rag.conversation import with_messages
from langgraph_rag.errors import RagError, retry_on
from langgraph_rag.graphs.cirag import create_cirag
from langgraph_rag.graphs.dualrag import create_dualrag
from langgraph_rag.graphs.ircot import create_ircot
from langgraph_rag.graphs.kirag import create_kirag
from langgraph_rag.graphs.mgranrag import create_mgranrag
from langgraph_rag.graphs.native_rag import create_native_rag
from langgraph_rag.graphs.par_rag import create_par_rag
from langgraph_rag.methods import create_adaptive
from langgraph_rag.models.loading import load_model
from langgraph_rag.nodes.extract_triples import ModelExtractor
from langgraph_rag.records import Result
from langgraph_rag.refusals import is_refusal
from langgraph_rag.retriever import KnowledgeBaseRetriever
from langgraph_rag.tools.documents.files import read_documents
from langgraph_rag.tools.facts.extraction import ParseExtractor, RuleExtractor
from langgraph_rag.tools.ingest.embeddings import load_embeddings
from langgraph_rag.tools.ingest.splitting import Splitting
from langgraph_rag.tools.knowledge_base import KnowledgeBase

__all__ = [
    "Context",
    "KnowledgeBase",
    "KnowledgeBaseRetriever",
    "ModelExtractor",
    "RagError",
    "Result",
    "ParseExtractor",
    "RuleExtractor",
    "Splitting",
    "as_tool",
    "create_adaptive",
    "create_cirag",
    "create_dualrag",
    "create_ircot",
    "create_kirag",
    "create_mgranrag",
    "create_native_rag",
    "create_par_rag",
    "is_refusal",
    "knowledge_base_tools",
    "load_embeddings",
    "load_model",
    "read_documents",
    "retry_on",
    "strict_serializer",
    "with_messages",
]
