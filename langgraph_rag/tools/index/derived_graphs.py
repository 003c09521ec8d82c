"""The graphs that are derived from the records, in step with these on access.

An index follows the records: files stand for a position in their logs, and what changed since is in memory. Reading
processes map the files. The one that changes the records has a process beside it write new ones, so that no question
waits for that, and the older ones serve meanwhile.
"""

import logging
import os
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from filelock import FileLock, Timeout

from langgraph_rag.concurrency.threads import thread_safe_cache
from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.records import Record
from langgraph_rag.tools.index import arrays, entity_graph, hierarchy_graph
from langgraph_rag.tools.index.entity_graph import EntityGraph, EntityIndex, TripleGraph
from langgraph_rag.tools.index.entity_rows import Given
from langgraph_rag.tools.index.hierarchy_graph import Contents, HierarchyGraph, HierarchyIndex, contents_of
from langgraph_rag.tools.index.tables import PassageTable, Stored, Texts
from langgraph_rag.tools.stores.database import ChangeLog, Incremental, changed_since
from langgraph_rag.tools.stores.opening import RECORDS
from langgraph_rag.tools.stores.records import INDEXES, Records, RecordStore
from langgraph_rag.tools.stores.visibility import Visible

FORMAT = 1
_PAGE = 1_000  # passages read at once
_SAVED = 2_000  # changes in memory before new files are made,
_SAVED_SHARE = 16  # or so many of the passages, if that is more,
_MOST = 40_000  # but at most so many
_SAVED_AT_CLOSING, _SHARE_AT_CLOSING = 200, 500
_WAITED_FOR = 80_000  # changes after which an addition waits for the files, so that the log tells all since
_AT_ONCE = 4  # of the passages: when more changed, all is made anew
PROGRAM = (
    sys.executable,
    "-P",
    "-c",
    f"""
import sys
from types import ModuleType
package = sys.modules["langgraph_rag"] = ModuleType("langgraph_rag")
package.__path__ = [{str(Path(__file__).parents[2])!r}]
from langgraph_rag.tools.index.derived_graphs import write_files
write_files(*sys.argv[1:])
""",
)
"""Calls `write_files` with its arguments; without methods and models of the package, which take seconds to import."""

_log = logging.getLogger(__name__)
Graph = TypeVar("Graph")
Part = TypeVar("Part")


class Index(Protocol):
    """What is kept in step: a graph of passages, and the rows that it is made of."""

    stored: Stored

    @property
    def passages(self) -> PassageTable:
        """The passages."""

    @property
    def grown(self) -> bool:
        """Whether it takes much more space than one that is `made` of it."""

    def update(self, ids: Sequence[str], now: Mapping[str, Any], /) -> None:
        """Bring passages up to date: those in `now` are as there, the others are gone."""

    def take(self, ids: Sequence[str], now: Mapping[str, Any], /) -> None:
        """Do the same without the graph; `made` must follow."""

    def made(self) -> Self:
        """Return an index of the same passages without changes in memory."""


AnyIndex = TypeVar("AnyIndex", bound=Index)


@dataclass(frozen=True)
class Source(Generic[AnyIndex]):
    """What an index is made of.

    Attributes:
        name: of its files.
        logs: of changed passages.
        history: returns what tells the records from others; empty if nothing does.
        read: returns what passages say now, by id; those that are gone are left out.
        ids: returns the ids of all passages.
        opened: returns the index that is stored; without anything stored, an empty one.
        texts: the names of its tables of texts.
        program: the arguments of `write_files` for this source; none if it cannot open the records.
    """

    name: str
    logs: Sequence[ChangeLog]
    history: Callable[[], str]
    read: Callable[[Sequence[str]], Mapping[str, Any]]
    ids: Callable[[], Sequence[str]]
    opened: Callable[[Stored | None], AnyIndex]
    texts: Sequence[str]
    program: Sequence[str]


