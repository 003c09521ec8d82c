"""The graphs made of the records, each built when first asked for and kept in step afterwards."""

import threading
from collections.abc import Sequence

from langgraph_rag.records import Record
from langgraph_rag.tools.entity_graph import EntityGraph
from langgraph_rag.tools.hierarchy_graph import HierarchyGraph
from langgraph_rag.tools.record_store import Fact, RecordStore
from langgraph_rag.tools.triple_graph import TripleGraph


class DerivedGraphs:
    """Holds the graphs, and makes the changes of the records that they must not miss."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self._in_step = threading.RLock()  # held while records and triple graph change together
        self._triples: tuple[str, TripleGraph] | None = None  # with the extractor of its triples
        self._entities: tuple[tuple[str, int, int], EntityGraph] | None = None  # with the state of what it was made of
        self._entities_lock = threading.Lock()
        self._hierarchy: tuple[int, HierarchyGraph] | None = None  # with the edition of the records
        self._hierarchy_lock = threading.Lock()

    def triples(self, extractor: str) -> TripleGraph:
        """Return the graph of all triples that an extractor read."""
        with self._in_step:
            if self._triples is None or self._triples[0] != extractor:
                self._triples = extractor, TripleGraph(self._records.statements(extractor))
            return self._triples[1]

    def entities(self, extractor: str) -> EntityGraph:
        """Return the graph of all entities to walk on, built anew after facts came or went."""
        with self._entities_lock:
            state = extractor, self._records.edition, self._records.readings
            if self._entities is None or self._entities[0] != state:
                self._entities = state, EntityGraph.of(self._records.ids(), self._records.statements(extractor))
            return self._entities[1]

    def hierarchy(self) -> HierarchyGraph:
        """Return the graph of passages, sentences and phrases, built anew after passages came or went."""
        with self._hierarchy_lock:
            edition = self._records.edition
            if self._hierarchy is None or self._hierarchy[0] != edition:
                self._hierarchy = edition, HierarchyGraph.of(self._records.passages(self._records.ids()))
            return self._hierarchy[1]

    def save_facts(self, extractor: str, facts: Sequence[tuple[Record, Sequence[Fact]]]) -> None:
        """Store what an extractor read out of passages; an earlier reading is replaced."""
        with self._in_step:
            self._records.save_facts(extractor, facts)
            if self._triples is not None and self._triples[0] == extractor:
                ids = [record["id"] for record, _ in facts]
                self._triples[1].remove_passages(ids)
                self._triples[1].add(self._records.statements_of(ids, extractor))

    def delete(self, ids: Sequence[str]) -> list[str]:
        """Remove passages from records and triple graph; return the ids of triple vectors nobody needs now."""
        with self._in_step:
            unused = self._records.delete(ids)
            if self._triples is not None:
                self._triples[1].remove_passages(ids)
            return unused

    def replace(self, records: Sequence[Record]) -> list[str]:
        """Store passages in place of those of the same ids; return the ids of triple vectors nobody needs now."""
        with self._in_step:
            unused = self._records.replace(records)
            if self._triples is not None:
                self._triples[1].remove_passages([record["id"] for record in records])
            return unused
