"""The stages of the document path: split, analyse, embed, extract. `KnowledgeBase.load` stores what they return.

Each is a pure function from a batch of rows to a batch of rows, so that a thread, a process or Ray Data can run it. All
batches have the columns of `Row`, of which each stage fills some more. Here rows are dicts, as most knowledge bases lie
in one folder and need no Arrow (150 MB installed); `on_arrow` makes of a stage the same function of Arrow tables, whose
columns are those of `arrow_schema`.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from typing_extensions import TypedDict

from langgraph_rag.arguments import expect_list
from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.errors import DocumentError, MissingExtraError, ModelAccessError, ModelCallError
from langgraph_rag.records import Fact, Naming, Passage, Record, titled_text
from langgraph_rag.tools.facts.extraction import Reading, TripleExtractor, needs_no_model, valid_readings
from langgraph_rag.tools.facts.names import names_in, with_whole_names
from langgraph_rag.tools.facts.stated import stated
from langgraph_rag.tools.ingest.documents import AnyDocument, to_documents, to_passages
from langgraph_rag.tools.ingest.splitting import Splitter
from langgraph_rag.tools.ingest.text import text_pipeline
from langgraph_rag.tools.stores.records import content_hash, has_own_id
from langgraph_rag.tools.stores.vectors import Matrix


class Row(TypedDict, total=False):
    """A document, or from `split` on a passage, as far as the stages have come with it.

    Attributes:
        id: its own id; "" for a document without one. `split` gives one to each passage.
        title, text, source, headings, document, position, metadata: as in `Passage`.
        number: its place among the rows of its source, from 0 on.
        splitting: how it was split off; "" if it was given with an id.
        hash: of title and text; from `analyse` on.
        sentences, phrases: those of the text; from `analyse` on.
        analysed_by: the text pipeline; from `analyse` on.
        vector: of unit length; shape: dimensions. From `embed` on.
        embedded_by: the name of the embedder; from `embed` on.
        facts: what the passage states, with the sentences; from `extract` on. Before it, what a text pipeline read.
        read_by: the extractor that the text pipeline read for, before `extract`.
        names: the other names that the passage gives to entities; from `extract` on.
        extractor: the version of the extractor; missing, if it could not read the passage.
        dropped: how many facts were left out, as the passage does not state them.
        error: why a stage failed on the row; it is not stored.
    """

    id: str
    title: str
    text: str
    source: str
    headings: list[str]
    document: str
    position: int
    metadata: dict[str, Any]
    number: int
    splitting: str
    hash: str
    sentences: list[str]
    phrases: list[str]
    analysed_by: str
    vector: Matrix
    embedded_by: str
    facts: list[Fact]
    read_by: str
    names: list[Naming]
    extractor: str
    dropped: int
    error: str


Stage = Callable[[Sequence[Row]], list[Row]]
_TO_LOAD = ("id", "title", "text", "hash")
_TO_LOAD_ANEW = (*_TO_LOAD, "sentences", "phrases", "analysed_by", "vector", "embedded_by")


# --- the stages ------------------------------------------------------------------------------------------------------
def document_rows(documents: Iterable[AnyDocument]) -> list[Row]:
    """Return documents, in all forms that `add` takes, as rows for `split`.

    Raises:
        DocumentError, DuplicateIdError: as `add` does.
    """
    return [cast(Row, {**document}) for document in to_documents(documents)]


def split(rows: Sequence[Row], splitter: Splitter) -> list[Row]:
    """Split documents into passages; a batch must hold all documents of a source, as they count its passages.

    Raises:
        DocumentError, DuplicateIdError: as `add` does.
    """
    counts: defaultdict[str, int] = defaultdict(int)
    passages = list[Row]()
    for passage in to_passages(cast(Sequence[Mapping[str, object]], rows), splitter):
        source = passage.get("source", "")
        splitting = "" if has_own_id(passage) else splitter.label
        passages.append(cast(Row, {**passage, "number": counts[source], "splitting": splitting}))
        counts[source] += 1
    return passages


def analyse(rows: Sequence[Row], pipeline: str) -> list[Row]:
    """Find sentences and phrases of passages; a trained pipeline also reads facts, which `extract` checks.

    Args:
        rows: the passages.
        pipeline: the name of a text pipeline that is installed, or "rules".
    """
    found = text_pipeline(pipeline).analyse(*zip(*((row["text"], row["title"]) for row in rows), strict=True))
    return [
        cast(Row, {**row, **analysis, "hash": content_hash(row["title"], row["text"]), "analysed_by": pipeline})
        for row, analysis in zip(rows, found if rows else (), strict=True)
    ]


def embed(rows: Sequence[Row], texts: Callable[[Sequence[str]], Matrix], name: str) -> list[Row]:
    """Embed passages below their titles.

    Args:
        rows: the passages.
        texts: returns the vectors of texts, of unit length; shape: texts x dimensions. `partial(embed_texts,
            embeddings)` is one.
        name: the name of the embedder (`name_of`).

    Raises:
        EmbedderError: when the embedder cannot be asked.
    """
    vectors = texts([titled_text(cast(Passage, row)) for row in rows]) if rows else ()
    return [{**row, "vector": vector, "embedded_by": name} for row, vector in zip(rows, vectors, strict=True)]


def extract(rows: Sequence[Row], extractor: TripleExtractor) -> list[Row]:
    """Read the facts of passages, and keep those that each states; a passage that a model fails on stays unread.

    Raises:
        ModelCallError: when the model of the extractor cannot be called.
        TypeError: when the extractor returns something else than readings of these passages.
    """
    passages = [cast(Record, row) for row in rows]
    if needs_no_model(extractor):
        readings: Sequence[Reading] = extractor.read_now(passages)
    else:
        readings = run_in_background(_all_readings(extractor, passages))
    read = {row["id"]: row for row in checked_facts(extractor.version, readings, passages)}
    return [read.get(row["id"], {**row, "facts": []}) for row in rows]


def checked_facts(extractor: str, readings: Sequence[Reading], passages: Sequence[Record]) -> list[Row]:
    """Return the passages that were read, with the facts that each states, and the names that it gives.

    Raises:
        TypeError: when it is no list of readings of these passages, each at most once.
    """
    by_id = {passage["id"]: passage for passage in passages}
    rows = list[Row]()
    for id_, found in valid_readings(extractor, readings, by_id):
        passage = by_id[id_]
        facts = stated(found, passage)
        whole = with_whole_names(facts, passage)
        dropped, names = len(found) - len(facts), names_in(whole, passage)
        rows.append(cast(Row, {**passage, "facts": whole, "names": names, "extractor": extractor, "dropped": dropped}))
    return rows


async def _all_readings(extractor: TripleExtractor, passages: Sequence[Record]) -> list[Reading]:
    return [reading async for readings in extractor.extract(passages) for reading in readings]


def keeping_failures(stage: Stage) -> Stage:
    """Return a stage that goes on where single rows fail: each of these gets an `error`, and later stages skip it.

    What `split` fails on together, as an id with two texts, fails alone, too: only those rows of a source that do. A
    model that cannot be called fails on all rows of a batch at once.

    Raises:
        ModelAccessError: by the stage returned, when the model denies access, as it would to all rows.
    """

    def kept(rows: Sequence[Row]) -> list[Row]:
        failed = [row for row in rows if row.get("error")]
        return [*failed, *_tried(stage, [row for row in rows if not row.get("error")])]

    return kept


def _tried(stage: Stage, rows: Sequence[Row]) -> list[Row]:
    try:
        return stage(rows) if rows else []
    except ModelAccessError:
        raise
    except Exception as error:
        if len(rows) == 1 or isinstance(error, ModelCallError):
            return [{**row, "error": f"{type(error).__name__}: {error}"} for row in rows]
        half = len(rows) // 2
        return [*_tried(stage, rows[:half]), *_tried(stage, rows[half:])]


def checked_rows(given: Any) -> list[Row]:
    """Return rows, or an Arrow table or batch of them, after a check that all stages but `extract` filled them.

    A row without a vector is one of a passage that is stored already; it needs no analysis, either.

    Raises:
        DocumentError: when one lacks what a stage fills, its hash is not that of its text, or vectors differ in length.
        TypeError: when it is something else.
    """
    rows = from_arrow(given) if hasattr(given, "column_names") else given
    expect_list(rows, "rows")
    dimensions = {row["vector"].shape for row in rows if "vector" in row}
    if len(dimensions) > 1:
        raise DocumentError(f"rows: expected vectors of one length, got the shapes {sorted(dimensions)}")
    for number, row in enumerate(rows, start=1):
        if row.get("error"):
            continue
        needed = _TO_LOAD_ANEW if "vector" in row else _TO_LOAD
        if missing := [name for name in needed if name not in row]:
            raise DocumentError(
                f"row {number} ({row.get('id', 'no id')!r:.80}): expected {', '.join(needed)}, got no "
                f"{', '.join(missing)}: split, analyse and embed fill them"
            )
        if row["hash"] != content_hash(row["title"], row["text"]):
            raise DocumentError(f"row {number} ({row['id']!r:.80}): its title or text changed after it was analysed")
    return list(rows)


# --- Arrow -----------------------------------------------------------------------------------------------------------
def arrow_schema() -> Any:
    """Return the Arrow schema of all batches; `metadata` is JSON, all columns may be null.

    Raises:
        MissingExtraError: when pyarrow is not installed.
    """
    pa = _pyarrow()
    text, texts = pa.string(), pa.list_(pa.string())
    fact = pa.struct([("triple", texts), ("sentences", pa.list_(pa.int32()))])
    naming = pa.struct([("name", text), ("entity", text), ("kind", text)])
    columns = {
        **dict.fromkeys(Row.__annotations__, text),
        **dict.fromkeys(("headings", "sentences", "phrases"), texts),
        **{"position": pa.int32(), "number": pa.int64(), "dropped": pa.int32(), "vector": pa.list_(pa.float32())},
        **{"facts": pa.list_(fact), "names": pa.list_(naming)},
    }
    return pa.schema(list(columns.items()))


def to_arrow(rows: Sequence[Row]) -> Any:
    """Return rows as an Arrow table.

    Raises:
        MissingExtraError: when pyarrow is not installed.
    """
    return _pyarrow().Table.from_pylist([_plain(row) for row in rows], schema=arrow_schema())


def from_arrow(table: Any) -> list[Row]:
    """Return an Arrow table or batch as rows; columns that are missing or null are left out."""
    vectors = table.column("vector") if "vector" in table.column_names else None
    rest = table.select([name for name in table.column_names if name != "vector"])
    rows = [_native(row) for row in rest.to_pylist()]
    for row, vector in zip(rows, vectors or (), strict=False):
        if vector.is_valid:
            row["vector"] = np.array(vector.values, np.float32)
    return rows


def on_arrow(stage: Stage) -> Callable[[Any], Any]:
    """Return a stage as a function from Arrow table to Arrow table, such as `map_batches` of Ray Data takes."""
    return lambda table: to_arrow(stage(from_arrow(table)))


def _plain(row: Row) -> dict[str, Any]:
    plain: dict[str, Any] = {**row}
    if "metadata" in row:
        plain["metadata"] = json.dumps(row["metadata"], ensure_ascii=False)
    if "vector" in row:
        plain["vector"] = row["vector"].tolist()
    if "names" in row:
        plain["names"] = [Naming(*naming)._asdict() for naming in row["names"]]
    return plain


def _native(row: dict[str, Any]) -> Row:
    filled = {name: value for name, value in row.items() if value is not None}
    if "metadata" in filled:
        filled["metadata"] = json.loads(filled["metadata"])
    if "names" in filled:
        filled["names"] = [Naming(**naming) for naming in filled["names"]]
    return cast(Row, filled)


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtraError("batches of Arrow", "parquet") from error
    return pyarrow
