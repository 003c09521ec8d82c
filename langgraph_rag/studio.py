"""What `langgraph.json` serves: each method over the knowledge base and model that the environment names.

LANGGRAPH_RAG_KB is the folder of the knowledge base (./kb), LANGGRAPH_RAG_EMBEDDINGS the embedder it was made with
(all-MiniLM-L6-v2), LANGGRAPH_RAG_MODEL the model (offline). Without a knowledge base there, the server does not start.
Each method is there twice: taking a question, and taking messages (`_chat`). PAR RAG is there twice more, waiting for a
person to approve its plan. The graphs are compiled without a checkpointer: the server brings its own.
"""

import os

from langgraph_rag.conversation import with_messages
from langgraph_rag.methods import create
from langgraph_rag.models.loading import load_model
from langgraph_rag.tools.embedding.embeddings import load_embeddings
from langgraph_rag.tools.embedding.sentence_embeddings import MINILM
from langgraph_rag.tools.knowledge_base import KnowledgeBase

_embeddings = load_embeddings(os.environ.get("LANGGRAPH_RAG_EMBEDDINGS", MINILM))
_kb = KnowledgeBase.open(os.environ.get("LANGGRAPH_RAG_KB", "kb"), _embeddings, read_only=True)
_kb.warm_up()  # else the first question's deadline may pass while the embedder is loaded
_llm = load_model(os.environ.get("LANGGRAPH_RAG_MODEL", "offline"))

adaptive = create("adaptive", _llm, _kb).compile()
cirag = create("cirag", _llm, _kb).compile()
kirag = create("kirag", _llm, _kb).compile()
native_rag = create("native_rag", _llm, _kb).compile()
ircot = create("ircot", _llm, _kb).compile()
dualrag = create("dualrag", _llm, _kb).compile()
mgranrag = create("mgranrag", _llm, _kb).compile()
par_rag = create("par_rag", _llm, _kb).compile()

_approved = create("par_rag", _llm, _kb, approve_plan=True)
par_rag_approve_plan = _approved.compile(name="PAR RAG approve plan")
par_rag_approve_plan_chat = with_messages(_approved, _llm).compile(name="PAR RAG approve plan chat")

adaptive_chat = with_messages(create("adaptive", _llm, _kb), _llm).compile()
cirag_chat = with_messages(create("cirag", _llm, _kb), _llm).compile()
kirag_chat = with_messages(create("kirag", _llm, _kb), _llm).compile()
native_rag_chat = with_messages(create("native_rag", _llm, _kb), _llm).compile()
ircot_chat = with_messages(create("ircot", _llm, _kb), _llm).compile()
dualrag_chat = with_messages(create("dualrag", _llm, _kb), _llm).compile()
mgranrag_chat = with_messages(create("mgranrag", _llm, _kb), _llm).compile()
par_rag_chat = with_messages(create("par_rag", _llm, _kb), _llm).compile()
