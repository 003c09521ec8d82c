"""Carries passages, vectors and facts to another knowledge base or store, and facts from other systems into one.

An export is a folder with `passages`, `vectors` and `facts`, each as JSON lines or Parquet. Facts made elsewhere are
one file: of such rows, of passages with lists of triples, or HippoRAG's OpenIE results. A copy, such as from a folder
into Postgres, goes on where it was stopped.
"""

import hashlib
import json
import logging
import shutil
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from tqdm.auto import tqdm

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.errors import DocumentError, KnowledgeBaseError, MissingExtraError
from langgraph_rag.naming import counted, expect_name, first_few, wrong_field
from langgraph_rag.progress import hidden
from langgraph_rag.records import Fact, Record
from langgraph_rag.tools.facts.extraction import ParseExtractor, Reading, RuleExtractor, TripleExtractor
from langgraph_rag.tools.ingest.indexing import Added
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores.opening import Stores, open_stores
from langgraph_rag.tools.stores.protocols import SqlDatabase
from langgraph_rag.tools.stores.records import HISTORY
from langgraph_rag.tools.stores.vector_files import VECTORS_OWNER, VECTORS_PLACE

Form = Literal["jsonl", "parquet", "graphml"]
_log = logging.getLogger(__name__)
_AT_ONCE = 1_000  # passages
_BEGINNING = 40  # characters of a passage that is not stored, in a message
_NAMED = 5  # of such passages
_TABLES = ("passages", "vectors", "facts")
Row = dict[str, Any]
Known = dict[str, list[Fact | Sequence[str]]]
T = TypeVar("T", bound=BaseModel)


# --- out -------------------------------------------------------------------------------------------------------------
def export(kb: KnowledgeBase, to: Path, form: Form = "jsonl") -> dict[str, int]:
    """Write a knowledge base to a folder, or its graph of facts to a GraphML file; return the numbers of rows.

    A row of passages is one passage in one of its sources; `vectors` are of unit length; a row of facts has the
    sentences that state it, with their `positions` in the passage, and the extractor that read it.

    Raises:
        UnknownNameError: when there is no such form.
        DocumentError: when the folder exists already, or cannot be written.
        MissingExtraError: when pyarrow is not installed, for Parquet.
    """
    expect_name("form", form, get_args(Form))
    if to.exists():
        raise DocumentError(f"{to} exists already: name another place to export to")
    try:
        if form == "graphml":
            return _write_graph(kb, to)
        to.mkdir(parents=True)
        write = _write_parquet if form == "parquet" else _write_lines
        tables = {"passages": _passages(kb), "vectors": _vectors(kb), "facts": _facts(kb)}
        return {name: write(to / f"{name}.{form}", rows) for name, rows in tables.items()}
    except OSError as error:
        raise DocumentError(f"{to} cannot be written: {error.strerror or error}") from error


def _pages(kb: KnowledgeBase) -> Iterator[list[str]]:
    ids = kb.ids()
    return (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))


def _passages(kb: KnowledgeBase) -> Iterator[Row]:
    for source in ["", *kb.sources()]:
        ids = kb.ids(source)
        for start in range(0, len(ids), _AT_ONCE):
            where = {"source": source} if source else {"source": {"$exists": False}}
            some = kb.passages(ids[start : start + _AT_ONCE], filter=where if kb.sources() else None)
            yield from map(_passage, some)


def _passage(record: Record) -> Row:
    return {
        **{name: record.get(name, "") for name in ("id", "title", "text", "source", "document")},
        "position": record.get("position", 0),
        "headings": record.get("headings", []),
        "metadata": json.dumps(record.get("metadata", {}), ensure_ascii=False),
    }


def _vectors(kb: KnowledgeBase) -> Iterator[Row]:
    for ids in _pages(kb):
        for id_, vector in kb.vectors(ids).items():
            yield {"id": id_, "vector": vector.tolist()}


def _facts(kb: KnowledgeBase) -> Iterator[Row]:
    for ids in _pages(kb):
        records, triples = run_in_background(kb.apassages_with_triples(ids))
        sentences = {record["id"]: record["sentences"] for record in records}
        for entry in triples:
            head, relation, tail = entry["triple"]
            for source in entry["sources"]:
                stated = [sentences[source["passage_id"]][place] for place in source["sentences"]]
                yield {
                    "passage_id": source["passage_id"],
                    **{"head": head, "relation": relation, "tail": tail},
                    **{"sentences": stated, "positions": source["sentences"], "extractor": kb.extractor.version},
                }


