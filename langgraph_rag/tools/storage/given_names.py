"""Names that people give to entities: facts are stored with the entity in place of its name, and as written.

`namings` has those that passages give (`triple_records`).
"""

from collections.abc import Iterable, Mapping, Sequence

from langgraph_rag.normal_forms import normalise
from langgraph_rag.tools.storage.database import Database

TABLES = """
CREATE TABLE IF NOT EXISTS namings (
    passage INTEGER NOT NULL REFERENCES passages(number) ON DELETE CASCADE, extractor TEXT NOT NULL,
    name TEXT NOT NULL, entity TEXT NOT NULL, kind TEXT NOT NULL,
    PRIMARY KEY (passage, extractor, name, entity, kind)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS given_names (form TEXT PRIMARY KEY, name TEXT NOT NULL, entity TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS written_ends (
    passage INTEGER NOT NULL REFERENCES passages(number) ON DELETE CASCADE, extractor TEXT NOT NULL,
    position INTEGER NOT NULL, head TEXT NOT NULL, tail TEXT NOT NULL,
    PRIMARY KEY (passage, extractor, position)) WITHOUT ROWID;
"""


class GivenNames:
    """The table of names.

    Args:
        db: the database.
    """

    def __init__(self, db: Database) -> None:
        self._db = db

    def all(self) -> dict[str, str]:
        """Return the entity of each name, in alphabetical order of the names."""
        return dict(self._db.rows("name, entity", "(SELECT name, entity FROM given_names ORDER BY name)"))

    def entities(self) -> dict[str, str]:
        """Return the entity of each name in normal form; that of an entity which is itself such a name."""
        given = dict(self._db.rows("form, entity", "given_names"))
        return {form: _followed(form, given) for form in given}

    def add(self, names: Mapping[str, str]) -> None:
        """Add names; an existing one gets its new entity.

        Raises:
            ValueError: when a name leads back to itself.
        """
        with self._db.change():
            rows = [(normalise(name), name, entity) for name, entity in names.items()]
            self._db.executemany("INSERT OR REPLACE INTO given_names VALUES (?, ?, ?)", rows)
            self.entities()

    def remove(self, names: Iterable[str]) -> None:
        """Remove names; unknown ones are left out."""
        self._db.delete("given_names WHERE form IN", [normalise(name) for name in names])


def _followed(form: str, given: Mapping[str, str]) -> str:
    entity, seen = given[form], {form}
    while (following := normalise(entity)) in given:
        if following in seen:
            raise ValueError(f"names: expected entities that are no names of themselves, got {entity!r} in a circle")
        seen.add(following)
        entity = given[following]
    return entity


def renamed(triple: Sequence[str], entities: Mapping[str, str]) -> list[str]:
    """Return a fact with entities in place of their names, unless both ends became the same."""
    head, relation, tail = triple
    ends = entities.get(normalise(head), head), entities.get(normalise(tail), tail)
    if normalise(ends[0]) == normalise(ends[1]):
        return [*triple]
    return [ends[0], relation, ends[1]]
