"""What `langgraph.json` serves: each method over the knowledge base and model that the environment names.

LANGGRAPH_RAG_KB is the folder of the knowledge base (./kb), LANGGRAPH_RAG_MODEL the model (offline). The graphs are
compiled without a checkpointer: the server brings its own.
"""

import os

from langgraph_rag.methods import METHODS
from langgraph_rag.models import load_model
from langgraph_rag.tools.knowledge_base import KnowledgeBase

_kb = KnowledgeBase.open(os.environ.get("LANGGRAPH_RAG_KB", "kb"))
_llm = load_model(os.environ.get("LANGGRAPH_RAG_MODEL", "offline"))

cirag = METHODS["cirag"].create(_llm, _kb).compile(name="CIRAG")
