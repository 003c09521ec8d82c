"""The graphs made of the records; each catches up with what changed when it is asked for."""

import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Generic, Protocol, TypeVar

from langgraph_rag.background import made_once
from langgraph_rag.tools.change_log import ChangeLog
from langgraph_rag.tools.entity_graph import EntityGraph, EntityRows
from langgraph_rag.tools.hierarchy_graph import HierarchyGraph, HierarchyRows
from langgraph_rag.tools.record_store import RecordStore
from langgraph_rag.tools.triple_graph import TripleGraph

_PAGE = 500  # passages held at a time while the graph of all is made


class _Shrinking(Protocol):
    def remove_passages(self, ids: Iterable[str], /) -> None: ...
    def outgrown(self) -> bool: ...


Rows = TypeVar("Rows", bound=_Shrinking)
Graph = TypeVar("Graph")


class _Incremental(Generic[Rows, Graph]):
    """A graph, with the rows that it is made of.

    Args:
        rows: makes empty rows.
        fill: adds to rows what some passages hold, or all (None).
        graph: makes the graph out of rows.
        logs: tell which passages changed.
    """

    def __init__(
        self,
        rows: Callable[[], Rows],
        fill: Callable[[Rows, Sequence[str] | None], None],
        graph: Callable[[Rows], Graph],
        logs: Sequence[ChangeLog],
    ) -> None:
        self._rows, self._fill, self._graph, self._logs = rows, fill, graph, logs
        self._lock = threading.Lock()
        self._kept: tuple[list[int], Rows, Graph] | None = None  # with the ends of the logs

    def now(self) -> Graph:
        """Return the graph of what the records hold now."""
        with self._lock:
            ends = [log.end for log in self._logs]  # looked at first: what changes while it is read is read again
            if self._kept is not None and self._kept[0] == ends:
                return self._kept[2]
            kept, self._kept = self._kept, None  # what fails half-way is begun anew
            ids = self._changed_since(kept[0]) if kept else None
            rows = kept[1] if kept and ids is not None else self._rows()
            rows.remove_passages(ids or ())
            self._fill(rows, ids)
            if rows.outgrown():
                rows = self._rows()
                self._fill(rows, None)
            graph = self._graph(rows)
            self._kept = ends, rows, graph
            return graph

    def _changed_since(self, ends: Sequence[int]) -> list[str] | None:
        """Return the passages that changed since the logs ended there; None if these may be all."""
        missed = [log.since(end) for log, end in zip(self._logs, ends, strict=True)]
        told = [ids for ids in missed if ids is not None]
        return list(dict.fromkeys(chain.from_iterable(told))) if len(told) == len(missed) else None


class DerivedGraphs:
    """The graphs of one knowledge base, each built when first asked for."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self._triples, self._entities = made_once(self._triples_by), made_once(self._entities_by)
        self._hierarchy = _Incremental(HierarchyRows, self._add_passages, self._hierarchy_of, [records.changes])

    def triples(self, extractor: str) -> TripleGraph:
        """Return the graph of all triples that an extractor read."""
        return self._triples(extractor).now()

    def entities(self, extractor: str) -> EntityGraph:
        """Return the graph of all entities in what an extractor read, to walk on."""
        return self._entities(extractor).now()

    def hierarchy(self) -> HierarchyGraph:
        """Return the graph of passages, sentences and phrases."""
        return self._hierarchy.now()

    def _triples_by(self, extractor: str) -> _Incremental[TripleGraph, TripleGraph]:
        def fill(graph: TripleGraph, ids: Sequence[str] | None) -> None:
            graph.add(self._records.statements(extractor, ids))

        return _Incremental(TripleGraph, fill, lambda graph: graph, self._logs(extractor))

    def _entities_by(self, extractor: str) -> _Incremental[EntityRows, EntityGraph]:
        def fill(rows: EntityRows, ids: Sequence[str] | None) -> None:
            rows.add(self._records.statements(extractor, ids))

        return _Incremental(EntityRows, fill, lambda rows: rows.graph(self._records.ids()), self._logs(extractor))

    def _add_passages(self, rows: HierarchyRows, ids: Sequence[str] | None) -> None:
        ids = self._records.ids() if ids is None else ids
        pages = (ids[start : start + _PAGE] for start in range(0, len(ids), _PAGE))
        rows.add(chain.from_iterable(map(self._records.passages, pages)))

    def _hierarchy_of(self, rows: HierarchyRows) -> HierarchyGraph:
        return rows.graph(self._records.ids())

    def _logs(self, extractor: str) -> list[ChangeLog]:
        return [self._records.changes, self._records.readings(extractor)]
