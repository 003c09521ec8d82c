"""The triple graph for walks: entities, the facts between them, and the passages that state them."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

import numpy as np

from langgraph_rag.normal_forms import UNSPACED, apart, normalise
from langgraph_rag.records import ScoredPassage, Statement
from langgraph_rag.tools.knowledge_graphs.graph_rows import Nodes, Rows, forget
from langgraph_rag.tools.knowledge_graphs.names import Names
from langgraph_rag.tools.knowledge_graphs.pagerank import Ids, PageRankGraph, PassageNodes
from langgraph_rag.tools.language.spans import spot

_LONGEST_NAME = 16  # words, or characters in scripts without spaces
_EPSILON = 1e-5  # finer steps take twice as long and find no more of the wanted passages, only other last ones


@dataclass(frozen=True)
class EntityGraph:
    """Nodes are numbers: of passages by id, and of entities by normal form.

    The weight of an edge between two entities is their number of facts; between an entity and a passage that names it,
    it is 1 (HippoRAG 2, Gutiérrez et al. 2025). The graph never changes; after the records change, a new one is made.
    """

    passages: PassageNodes
    entities: Mapping[str, int]
    walk: PageRankGraph
    spread: Ids
    """The number of passages that name each node."""
    mention: Ids
    """The first mention of each node, in the order of the passages and their facts."""
    names: Names
    """The entities by their words; newer ones may have been added."""
    by_characters: Mapping[str, str]
    """The entities in scripts without spaces, by their characters set apart."""

    def link(self, text: str) -> list[str]:
        """Return the entities in a text, by normal form or else by most common words, without a model.

        Names are spans that look like a name, and known names of several words; or else the whole text, if it is known.
        """
        linked = dict.fromkeys(entity for span in spot(text) if (entity := self._entity(span.text)))
        words, begin = normalise(apart(text)).split(), 0
        while begin < len(words):
            ends = range(min(len(words), begin + _LONGEST_NAME), begin + 1, -1)
            known = ((end, name) for end in ends if (name := self._known(words[begin:end])))
            begin, entity = next(known, (begin + 1, ""))
            if entity:
                linked[entity] = None
        if not linked and (whole := self._known(words)):
            linked[whole] = None
        return list(linked)

    def stating(self, passages: Iterable[str]) -> dict[str, int]:
        """Return the nodes of the passages that state facts; a walk cannot reach others."""
        nodes = {id_: self.passages[id_] for id_ in passages if id_ in self.passages}
        facts = self.walk.degree(list(nodes.values()))
        return {id_: node for (id_, node), some in zip(nodes.items(), facts, strict=True) if some}

    def near(self, texts: Iterable[str], k: int) -> list[ScoredPassage]:
        """Return the k passages nearest to the entities in some texts."""
        return self.rank({self.entities[name]: 1.0 for text in texts for name in self.link(text)}, k)

    def rank(self, seeds: Mapping[int, float], k: int) -> list[ScoredPassage]:
        """Return the k passages nearest to weighted nodes, by personalized PageRank; none without nodes.

        The more passages name an entity, the less often a walk begins there (HippoRAG's node specificity).
        """
        if not seeds:
            return []
        specific = {node: weight / max(float(self.spread[node]), 1.0) for node, weight in seeds.items()}
        return self.passages.best(self.walk.push(specific, epsilon=_EPSILON), k)

    def _known(self, words: Sequence[str]) -> str:
        name = " ".join(words)
        return name if name in self.entities else self.by_characters.get(name, "")

    def _entity(self, name: str) -> str:
        form = normalise(name)
        if form in self.entities:
            return form
        alike = self.names.alike(form, self.entities)
        return max(alike, key=lambda other: (alike[other], -self.mention[self.entities[other]]), default="")


class EntityRows:
    """The data of an entity graph, kept for a fast rebuild after changes of passages."""

    def __init__(self) -> None:
        self._nodes = Nodes()
        self._passages: defaultdict[str, int] = defaultdict(self._nodes)
        self._entities: defaultdict[str, int] = defaultdict(self._nodes)
        self._relations: defaultdict[str, int] = defaultdict(Nodes())
        self._names = Names()
        self._facts = Rows(4)  # passage, head, relation, tail

    def add(self, statements: Iterable[Statement]) -> None:
        """Add the facts of passages."""
        known, facts, form = len(self._entities), array("q"), cache(normalise)
        for id_, head, relation, tail in statements:
            ends = self._entities[form(head)], self._entities[form(tail)]
            facts.extend((self._passages[id_], ends[0], self._relations[form(relation)], ends[1]))
        self._facts.add(facts)
        self._names.add(islice(self._entities, known, None))

    def remove(self, ids: Iterable[str]) -> None:
        """Remove the facts of passages, and the entities that no other passage names."""
        passages = [self._passages.pop(id_) for id_ in ids if id_ in self._passages]
        if unnamed := self._facts.remove(passages, columns=(1, 3)):
            self._names.remove(forget(self._entities, unnamed))

    def outgrown(self) -> bool:
        """Return whether most nodes were removed; their numbers are not reused and take space in the arrays."""
        return self._nodes.given > 2 * (len(self._passages) + len(self._entities))

    def graph(self, passages: Sequence[str]) -> EntityGraph:
        """Build the graph of these passages; a fact that several passages state counts once."""
        nodes = PassageNodes((id_, self._passages[id_]) for id_ in passages)
        size = self._nodes.given
        there = np.zeros(size, bool)
        there[list(nodes.values())] = True
        passage, head, relation, tail = self._facts.columns[:, there[self._facts.columns[0]]]
        _, pair = np.unique(head * size + tail, return_inverse=True)
        _, facts = _distinct(pair * len(self._relations) + relation)
        lower, higher = np.minimum(head, tail)[facts], np.maximum(head, tail)[facts]
        weights, edges = _distinct(lower * size + higher)
        naming, named = np.tile(passage, 2), np.concatenate([head, tail])
        _, once = _distinct(naming * size + named)
        naming, named = naming[once], named[once]
        places = np.zeros(size, np.int64)
        places[list(nodes.values())] = np.arange(len(nodes))
        in_order = np.argsort(places[passage], kind="stable")  # rows are in the order of changes
        return EntityGraph(
            passages=nodes,
            entities=dict(self._entities),
            walk=PageRankGraph.from_edges(
                size,
                np.concatenate([lower[edges], naming]),
                np.concatenate([higher[edges], named]),
                np.concatenate([weights, np.ones(naming.size, np.int64)]),
            ),
            spread=np.bincount(named, minlength=size),
            mention=_first_places(np.stack([head, tail])[:, in_order].ravel(order="F"), size),
            names=self._names,
            by_characters={apart(name): name for name in self._entities if UNSPACED.search(name)},
        )


def _first_places(numbers: Ids, size: int) -> Ids:
    """Return the first position of each number below `size`; for a missing one, a position after all others."""
    found, first = np.unique(numbers, return_index=True)
    places = np.full(size, numbers.size)
    places[found] = first
    return places


def _distinct(numbers: Ids) -> tuple[Ids, Ids]:
    """Return the count and the first position of each number."""
    _, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    return counts, first
