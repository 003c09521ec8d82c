"""A chat page on this machine: ask, watch the steps, look into the evidence (extra `chat`)."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from langgraph_rag.errors import MissingExtraError
from langgraph_rag.tools.knowledge_base import KnowledgeBase


def serve(
    kb: KnowledgeBase,
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
    """Serve the chat page of a knowledge base until interrupted.

    Args:
        kb: what is asked, and what documents are added to and removed from.
        method: the method chosen when the page opens.
        model: the name of the model chosen when the page opens.
        cache: a file that keeps the replies of every model chosen, so that nothing is asked twice.
        host: the address to listen on; any other than this machine's own opens the page to others.
        port: the port to listen on; 0 takes a free one.
        show: whether to open the page in the browser.
        allow_hosts: names by which the page may be asked for, besides `host`, localhost and IP addresses.
        only_models: the models that can be chosen besides `model`; without any, every model can, by its name.
        upload: whether documents can be added and removed on the page.

    Raises:
        MissingExtraError: when NiceGUI is not installed.
        RagError: when a model cannot be loaded.
        AddressError: when the address cannot be listened on.
    """
    try:
        import_module("nicegui")
    except ImportError as error:
        raise MissingExtraError("the chat page", "chat") from error
    from langgraph_rag.chat.server import serve_page
    from langgraph_rag.chat.shared import Shared

    models = list(dict.fromkeys([model, *only_models])) if only_models else []
    shared = Shared(kb, method, model, cache, models, upload)
    serve_page(shared, host=host, port=port, show=show, allow_hosts=allow_hosts)
