"""`langgraph-rag chat`: the chat page."""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from langgraph_rag.chat import expect_servable, serve
from langgraph_rag.cli.options import Cache, EmbeddingsName, MethodName, ModelName, embedder, path_option
from langgraph_rag.methods import METHODS
from langgraph_rag.naming import expect_name
from langgraph_rag.tools.knowledge_base import KnowledgeBase

_KB = "LANGGRAPH_RAG_KB"


def chat(
    kb: Annotated[
        list[Path] | None,
        path_option(
            "--kb", help=f"Folder of a knowledge base, by default {_KB}; of several, the page offers a choice."
        ),
    ] = None,
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
    folders = kb or [Path(folder) for folder in [os.environ.get(_KB)] if folder]
    if not folders:
        raise typer.BadParameter(f"expected the folder of a knowledge base in --kb or {_KB}, got none")
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise typer.BadParameter(f"expected folders that differ in --kb, got {', '.join(map(str, folders))}")
    expect_servable([model, *(only_model or [])], cache, host, port)  # first, so that a failure leaves no folder behind
    with ExitStack() as opened:
        serve(
            [
                opened.enter_context(KnowledgeBase.open(folder, embedder(embeddings), read_only=not upload))
                for folder in folders
            ],
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
