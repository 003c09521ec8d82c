"""Stored facts, the names that their entities were given, and which passages state them."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from langgraph_rag.normal_forms import normalise, triple_text
from langgraph_rag.records import Fact, Naming, Record, Statement
from langgraph_rag.tools.stores.database import ChangeLog, as_json
from langgraph_rag.tools.stores.protocols import Matrix, SqlDatabase

NAME_TABLES = """
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


_GIVE = (
    "INSERT INTO given_names VALUES (?, ?, ?) "
    "ON CONFLICT (form) DO UPDATE SET name = excluded.name, entity = excluded.entity"
)


class GivenNames:
    """The table of names."""

    def __init__(self, db: SqlDatabase) -> None:
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
            self._db.executemany(_GIVE, rows)
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


TABLES = """
CREATE TABLE IF NOT EXISTS extractions (
    passage INTEGER NOT NULL REFERENCES passages(number) ON DELETE CASCADE, extractor TEXT NOT NULL,
    PRIMARY KEY (passage, extractor)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS triples (
    passage INTEGER NOT NULL REFERENCES passages(number) ON DELETE CASCADE, extractor TEXT NOT NULL,
    position INTEGER NOT NULL, head TEXT NOT NULL, relation TEXT NOT NULL, tail TEXT NOT NULL,
    sentences TEXT NOT NULL, vector TEXT NOT NULL, PRIMARY KEY (passage, extractor, position)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS triples_by_vector ON triples (vector);
CREATE TABLE IF NOT EXISTS triple_vectors (id TEXT PRIMARY KEY, vector BLOB NOT NULL);
"""
_STATED = "triples JOIN passages ON number = passage WHERE extractor = ? AND id IN"
_PAGE = 10_000  # triples
_PUT = "INSERT INTO triple_vectors VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET vector = excluded.vector"


_Rewritten = tuple[tuple[int, str, int], list[str], tuple[str, str]]
"""The passage, extractor and position of a fact, the fact, and its ends as they were written."""


def vector_id(triple: Sequence[str]) -> str:
    """Return the id of the vector of a triple, which is the same in all passages."""
    return hashlib.sha256(triple_text(triple).encode()).hexdigest()[:24]


