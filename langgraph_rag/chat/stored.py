"""The names of documents on the page, and their removal."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple

from langgraph_rag.chat.uploading import UPLOADED, check_folder
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores.metadata import StoredDocument


class NamedDocument(NamedTuple):
    """A document with its name on the page."""

    name: str
    document: StoredDocument

    @property
    def key(self) -> str:
        """A unique key, also for documents with the same name."""
        return _key(self.document)


class Removed(NamedTuple):
    """How many passages of a document were removed, and how many stay because they have other sources."""

    passages: int
    kept: int


def named(documents: Sequence[StoredDocument]) -> list[NamedDocument]:
    """Name documents by file, or by source if several have the same name; sort them alphabetically."""
    times = Counter(map(_name, documents))
    entries = [NamedDocument(_name(one) if times[_name(one)] == 1 else _full_name(one), one) for one in documents]
    return sorted(entries, key=lambda entry: entry.name.casefold())


def remove(kb: KnowledgeBase, document: StoredDocument) -> Removed:
    """Remove the current passages of a document."""
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
