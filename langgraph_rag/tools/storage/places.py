"""Where passages stand in their documents, for each of the sources that a passage comes from."""

from collections.abc import Callable, Mapping, Sequence

from langgraph_rag.records import Passage, ids_of
from langgraph_rag.tools.storage.change_log import ChangeLog
from langgraph_rag.tools.storage.database import Database, as_json
from langgraph_rag.tools.storage.origins import Origin

TABLE = """
CREATE TABLE IF NOT EXISTS standing (
    passage INTEGER NOT NULL, source TEXT NOT NULL, document TEXT NOT NULL, position INTEGER NOT NULL,
    headings TEXT NOT NULL, number INTEGER NOT NULL, splitting TEXT NOT NULL, PRIMARY KEY (passage, source),
    FOREIGN KEY (passage, source) REFERENCES origins (passage, source) ON DELETE CASCADE) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS standing_by_document ON standing (document, position);
"""
_Place = tuple[object, ...]
_FIELDS = ("document", "position", "headings", "number", "splitting")


class Places:
    """The places of passages in the table `TABLE`; they are stored when all passages of a document are.

    So readers see the passages of an earlier version in their order until those of a new one are all there.
    """

    def __init__(self, db: Database, changes: ChangeLog) -> None:
        self._db, self._changes = db, changes

    def put(self, passages: Sequence[Passage], splitting_of: Callable[[Passage], str]) -> None:
        """Store the places of stored passages, in the order of their documents, where they differ.

        Args:
            passages: the passages, in order.
            splitting_of: returns how a passage was split off, or "" for one that was given as a whole.
        """
        with self._db.change():
            stored = self.of(ids_of(passages))
            rows = {_origin(passage): _row(passage, n, splitting_of(passage)) for n, passage in enumerate(passages)}
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
            f"INSERT OR REPLACE INTO standing (passage, source, {', '.join(_FIELDS)}) "
            "SELECT passage, source, ?, ?, ?, ?, ? FROM origins "
            "WHERE passage = (SELECT number FROM passages WHERE id = ?) AND source = ?"
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
            "AND length(id) = 32 AND id NOT GLOB '*[^0-9a-f]*'"  # the hash of a part, no id of its own
        )
        return sum(int(n) for (n,) in [*self._db.rows("n", f"({of})", splitting), *self._db.rows("n", f"({old})")])


def _origin(passage: Passage) -> Origin:
    return passage["id"], passage.get("source", "")


def _row(passage: Passage, number: int, splitting: str) -> _Place:
    headings = as_json(passage.get("headings", []))
    return passage.get("document", ""), passage.get("position", 0), headings, number, splitting
