"""`langgraph-rag chat`: the chat page."""

from typing import Annotated

import typer

from langgraph_rag.chat import expect_servable, serve
from langgraph_rag.cli.options import Cache, EmbeddingsName, KbFolder, MethodName, ModelName, embedder
from langgraph_rag.methods import METHODS
from langgraph_rag.naming import expect_name
from langgraph_rag.tools.knowledge_base import KnowledgeBase


def chat(
    kb: KbFolder,
    method_name: MethodName = "adaptive",
    model: ModelName = "offline",
    embeddings: EmbeddingsName = None,
    cache: Cache = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but the default lets others use the page.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 takes a free one.")] = 8501,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Host name of the page, in addition to --host; may be repeated."),
    ] = None,
    only_model: Annotated[
        list[str] | None,
        typer.Option(help="Model that can be selected in addition to --model, and then no other; may be repeated."),
    ] = None,
    upload: Annotated[bool, typer.Option(help="Let documents be added and removed on the page.")] = True,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Serve a chat page: ask questions, watch the steps, look at the evidence, add documents."""
    expect_name("method", method_name, METHODS)
    expect_servable([model, *(only_model or [])], cache, host, port)  # first, so that a failure leaves no folder behind
    with KnowledgeBase.open(kb, embedder(embeddings), read_only=not upload) as base:
        serve(
            base,
            method=method_name,
            model=model,
            cache=cache,
            host=host,
            port=port,
            show=browser,
            allow_hosts=allow_host or [],
            only_models=only_model or [],
            upload=upload,
        )
