"""The queue of uploaded files. All pages show it and can stop it, also after the uploading page was closed.

A document can only be removed while no file is being added.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from langgraph_rag.chat import stored, uploading
from langgraph_rag.chat.stored import NamedDocument
from langgraph_rag.chat.turn import message_for
from langgraph_rag.naming import counted, first_few
from langgraph_rag.records import Passage
from langgraph_rag.tools.knowledge_base import KnowledgeBase


class Message(NamedTuple):
    """The result for a file or a document."""

    text: str
    kind: Literal["done", "alert"]


@dataclass
class Upload:
    """The file that is being added, its progress (from 0 to 1), and whether it is being stopped."""

    name: str
    state: str = "reading …"
    share: float = 0.0
    stopping: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {'stopping …' if self.stopping else self.state}"


class UploadQueue:
    """Adds files one after another, and removes a document while no file is being added.

    `changed` is called after each change of the state; `messages` are the results since the queue was last empty.
    """

    def __init__(self, kb: KnowledgeBase, changed: Callable[[], object]) -> None:
        self._kb, self._changed = kb, changed
        self.current: Upload | None = None
        self._removing = ""
        self.waiting: list[uploading.File] = []
        self.messages: list[Message] = []

    async def add(self, files: Sequence[uploading.File]) -> None:
        """Put files into the queue, and process it unless it is being processed already."""
        self.waiting += files
        if self.under_way:
            self._changed()
            return
        self.messages.clear()
        await self._add_waiting()

    async def remove(self, removed: NamedDocument) -> None:
        """Remove a document, unless something else is running; then add files that were uploaded in the meantime."""
        if self.under_way:
            waits = "because something is being added or removed: try again when that is done"
            self._tell(f"{removed.name}: not removed, {waits}.", "alert")
            self._changed()
            return
        self.messages.clear()
        self._removing = removed.name
        self._changed()
        try:
            self._tell_removed(removed.name, await asyncio.to_thread(stored.remove, self._kb, removed.document))
        except Exception as error:
            self._tell(message_for(error), "alert")
        finally:
            self._removing = ""
        await self._add_waiting()

    @property
    def under_way(self) -> str:
        """The running operation, in words; empty if there is none."""
        return f"{self._removing}: removing …" if self._removing else str(self.current or "")

    async def _add_waiting(self) -> None:
        try:
            while self.waiting:
                await self._add(self.waiting.pop(0))
        finally:
            self.current = None
            self._changed()

    def stop(self) -> None:
        """Clear the queue and stop the current file."""
        if self.waiting:
            self._tell(f"{self.names_waiting()}: not added.")
            self.waiting.clear()
        if self.current:
            self.current.stopping = True
        self._changed()

    def names_waiting(self) -> str:
        """Return the names of the first waiting files."""
        return first_few(list(map(uploading.name_of, self.waiting)), 10)

    async def _add(self, file: uploading.File) -> None:
        self.current = Upload(uploading.name_of(file))
        self._changed()
        try:
            await self._update(self.current, await uploading.read(file))
        except Exception as error:
            self._tell(message_for(error), "alert")

    async def _update(self, upload: Upload, passages: list[Passage]) -> None:
        async for reached in uploading.update(self._kb, passages):
            if upload.stopping:
                break
            upload.share = reached.done / len(passages)
            upload.state = f"{reached.done:,} of {counted(len(passages), 'passage')} …"
            self._changed()
        if reached.done < len(passages):
            self._tell(f"{upload.name}: stopped at {reached.done:,} of {len(passages):,}; add it again to go on.")
        else:
            self._tell_added(upload.name, reached)

    def _tell_removed(self, name: str, removed: stored.Removed) -> None:
        kept = f", {removed.kept:,} left that came from elsewhere, too" if removed.kept else ""
        self._tell(f"{name}: {counted(removed.passages, 'passage')} removed{kept}.")

    def _tell_added(self, name: str, reached: uploading.Progress) -> None:
        known = reached.done - reached.new
        there = f", {known} there already" if known else ""
        gone = f", {reached.removed} of earlier versions removed" if reached.removed else ""
        self._tell(f"{name}: {counted(reached.new, 'passage')} added{there}{gone}.")
        if reached.unread:
            self._tell(
                f"No facts yet out of {counted(reached.unread, 'passage')}, which can be found all the same: "
                f"{self._kb.extractor.version} read the others. "
                "To have them, close this page and index with that extractor or model (`langgraph-rag index --model`)."
            )

    def _tell(self, text: str, kind: Literal["done", "alert"] = "done") -> None:
        self.messages.append(Message(text, kind))
