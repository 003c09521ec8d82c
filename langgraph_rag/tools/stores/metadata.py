"""Where passages come from: sources, places, metadata by source."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from typing_extensions import TypedDict

from langgraph_rag.characters import is_text
from langgraph_rag.records import Passage, ids_of
from langgraph_rag.tools.stores.database import ChangeLog, as_json
from langgraph_rag.tools.stores.protocols import Origin, SqlDatabase

_LONGEST = 1_000_000  # characters
_DEEPEST = 50  # levels, as copying and serialising a passage is recursive
METADATA_TABLE = """
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


def origin_of(passage: Passage) -> Origin:
    """Return the id of a passage and its source."""
    return passage["id"], passage.get("source", "")


class MetadataTable:
    """The metadata of passages, for each of the sources that a passage comes from, in the table `METADATA_TABLE`."""

    def __init__(self, db: SqlDatabase) -> None:
        self._db = db

    def put(self, passages: Sequence[Passage]) -> None:
        """Replace the stored metadata of passages, also by none."""
        query = "DELETE FROM metadata WHERE passage = (SELECT number FROM passages WHERE id = ?) AND source = ?"
        self._db.executemany(query, map(origin_of, passages))
        given = [passage for passage in passages if "metadata" in passage]
        rows = [(passage.get("source", ""), _dumped(passage), passage["id"]) for passage in given]
        self._db.executemany("INSERT INTO metadata SELECT number, ?, ? FROM passages WHERE id = ?", rows)

    def differing(self, passages: Sequence[Passage]) -> list[Passage]:
        """Return the passages whose metadata differ from the stored ones."""
        of = "metadata JOIN passages ON number = passage WHERE id IN"
        rows = self._db.by_ids("id, metadata.source, fields", of, ids_of(passages))
        stored = {row[:2]: row[2] for row in rows}
        return [passage for passage in passages if stored.get(origin_of(passage)) != _dumped(passage)]


def _dumped(passage: Passage) -> str | None:
    return as_json(passage["metadata"]) if "metadata" in passage else None


ORIGINS_TABLE = """
CREATE TABLE IF NOT EXISTS origins (
    passage INTEGER NOT NULL REFERENCES passages(number) ON DELETE CASCADE, source TEXT NOT NULL,
    UNIQUE (passage, source));
CREATE INDEX IF NOT EXISTS origins_by_source ON origins (source);
CREATE TRIGGER IF NOT EXISTS origins_in AFTER INSERT ON passages BEGIN
    INSERT INTO origins VALUES (new.number, coalesce(new.source, '')); END;
"""


class StoredDocument(TypedDict):
    """The passages of one source, or without a source, of one title; without a title, each passage is a document."""

    source: str
    title: str
    ids: list[str]


class Origins:
    """The origins of passages in the table `ORIGINS_TABLE`; a new passage has one at once."""

    def __init__(self, db: SqlDatabase, metadata: MetadataTable, changes: ChangeLog) -> None:
        self._db, self._metadata, self._changes = db, metadata, changes

    def sources(self) -> list[str]:
        """Return the sources of all passages, in alphabetical order."""
        of = "(SELECT DISTINCT source FROM origins WHERE source <> '' ORDER BY source)"
        return [row[0] for row in self._db.rows("source", of)]

    def documents(self) -> list[StoredDocument]:
        """Return the documents of all passages; a passage of several sources belongs to each of them."""
        title = "CASE origins.source WHEN '' THEN coalesce(nullif(title, ''), id) ELSE '' END"
        elsewhere = "SELECT passage FROM origins WHERE source <> ''"
        of = (
            f"(SELECT origins.source AS origin, {title} AS title, id "
            f"FROM origins JOIN passages ON number = passage "
            f"WHERE origins.source <> '' OR number NOT IN ({elsewhere}) ORDER BY 1, 2, number)"
        )
        documents: dict[tuple[str, str], list[str]] = {}
        for source, of_title, id_ in self._db.rows("origin, title, id", of):
            documents.setdefault((source, of_title), []).append(id_)
        return [StoredDocument(source=source, title=named, ids=ids) for (source, named), ids in documents.items()]

    def of(self, sources: Sequence[str]) -> list[Origin]:
        """Return the passages of these sources, with the source."""
        of = "origins JOIN passages ON number = passage WHERE origins.source <> '' AND origins.source IN"
        return [(id_, source) for id_, source in self._db.by_ids("id, origins.source", of, sources)]

    def only_from(self, origins: Sequence[Origin]) -> list[str]:
        """Return the ids of the passages that have no other origins."""
        of = "origins JOIN passages ON number = passage WHERE id IN"
        ids = list(dict.fromkeys(id_ for id_, _ in origins))
        kept = {id_ for id_, _ in set(self._db.by_ids("id, origins.source", of, ids)).difference(origins)}
        return [id_ for id_ in ids if id_ not in kept]

    def add(self, passages: Sequence[Passage]) -> None:
        """Add origins of stored passages, with the metadata of each."""
        query = (
            "INSERT INTO origins (passage, source) SELECT number, ? FROM passages WHERE id = ? ON CONFLICT DO NOTHING"
        )
        with self._db.change():
            stored = {id_ for (id_,) in self._db.by_ids("id", "passages WHERE id IN", ids_of(passages))}
            of = "origins JOIN passages ON number = passage WHERE id IN"
            known = set(self._db.by_ids("id, origins.source", of, ids_of(passages)))
            new = [p for p in passages if p["id"] in stored and origin_of(p) not in known]
            self._db.executemany(query, [(source, id_) for id_, source in map(origin_of, new)])
            self._metadata.put(new)
            self._changes.add(ids_of(new))

    def remove(self, origins: Sequence[Origin]) -> None:
        """Remove origins of passages; their source becomes the first one that is left."""
        first = "SELECT source FROM origins WHERE passage = number ORDER BY origins.rowid LIMIT 1"
        with self._db.change():
            for id_, source in origins:
                query = "DELETE FROM origins WHERE source = ? AND passage = (SELECT number FROM passages WHERE id = ?)"
                self._db.execute(query, (source, id_))
                self._db.execute(f"UPDATE passages SET source = ({first}) WHERE id = ?", (id_,))
            self._changes.add([id_ for id_, _ in origins])


