"""Add uploaded files to the knowledge base, a few passages at a time, so that progress can be shown."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

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


async def add(kb: KnowledgeBase, passages: list[Passage]) -> AsyncIterator[tuple[int, int]]:
    """Add passages; yield after each batch how many are done and how many of these are new."""
    new = 0
    for start in range(0, len(passages), _BATCH):
        batch = passages[start : start + _BATCH]
        added = await asyncio.to_thread(kb.add, batch, progress=False)
        new += added["added"]
        yield start + len(batch), new
