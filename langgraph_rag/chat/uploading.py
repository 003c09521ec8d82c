"""Add uploaded files to the knowledge base, a few passages at a time, so that progress can be shown.

A file uploaded again under the same name is a new version of it.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, Protocol

from langgraph_rag.errors import DocumentError
from langgraph_rag.records import Passage
from langgraph_rag.tools.documents import to_passages
from langgraph_rag.tools.files import read_documents
from langgraph_rag.tools.knowledge_base import KnowledgeBase

_BATCH = 16  # passages: some seconds each with a large embedder


class File(Protocol):
    """A file as a browser sends it."""

    name: str

    async def save(self, path: str | Path) -> None:
        """Write it to a path."""


class Progress(NamedTuple):
    """How many passages are done, how many of these are new, and how many of earlier versions were removed.

    `unread` are those of the whole knowledge base that were to be read for facts and could not be.
    """

    done: int = 0
    new: int = 0
    removed: int = 0
    unread: int = 0


async def read(file: File) -> list[Passage]:
    """Read an uploaded file as `langgraph-rag index` would; its name stands for where it comes from.

    Raises:
        DocumentError: when the file cannot be read, under the name it was uploaded with.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / Path(file.name).name
        await file.save(path)
        try:
            passages = await asyncio.to_thread(lambda: to_passages(read_documents([path])))
        except DocumentError as error:
            raise DocumentError(str(error).replace(f"{folder}/", "")) from error
    for passage in passages:
        if passage.get("source") == str(path):
            passage["source"] = path.name
    return passages


async def update(kb: KnowledgeBase, passages: list[Passage]) -> AsyncIterator[Progress]:
    """Add the passages of a file batch by batch, then remove those that earlier versions of it left."""
    known = set(await asyncio.to_thread(kb.ids))
    unknown = [passage for passage in passages if passage["id"] not in known]
    new = 0
    for start in range(0, len(unknown), _BATCH):
        batch = unknown[start : start + _BATCH]
        added = await asyncio.to_thread(kb.add, batch, progress=False)
        new += added["added"]
        yield Progress(start + len(batch), new)
    updated = await asyncio.to_thread(kb.update, passages, progress=False)
    yield Progress(len(passages), new + updated["added"], updated["removed"], updated["failed"])
