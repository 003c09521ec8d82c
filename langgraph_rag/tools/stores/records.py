"""The records of a knowledge base in SQLite: passages, sentences, phrases and what belongs to them."""

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar
from uuid import uuid4

from typing_extensions import TypedDict

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.filters import Where
from langgraph_rag.normal_forms import triple_key
from langgraph_rag.records import Fact, Passage, Record, ScoredPassage, Source, Statement, Triple, ids_of
from langgraph_rag.tools.index.bm25 import Bm25, Values
from langgraph_rag.tools.index.word_index import WordIndex
from langgraph_rag.tools.index.words import title_to_index, words_to_index, words_to_search
from langgraph_rag.tools.stores.chroma import NEEDS_WRITING
from langgraph_rag.tools.stores.database import TABLE as CHANGES_TABLE
from langgraph_rag.tools.stores.database import ChangeLog, Database, as_json
from langgraph_rag.tools.stores.metadata import (
    METADATA_TABLE,
    ORIGINS_TABLE,
    STANDING_TABLE,
    MetadataTable,
    Origins,
    Places,
)
from langgraph_rag.tools.stores.protocols import Matrix, SqlDatabase, Waiting
from langgraph_rag.tools.stores.triples import NAME_TABLES, TripleRecords
from langgraph_rag.tools.stores.triples import TABLES as TRIPLE_TABLES
from langgraph_rag.tools.stores.visibility import Visibility, Visible

T = TypeVar("T")

WAITING_TABLE = """
CREATE TABLE IF NOT EXISTS waiting_vectors (
    passage INTEGER PRIMARY KEY REFERENCES passages(number) ON DELETE CASCADE, vector BLOB NOT NULL);
"""


class WaitingVectors:
    """The table of vectors that are not indexed yet."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Store the vectors of stored passages (shape: ids x dimensions)."""
        query = "INSERT OR REPLACE INTO waiting_vectors SELECT number, ? FROM passages WHERE id = ?"
        rows = [(vector.tobytes(), id_) for id_, vector in zip(ids, vectors, strict=True)]
        with self._db.change():
            self._db.executemany(query, rows)

    def all(self) -> dict[str, Matrix]:
        """Return the vectors by passage."""
        return self._db.vectors("waiting_vectors CROSS JOIN passages ON number = passage")  # in this order: few wait

    def forget(self, ids: Sequence[str]) -> None:
        """Remove vectors that have been indexed."""
        chosen = "DELETE FROM waiting_vectors WHERE passage IN (SELECT number FROM passages WHERE id = ?)"
        with self._db.change():
            self._db.executemany(chosen, [(id_,) for id_ in ids])

    def none(self) -> bool:
        """Return whether there are none."""
        return not self._db.rows("1", "(SELECT 1 FROM waiting_vectors LIMIT 1)")


FORMAT = 5
_BEFORE = 4  # the format that had the words in the same file
INDEXES = "indexes"  # the folder of what is derived from the records, beside them
HISTORY = "history"  # the property that tells records from others of the same path
_UPGRADE = f"""
DROP TRIGGER IF EXISTS words_in; DROP TRIGGER IF EXISTS words_out; DROP TABLE IF EXISTS words;
INSERT OR REPLACE INTO meta VALUES ('format', '{FORMAT}'), ('{HISTORY}', '{{history}}');
"""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS passages (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL, source TEXT,
    hash TEXT NOT NULL, sentences TEXT NOT NULL, phrases TEXT NOT NULL,
    title_words TEXT, text_words TEXT); -- as they are searched, if that differs
