"""The triple graph for NetworkX, and the facts around an entity."""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import Fact, Source, Statement, Triple
from langgraph_rag.tools.index.entity_graph import EntityGraph
from langgraph_rag.tools.index.joining import Joins

Edge = tuple[str, str, str]


class TripleGraph:
    """Entities as nodes (by normal form, with a `name`), facts as edges (with `triple` and `passages`).

    `networkx` is the graph itself, for reading and drawing. It changes with the records; copy it to keep a state. The
    names of one entity are one node. Its `name` is its own most frequent spelling, or else that of its other names. A
    fact is spelled as in its first passage. So no spelling of a removed passage remains.
    """

    def __init__(self) -> None:
        from networkx import MultiDiGraph  # here, as the import takes a tenth of a second

        self.networkx = MultiDiGraph()
        self._lock = threading.Lock()
        self._joins = Joins()
        self._stated: dict[str, list[list[str]]] = {}  # by passage
        self._by_passage: dict[str, dict[Edge, list[str]]] = {}
        self._spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._shared: set[Edge] = set()  # facts that were added by another passage

    def add(self, statements: Iterable[Statement]) -> None:
        """Add the facts of passages; an existing fact gets the new passages."""
        with self._lock:
            self._add(statements)

    def remove(self, ids: Iterable[str]) -> None:
        """Remove passages, the facts that only they state, and the entities that only these facts name."""
        with self._lock:
            self._remove(ids)

    def join(self, joins: Joins) -> None:
        """Make the names of one entity one node, and no longer those that were joined before."""
        with self._lock:
            before, self._joins = self._joins, joins
            changed = {id_ for (id_, _), _ in before.in_passage.items() ^ joins.in_passage.items()}
            names = {name for name, _ in before.everywhere.items() ^ joins.everywhere.items()}
            for node in self.networkx.nbunch_iter({before.entity(name) for name in names}):
                edges = chain(
                    self.networkx.out_edges(node, data="passages"), self.networkx.in_edges(node, data="passages")
                )
                changed.update(id_ for _, _, passages in edges for id_ in passages)
            again = [(id_, *triple) for id_ in changed for triple in self._stated.get(id_, ())]
            self._remove(changed)
            self._add((id_, head, relation, tail) for id_, head, relation, tail in again)

    def _add(self, statements: Iterable[Statement]) -> None:
        for id_, *triple in statements:
            self._stated.setdefault(id_, []).append(triple)
            head, tail = (self._joins.meant(id_, normalise(end)) for end in (triple[0], triple[2]))
            edge = head, tail, "|".join((head, normalise(triple[1]), tail))
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

    def _remove(self, ids: Iterable[str]) -> None:
        for id_ in ids:
            self._stated.pop(id_, None)
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
                self.networkx.nodes[node]["name"] = min(spellings, key=partial(_order, node, spellings))
            else:
                del self._spellings[node]
                self.networkx.remove_node(node)

    def neighbours(self, entity: str) -> list[list[str]]:
        """Return the facts that name an entity, first as head, then only as tail."""
        node = self._joins.entity(normalise(entity))
        with self._lock:
            if node not in self.networkx:
                return []
            leaving, coming = self.networkx.out_edges(node, data="triple"), self.networkx.in_edges(node, data="triple")
            facts = [triple for _, _, triple in leaving] + [triple for head, _, triple in coming if head != node]
            return [[*triple] for triple in facts]


def _order(node: str, spellings: Mapping[str, int], name: str) -> tuple[bool, int, str]:
    """Order the spellings of a node: its own before those of its other names, then by how often they are used."""
    return normalise(name) != node, -spellings[name], name


Read = Callable[[Sequence[str]], Mapping[str, Sequence[Fact]]]


@dataclass(frozen=True)
class _Edge:
    """A fact between two entities, in normal form, spelled as in its first passage."""

    head: str
    tail: str
    triple: Triple


def facts_around(graph: EntityGraph, entities: Sequence[str], read: Read, *, hops: int, most: int) -> list[Triple]:
    """Return the facts that name some entities, then those that name what these lead to, and so on.

    The facts of an entity are in the order of storing, first those that name it as head, then only as tail.

    Args:
        graph: the graph of the entities and passages.
        entities: the entities, in normal form.
        read: returns the facts of passages by their ids.
        hops: how far to go; 1 is for the facts of the entities themselves.
        most: the maximum number of facts.
    """
    found: list[Triple] = []
    seen, frontier = set(entities), list(entities)
    while frontier and hops > 0 and len(found) < most:
        edges = list(_edges(graph, frontier, read))
        hops, following = hops - 1, list[str]()
        for one in frontier:
            coming = [edge for edge in edges if edge.tail == one != edge.head]
            for edge in [edge for edge in edges if edge.head == one] + coming:
                if edge.triple not in found:
                    found.append(edge.triple)
                following += [end for end in (edge.head, edge.tail) if end not in seen]
                seen.update((edge.head, edge.tail))
        frontier = following
    return found[:most]


def _edges(graph: EntityGraph, entities: Sequence[str], read: Read) -> Iterator[_Edge]:
    """Yield the facts that name some entities, each once with all its sources."""
    edges: dict[tuple[str, str, str], _Edge] = {}
    ids = graph.naming(entities)
    facts, wanted = read(ids), set(entities)
    for id_, fact in [(one, fact) for one in ids for fact in facts.get(one, ())]:
        head, relation, tail = map(normalise, fact["triple"])
        meant = graph.meant(id_, (head, tail))
        head, tail = meant[head], meant[tail]
        if head in wanted or tail in wanted:
            triple = Triple(triple=[*fact["triple"]], sources=[])
            edge = edges.setdefault((head, relation, tail), _Edge(head, tail, triple))
            edge.triple["sources"].append(Source(passage_id=id_, sentences=[*fact["sentences"]]))
    yield from edges.values()
