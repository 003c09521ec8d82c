"""The stages of the document path: documents, split, analyse, embed, extract. `KnowledgeBase.load` stores their rows.

Documents come in all accepted forms. Each stage is a pure function from a batch of rows to a batch of rows, so that a
thread, a process or Ray Data can run it. All batches have the columns of `Row`, of which each stage fills some more.
Here rows are dicts, as most knowledge bases lie in one folder and need no Arrow (150 MB installed); `on_arrow` makes of
a stage the same function of Arrow tables, whose columns are those of `arrow_schema`.
"""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import dropwhile
from numbers import Number
from os import PathLike, fspath
from typing import Any, TypeGuard, cast
from uuid import UUID

import numpy as np
from langchain_core.documents import Document
from typing_extensions import TypedDict

from langgraph_rag.arguments import expect_list
from langgraph_rag.characters import is_text, without_controls
from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.errors import DocumentError, DuplicateIdError, MissingExtraError, ModelAccessError, ModelCallError
from langgraph_rag.naming import first_few
from langgraph_rag.normal_forms import UNSPACED, without_piles
from langgraph_rag.records import Fact, Naming, Passage, Record, titled_text
from langgraph_rag.tools.facts.extraction import Reading, TripleExtractor, needs_no_model, valid_readings
from langgraph_rag.tools.facts.names import names_in, opening_of, with_whole_names
from langgraph_rag.tools.facts.stated import stated
from langgraph_rag.tools.ingest.splitting import Splitter, turns_of
from langgraph_rag.tools.ingest.text import text_pipeline
from langgraph_rag.tools.stores.metadata import to_metadata
from langgraph_rag.tools.stores.protocols import Matrix
from langgraph_rag.tools.stores.records import content_hash, has_own_id

PLACE = "place in a file"  # the field with the name of a document from a file in messages
_FIELDS = ("id", "title", "text", "source", PLACE)  # all others are metadata
_LIFTED = ("title", "source")  # from the metadata
_LONGEST = 1_000_000  # characters of a passage: the limit of spaCy
_TOLD = 20  # fields named in a message about a document without text
LONGEST_NAME = 1_000  # characters of a title or id: a title is in every prompt with its passage
AnyDocument = Document | Mapping[str, object]
DocumentsById = dict[str, tuple[Passage, str]]
"""Earlier documents with ids, and their places."""
ESTIMATING = Splitter()

_LETTER = re.compile(r"[^\W\d_]")
_OTHER_LETTER = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")
_OF_TERMINALS = re.compile(r".\x08|\x1b\[[\d;]*[A-Za-z]")
"""A letter that the next one is printed over, for bold or underlined text, or a code for colours."""
_CUT = re.compile(r"(\w)\u2010\n[ \t]*(?=[^\W\d_])")  # as in manual pages; other hyphens may belong to the word
_UNSEEN = re.compile(rf"[\u00ad\ufeff]|(?<!{UNSPACED.pattern})\u200b(?!{UNSPACED.pattern})")
"""Soft hyphen, byte order mark, zero-width space: they split words, especially in text from PDF files.

But next to characters of scripts without spaces, a zero-width space separates words.
"""


def to_documents(documents: Iterable[AnyDocument], known: DocumentsById | None = None) -> list[Passage]:
    """Check and clean documents in all accepted forms.

    Args:
        documents: LangChain `Document`s or dicts; an id and a title may be numbers.
        known: earlier documents with ids, which must not have another text now; new ones are added if all are valid.

    Returns:
        The documents; those that were given no id have the id "". One without a title has its first line or subject as
            title, or none.

    Raises:
        DocumentError: when a document has no text, is of another kind, has an id and over 1,000,000 characters, a title
            or id of over 1,000, or metadata that cannot be stored.
        DuplicateIdError: when an id has two different texts.
    """
    expect_list(documents, "documents")
    known = {} if known is None else known
    new: DocumentsById = {}
    checked: list[Passage] = []
    for number, given in enumerate(documents, start=1):
        fields = _fields(given, number)
        place = str(fields.get(PLACE, f"document {number}"))
        document = _document(fields, place)
        if id_ := document["id"]:
            first, there = known.get(id_) or new.setdefault(id_, (document, place))
            if (first["title"], first["text"]) != (document["title"], document["text"]):
                raise DuplicateIdError(f"{place}: id {id_!r} was already given with another text or title ({there})")
        checked.append(document)
    known |= new
    return checked