class TripleRecords:
    """The tables of triples."""

    def __init__(self, db: SqlDatabase) -> None:
        self._db, self.names = db, GivenNames(db)

    def changes(self, extractor: str) -> ChangeLog:
        """Return the log of the passages whose triples were stored for an extractor, by any process."""
        return ChangeLog(self._db, f"triples by {extractor}")

    def unextracted(self, extractor: str, ids: Sequence[str] | None = None) -> list[str]:
        """Return the ids of passages (all, in the order of storing, or some) that an extractor has not read yet."""
        rest = "NOT EXISTS (SELECT 1 FROM extractions WHERE passage = number AND extractor = ?)"
        if ids is None:
            of = f"(SELECT id FROM passages WHERE {rest} ORDER BY number)"
            return [row[0] for row in self._db.rows("id", of, extractor)]
        unread = {row[0] for row in self._db.by_ids("id", f"passages WHERE {rest} AND id IN", ids, extractor)}
        return [id_ for id_ in dict.fromkeys(ids) if id_ in unread]

    def none_found_in(self, ids: Sequence[str], extractor: str) -> list[str]:
        """Return those of the passages that an extractor has read without finding a triple."""
        of = (
            "passages WHERE EXISTS (SELECT 1 FROM extractions WHERE passage = number AND extractor = ?) "
            "AND NOT EXISTS (SELECT 1 FROM triples WHERE passage = number AND extractor = ?) AND id IN"
        )
        barren = {row[0] for row in self._db.by_ids("id", of, ids, extractor, extractor)}
        return [id_ for id_ in dict.fromkeys(ids) if id_ in barren]

    def most_read_by(self) -> str | None:
        """Return the extractor that read most passages, if any has read some."""
        of = "(SELECT extractor FROM extractions GROUP BY extractor ORDER BY count(*) DESC, extractor LIMIT 1)"
        return next((row[0] for row in self._db.rows("extractor", of)), None)

    def save(
        self, extractor: str, facts: Sequence[tuple[Record, Sequence[Fact]]], names: Sequence[Sequence[Naming]]
    ) -> None:
        """Store the triples of passages and the names that each gives; earlier ones of the extractor are replaced.

        Passages that were deleted or replaced in the meantime are left out.
        """
        with self._db.change():
            ids = [record["id"] for record, _ in facts]
            stored = self._db.by_ids("id, hash, number", "passages WHERE id IN", ids)
            numbers = {(id_, hash_): number for id_, hash_, number in stored}
            read_from = [(numbers.get((record["id"], record["hash"])), found) for record, found in facts]
            read = [(number, extractor) for number, _ in read_from if number is not None]
            before = self.vector_ids_of(ids)
            self._db.executemany("DELETE FROM triples WHERE passage = ? AND extractor = ?", read)
            self._db.executemany("DELETE FROM namings WHERE passage = ? AND extractor = ?", read)
            self._db.executemany("INSERT INTO extractions VALUES (?, ?) ON CONFLICT DO NOTHING", read)
            self._db.executemany(
                "INSERT INTO namings (passage, extractor, name, entity, kind) VALUES (?, ?, ?, ?, ?)",
                [
                    (number, extractor, *naming)
                    for (number, _), given in zip(read_from, names, strict=True)
                    if number is not None
                    for naming in dict.fromkeys(map(tuple, given))
                ],
            )
            self._db.executemany("DELETE FROM written_ends WHERE passage = ? AND extractor = ?", read)
            self._db.executemany(
                "INSERT INTO triples VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        number,
                        extractor,
                        position,
                        *fact["triple"],
                        as_json(fact["sentences"]),
                        vector_id(fact["triple"]),
                    )
                    for number, found in read_from
                    if number is not None
                    for position, fact in enumerate(found)
                ],
            )
            if self.names.all():
                self._rename(ids)
            self.delete_unused_vectors(before)
            self.changes(extractor).add(ids)

    def give_names(self, names: Mapping[str, str]) -> list[str]:
        """Store names of entities, and put these in place of them in all facts.

        Returns:
            The ids of the vectors that are no longer used.

        Raises:
            ValueError: when a name leads back to itself; nothing is stored.
        """
        with self._db.change():
            self.names.add(names)
            return self._renamed_everywhere()

    def take_names(self, names: Iterable[str]) -> list[str]:
        """Remove names, so that facts are as they were written; return the ids of the vectors no longer used."""
        with self._db.change():
            self.names.remove(names)
            return self._renamed_everywhere()

    def _renamed_everywhere(self) -> list[str]:
        for (extractor,) in self._db.rows("extractor", "(SELECT DISTINCT extractor FROM extractions)"):
            self.changes(extractor).add([""])  # also graphs whose facts stay the same know the names
        return self._rename(None)

    def _rename(self, ids: Sequence[str] | None) -> list[str]:
        """Put entities in place of their given names in facts (of all passages, or of some), or names back in place.

        Return the ids of the vectors that are no longer used.
        """
        columns = "id, triples.passage, triples.extractor, triples.position, triples.head, relation, triples.tail"
        of = (
            "triples JOIN passages ON number = triples.passage LEFT JOIN written_ends ON "
            "(written_ends.passage, written_ends.extractor, written_ends.position) = "
            "(triples.passage, triples.extractor, triples.position)"
        )
        columns += ", coalesce(written_ends.head, triples.head), coalesce(written_ends.tail, triples.tail)"
        some = self._db.rows(columns, of) if ids is None else self._db.by_ids(columns, f"{of} WHERE id IN", ids)
        entities, changed, touched = self.names.entities(), list[_Rewritten](), defaultdict[str, list[str]](list)
        for id_, passage, extractor, position, head, relation, tail, was_head, was_tail in some:
            triple = renamed((was_head, relation, was_tail), entities)
            if triple != [head, relation, tail]:
                changed.append(((passage, extractor, position), triple, (was_head, was_tail)))
                touched[extractor].append(id_)
        return self._rewrite(changed, touched)

    def _rewrite(self, changed: Sequence[_Rewritten], touched: Mapping[str, Sequence[str]]) -> list[str]:
        """Store changed facts, and the ends that were written; return the ids of the vectors no longer used."""
        before = self.vector_ids_of([id_ for ids in touched.values() for id_ in ids])
        at = "WHERE passage = ? AND extractor = ? AND position = ?"
        rows = [(triple[0], triple[2], vector_id(triple), *place) for place, triple, _ in changed]
        self._db.executemany(f"UPDATE triples SET head = ?, tail = ?, vector = ? {at}", rows)
        self._db.executemany(f"DELETE FROM written_ends {at}", [place for place, *_ in changed])
        written = [(*place, *ends) for place, triple, ends in changed if (triple[0], triple[2]) != ends]
        self._db.executemany("INSERT INTO written_ends VALUES (?, ?, ?, ?, ?)", written)
        for extractor, ids in touched.items():
            self.changes(extractor).add(list(dict.fromkeys(ids)))
        return self.delete_unused_vectors(before)

    def facts(self, extractor: str, ids: Sequence[str]) -> dict[str, list[Fact]]:
        """Return the triples of each of the given passages, known or not."""
        facts: dict[str, list[Fact]] = {id_: [] for id_ in ids}
        columns = "id, head, relation, tail, json(triples.sentences)"
        for id_, *triple, sentences in self._db.by_ids(columns, _STATED, ids, extractor, order="passage, position"):
            facts[id_].append(Fact(triple=triple, sentences=sentences))
        return facts

    def statements(self, extractor: str, ids: Sequence[str] | None = None) -> Iterable[Statement]:
        """Return the triples of passages (all, in the order of storing, or some) with the ids of the passages."""
        if ids is None:
            return self._all_statements(extractor)
        return self._db.by_ids("id, head, relation, tail", _STATED, ids, extractor, order="passage, position")

    def namings(self, extractor: str, ids: Sequence[str] | None = None) -> Iterable[tuple[str, str, str, str]]:
        """Return the names that passages (all, or some) give: id of the passage, name, entity, kind."""
        columns, of = "id, name, entity, kind", "namings JOIN passages ON number = passage WHERE extractor = ?"
        if ids is None:
            return self._db.rows(columns, of, extractor)
        return self._db.by_ids(columns, f"{of} AND id IN", ids, extractor)

    def _all_statements(self, extractor: str) -> Iterator[Statement]:
        columns = "passage, position, id, head, relation, tail"
        of = (
            f"(SELECT {columns} FROM triples JOIN passages ON number = passage "
            "WHERE extractor = ? AND (passage, position) > (?, ?) ORDER BY passage, position LIMIT ?)"
        )
        last = (-1, -1)
        while page := self._db.rows(columns, of, extractor, *last, _PAGE):
            yield from (row[2:] for row in page)
            last = page[-1][:2]

    def stating(self, vectors: Sequence[str], extractor: str) -> list[str]:
        """Return the ids of the passages that state triples with these vectors."""
        of = "triples JOIN passages ON number = passage WHERE extractor = ? AND triples.vector IN"
        return list(dict.fromkeys(row[0] for row in self._db.by_ids("id", of, vectors, extractor)))

    def stated_in(self, passages: Iterable[int], extractor: str) -> list[str]:
        """Return the ids of the vectors of the triples of passages, by their numbers."""
        among, numbers = self._db.among(list(passages))
        of = f"triples WHERE extractor = ? AND passage {among}"
        return [row[0] for row in self._db.rows("vector", of, extractor, numbers)]

    def texts(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the texts to embed of triples that passages state, by the ids of their vectors."""
        rows = self._db.by_ids("vector, head, relation, tail", "triples WHERE vector IN", ids)
        return {row[0]: triple_text(row[1:]) for row in rows}

    def vector_ids(self) -> list[str]:
        """Return the ids of the vectors of triples that are stored."""
        return [row[0] for row in self._db.rows("id", "triple_vectors")]

    def vector_ids_of(self, passages: Sequence[str]) -> list[str]:
        """Return the ids of the vectors of all triples, of any extractor."""
        rows = self._db.by_ids("vector", "triples JOIN passages ON number = passage WHERE id IN", passages)
        return list(dict.fromkeys(row[0] for row in rows))

    def without_vector(self, extractor: str) -> list[str]:
        """Return the ids of the missing vectors of triples of an extractor."""
        of = (
            "(SELECT DISTINCT vector FROM triples "
            "WHERE extractor = ? AND NOT EXISTS (SELECT 1 FROM triple_vectors WHERE id = triples.vector))"
        )
        return [row[0] for row in self._db.rows("vector", of, extractor)]

    def vectors(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors of triples that are stored, by id."""
        return self._db.vectors_by_ids("triple_vectors WHERE id IN", ids)

    def put_vectors(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store vectors of triples (shape: ids x dimensions), except of triples that no passage states."""
        with self._db.change():
            stated = {row[0] for row in self._db.by_ids("vector", "triples WHERE vector IN", ids)}
            found = ((id_, vector) for id_, vector in zip(ids, vectors, strict=True) if id_ in stated)
            self._db.executemany(_PUT, [(id_, self._db.stored_vector(vector)) for id_, vector in found])

    def delete_unused_vectors(self, ids: Sequence[str]) -> list[str]:
        """Remove those of the vectors that belong to no triple now; return their ids."""
        used = {row[0] for row in self._db.by_ids("vector", "triples WHERE vector IN", ids)}
        unused = [id_ for id_ in ids if id_ not in used]
        self._db.delete("triple_vectors WHERE id IN", unused)
        return unused
