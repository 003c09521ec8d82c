"""The triple graph: a NetworkX multigraph of entities and the facts between them, kept in step with the records."""

from collections.abc import Iterable

import networkx as nx

from langgraph_rag.matching import normalise, triple_key
from langgraph_rag.records import Triple


class TripleGraph:
    """Entities as nodes (by normal form, with a `name`), facts as edges (with `triple` and `passages`).

    `networkx` is the graph itself, for reading and drawing.
    """

    def __init__(self, triples: Iterable[Triple] = ()) -> None:
        self.networkx = nx.MultiDiGraph()
        self._by_passage: dict[str, set[tuple[str, str, str]]] = {}
        self.add(triples)

    def add(self, triples: Iterable[Triple]) -> None:
        """Add facts; a fact already there gains the new sources."""
        for entry in triples:
            head, tail = normalise(entry["triple"][0]), normalise(entry["triple"][2])
            edge = (head, tail, triple_key(entry["triple"]))
            if not self.networkx.has_edge(*edge):
                self.networkx.add_node(head, name=self.networkx.nodes.get(head, {}).get("name", entry["triple"][0]))
                self.networkx.add_node(tail, name=self.networkx.nodes.get(tail, {}).get("name", entry["triple"][2]))
                self.networkx.add_edge(*edge, triple=entry["triple"], passages=[])
            passages = self.networkx.edges[edge]["passages"]
            for source in entry["sources"]:
                if source["passage_id"] not in passages:
                    passages.append(source["passage_id"])
                self._by_passage.setdefault(source["passage_id"], set()).add(edge)

    def remove_passages(self, ids: Iterable[str]) -> None:
        """Remove passages, the facts only they state, and the entities only those facts name."""
        for id_ in ids:
            for edge in self._by_passage.pop(id_, set()):
                passages = self.networkx.edges[edge]["passages"]
                passages.remove(id_)
                if not passages:
                    self.networkx.remove_edge(*edge)
                    self.networkx.remove_nodes_from([n for n in edge[:2] if not self.networkx.degree(n)])

    def neighbours(self, entity: str) -> list[list[str]]:
        """Return the facts that name an entity as head or tail, in the order they were added."""
        node = normalise(entity)
        if node not in self.networkx:
            return []
        edges = [*self.networkx.out_edges(node, data=True), *self.networkx.in_edges(node, data=True)]
        return [data["triple"] for _, _, data in edges]