def to_passages(documents: Iterable[AnyDocument], splitter: Splitter = ESTIMATING) -> list[Passage]:
    """Convert documents to passages, each once per source.

    A document with an id is one passage. A document without one is split; its passages keep title, headings, source and
    metadata, and their ids are hashes of their content. If a document has no title, each of its passages gets its own.

    Each passage knows its document and its position in it. One document are all those given with the same `document`
    and source, or else with the same title and source.

    Raises:
        DocumentError, DuplicateIdError: as in `to_documents`.
    """
    whole: defaultdict[tuple[str, ...], dict[str, Passage]] = defaultdict(dict)
    given: dict[tuple[str, str], Passage] = {}
    for number, document in enumerate(to_documents(documents)):
        source, name = document.get("source", ""), document.get("document", "") or document["title"]
        together = whole[(source, name) if source or name else (str(number),)]
        for passage in _passages(document, splitter):
            if given.setdefault((passage["id"], source), passage) is passage:
                together[passage["id"]] = passage
    for passages in whole.values():
        document_id = content_hash(next(iter(passages.values())).get("source", ""), " ".join(passages))
        for position, passage in enumerate(passages.values()):
            passage["document"], passage["position"] = document_id, position
    return list(given.values())


def cleaned(text: str) -> str:
    """Return a text in NFC, without invisible characters and terminal codes; words cut by hyphens are joined."""
    visible = _UNSEEN.sub("", without_piles(without_controls(_OF_TERMINALS.sub("", text))))
    return _CUT.sub(r"\1", unicodedata.normalize("NFC", visible)).strip()


def in_other_scripts(passages: Sequence[Passage]) -> list[str]:
    """Return the ids of the passages of which most letters are not Latin."""
    return [passage["id"] for passage in passages if _is_in_another_script(passage["text"])]


def _is_in_another_script(text: str) -> bool:
    return not text.isascii() and 2 * len(_OTHER_LETTER.findall(text)) > len(_LETTER.findall(text))


def _fields(document: AnyDocument, number: int) -> Mapping[str, object]:
    """Return the fields of a document; title and source may be in its metadata."""
    if isinstance(document, Document):
        document = {"id": document.id, "text": document.page_content, "metadata": document.metadata}
    if not isinstance(document, Mapping):
        raise DocumentError(
            f"document {number}: expected a LangChain Document or a dict with text (and id, title), "
            f"got {type(document).__name__}"
        )
    inner = document.get("metadata")
    if not isinstance(inner, Mapping):
        return document
    lifted = [name for name in _LIFTED if document.get(name) is None and name in inner]
    rest = {name: value for name, value in inner.items() if name not in lifted}
    return {**document, **{name: inner[name] for name in lifted}, "metadata": rest}


def _document(fields: Mapping[str, object], place: str) -> Passage:
    text, title, source = (_string(fields, name, place) for name in ("text", "title", "source"))
    text, title = cleaned(text), cleaned(title)
    if not text:
        instead = (
            ""
            if "text" in fields or not fields
            else f" in 'text', but the fields {first_few([*map(repr, fields)], _TOLD)}"
        )
        raise DocumentError(f"{place} ({fields.get('id') or title or source or 'no id'}): it has no text{instead}")
    id_ = _id(fields, place)
    _check_strings(f"{place} ({ascii(id_ or title):.80})", id=id_, text=text, title=title, source=source)
    title = " ".join(title.splitlines()) or opening_of(text)  # the hash of a passage treats its first line as the title
    if id_ and len(text) > _LONGEST:
        raise DocumentError(
            f"{place} ({id_ or title or source or 'no id'}): expected passages of at most {_LONGEST:,} characters, got "
            f"one of {len(text):,}: leave out its id to have it split, or give it in parts"
        )
    document = Passage(id=id_, title=title, text=_without_heading(title, text))
    if source:
        document["source"] = source
    if metadata := _metadata(fields, place):
        document["metadata"] = metadata
    if _are_headings(headings := fields.get("headings")):
        document["headings"] = headings
    if isinstance(name := fields.get("document"), str) and isinstance(position := fields.get("position"), int):
        document["document"], document["position"] = name, position
    return document


