"""Answers questions over HTTP: POST /ask {"question": ...}, GET /health. docs/deployment.md has a fuller one."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

from langgraph_rag import Context, KnowledgeBase, RagError, create_adaptive, is_refusal, load_model
from langgraph_rag.errors import EmptyKnowledgeBaseError, QuestionError

LIMITS = Context(deadline_s=float(os.environ.get("DEADLINE_S", "60")))


class Question(BaseModel):
    """What is asked."""

    question: str


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the knowledge base while the server runs."""
    place = os.environ.get("LANGGRAPH_RAG_KB", "kb")
    with KnowledgeBase.open(place, read_only=True) as kb:
        app.state.kb = kb
        llm = load_model(os.environ.get("LANGGRAPH_RAG_MODEL", "offline"))
        app.state.graph = create_adaptive(llm, kb).compile()
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/health")
async def health() -> dict[str, str]:
    """Tell whether questions can be answered: 503 while there is nothing to ask, or the folder is gone."""
    kb: KnowledgeBase = app.state.kb
    try:
        await kb.acheck_filled()
    except RagError as error:
        raise HTTPException(503, type(error).__name__) from error
    if not kb.is_there:
        raise HTTPException(503, "the knowledge base was moved or replaced: restart")
    return {"status": "ok"}


@app.post("/ask")
async def ask(asked: Question) -> dict[str, Any]:
    """Answer a question, with evidence."""
    try:
        result = await app.state.graph.ainvoke({"question": asked.question}, context=LIMITS)
    except QuestionError as error:
        raise HTTPException(422, str(error)) from error
    except EmptyKnowledgeBaseError as error:
        raise HTTPException(409, type(error).__name__) from error
    except RagError as error:  # its text may quote paths and replies: for the log, not for clients
        raise HTTPException(502, type(error).__name__) from error
    answered = not is_refusal(result["answer"])
    return {"answer": result["answer"], "answered": answered, "evidence": result["evidence"], "usage": result["usage"]}
