"""The graphs that are derived from the records; each is updated on access."""

from collections.abc import Iterator, Sequence
from itertools import chain

from langgraph_rag.concurrency.caching import thread_safe_cache
from langgraph_rag.tools.index.entity_graph import EntityGraph, EntityRows
from langgraph_rag.tools.index.hierarchy_graph import HierarchyGraph, HierarchyRows
from langgraph_rag.tools.index.triple_graph import TripleGraph
from langgraph_rag.tools.stores.change_log import ChangeLog, Incremental
from langgraph_rag.tools.stores.records import Records
from langgraph_rag.tools.stores.visibility import Visible

_PAGE = 100  # passages in memory at once while the graph is built


class DerivedGraphs:
    """The graphs of one knowledge base, each built on first access."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._triples, self._entities = thread_safe_cache(self._triples_by), thread_safe_cache(self._entities_by)
        self._hierarchy = Incremental(HierarchyRows, self._add_passages, self._hierarchy_of, [records.changes])

    def triples(self, extractor: str) -> TripleGraph:
        """Return the graph of all triples of an extractor."""
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
        return self._hierarchy.of_part(visible, lambda rows, part: rows.graph_of(part.numbers))

    def _visible_entities(self, rows: EntityRows, visible: Visible) -> EntityGraph:
        return rows.graph(visible.numbers, self._records.triples.names.entities(), part=True)

    def _triples_by(self, extractor: str) -> Incremental[TripleGraph, TripleGraph]:
        def fill(graph: TripleGraph, ids: Sequence[str] | None) -> None:
            graph.add(self._records.triples.statements(extractor, ids))

        def in_order(graph: TripleGraph) -> TripleGraph:
            graph.join(self.entities(extractor).joins)
            graph.sort(self._records.ids())
            return graph

        return Incremental(TripleGraph, fill, in_order, self._logs(extractor))

    def _entities_by(self, extractor: str) -> Incremental[EntityRows, EntityGraph]:
        def fill(rows: EntityRows, ids: Sequence[str] | None) -> None:
            triples = self._records.triples
            read = chain.from_iterable(map(self._records.mentions, self._pages(ids)))
            rows.add(chain(triples.statements(extractor, ids), read), triples.namings(extractor, ids))

        def made(rows: EntityRows) -> EntityGraph:
            return rows.graph(self._records.ids(), self._records.triples.names.entities())

        return Incremental(EntityRows, fill, made, self._logs(extractor))

    def _add_passages(self, rows: HierarchyRows, ids: Sequence[str] | None) -> None:
        rows.add(chain.from_iterable(map(self._records.passages, self._pages(ids))))

    def _pages(self, ids: Sequence[str] | None) -> Iterator[Sequence[str]]:
        ids = self._records.ids() if ids is None else ids
        return (ids[start : start + _PAGE] for start in range(0, len(ids), _PAGE))

    def _hierarchy_of(self, rows: HierarchyRows) -> HierarchyGraph:
        return rows.graph(self._records.ids())

    def _logs(self, extractor: str) -> list[ChangeLog]:
        return [self._records.changes, self._records.triples.changes(extractor)]