def _passages(document: Passage, splitter: Splitter) -> Iterable[Passage]:
    id_, title = document["id"], document["title"]
    is_talk = not title and bool(turns_of(document["text"]))
    for part in [document["text"]] if id_ else splitter.split(document["text"], title):
        part = _without_heading(title, part.strip("\n"))  # some texts repeat it on each page
        own_title = title if is_talk else title or opening_of(part)
        text = _without_heading(own_title, part)
        yield {**document, "id": id_ or content_hash(title, part), "title": own_title, "text": text}


def _are_headings(given: object) -> TypeGuard[list[str]]:
    return isinstance(given, list) and all(isinstance(heading, str) for heading in given)


def _is_placed(fields: Mapping[str, object]) -> bool:
    """Return whether `document` and `position` are those of a passage, and not fields of another meaning."""
    return isinstance(fields.get("document"), str) and isinstance(fields.get("position"), int)


def _check_strings(document: str, **strings: str) -> None:
    for name, value in strings.items():
        if not is_text(value):
            raise DocumentError(
                f"{document}: expected text, got half a surrogate pair in its {name}, {ascii(value):.80}"
            )
        if without_controls(value) != value:
            raise DocumentError(f"{document}: expected no control character in its {name}, got {ascii(value):.80}")
        if name in ("id", "title") and len(value) > LONGEST_NAME:
            raise DocumentError(
                f"{document}: expected at most {LONGEST_NAME:,} characters in its {name}, got {len(value):,}"
            )


def _metadata(fields: Mapping[str, object], place: str) -> dict[str, Any]:
    """Return all other fields of a document, and those in its field `metadata`."""
    own = {*_FIELDS, *(("document", "position") if _is_placed(fields) else ())}
    rest = {
        name: value
        for name, value in fields.items()
        if name not in own and not (name == "headings" and _are_headings(value))
    }
    if isinstance(inner := rest.get("metadata"), Mapping):
        del rest["metadata"]
        rest |= inner
    try:
        return to_metadata(rest)
    except ValueError as error:
        raise DocumentError(f"{place}: its metadata cannot be kept: {error}") from error


def _without_heading(title: str, text: str) -> str:
    """Remove first lines that only repeat the title, as sentences are shown with their titles."""
    heading = title.casefold()
    body = dropwhile(lambda line: line.strip("#*_ \r").casefold() == heading or not line.strip(), text.split("\n"))
    return "\n".join(body).strip() or text


def _id(fields: Mapping[str, object], place: str) -> str:
    id_ = fields.get("id")
    if id_ is None or id_ == "":
        return ""
    if isinstance(id_, bool) or not isinstance(id_, str | Number | UUID) or not str(id_).strip() or id_ != id_:  # NaN
        raise DocumentError(f"{place}: id must be text or a number, got {id_!r:.80}")
    return str(id_)


def _string(fields: Mapping[str, object], name: str, place: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if isinstance(value, PathLike):
        value = fspath(value)
    if name == "title" and isinstance(value, Number) and not isinstance(value, bool) and value == value:  # no NaN
        value = str(value)
    if not isinstance(value, str):
        raise DocumentError(f"{place}: {name} must be a string, got {type(value).__name__}")
    return value if value.strip() else ""


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
