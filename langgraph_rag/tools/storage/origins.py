"""The sources that stored passages come from: a passage of several files has several origins."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from langgraph_rag.records import Passage, ids_of
from langgraph_rag.tools.storage.change_log import ChangeLog
from langgraph_rag.tools.storage.database import Database
from langgraph_rag.tools.storage.metadata import MetadataTable

TABLE = """
CREATE TABLE IF NOT EXISTS origins (
    passage INTEGER NOT NULL REFERENCES passages(number) ON DELETE CASCADE, source TEXT NOT NULL,
    UNIQUE (passage, source));
CREATE INDEX IF NOT EXISTS origins_by_source ON origins (source);
CREATE TRIGGER IF NOT EXISTS origins_in AFTER INSERT ON passages BEGIN
    INSERT INTO origins VALUES (new.number, coalesce(new.source, '')); END;
"""

Origin = tuple[str, str]
"""A passage id and one of its sources, which may be empty."""


class StoredDocument(TypedDict):
    """The passages of one source, or without a source, of one title; without a title, each passage is a document."""

    source: str
    title: str
    ids: list[str]


class Origins:
    """The origins of passages in the table `TABLE`; a new passage has one at once."""

    def __init__(self, db: Database, metadata: MetadataTable, changes: ChangeLog) -> None:
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
            f"(SELECT origins.source, {title} AS title, json_group_array(id) AS ids "
            f"FROM origins JOIN passages ON number = passage "
            f"WHERE origins.source <> '' OR number NOT IN ({elsewhere}) GROUP BY 1, 2)"
        )
        rows = self._db.rows("source, title, json(ids)", of)
        return [StoredDocument(source=source, title=title, ids=ids) for source, title, ids in rows]

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
        query = "INSERT OR IGNORE INTO origins SELECT number, ? FROM passages WHERE id = ?"
        with self._db.change():
            new = [p for p in passages if self._db.execute(query, (p.get("source", ""), p["id"])).rowcount]
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