def _write_lines(file: Path, rows: Iterable[Row]) -> int:
    number = 0
    with file.open("w", encoding="utf-8") as written:
        for row in rows:
            written.write(json.dumps(row, ensure_ascii=False) + "\n")
            number += 1
    return number


def _write_parquet(file: Path, rows: Iterable[Row]) -> int:
    arrow, parquet = _pyarrow()
    table = arrow.Table.from_pylist(list(rows))
    parquet.write_table(table, file)
    return int(table.num_rows)


def _write_graph(kb: KnowledgeBase, file: Path) -> dict[str, int]:
    import networkx as nx

    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()  # GraphML has no lists
    graph.add_nodes_from((node, {"label": about["name"]}) for node, about in kb.graph.networkx.nodes(data=True))
    for head, tail, fact in kb.graph.networkx.edges(data=True):
        graph.add_edge(head, tail, label=fact["triple"][1], passages=" ".join(fact["passages"]))
    nx.write_graphml(graph, file)
    return {"entities": graph.number_of_nodes(), "facts": graph.number_of_edges()}


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("Parquet (JSON lines do not)", "parquet") from error
    return pyarrow, pyarrow.parquet


# --- in --------------------------------------------------------------------------------------------------------------
class GivenFacts:
    """An extractor with facts that were read elsewhere; passages without any are read by another extractor."""

    def __init__(self, version: str, facts: Known, rest: TripleExtractor | None) -> None:
        self.version, self._facts, self._rest = version, facts, rest

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        """Yield the facts that are known, then what the other extractor reads."""
        yield [(one["id"], self._facts[one["id"]]) for one in passages if one["id"] in self._facts]
        if self._rest is not None:
            async for read in self._rest.extract([one for one in passages if one["id"] not in self._facts]):
                yield read


class _Passage(BaseModel):
    """A row of an export."""

    id: str
    text: str
    title: str = ""
    source: str = ""
    document: str = ""
    position: int = 0
    headings: list[str] = Field(default_factory=list)
    metadata: str = "{}"


class _Vector(BaseModel):
    id: str
    vector: list[float] = Field(min_length=1)


class _Stated(BaseModel):
    """A fact of an export."""

    passage_id: str
    head: str
    relation: str
    tail: str
    positions: list[int] = Field(default_factory=list)
    extractor: str = ""