class Followed(Generic[AnyIndex, Graph]):
    """An index in step with the records; safe in any thread."""

    def __init__(self, source: Source[AnyIndex], folder: Path, graph: Callable[[AnyIndex], Graph]) -> None:
        self._source, self._folder, self._graph = source, folder, graph
        self._kept: tuple[list[int], AnyIndex, Graph] | None = None  # with the ends of the logs
        self._used = -1  # the position of the files that are used
        self._written: list[int] | None = None  # the ends of the logs that the newest files stand for, if known
        self._lock = threading.Lock()
        self._writing: subprocess.Popen[bytes] | _Thread | None = None
        self._of_parts: WeakKeyDictionary[object, tuple[list[int], Graph]] = WeakKeyDictionary()

    def now(self) -> Graph:
        """Return the graph with all changes that were made before the call."""
        with self._lock:
            return self._caught_up()[2]

    def of_part(self, part: Part, make: Callable[[AnyIndex, Part], Graph]) -> Graph:
        """Return the graph of a part of the passages, which is kept as long as the part is."""
        with self._lock:
            ends, index, _ = self._caught_up()
            known = self._of_parts.get(part)
            if known is None or known[0] != ends:
                known = self._of_parts[part] = ends, make(index, part)
            return known[1]

    def keep(self, size: Callable[[], int]) -> None:
        """Have new files written beside questions and changes, if much has changed; wait if it is very much.

        `size` returns the number of passages.
        """
        with self._lock:
            if self._writing is not None and self._writing.poll() is not None:
                self._writing = self._written = None
            behind = self._behind()
            if behind >= _SAVED and self._writing is None and behind >= min(size() // _SAVED_SHARE, _MOST):
                self._writing = self._started()
            writing = self._writing
        if behind >= _WAITED_FOR and writing is not None:
            writing.wait()

    def close(self, *, write: bool) -> None:
        """Release the files; write what has changed before, if that is much."""
        if self._writing is not None:
            self._writing.wait()
            self._written = None
        with self._lock:
            if write and self._behind() >= _SAVED_AT_CLOSING:
                try:
                    self.save(_SAVED_AT_CLOSING, _SHARE_AT_CLOSING)
                except (OSError, KnowledgeBaseError) as error:
                    _log.warning("the index %s cannot be written in %s: %s", self._source.name, self._folder, error)
            self._kept = None

    def save(self, least: int = 1, share: int = 0) -> None:
        """Write the index as it is now, if so many passages changed, and one in `share` of all."""
        files = self._opened()
        ends, index = files or ([], self._source.opened(None))
        now = [log.end for log in self._source.logs]
        ids: Sequence[str] | None = changed_since(self._source.logs, ends) if files else None
        if ids is None:
            index, ids = self._source.opened(None), self._source.ids()
        if len(ids) < max(least, len(index.passages) // share if share else 0):
            return
        stored = self._taken(index, ids).made().stored
        about = {"history": self._source.history(), "ends": now}
        tables: dict[str, Iterable[str]] = {name: _listed(stored.texts[name]) for name in self._source.texts}
        arrays.write(self._folder, self._source.name, sum(now), stored.arrays, tables, format_=FORMAT, about=about)

    # --- in step -----------------------------------------------------------------------------------------------------
    def _caught_up(self) -> tuple[list[int], AnyIndex, Graph]:
        ends = [log.end for log in self._source.logs]  # read first, so that concurrent changes are read again
        if self._kept is not None and self._kept[0] == ends:
            return self._kept
        kept, self._kept = self._kept, None  # after an error, start again
        files = self._opened(self._used if kept else -1) if not kept or sum(ends) - self._used >= _SAVED else None
        if files:
            self._used = sum(files[0])
        before, index = files or (kept[:2] if kept else ([], self._source.opened(None)))
        ids = changed_since(self._source.logs, before) if before else None
        if ids is None:  # nothing is there, or the log does not reach back so far
            index = self._taken(self._source.opened(None), self._source.ids()).made()
        else:
            index = self._updated(index, ids)
        self._kept = ends, index, self._graph(index)
        return self._kept

    def _updated(self, index: AnyIndex, ids: Sequence[str]) -> AnyIndex:
        if len(ids) * _AT_ONCE > max(len(index.passages), _PAGE):
            return self._taken(index, ids).made()
        for some in _pages(ids):
            index.update(some, self._source.read(some))
        return index.made() if index.grown else index

    def _taken(self, index: AnyIndex, ids: Sequence[str]) -> AnyIndex:
        for some in _pages(ids):
            index.take(some, self._source.read(some))
        return index

    # --- files -------------------------------------------------------------------------------------------------------
    def _opened(self, newer_than: int = -1) -> tuple[list[int], AnyIndex] | None:
        """Return the newest index in files, with the ends of the logs that it stands for; None if there is none."""
        if not (history := self._source.history()):
            return None
        now = [log.end for log in self._source.logs]

        def fits(found: arrays.Arrays) -> bool:
            ends = found.about.get("ends", [])
            within = len(ends) == len(now) and all(end <= last for end, last in zip(ends, now, strict=True))
            return within and found.about.get("history") == history and found.at > newer_than

        found = arrays.open_newest(self._folder, self._source.name, format_=FORMAT, fits=fits)
        if found is None:
            return None
        texts: dict[str, Texts] = {name: found.strings(name) for name in self._source.texts}
        return list(found.about["ends"]), self._source.opened(Stored(found, texts))

    def _behind(self) -> int:
        """Return the number of changes since the newest files."""
        if self._written is None:
            files = self._opened()
            self._written = files[0] if files else []
        return sum(log.end for log in self._source.logs) - sum(self._written)

    def _started(self) -> "subprocess.Popen[bytes] | _Thread | None":
        """Start a process that writes files, or a thread where the records are on a server."""
        if not self._source.program:
            return _Thread(self.save)
        try:
            return subprocess.Popen([*PROGRAM, *self._source.program], stdin=subprocess.DEVNULL)
        except OSError as error:
            _log.warning("the index %s stays in memory, as no process can write it: %s", self._source.name, error)
            return None


class _Thread(threading.Thread):
    """Work that is asked for as a process is."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__(target=work, daemon=True)
        self.start()

    def poll(self) -> int | None:
        """Return None as long as it works."""
        return None if self.is_alive() else 0

    def wait(self) -> None:
        """Wait for its end."""
        self.join()


def _pages(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + _PAGE] for start in range(0, len(ids), _PAGE))


def _listed(texts: Texts) -> Iterable[str]:
    return (texts[row] for row in range(len(texts)))


_NAMES = ("ids", "names", "words", "apart")


class DerivedGraphs:
    """The graphs of one knowledge base, each opened or made on first access."""

    def __init__(self, records: Records, folder: Path, writable: Callable[[], bool] = lambda: False) -> None:
        self._records, self._folder, self._writable = records, folder, writable
        self._triples, self._entities = thread_safe_cache(self._triples_by), thread_safe_cache(self._entities_by)
        source = Source(
            "hierarchy",
            [records.changes],
            lambda: records.words.history,
            self._contents,
            self._ids,
            HierarchyIndex,
            _NAMES,
            self._program("hierarchy"),
        )
        self._hierarchy = Followed(source, folder / INDEXES, lambda index: index.graph(self._passages))

    def triples(self, extractor: str) -> TripleGraph:
        """Return the graph of all triples of an extractor, for reading and drawing."""
        return self._triples(extractor).now()

    def entities(self, extractor: str, visible: Visible | None = None) -> EntityGraph:
        """Return the graph of the entities of an extractor in all passages, or in the visible ones, for walks."""
        if visible is None:
            return self._entities(extractor).now()
        return self._entities(extractor).of_part(visible, self._visible_entities)

    def hierarchy(self, visible: Visible | None = None) -> HierarchyGraph:
        """Return the graph of passages, sentences and phrases, of all or of the visible ones."""
        if visible is None:
            return self._hierarchy.now()
        return self._hierarchy.of_part(visible, self._visible_hierarchy)

    def keep(self, extractor: str) -> None:
        """Have files written of the graphs, if much has changed since."""
        if self._writable():
            for followed in (self._hierarchy, self._entities(extractor)):
                followed.keep(self._records.count)

    def save(self, extractor: str | None = None) -> None:
        """Write the files of the graph of an extractor's facts, or else of the hierarchical graph."""
        followed = self._hierarchy if extractor is None else self._entities(extractor)
        followed.save()

    def close(self, extractor: str) -> None:
        """Write files of the graphs, if much has changed since, and release them."""
        write = self._writable()
        for followed in (self._hierarchy, self._entities(extractor)):
            followed.close(write=write)

    def _visible_entities(self, index: EntityIndex, visible: Visible) -> EntityGraph:
        return entity_graph.part_of(index.rows, _rows(index, visible), self._names())

    def _visible_hierarchy(self, index: HierarchyIndex, visible: Visible) -> HierarchyGraph:
        return hierarchy_graph.part_of(index.rows, _rows(index, visible), self._passages)

    def _triples_by(self, extractor: str) -> Incremental[TripleGraph, TripleGraph]:
        def fill(graph: TripleGraph, ids: Sequence[str] | None) -> None:
            graph.add(self._records.triples.statements(extractor, ids))

        def in_order(graph: TripleGraph) -> TripleGraph:
            graph.join(self.entities(extractor).joins())
            graph.sort(self._records.ids())
            return graph

        return Incremental(TripleGraph, fill, in_order, self._logs(extractor))

    def _entities_by(self, extractor: str) -> Followed[EntityIndex, EntityGraph]:
        name = f"entities_{blake2b(extractor.encode(), digest_size=6).hexdigest()}"
        source = Source(
            name,
            self._logs(extractor),
            lambda: self._records.words.history,
            partial(self._given, extractor),
            self._ids,
            EntityIndex,
            (*_NAMES, "relations", "kinds"),
            self._program(name, extractor),
        )
        return Followed(source, self._folder / INDEXES, lambda index: index.graph(self._names()))

    def _given(self, extractor: str, ids: Sequence[str]) -> Mapping[str, Given]:
        """Return the facts of passages, those that mentions make, and the names that passages give."""
        facts, namings = (
            defaultdict[str, list[tuple[str, str, str]]](list),
            defaultdict[str, list[tuple[str, str, str]]](list),
        )
        triples = self._records.triples
        with self._records.beside():
            numbers = self._records.numbers(ids)
            for statements in (triples.statements(extractor, ids), self._records.mentions(ids)):
                for id_, head, relation, tail in statements:
                    facts[id_].append((head, relation, tail))
            for id_, name, entity, kind in triples.namings(extractor, ids):
                namings[id_].append((name, entity, kind))
        return {id_: Given(id_, number, facts[id_], namings[id_]) for id_, number in numbers.items()}

    def _ids(self) -> Sequence[str]:
        with self._records.beside():
            return self._records.ids()

    def _passages(self, ids: Sequence[str]) -> Sequence[Record]:
        with self._records.beside():
            return self._records.passages(ids)

    def _names(self) -> Mapping[str, str]:
        with self._records.beside():
            return self._records.triples.names.entities()

    def _contents(self, ids: Sequence[str]) -> Mapping[str, Contents]:
        with self._records.beside():
            numbers, records = self._records.numbers(ids), self._records.passages(ids)
        return {record["id"]: contents_of(record, numbers[record["id"]]) for record in records}

    def _program(self, *arguments: str) -> Sequence[str]:
        """Return the arguments of the program that writes files; none where the records are in no folder."""
        return [str(self._folder), *arguments] if (self._folder / RECORDS).exists() else []

    def _logs(self, extractor: str) -> list[ChangeLog]:
        return [self._records.changes, self._records.triples.changes(extractor)]


def _rows(index: EntityIndex | HierarchyIndex, visible: Visible) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    rows = np.array(index.passages.find(list(visible.numbers)), np.int64)
    return np.sort(rows[rows >= 0])


def write_files(place: str, name: str, *extractor: str) -> None:
    """Write the files of a graph, as they are after all changes, unless another process is about to.

    A process of its own does so, beside the one that changes the records.
    """
    if hasattr(os, "nice"):
        os.nice(5)
    folder = Path(place)
    (folder / INDEXES).mkdir(exist_ok=True)
    with suppress(Timeout), FileLock(folder / INDEXES / f"{name}.lock", blocking=False):
        records = RecordStore(folder / RECORDS)
        try:
            DerivedGraphs(records, folder).save(*extractor)
        finally:
            records.close()
