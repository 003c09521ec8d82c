"""What `langgraph.json` serves: each method over the knowledge base and model that the environment names.

LANGGRAPH_RAG_KB is the folder of the knowledge base (./kb), LANGGRAPH_RAG_EMBEDDINGS the embedder it was made with
(all-MiniLM-L6-v2), LANGGRAPH_RAG_MODEL the model (offline). Without a knowledge base there, the server does not start.
Each method is there twice: taking a question, and taking messages (`_chat`). PAR RAG is there twice more, waiting for a
person to approve its plan. The graphs are compiled without a checkpointer: the server brings its own.
"""

import os

from langgraph_rag.conversation import with_messages
from langgraph_rag.methods import METHODS
from langgraph_rag.models.loading import load_model
from langgraph_rag.tools.embedding.embeddings import load_embeddings
from langgraph_rag.tools.embedding.sentence_embeddings import MINILM
from langgraph_rag.tools.knowledge_base import KnowledgeBase

_embeddings = load_embeddings(os.environ.get("LANGGRAPH_RAG_EMBEDDINGS", MINILM))
_kb = KnowledgeBase.open(os.environ.get("LANGGRAPH_RAG_KB", "kb"), _embeddings, read_only=True)
_llm = load_model(os.environ.get("LANGGRAPH_RAG_MODEL", "offline"))

cirag = METHODS["cirag"].create(_llm, _kb).compile()
kirag = METHODS["kirag"].create(_llm, _kb).compile()
native_rag = METHODS["native_rag"].create(_llm, _kb).compile()
ircot = METHODS["ircot"].create(_llm, _kb).compile()
dualrag = METHODS["dualrag"].create(_llm, _kb).compile()
mgranrag = METHODS["mgranrag"].create(_llm, _kb).compile()
par_rag = METHODS["par_rag"].create(_llm, _kb).compile()

_approved = METHODS["par_rag"].create(_llm, _kb, approve_plan=True)
par_rag_approve_plan = _approved.compile(name="PAR RAG approve plan")
par_rag_approve_plan_chat = with_messages(_approved, _llm).compile(name="PAR RAG approve plan chat")

cirag_chat = with_messages(METHODS["cirag"].create(_llm, _kb), _llm).compile()
kirag_chat = with_messages(METHODS["kirag"].create(_llm, _kb), _llm).compile()
native_rag_chat = with_messages(METHODS["native_rag"].create(_llm, _kb), _llm).compile()
ircot_chat = with_messages(METHODS["ircot"].create(_llm, _kb), _llm).compile()
dualrag_chat = with_messages(METHODS["dualrag"].create(_llm, _kb), _llm).compile()
mgranrag_chat = with_messages(METHODS["mgranrag"].create(_llm, _kb), _llm).compile()
par_rag_chat = with_messages(METHODS["par_rag"].create(_llm, _kb), _llm).compile()