"""


_FIRST_ORIGIN = (
    "INSERT INTO origins (passage, source) SELECT number, coalesce(source, '') FROM passages WHERE id = ? "
    "ON CONFLICT DO NOTHING"
)


class Counts(TypedDict):
    """Numbers of stored items."""

    passages: int
    sentences: int
    phrases: int
    triples: int
    passages_without_triples: int
    passages_to_extract: int
    triple_vectors: int


def content_hash(title: str, text: str) -> str:
    """Return the hash that is equal for passages with the same title and text."""
    return hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:32]


def has_own_id(passage: Passage) -> bool:
    """Return whether the id of a passage was given, and is not the hash of its text, with or without a title."""
    title, text = passage["title"], passage["text"]
    hashes = content_hash(title, text), content_hash("", text), content_hash("", f"{title}\n\n{text}")
    return passage["id"] not in hashes


class Records:
    """Passages and their triples; each method is one transaction and safe to call from any thread."""

    def __init__(self, db: SqlDatabase, waiting: Waiting, indexes: Path) -> None:
        self._db, self.waiting = db, waiting
        self._metadata = MetadataTable(db)
        self.triples = TripleRecords(db)
        self.origins = Origins(db, self._metadata, self.changes)
        self.places = Places(db, self.changes)
        self._visibility = Visibility(db, self.changes)
        self.words = WordIndex(db, self.changes, indexes, self.meta(HISTORY) or "")
        self._ranking = Bm25(self.words)

    @property
    def database(self) -> SqlDatabase:
        """The tables, for other modules here."""
        return self._db

    @property
    def changes(self) -> ChangeLog:
        """The log of added, removed and changed passages, by any process."""
        return ChangeLog(self._db, "passages")

    @property
    def vector_changes(self) -> ChangeLog:
        """The log of stored and removed vectors, by any process; the vectors themselves are stored elsewhere."""
        return ChangeLog(self._db, "vectors")

    def beside(self) -> AbstractContextManager[None]:
        """Read one version of the records in the block, without waiting for a running change."""
        return self._db.beside()

    def numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the numbers of stored passages, which tell the order of storing; unknown ones are left out."""
        return dict(self._db.by_ids("id, number", "passages WHERE id IN", ids))

    def together(self) -> AbstractContextManager[None]:
        """Make all changes in the block in one transaction."""
        return self._db.change()

    def written_by(self, writable: Callable[[], bool]) -> None:
        """Write indexes, whenever this process may."""
        self.words.written_by(writable)

    def close(self) -> None:
        """Close the file, and write indexes that are far behind."""
        self.words.close()
        self._db.close()

    def meta(self, name: str) -> str | None:
        """Return a property of the whole knowledge base."""
        row = self._db.rows("value", "meta WHERE name = ?", name)
        return str(row[0][0]) if row else None

    def set_meta(self, name: str, value: str) -> None:
        """Set a property of the whole knowledge base."""
        with self._db.change():
            query = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
            self._db.execute(query, (name, value))

    # --- passages ----------------------------------------------------------------------------------------------------
    def hashes(self, ids: Iterable[str] | None = None) -> dict[str, str]:
        """Return the content hash of each id (of all, or of `ids`) that is stored."""
        if ids is None:
            return dict(self._db.rows("id, hash", "passages"))
        return dict(self._db.by_ids("id, hash", "passages WHERE id IN", list(ids)))

    def insert(self, records: Sequence[Record], vectors: Matrix) -> None:
        """Store passages with their vectors (shape: records x dimensions), all or none."""
        rows = [
            (
                r["id"], r["title"], r["text"], r.get("source"), r["hash"], as_json(r["sentences"]),
                as_json(r["phrases"]), title_to_index(r["title"], r["text"]), words_to_index(r["text"]),
            )
            for r in records
        ]  # fmt: skip
        with self._db.change():
            self._db.executemany(
                "INSERT INTO passages (id, title, text, source, hash, sentences, phrases, title_words, text_words) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            ids = ids_of(records)
            self._db.executemany(_FIRST_ORIGIN, [(id_,) for id_ in ids])
            self._metadata.put(records)
            self.waiting.put(ids, vectors)
            self.changes.add(ids)

    def delete(self, ids: Sequence[str]) -> list[str]:
        """Remove passages and all data only from them; return the ids of triple vectors that are no longer used."""
        with self._db.change():
            vectors = self.triples.vector_ids_of(ids)
            self._db.delete("passages WHERE id IN", ids)
            unused = self.triples.delete_unused_vectors(vectors)
            self.changes.add(ids)
        return unused

    def replace(self, records: Sequence[Record], vectors: Matrix) -> list[str]:
        """Replace the passages with the same ids; return the ids of triple vectors that are no longer used."""
        with self._db.change():
            places = self.places.of(ids_of(records))
            unused = self.delete(ids_of(records))
            self.insert(records, vectors)
            self.places.restore(places)
        return unused

    def update_metadata(self, passages: Sequence[Passage]) -> None:
        """Store the metadata of stored passages where they differ."""
        with self._db.change():
            changed = self._metadata.differing(passages)
            self._metadata.put(changed)
            self.changes.add(ids_of(changed))

    def passages(self, ids: Sequence[str], source: str | None = None) -> list[Record]:
        """Return the stored passages of the given ids, in that order; unknown ids are left out.

        They are as from one of their sources, by default the first one.
        """
        its_own = "passage = passages.number AND {0}.source = coalesce(?, passages.source, '')"
        rows = self._db.by_ids(
            "id, title, text, coalesce(?, passages.source), hash, json(sentences), json(phrases), json(fields), "
            "document, position, json(headings)",
            f"passages LEFT JOIN metadata ON metadata.{its_own.format('metadata')} "
            f"LEFT JOIN standing ON standing.{its_own.format('standing')} WHERE id IN",
            ids,
            *(source, source, source),
        )
        found = {row[0]: _record(row) for row in rows}
        return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]

    def texts(self, ids: Sequence[str]) -> dict[str, Passage]:
        """Return the titles, texts and documents of stored passages by id: in a third of the time of `passages`."""
        at = "standing.passage = passages.number AND standing.source = coalesce(passages.source, '')"
        of = f"passages LEFT JOIN standing ON {at} WHERE id IN"
        rows = self._db.by_ids("id, title, text, coalesce(document, '')", of, ids)
        return {row[0]: Passage(id=row[0], title=row[1], text=row[2], document=row[3]) for row in rows}

    def ids(self, source: str | None = None) -> list[str]:
        """Return the ids of all passages, or of those from one source ("": without a source).

        Those from one source are in the order of their document, all in the order of storing: in one call of `add` or
        `update`, the longest new passages are stored first.
        """
        if source is None:
            rows = self._db.rows("id", "(SELECT id FROM passages ORDER BY number)")
        else:
            of = (
                "(SELECT id FROM origins JOIN passages ON passages.number = origins.passage LEFT JOIN standing "
                "ON standing.passage = origins.passage AND standing.source = origins.source WHERE origins.source = ? "
                "ORDER BY standing.number IS NULL, standing.number, passages.number)"
            )
            rows = self._db.rows("id", of, source)
        return [row[0] for row in rows]

    def mentions(self, ids: Sequence[str]) -> Iterator[Statement]:
        """Yield the names that stand in passages, each with the title, as statements without a relation.

        A passage without any has its title twice.
        """
        for id_, title, phrases in self._db.by_ids("id, title, json(phrases)", "passages WHERE id IN", ids):
            names = [phrase for phrase in phrases if phrase != title and any(map(str.isupper, phrase))]
            for name in names or [title]:
                yield id_, title, "", name

    def visible(self, where: Where | None) -> Visible | None:
        """Return the passages that a filter lets through; None without a filter."""
        return self._visibility.of(where) if where else None

    def count(self) -> int:
        """Return the number of passages."""
        return self._number("count(*)", "passages")

    def is_empty(self) -> bool:
        """Return whether there is no passage, without counting them."""
        return not self._db.rows("1", "(SELECT 1 FROM passages LIMIT 1)")

    def bm25(self, query: str, k: int, visible: Visible | None = None) -> list[ScoredPassage]:
        """Return the k passages (of all, or of the visible ones) that share the query's rarest words."""
        return self._ranking.best(words_to_search(query), k, visible)

    def told(self, query: str, ids: Sequence[str], visible: Visible | None = None) -> tuple[Values, Values]:
        """Return how well passages tell each word of a query (passages x words), and how much each word counts."""
        return self._ranking.told(words_to_search(query), ids, visible)

    def share_of_passage(self, query: str, id_: str, visible: Visible | None = None) -> float:
        """Return the share of a passage in a query: of all that its words tell, by their rarity, from 0 to 1."""
        return self._ranking.share(words_to_search(query), id_, visible)

    def share_of_names(self, query: str, names: Iterable[str], visible: Visible | None = None) -> float:
        """Return the share of some names in a query: of all that its words tell, by their rarity, from 0 to 1."""
        named = {token for name in names for word in words_to_search(name) for token in word.split()}
        rarity = self._ranking.rarity(words_to_search(query), visible)
        of_names = sum(rare for word, rare in rarity.items() if named.issuperset(word.split()))
        return of_names / (sum(rarity.values()) or 1.0)

    def counts(self, extractor: str) -> Counts:
        """Return the numbers of stored items, with the triples of the given extractor."""
        passages, read = self.count(), self._number("count(*)", "extractions WHERE extractor = ?", extractor)
        fruitful = self._number("count(DISTINCT passage)", "triples WHERE extractor = ?", extractor)
        return Counts(
            passages=passages,
            sentences=self._number(f"coalesce(sum({self._db.dialect.length.format('sentences')}), 0)", "passages"),
            phrases=self._number("count(DISTINCT value)", f"passages, {self._db.dialect.items.format('phrases')}"),
            triples=self._number("count(*)", "triples WHERE extractor = ?", extractor),
            passages_without_triples=read - fruitful,
            passages_to_extract=passages - read,
            triple_vectors=self._number("count(*)", "triple_vectors"),
        )

    def _number(self, number: str, of: str, *values: str) -> int:
        return int(self._db.rows("number", f"(SELECT {number} AS number FROM {of})", *values)[0][0])


