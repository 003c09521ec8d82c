"""Metadata of documents: converted to JSON and stored with their passages."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from langgraph_rag.characters import is_text
from langgraph_rag.records import Passage, ids_of
from langgraph_rag.tools.storage.database import Database, as_json

_LONGEST = 1_000_000  # characters
_DEEPEST = 50  # levels, as copying and serialising a passage is recursive
TABLE = """
CREATE TABLE IF NOT EXISTS metadata (
    passage INTEGER NOT NULL, source TEXT NOT NULL, fields TEXT NOT NULL, PRIMARY KEY (passage, source),
    FOREIGN KEY (passage, source) REFERENCES origins (passage, source) ON DELETE CASCADE) WITHOUT ROWID;
"""


def to_metadata(fields: Mapping[str, object]) -> dict[str, Any]:
    """Convert fields to JSON values: NaN and infinity become null, unknown types become text.

    Raises:
        ValueError: when they are too long, nested too deeply, or contain invalid text.
    """
    metadata: dict[str, Any] = _to_json(fields, _DEEPEST)
    dumped = as_json(metadata)
    if not is_text(dumped):
        raise ValueError("expected text, got half a surrogate pair")
    if len(dumped) > _LONGEST:
        raise ValueError(f"expected at most {_LONGEST:,} characters as JSON, got {len(dumped):,}")
    return metadata


def _to_json(value: object, levels: int) -> Any:
    if not levels:
        raise ValueError(f"expected at most {_DEEPEST} levels of lists and objects, got more")
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _to_json(inner, levels - 1) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(inner, levels - 1) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)  # the range of MessagePack, and so of checkpoints
    return value if value is None or isinstance(value, str) else str(value)


class MetadataTable:
    """The metadata of passages, for each of the sources that a passage comes from, in the table `TABLE`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, passages: Sequence[Passage]) -> None:
        """Replace the stored metadata of passages, also by none."""
        query = "DELETE FROM metadata WHERE passage = (SELECT number FROM passages WHERE id = ?) AND source = ?"
        self._db.executemany(query, map(_origin, passages))
        given = [passage for passage in passages if "metadata" in passage]
        rows = [(passage.get("source", ""), _dumped(passage), passage["id"]) for passage in given]
        self._db.executemany("INSERT INTO metadata SELECT number, ?, ? FROM passages WHERE id = ?", rows)

    def differing(self, passages: Sequence[Passage]) -> list[Passage]:
        """Return the passages whose metadata differ from the stored ones."""
        of = "metadata JOIN passages ON number = passage WHERE id IN"
        rows = self._db.by_ids("id, metadata.source, fields", of, ids_of(passages))
        stored = {row[:2]: row[2] for row in rows}
        return [passage for passage in passages if stored.get(_origin(passage)) != _dumped(passage)]


def _origin(passage: Passage) -> tuple[str, str]:
    return passage["id"], passage.get("source", "")


def _dumped(passage: Passage) -> str | None:
    return as_json(passage["metadata"]) if "metadata" in passage else None
