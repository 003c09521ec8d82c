"""The triple graph: a NetworkX multigraph of entities and facts, updated with the records."""

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from langgraph_rag.normal_forms import normalise, triple_key
from langgraph_rag.records import Statement

Edge = tuple[str, str, str]


class TripleGraph:
    """Entities as nodes (by normal form, with a `name`), facts as edges (with `triple` and `passages`).

    `networkx` is the graph itself, for reading and drawing. It changes with the records; copy it to keep a state. The
    name of an entity is its most frequent spelling. A fact is spelled as in its first passage. So no spelling of a
    removed passage remains.
    """

    def __init__(self) -> None:
        from networkx import MultiDiGraph  # here, as the import takes a tenth of a second

        self.networkx = MultiDiGraph()
        self._lock = threading.Lock()
        self._by_passage: dict[str, dict[Edge, list[str]]] = {}
        self._spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._shared: set[Edge] = set()  # facts that were added by another passage

    def add(self, statements: Iterable[Statement]) -> None:
        """Add the facts of passages; an existing fact gets the new passages."""
        with self._lock:
            for id_, *triple in statements:
                edge = (normalise(triple[0]), normalise(triple[2]), triple_key(triple))
                facts = self._by_passage.setdefault(id_, {})
                if edge in facts:
                    continue
                facts[edge] = triple
                if not self.networkx.has_edge(*edge):
                    self.networkx.add_edge(*edge, triple=triple, passages=[])
                else:
                    self._shared.add(edge)
                self.networkx.edges[edge]["passages"].append(id_)
                self._count_spellings(edge, triple, 1)

    def remove(self, ids: Iterable[str]) -> None:
        """Remove passages, the facts that only they state, and the entities that only these facts name."""
        with self._lock:
            for id_ in ids:
                for edge, triple in self._by_passage.pop(id_, {}).items():
                    fact = self.networkx.edges[edge]
                    fact["passages"].remove(id_)
                    if fact["passages"]:
                        fact["triple"] = self._by_passage[fact["passages"][0]][edge]
                    else:
                        self.networkx.remove_edge(*edge)
                    self._count_spellings(edge, triple, -1)

    def sort(self, passages: Sequence[str]) -> None:
        """Sort the passages of facts in this order; they are added in the order of changes."""
        places = {id_: place for place, id_ in enumerate(passages)}
        with self._lock:
            for edge in self._shared:
                if self.networkx.has_edge(*edge):
                    fact = self.networkx.edges[edge]
                    fact["passages"] = sorted(fact["passages"], key=lambda id_: places.get(id_, len(places)))
                    fact["triple"] = self._by_passage[fact["passages"][0]][edge]
            self._shared.clear()

    def outgrown(self) -> bool:
        """Return False, as removed facts take no space."""
        return False

    def _count_spellings(self, edge: Edge, triple: list[str], change: int) -> None:
        for node, spelling in ((edge[0], triple[0]), (edge[1], triple[2])):
            spellings = self._spellings[node]
            spellings[spelling] += change
            if not spellings[spelling]:
                del spellings[spelling]
            if spellings:
                self.networkx.nodes[node]["name"] = min(spellings, key=lambda name: (-spellings[name], name))
            else:
                del self._spellings[node]
                self.networkx.remove_node(node)

    def neighbours(self, entity: str) -> list[list[str]]:
        """Return the facts that name an entity, first as head, then only as tail."""
        node = normalise(entity)
        with self._lock:
            if node not in self.networkx:
                return []
            leaving, coming = self.networkx.out_edges(node, data="triple"), self.networkx.in_edges(node, data="triple")
            facts = [triple for _, _, triple in leaving] + [triple for head, _, triple in coming if head != node]
            return [[*triple] for triple in facts]
