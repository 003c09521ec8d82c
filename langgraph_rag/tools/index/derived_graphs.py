"""The graphs that are derived from the records, in step with these on access."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path

import numpy as np

from langgraph_rag.concurrency.caching import thread_safe_cache
from langgraph_rag.records import Record
from langgraph_rag.tools.index import entity_graph, hierarchy_graph
from langgraph_rag.tools.index.entity_graph import EntityGraph, EntityIndex
from langgraph_rag.tools.index.entity_rows import Given
from langgraph_rag.tools.index.followed import Followed, Source
from langgraph_rag.tools.index.hierarchy_graph import Contents, HierarchyGraph, HierarchyIndex, contents_of
from langgraph_rag.tools.index.triple_graph import TripleGraph
from langgraph_rag.tools.stores.change_log import ChangeLog, Incremental
from langgraph_rag.tools.stores.folder import RECORDS
from langgraph_rag.tools.stores.records import INDEXES, Records
from langgraph_rag.tools.stores.visibility import Visible

_NAMES = ("ids", "names", "words", "apart")


class DerivedGraphs:
    """The graphs of one knowledge base, each opened or made on first access.

    Args:
        records: what they are made of.
        folder: of the knowledge base, with the files.
        writable: returns whether this process may write files.
    """

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
