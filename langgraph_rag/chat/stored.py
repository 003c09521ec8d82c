"""The documents of the knowledge base: what the page calls them, and how one is removed."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple

from langgraph_rag.chat.uploading import UPLOADED, check_folder
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.storage.record_store import StoredDocument


class NamedDocument(NamedTuple):
    """A document by the name that the page has for it."""

    name: str
    document: StoredDocument

    @property
    def key(self) -> str:
        """What tells it from all others, also from those of its name."""
        return _key(self.document)


class Removed(NamedTuple):
    """How many passages of a document went, and how many stay because they came from elsewhere, too."""

    passages: int
    kept: int


def named(documents: Sequence[StoredDocument]) -> list[NamedDocument]:
    """Name documents by their files, as evidence does, in alphabetical order; those of one name by their sources."""
    times = Counter(map(_name, documents))
    entries = [NamedDocument(_name(one) if times[_name(one)] == 1 else _full_name(one), one) for one in documents]
    return sorted(entries, key=lambda entry: entry.name.casefold())


def remove(kb: KnowledgeBase, document: StoredDocument) -> Removed:
    """Remove what is there of a document by now.

    Raises:
        KnowledgeBaseError: when the folder of the knowledge base is gone, or another process has it open to change it.
    """
    check_folder(kb, "removed")
    ids = next((there["ids"] for there in kb.documents() if _key(there) == _key(document)), [])
    removed = kb.delete(sources=[document["source"]]) if document["source"] else kb.delete(ids)
    return Removed(removed, len(ids) - removed)


def _key(document: StoredDocument) -> str:
    return json.dumps([document["source"], document["title"]])


def _name(document: StoredDocument) -> str:
    return PurePath(document["source"].removeprefix(UPLOADED)).name or _full_name(document)


def _full_name(document: StoredDocument) -> str:
    return document["source"] or document["title"]