class RecordStore(Records):
    """Records in a SQLite file.

    Args:
        path: the file.
        indexes: the folder of what is derived from the records; by default beside the file.
    """

    _db: Database

    def __init__(self, path: Path, indexes: Path | None = None) -> None:
        with ExitStack() as opened:  # closed again after an error
            try:
                db = Database(path)
                opened.callback(db.close)
                tables = db.tables()
                if tables and "meta" not in tables:
                    raise sqlite3.DatabaseError("it is another program's")
                if not tables:
                    made = f"INSERT OR IGNORE INTO meta VALUES ('format', '{FORMAT}'), ('{HISTORY}', '{uuid4().hex}');"
                    parts = (
                        ORIGINS_TABLE,
                        TRIPLE_TABLES,
                        METADATA_TABLE,
                        CHANGES_TABLE,
                    )
                    schema = "".join([_SCHEMA, *parts, WAITING_TABLE])
                    db.executescript(f"BEGIN IMMEDIATE;{schema}{made}COMMIT;")  # another process may do the same
                if not {"standing", "namings"}.issubset(tables):  # also of a knowledge base that was made before them
                    db.executescript(f"BEGIN IMMEDIATE;{STANDING_TABLE}{NAME_TABLES}COMMIT;")
            except sqlite3.OperationalError as error:
                raise KnowledgeBaseError(
                    f"{path} cannot be opened: {error} ({NEEDS_WRITING}, and room on the disk)"
                ) from error
            except sqlite3.DatabaseError as error:
                raise KnowledgeBaseError(f"{path} is not a knowledge base of this package: {error}") from error
            super().__init__(db, WaitingVectors(db), indexes or path.parent / INDEXES)
            found = self.meta("format") or "0"
            if found not in (str(_BEFORE), str(FORMAT)):
                newer = found.isdecimal() and int(found) > FORMAT
                raise KnowledgeBaseError(
                    f"{path.parent} has format {found}, this version of langgraph-rag reads format {FORMAT}: "
                    + ("update langgraph-rag" if newer else "remove it and index the documents again")
                )
            opened.pop_all()

    def written_by(self, writable: Callable[[], bool]) -> None:
        """Bring the file to the present format, and write indexes, whenever this process may."""
        if writable() and self.meta("format") == str(_BEFORE):
            history = uuid4().hex
            self._db.executescript(f"BEGIN IMMEDIATE;{_UPGRADE.format(history=history)}COMMIT;")
            self.words.history = history
        super().written_by(writable)