STANDING_TABLE = """
CREATE TABLE IF NOT EXISTS standing (
    passage INTEGER NOT NULL, source TEXT NOT NULL, document TEXT NOT NULL, position INTEGER NOT NULL,
    headings TEXT NOT NULL, number INTEGER NOT NULL, splitting TEXT NOT NULL, PRIMARY KEY (passage, source),
    FOREIGN KEY (passage, source) REFERENCES origins (passage, source) ON DELETE CASCADE) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS standing_by_document ON standing (document, position);
"""
_Place = tuple[object, ...]
_FIELDS = ("document", "position", "headings", "number", "splitting")


class Places:
    """The places of passages in the table `STANDING_TABLE`; they are stored when all passages of a document are.

    So readers see the passages of an earlier version in their order until those of a new one are all there.
    """

    def __init__(self, db: SqlDatabase, changes: ChangeLog) -> None:
        self._db, self._changes = db, changes

    def put(self, passages: Sequence[Passage], order: Mapping[Origin, tuple[int, str]]) -> None:
        """Store the places of stored passages where they differ.

        Args:
            passages: the passages.
            order: the number of each in its source, and how it was split off, or "" for one that was given as a whole.
        """
        with self._db.change():
            stored = self.of(ids_of(passages))
            rows = {origin_of(passage): _row(passage, *order[origin_of(passage)]) for passage in passages}
            new = {origin: row for origin, row in rows.items() if stored.get(origin) != row}
            self.restore(new)
            moved = [origin[0] for origin, row in new.items() if stored.get(origin, ())[:3] != row[:3]]
            self._changes.add(list(dict.fromkeys(moved)))

    def of(self, ids: Sequence[str]) -> dict[Origin, _Place]:
        """Return the places of passages, by the origins of each."""
        of = "standing JOIN passages ON passage = passages.number WHERE id IN"
        fields = ", ".join(f"standing.{name}" for name in _FIELDS)
        return {row[:2]: row[2:] for row in self._db.by_ids(f"id, standing.source, {fields}", of, ids)}

    def restore(self, places: Mapping[Origin, _Place]) -> None:
        """Store the places of stored passages."""
        query = (
            f"INSERT INTO standing (passage, source, {', '.join(_FIELDS)}) "
            "SELECT passage, source, ?, ?, ?, ?, ? FROM origins "
            "WHERE passage = (SELECT number FROM passages WHERE id = ?) AND source = ? "
            f"ON CONFLICT (passage, source) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _FIELDS)}"
        )
        self._db.executemany(query, [(*place, *origin) for origin, place in places.items()])

    def near(self, id_: str, before: int, after: int, source: str | None = None) -> list[str]:
        """Return the ids of a passage and of those before and after it in its document; none if it is unknown.

        The document is that in one of its sources, by default in the first one.
        """
        own = "SELECT document, position FROM standing JOIN passages ON passage = passages.number AND id = ?"
        own += " WHERE standing.source = coalesce(?, passages.source, '')"
        of = (
            f"(SELECT id FROM ({own}) own JOIN standing ON standing.document = own.document "
            "AND standing.position BETWEEN own.position - ? AND own.position + ? "
            "JOIN passages ON passage = passages.number ORDER BY standing.position)"
        )
        return [row[0] for row in self._db.rows("id", of, id_, source, before, after)]

    def split_otherwise(self, splitting: str) -> int:
        """Return the number of passages that were split off in another way, or before places were stored."""
        of = "SELECT count(DISTINCT passage) AS n FROM standing WHERE splitting NOT IN ('', ?)"
        old = (
            "SELECT count(*) AS n FROM passages WHERE number NOT IN (SELECT passage FROM standing) "
            "AND length(id) = 32 AND trim(id, '0123456789abcdef') = ''"  # the hash of a part, no id of its own
        )
        return sum(int(n) for (n,) in [*self._db.rows("n", f"({of})", splitting), *self._db.rows("n", f"({old})")])


def _row(passage: Passage, number: int, splitting: str) -> _Place:
    headings = as_json(passage.get("headings", []))
    return passage.get("document", ""), passage.get("position", 0), headings, number, splitting