class _Extracted(BaseModel):
    """The triples of a passage, by its id or its text, as HippoRAG's OpenIE results and others have them."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    passage_id: str = ""
    id: str = ""
    passage: str = ""
    triples: list[list[str]] = Field(default_factory=list)
    extracted_triples: list[list[str]] = Field(default_factory=list)


def import_from(kb: KnowledgeBase, path: Path, *, name: str = "", progress: bool = True) -> Added:
    """Add what was exported to a folder, or the facts of a file to passages that are stored already.

    Facts that their passages do not state are dropped, as those of any extractor; passages without facts in the file
    are read by the extractor of the knowledge base, unless that is a model. Vectors are taken over if they are those of
    the embedder of the knowledge base; otherwise the texts are embedded again.

    Args:
        kb: the knowledge base.
        path: the folder, or the file: JSON lines, JSON or Parquet.
        name: the name of whoever read the facts of a file; by default that of the file.
        progress: whether to show the progress on the standard error.

    Returns:
        The result of `kb.add`.

    Raises:
        DocumentError: when the files cannot be read or have other rows, or no fact is of a stored passage.
    """
    if not path.is_dir():
        kb.extractor = _extractor(kb, _given(kb, path), name or path.stem, path)
        return kb.add([], progress=progress)
    files = {table: file for table in _TABLES for file in path.glob(f"{table}.*")}
    if "passages" not in files:
        raise DocumentError(f"{path} is no export: expected passages.jsonl or passages.parquet in it")
    passages = [_document(_checked(_Passage, *row)) for row in _rows(files["passages"])]
    vectors = {one.id: one.vector for one in (_checked(_Vector, *row) for row in _rows(files.get("vectors")))}
    facts = [_checked(_Stated, *row) for row in _rows(files.get("facts"))]
    made_by = {fact.extractor for fact in facts} - {kb.extractor.version}
    if len(made_by) == 1:
        known = _of_stored(_by_passage(facts), {*kb.ids(), *(str(passage["id"]) for passage in passages)})
        kb.extractor = GivenFacts(made_by.pop(), known, _free(kb.extractor))
    return kb.add(passages, vectors={id_: np.array(one, np.float32) for id_, one in vectors.items()}, progress=progress)


def _document(row: _Passage) -> Row:
    """Return a passage as a document; `document` and `position` only count together."""
    fields = {**row.model_dump(), "metadata": json.loads(row.metadata)}
    return {name: value for name, value in fields.items() if name not in ("document", "position") or row.document}


def _by_passage(facts: Iterable[_Stated]) -> Known:
    by_passage: defaultdict[str, list[Fact | Sequence[str]]] = defaultdict(list)
    for fact in facts:
        triple = [fact.head, fact.relation, fact.tail]
        by_passage[fact.passage_id].append(Fact(triple=triple, sentences=fact.positions))
    return dict(by_passage)


def _given(kb: KnowledgeBase, file: Path) -> Known:
    """Return the facts of a file, by the ids of the passages as they are stored here."""
    rows = list(_rows(file))
    if rows and isinstance(rows[0][1], dict) and {"head", "relation", "tail"} <= rows[0][1].keys():
        return _by_passage(_checked(_Stated, *row) for row in rows)
    by_text = _ids_by_text(kb) if any(isinstance(row, dict) and "passage" in row for _, row in rows) else {}
    given: Known = {}
    for place, row in rows:
        read = _checked(_Extracted, place, row)
        text = " ".join(read.passage.split())
        id_ = read.passage_id or read.id or by_text.get(text, f"{text[:_BEGINNING]} ...")
        triples = [*read.triples, *read.extracted_triples]
        given.setdefault(id_, []).extend(triple for triple in triples if len(triple) == 3)
    return given


def _ids_by_text(kb: KnowledgeBase) -> dict[str, str]:
    """Return the ids of all passages by their texts, with and without their titles as first line."""
    found: dict[str, str] = {}
    for ids in _pages(kb):
        for record in kb.passages(ids):
            for text in (record["text"], f"{record['title']} {record['text']}"):
                found[" ".join(text.split())] = record["id"]
    return found


def _extractor(kb: KnowledgeBase, facts: Known, name: str, file: Path) -> GivenFacts:
    known = _of_stored(facts, set(kb.ids()))
    if not known:
        raise DocumentError(
            f"{file} has facts of {counted(len(facts), 'passage')}, but none of those that are stored: index these "
            "first, with the same ids or texts"
        )
    digest = hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:8]
    return GivenFacts(f"{name}-{digest}", known, _free(kb.extractor))


def _of_stored(facts: Known, ids: Collection[str]) -> Known:
    """Return the facts of passages that are stored; a warning counts the others."""
    unknown = [id_ for id_ in facts if id_ not in ids]
    if unknown and len(unknown) < len(facts):
        _log.warning(
            "%s of %s that are not stored were left out: %s",
            counted(sum(len(facts[id_]) for id_ in unknown), "fact"),
            counted(len(unknown), "passage"),
            first_few([repr(id_) for id_ in unknown], _NAMED),
        )
    return {id_: facts[id_] for id_ in facts if id_ in ids}


def _free(extractor: TripleExtractor) -> TripleExtractor | None:
    """Return an extractor if it costs no model calls."""
    return extractor if isinstance(extractor, RuleExtractor | ParseExtractor) else None


def _checked(kind: type[T], place: str, row: object) -> T:
    try:
        return kind.model_validate(row)
    except ValidationError as error:
        raise DocumentError(f"{place}: {wrong_field(error, 'the row')}") from error


def _rows(file: Path | None) -> Iterator[tuple[str, object]]:
    """Yield the rows of a file with their places."""
    if file is None:
        return
    try:
        if file.suffix == ".parquet":
            arrow_rows = _pyarrow()[1].ParquetFile(file).iter_batches()
            rows: Iterable[object] = (row for batch in arrow_rows for row in batch.to_pylist())
        elif file.suffix == ".json":
            whole = json.loads(file.read_text(encoding="utf-8"))
            rows = whole.get("docs", [whole]) if isinstance(whole, dict) else whole
        else:
            lines = file.read_text(encoding="utf-8").split("\n")  # not splitlines(): JSON may contain U+2028
            rows = (json.loads(line) for line in lines if line.strip())
        for number, row in enumerate(rows, start=1):
            yield f"{file}, row {number}", row
    except (OSError, ValueError, RecursionError) as error:
        raise DocumentError(f"{file} cannot be read: {error}") from error


_IN_ONE_CHANGE = 200  # passages in one change
_VECTORS = 2_000  # vectors of facts in one change
_STATE = "copied"  # the property of a copy: of which history, up to which number of a passage and which change
_OWN = (HISTORY, VECTORS_PLACE, VECTORS_OWNER, _STATE)  # properties that are not copied
_PASSAGES = "number, id, title, text, source, hash, sentences, phrases, title_words, text_words"
_OF_PASSAGES = {
    "origins": "passage, source",
    "metadata": "passage, source, fields",
    "standing": "passage, source, document, position, headings, number, splitting",
    "extractions": "passage, extractor",
    "triples": "passage, extractor, position, head, relation, tail, sentences, vector",
    "namings": "passage, extractor, name, entity, kind",
    "written_ends": "passage, extractor, position, head, tail",
}
"""The tables with rows of passages, and their columns."""


class _State(NamedTuple):
    history: str
    number: int
    end: int  # of the change log when the copy began, or when it last caught up


def copy(source: str | Path, target: str | Path, *, progress: bool = True) -> int:
    """Make one knowledge base equal to another: passages, sources, facts of all extractors, names, vectors.

    Nothing is embedded or read again. After an interruption, and after changes of the source, the same call copies the
    rest. A trained aligner is copied, too.

    Args:
        source: a folder, or the address of a knowledge base in Postgres, as `postgresql://user@host/database#name`.
        target: the same; a new one, or an earlier copy of this source.
        progress: whether to show the progress on the standard error.

    Returns:
        The number of passages that were copied now.

    Raises:
        KnowledgeBaseError: when the target is something else than a copy of the source, or one cannot be opened.
    """
    with ExitStack() as opened:
        given = open_stores(source, opened, create=False, read_only=True)
        made = open_stores(target, opened, create=True, read_only=False)
        opened.callback(lambda: made.access.end(lambda: None))
        with made.access.changing():
            return _Copy(given, made, progress=progress).run()


class _Copy:
    def __init__(self, source: Stores, target: Stores, *, progress: bool) -> None:
        self._source, self._target, self._progress = source, target, progress
        self._from, self._to = source.records.database, target.records.database

    def run(self) -> int:
        state, copied = self._begun(), 0
        total = self._source.records.count()
        with tqdm(total=total, desc="copying", unit="passage", disable=hidden(self._progress)) as bar:
            while numbers := self._numbers(f"number > {state.number} ORDER BY number LIMIT {_IN_ONE_CHANGE}"):
                state = state._replace(number=numbers[-1])
                self._copy(numbers, state)
                copied += len(numbers)
                bar.update(len(numbers))
        while (end := self._source.records.changes.end) != state.end:
            copied += self._catch_up(state, end)
            state = state._replace(end=end)
        self._copy_rest(state)
        self._check()
        return copied

    def _begun(self) -> _State:
        """Return how far an earlier copy came."""
        history = self._source.records.meta(HISTORY) or ""
        stored = self._target.records.meta(_STATE)
        if stored is None:
            if not self._target.records.is_empty():
                raise KnowledgeBaseError(f"{self._target.name} has passages of its own: name another place to copy to")
            return _State(history, -1, self._source.records.changes.end)
        state = _State(*json.loads(stored))
        if state.history != history:
            raise KnowledgeBaseError(
                f"{self._target.name} is a copy of another knowledge base than {self._source.name}: name another place"
            )
        return state

    def _numbers(self, where: str, *values: object) -> list[int]:
        return [
            row[0] for row in self._from.rows("number", f"(SELECT number FROM passages WHERE {where}) chosen", *values)
        ]

    def _catch_up(self, state: _State, end: int) -> int:
        """Copy what changed since a position; return how many passages that were."""
        ids = self._source.records.changes.since(state.end)
        if ids is None:  # the log does not reach back so far
            theirs, own = self._source.records.hashes(), self._target.records.hashes()
            ids = [id_ for id_ in {**theirs, **own} if theirs.get(id_) != own.get(id_)]
        copied = 0
        for start in range(0, len(ids), _IN_ONE_CHANGE):
            some = ids[start : start + _IN_ONE_CHANGE]
            numbers = [row[0] for row in self._from.by_ids("number", "passages WHERE id IN", some)]
            self._copy(numbers, state, instead_of=some)
            copied += len(numbers)
        with self._target.records.together():
            self._target.records.set_meta(_STATE, json.dumps(state._replace(end=end)))
        return copied

    def _copy(self, numbers: Sequence[int], state: _State, instead_of: Sequence[str] = ()) -> None:
        """Copy passages with all that belongs to them, in one change."""
        with self._from.snapshot():
            passages = sorted(_stored_rows(self._from, _PASSAGES, "passages", "number", numbers))
            of_passages = {
                table: _stored_rows(self._from, columns, table, "passage", numbers, _IN_ORDER.get(table, ""))
                for table, columns in _OF_PASSAGES.items()
            }
        ids = [row[1] for row in passages]
        vectors = self._source.vectors.passages(ids)
        records = self._target.records
        with records.together():
            gone = [id_ for id_ in instead_of if id_ not in vectors]
            numbered = _stored_rows(self._to, "id", "passages", "number", numbers)  # a number may have been given anew
            records.delete([*records.hashes(instead_of), *(row[0] for row in numbered)])
            _insert(self._to, "passages", _PASSAGES, passages)
            for table, columns in _OF_PASSAGES.items():
                _insert(self._to, table, columns, of_passages[table])
            known = [id_ for id_ in ids if id_ in vectors]
            if known:
                records.waiting.put(known, np.stack([vectors[id_] for id_ in known]))
            records.changes.add([*ids, *gone])
            records.set_meta(_STATE, json.dumps(state))
        self._target.vectors.delete(gone)
        if waiting := records.waiting.all():
            self._target.vectors.put(list(waiting), np.stack(list(waiting.values())))
            records.waiting.forget(list(waiting))

    def _copy_rest(self, state: _State) -> None:
        """Copy what belongs to no single passage: properties, names that were given, vectors of facts."""
        theirs, own = self._source.records.triples, self._target.records.triples
        with self._target.records.together():
            for name, value in self._from.rows("name, value", "meta"):
                if name not in _OWN:
                    self._target.records.set_meta(name, value)
            self._to.execute("DELETE FROM given_names")
            given = self._from.rows("form, name, entity", "given_names")
            _insert(self._to, "given_names", "form, name, entity", given)
            for (extractor,) in self._to.rows("extractor", "(SELECT DISTINCT extractor FROM extractions) chosen"):
                own.changes(extractor).add([""])
            self._to.renumber()
            self._target.records.set_meta(_STATE, json.dumps(state))
        stored = set(own.vector_ids())
        missing = [id_ for id_ in theirs.vector_ids() if id_ not in stored]
        for start in range(0, len(missing), _VECTORS):
            vectors = theirs.vectors(missing[start : start + _VECTORS])
            own.put_vectors(list(vectors), np.stack(list(vectors.values())))
        self._target.vectors.settle()
        aligner = self._source.folder / "aligner"
        if aligner.is_dir():
            shutil.copytree(aligner, self._target.folder / "aligner", dirs_exist_ok=True)

    def _check(self) -> None:
        if self._source.records.hashes() != self._target.records.hashes():
            raise KnowledgeBaseError(f"{self._source.name} changed while it was copied: copy it again")


_IN_ORDER = {"origins": "rowid", "namings": "name, entity, kind"}
"""The order that tells which came first, where the rows themselves do not."""


def _stored_rows(
    db: SqlDatabase, columns: str, table: str, key: str, numbers: Sequence[int], order: str = ""
) -> list[tuple[Any, ...]]:
    among, given = db.among(numbers)
    ordered = f" ORDER BY {order}" if order else ""
    return db.rows(columns, f"(SELECT {columns} FROM {table} WHERE {key} {among}{ordered}) chosen", given)


def _insert(db: SqlDatabase, table: str, columns: str, rows: Sequence[Sequence[object]]) -> None:
    marks = ", ".join("?" * len(columns.split(",")))
    db.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT DO NOTHING", rows)