def _record(row: tuple[Any, ...]) -> Record:
    id_, title, text, source, hash_, sentences, phrases, fields, document, position, headings = row
    record = Record(id=id_, title=title, text=text, hash=hash_, sentences=sentences, phrases=phrases)
    if source:
        record["source"] = source
    if fields:
        record["metadata"] = fields
    if document is not None:
        record["document"], record["position"] = document, position
    if headings:
        record["headings"] = headings
    return record


_REMEMBERED = 2_000  # passages
_READINGS = 3  # of passages that change each time


class _Remembered(Generic[T]):
    """Values by the ids of passages, until something changes."""

    def __init__(self, read: Callable[[Sequence[str]], Mapping[str, T]]) -> None:
        self._read = read
        self._values: dict[str, T] = {}
        self._end: object = None  # of the change logs at the time of reading

    def get(self, ids: Sequence[str], end: object) -> dict[str, T]:
        """Return the values that are known or can be read, in the order of the ids."""
        if end != self._end or len(self._values) > _REMEMBERED:
            self._values, self._end = {}, end
        self._values.update(self._read([id_ for id_ in ids if id_ not in self._values]))
        return {id_: self._values[id_] for id_ in ids if id_ in self._values}


class RecordMemory:
    """Returns copies of the current passages and triples of the records; for one thread at a time."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._passages = _Remembered(self._read)
        self._facts: dict[str, _Remembered[list[Fact]]] = {}  # by extractor

    def _read(self, ids: Sequence[str]) -> dict[str, Record]:
        with self._records.beside():
            return {record["id"]: record for record in self._records.passages(ids)}

    def passages(self, ids: Sequence[str], where: Where | None = None) -> list[Record]:
        """Return passages, each once, in the order of the ids; unknown ones, and those a filter hides, are left out."""
        visible = self._records.visible(where)
        ids = ids if visible is None else visible.among(ids)
        found = self._passages.get(ids, self._records.changes.end)
        for id_, source in visible.sources.items() if visible else ():
            if id_ in found:
                found |= {record["id"]: record for record in self._records.passages([id_], source)}
        return [_copied(record) for record in found.values()]

    def triples(self, ids: Sequence[str], extractor: str) -> list[Triple]:
        """Return the triples of passages, in the order of the ids; equal ones are merged with all sources."""
        triples = self._records.triples
        facts = self._facts.setdefault(extractor, _Remembered(partial(triples.facts, extractor)))
        return _merged(facts.get(ids, (self._records.changes.end, triples.changes(extractor).end)))

    def passages_with_triples(
        self, ids: Sequence[str], extractor: str, where: Where | None = None
    ) -> tuple[list[Record], list[Triple]]:
        """Return passages with their triples, of one version, so that positions of sentences fit."""
        for _ in range(_READINGS):
            end = self._records.changes.end
            passages = self.passages(ids, where)
            read = passages, self.triples(ids_of(passages) if where else ids, extractor)
            if self._records.changes.end == end:
                break
        return read


def _copied(record: Record) -> Record:
    copied: Record = {**record, "sentences": [*record["sentences"]], "phrases": [*record["phrases"]]}
    if metadata := record.get("metadata"):
        copied["metadata"] = deepcopy(metadata)
    return copied


def _merged(facts: Mapping[str, Sequence[Fact]]) -> list[Triple]:
    """Return the facts of passages as triples with new lists."""
    merged: dict[str, Triple] = {}
    for id_, stated in facts.items():
        for fact in stated:
            triple, sentences = fact["triple"], [*fact["sentences"]]
            sources = merged.setdefault(triple_key(triple), Triple(triple=[*triple], sources=[]))["sources"]
            if sources and sources[-1]["passage_id"] == id_:  # in two spellings
                sentences = sorted({*sources.pop()["sentences"], *sentences})
            sources.append(Source(passage_id=id_, sentences=sentences))
    return list(merged.values())
