"""What runs on a worker: files are read and split, passages go through the stages, on Arrow tables of few rows."""

import hashlib
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from langchain_core.embeddings import Embeddings

from langgraph_rag.distributed.cluster import imported_ray
from langgraph_rag.errors import DocumentError
from langgraph_rag.metering import metered
from langgraph_rag.nodes.extract_triples import ModelExtractor, as_shown
from langgraph_rag.tools.documents.files import read_what_can_be
from langgraph_rag.tools.documents.rows import FieldNames
from langgraph_rag.tools.facts.extraction import TripleExtractor
from langgraph_rag.tools.ingest.embeddings import embed_texts, name_of
from langgraph_rag.tools.ingest.splitting import Splitter, Splitting, tokens_of
from langgraph_rag.tools.ingest.stages import (
    Row,
    Stage,
    analyse,
    document_rows,
    embed,
    extract,
    from_arrow,
    keeping_failures,
    split,
    to_arrow,
)
from langgraph_rag.tools.stores.records import content_hash

_TIMED = 32  # rows of each worker whose time is taken for an estimate
_COUNTED = ("calls", "input_tokens", "output_tokens", "estimated_tokens", "repairs")
_DIGEST = 16  # bytes

_made: dict[tuple[str, str], Any] = {}  # of each job in this process, as loading takes seconds and tasks are short
_making = threading.RLock()


