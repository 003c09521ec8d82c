"""A chat page: ask questions, watch the steps, and look at the evidence (extra `chat`)."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from langgraph_rag.errors import MissingExtraError
from langgraph_rag.tools.knowledge_base import KnowledgeBase


def serve(
    kb: KnowledgeBase | Sequence[KnowledgeBase],
    *,
    method: str,
    model: str,
    cache: Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8501,
    show: bool = True,
    allow_hosts: Sequence[str] = (),
    only_models: Sequence[str] = (),
    upload: bool = True,
) -> None:
    """Serve the chat page of a knowledge base, or of several, until interrupted.

    Args:
        kb: the knowledge base to ask; documents are added to it and removed from it. Of several, one is chosen on the
            page, at first the first one; each has its own conversations.
        method: the method that is selected at first.
        model: the name of the model that is selected at first.
        cache: a file that stores the replies of all models, so that no request is sent twice.
        host: the address to listen on. With another address than 127.0.0.1, other machines can open the page.
        port: the port to listen on; 0 takes a free one.
        show: whether to open the page in the browser.
        allow_hosts: host names of the page, in addition to `host`, localhost and IP addresses.
        only_models: the models that can be selected in addition to `model`; if empty, any model, by its name.
        upload: whether documents can be added and removed on the page.

    Raises:
        MissingExtraError: when NiceGUI is not installed.
        RagError: when a model cannot be loaded.
        AddressError: when it is not possible to listen on the address.
    """
    expect_servable([model, *only_models], cache, host, port)
    from langgraph_rag.chat.server import serve_pages
    from langgraph_rag.chat.shared import Shared

    models = list(dict.fromkeys([model, *only_models])) if only_models else []
    several = [kb] if isinstance(kb, KnowledgeBase) else kb
    each = [Shared(base, method, model, cache, models, upload) for base in several]
    serve_pages(each, host=host, port=port, show=show, allow_hosts=allow_hosts)


def expect_servable(models: Sequence[str], cache: Path | None, host: str, port: int) -> None:
    """Check what can be checked without a knowledge base, which need not be created if the page cannot be served."""
    try:
        import_module("nicegui")
    except ImportError as error:
        raise MissingExtraError("the chat page", "chat") from error
    from langgraph_rag.chat.server import listen
    from langgraph_rag.chat.shared import loaded

    for name in models:
        loaded(name, cache)
    listen(host, port).close()
