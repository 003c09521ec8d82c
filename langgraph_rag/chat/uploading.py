"""Adds uploaded files to the knowledge base, a few passages at a time, to show the progress.

A file with the name of an earlier upload is a new version of it. Uploads have sources of their own.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import NamedTuple, Protocol

from langgraph_rag.characters import without_controls
from langgraph_rag.errors import DocumentError, DuplicateIdError, KnowledgeBaseError
from langgraph_rag.records import Passage
from langgraph_rag.tools.documents.files import READABLE, read_documents
from langgraph_rag.tools.ingest.stages import to_documents
from langgraph_rag.tools.knowledge_base import KnowledgeBase

_BATCH = 16  # passages: some seconds each with a large embedder
UPLOADED = "upload://"  # prefix of the sources of uploads; file paths have no two slashes in a row
_NOTHING_ADDED = "Nothing of this file was added."
_LONGEST = 200  # bytes of a file's name before its ending; file systems take 255 in all
_LONGEST_ENDING = 50  # bytes; no kind that can be read has a longer one


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


def name_of(file: File) -> str:
    """Return the name of a file without its folders."""
    return without_controls(PurePath(file.name.replace("%22", '"')).name)  # how browsers encode quotes


async def read(file: File) -> list[Passage]:
    """Read an uploaded file like `langgraph-rag index`; the `source` of a JSON line becomes metadata."""
    name = name_of(file)
    if PurePath(name).suffix.lower() not in READABLE:
        kinds = ", ".join(READABLE)
        raise DocumentError(f"{name or 'a file'}: expected a file ending in {kinds}\n{_NOTHING_ADDED}")
    with TemporaryDirectory() as folder:
        path = Path(folder, _saved_as(name))
        await file.save(path)
        try:
            return await asyncio.to_thread(_read, path, f"{UPLOADED}{name}")
        except DocumentError as error:
            told = str(error).replace(str(path), name or "a file")
            raise DocumentError(f"{told}\n{_NOTHING_ADDED}") from error


async def update(kb: KnowledgeBase, documents: list[Passage]) -> AsyncIterator[Progress]:
    """Add the documents of a file, passages in batches; with the last one, remove passages of its earlier versions.

    The first progress is yielded before anything is added, so that the caller can stop there.
    """
    check_folder(kb, "added")
    passages = await asyncio.to_thread(kb.split, documents)
    known = set(await asyncio.to_thread(kb.ids))
    if contested := await asyncio.to_thread(kb.contested, passages):
        name = passages[0]["source"].removeprefix(UPLOADED)
        raise DuplicateIdError(
            f"{name}: id {contested[0]!r} is already stored with another text or title, and not only from "
            "files of this name added here: give it another id, or delete that one first (`langgraph-rag delete --id`)"
        )
    unknown = [passage for passage in passages if passage["id"] not in known]
    yield Progress()
    new = 0
    for start in range(0, len(unknown) - _BATCH, _BATCH):
        batch = unknown[start : start + _BATCH]
        added = await asyncio.to_thread(kb.add, batch, progress=False)
        new += added["added"]
        yield Progress(start + len(batch), new)
    updated = await asyncio.to_thread(kb.update, passages, progress=False)
    new = min(new + updated["added"], len(passages))  # another page may have replaced some meanwhile
    yield Progress(len(passages), new, updated["removed"], updated["failed"])


def check_folder(kb: KnowledgeBase, done: str) -> None:
    """Check that the knowledge base is still in its folder, as deleted files that are open still accept changes."""
    if not kb.is_there:
        gone = "has been replaced" if kb.path.is_dir() else "is gone"
        raise KnowledgeBaseError(f"The folder of the knowledge base {gone}: nothing was {done}. Start the page anew.")


def _saved_as(name: str) -> str:
    """Return a name that any file system accepts, similar to the original, as it may become the title."""
    path = PurePath(name)
    saved = _cut(path.stem, _LONGEST) + _cut(path.suffix, _LONGEST_ENDING)
    return saved if saved.strip(".") else "file"  # dots are folders


def _cut(text: str, most: int) -> str:
    return text.encode(errors="ignore")[:most].decode(errors="ignore")


def _read(path: Path, source: str) -> list[Passage]:
    documents = to_documents(read_documents([path]))
    for document in documents:
        own = document.get("source", str(path))
        if own != str(path):
            document["metadata"] = {**document.get("metadata", {}), "source": own}
        document["source"] = source
    return documents