@dataclass(frozen=True)
class Work:
    """All that a worker needs to know of a job; it is sent to each.

    Attributes:
        job: an id.
        pulse: the actor that takes signs of life.
        embeddings, extractor: make the embedder and the extractor, once in each process.
        pipeline, splitting: of the knowledge base.
        names, format: how fields are named and what form files have, as in `read_what_can_be`.
        folder: where relative paths of files begin.
        batch: passages in one table.
        stored: a reference to the sorted digests of the passages that are stored; shape: passages.
    """

    job: str
    pulse: Any
    embeddings: Callable[[], Embeddings]
    extractor: Callable[[], TripleExtractor]
    pipeline: str
    splitting: Splitting
    names: FieldNames
    format: str
    folder: str
    batch: int
    stored: Any

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what is made once for this job in this process."""
        with _making:
            if (self.job, name) not in _made:
                _made[self.job, name] = make()
            return _made[self.job, name]

    @property
    def embedder(self) -> Embeddings:
        """The embedder of this process."""
        return cast(Embeddings, self.once("embedder", self.embeddings))

    def stage(self, name: str) -> Stage:
        """Return a stage by its name."""
        if name == "analyse":
            return partial(analyse, pipeline=self.pipeline)
        if name == "extract":
            return partial(extract, extractor=self.once("extractor", self.extractor))
        return partial(embed, texts=partial(embed_texts, self.embedder), name=name_of(self.embedder))

    def is_stored(self, rows: Sequence[Row]) -> list[bool]:
        """Return for each passage whether it is stored with the same text."""
        stored = self.once("stored", lambda: imported_ray().get(self.stored))
        if not len(stored) or not rows:
            return [False] * len(rows)
        wanted = digests((row["id"], row["hash"]) for row in rows)
        places = np.minimum(np.searchsorted(stored, wanted), len(stored) - 1)
        return [bool(same) for same in stored[places] == wanted]


def digests(passages: Iterable[tuple[str, str]]) -> Any:
    """Return digests of passages by their ids and the hashes of their texts; shape: passages."""
    made = [hashlib.blake2b(f"{hash_} {id_}".encode(), digest_size=_DIGEST).digest() for id_, hash_ in passages]
    return np.array(made, dtype=f"S{_DIGEST}")


def read_files(files: Any, work: Work) -> Iterator[Any]:
    """Yield the passages of files as tables; a file or a part of it that cannot be read is a row with its error."""
    with suppress(OSError):  # a worker that lacks the folder lacks the files, too, which are told one by one
        os.chdir(work.folder)
    for file in files["file"].to_pylist():
        rows = _read(file, work)
        work.pulse.beat.remote({"files": 1, "passages": len(rows)})
        for start in range(0, len(rows), work.batch):
            yield to_arrow(rows[start : start + work.batch])


def _read(file: str, work: Work) -> list[Row]:
    try:
        read = read_what_can_be([Path(file)], work.names, format=work.format)
    except DocumentError as error:
        return [_failed(file, str(error))]
    splitter = work.once("splitter", lambda: Splitter(tokens_of(work.embedder), work.splitting))
    try:
        rows = keeping_failures(partial(split, splitter=splitter))(document_rows(read.documents))
    except Exception as error:
        rows = [_failed(file, f"{type(error).__name__}: {error}")]
    return [*rows, *(_failed(file, problem) for problem in read.problems)]


def _failed(file: str, error: str) -> Row:
    return Row(id="", title=file, text="", source=file, error=error)


def through(table: Any, work: Work, stages: Sequence[str]) -> Any:
    """Take passages through stages; what is stored already only gets its hash."""
    rows = [_hashed(row) for row in from_arrow(table)]
    new, others = _divided(rows, work)
    return to_arrow([*others, *_all_stages(new, work, stages)])


def read_facts(table: Any, work: Work) -> Any:
    """Read facts of stored passages."""
    with metered() as spent:
        rows = keeping_failures(work.stage("extract"))(from_arrow(table))
    work.pulse.beat.remote({name: spent[name] for name in _COUNTED})  # type: ignore[literal-required]
    return to_arrow(rows)


def embed_analysed(table: Any, work: Work) -> Any:
    """Embed passages that are analysed; the others are stored, or failed."""
    rows = from_arrow(table)
    new = [row for row in rows if "analysed_by" in row and "error" not in row]
    others = [row for row in rows if "analysed_by" not in row or "error" in row]
    return to_arrow([*others, *_all_stages(new, work, ["embed"])])


def survey(table: Any, work: Work, stages: Sequence[str]) -> Any:
    """Return one row: how many passages there are and are new, what a model reads, and the seconds of timed ones."""
    import pyarrow as pa

    rows = [_hashed(row) for row in from_arrow(table)]
    new, _ = _divided(rows, work)
    found = Counter[str](passages=len(rows), new=len(new), failed=sum("error" in row for row in rows))
    extractor = work.once("extractor", work.extractor)
    if isinstance(extractor, ModelExtractor):
        found.update(extractor.cost([as_shown(row["title"], row["text"]) for row in new])._asdict())
    if new and not (done := work.once("timed", list)):
        done.append(True)
        _all_stages(new[:1], work, stages)  # loads what is loaded once
        started = time.perf_counter()
        timed = _all_stages(new[:_TIMED], work, stages)
        found.update(timed=len(timed), milliseconds=round(1000 * (time.perf_counter() - started)))
    columns = ("passages", "new", "failed", "calls", "input_tokens", "output_tokens", "timed", "milliseconds")
    return pa.table({name: [found[name]] for name in columns})


def _all_stages(rows: list[Row], work: Work, stages: Sequence[str]) -> list[Row]:
    for stage in stages:
        rows = keeping_failures(work.stage(stage))(rows) if rows else rows
    return rows


def _hashed(row: Row) -> Row:
    return row if "error" in row else {**row, "hash": content_hash(row["title"], row["text"])}


def _divided(rows: Sequence[Row], work: Work) -> tuple[list[Row], list[Row]]:
    """Return the passages that are not stored, and all other rows."""
    whole = [row for row in rows if "error" not in row]
    stored = work.is_stored(whole)
    new = [row for row, known in zip(whole, stored, strict=True) if not known]
    known = [row for row, known in zip(whole, stored, strict=True) if known]
    return new, [*known, *(row for row in rows if "error" in row)]
