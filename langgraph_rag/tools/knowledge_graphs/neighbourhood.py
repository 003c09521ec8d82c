"""The facts around an entity, read from the passages that name it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import Fact, Source, Triple
from langgraph_rag.tools.knowledge_graphs.entity_graph import EntityGraph

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
        head, tail = graph.joins.meant(id_, head), graph.joins.meant(id_, tail)
        if head in wanted or tail in wanted:
            triple = Triple(triple=[*fact["triple"]], sources=[])
            edge = edges.setdefault((head, relation, tail), _Edge(head, tail, triple))
            edge.triple["sources"].append(Source(passage_id=id_, sentences=[*fact["sentences"]]))
    yield from edges.values()
