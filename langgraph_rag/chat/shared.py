"""The state that all tabs of the page share."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from nicegui import Event

from langgraph_rag.chat.asking import Asking
from langgraph_rag.chat.settings import Choice
from langgraph_rag.chat.upload_queue import UploadQueue
from langgraph_rag.chat.uploading import check_folder
from langgraph_rag.concurrency.threads import thread_safe_cache
from langgraph_rag.conversation import with_messages
from langgraph_rag.errors import RagError
from langgraph_rag.methods import create
from langgraph_rag.models.loading import load_model
from langgraph_rag.tools.knowledge_base import KnowledgeBase


@thread_safe_cache
def loaded(name: str, kept: Path | None) -> BaseChatModel:
    """Return the model of all tabs with a name; the file `kept` stores its replies."""
    return load_model(name, cache=kept)


@dataclass
class Shared:
    """The state that all tabs share; if `models` is not empty, only these can be selected."""

    kb: KnowledgeBase
    method: str
    model: str
    cache: Path | None = None
    models: Sequence[str] = ()
    upload: bool = True
    changed: Event[[]] = field(default_factory=Event)
    queue: UploadQueue = field(init=False)
    _warm: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.queue = UploadQueue(self.kb, self.changed.emit)

    async def warm_up(self) -> None:
        """Load the embedder and build the graph; errors are reported by the first question."""
        with suppress(RagError):
            if not self._warm:
                await self.kb.arank("warm up", 1)
                self._warm = True

    async def asking(self, choice: Choice, conversation: Sequence[AnyMessage]) -> Asking:
        """Prepare the run of the last question of a conversation; its limits do not include this."""
        check_folder(self.kb, "asked")
        await self.warm_up()
        return await asyncio.to_thread(self._asking, choice, conversation)

    def _asking(self, choice: Choice, conversation: Sequence[AnyMessage]) -> Asking:
        options = {"approve_plan": True} if choice.approve_plan else {}
        llm = loaded(choice.model, self.cache)
        graph = with_messages(create(choice.method, llm, self.kb, **options), llm)
        return Asking(graph, {"messages": conversation}, choice.context)
