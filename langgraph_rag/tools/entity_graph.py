"""PAR RAG's knowledge graph, to walk on: entities, the facts between them, the passages that state them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from langgraph_rag.matching import normalise
from langgraph_rag.records import ScoredPassage
from langgraph_rag.tools.pagerank import Ids, PageRankGraph
from langgraph_rag.tools.spans import spot

Link = tuple[str, str, Sequence[str]]
_ALIKE = 0.5  # share of words that two names of one entity have in common
_COMMON = 200  # entities a word may stand in and still tell one
_LONGEST_NAME = 8  # words


@dataclass(frozen=True)
class EntityGraph:
    """Nodes are the entities of the triple graph, by normal form; edges weigh as many facts as link two of them.

    Nothing here changes: after the triple graph has, another one is built.
    """

    entities: Mapping[str, int]
    passages: tuple[str, ...]
    stated: Ids
    """Which passage names which entity: two rows, each pair once."""
    walk: PageRankGraph
    spread: Ids
    """How many passages name each entity."""
    by_word: Mapping[str, Sequence[int]]
    names: tuple[str, ...]

    @classmethod
    def of(cls, links: Iterable[Link]) -> "EntityGraph":
        """Build the graph of facts, each as the normal forms of its ends and the passages that state it."""
        entities: dict[str, int] = {}
        passages: dict[str, int] = {}
        edges: Counter[tuple[int, int]] = Counter()
        stated: dict[tuple[int, int], None] = {}
        for head, tail, ids in links:
            ends = sorted(entities.setdefault(form, len(entities)) for form in (head, tail))
            edges[ends[0], ends[1]] += 1
            for id_ in ids:
                number = passages.setdefault(id_, len(passages))
                stated |= dict.fromkeys((number, end) for end in ends)
        pairs = np.array(list(edges), np.int64).reshape(-1, 2).T
        said = np.array(list(stated), np.int64).reshape(-1, 2).T
        by_word: defaultdict[str, list[int]] = defaultdict(list)
        for form, node in entities.items():
            for word in dict.fromkeys(form.split()):
                by_word[word].append(node)
        return cls(
            entities=entities,
            passages=tuple(passages),
            stated=said,
            walk=PageRankGraph.from_edges(
                len(entities), pairs[0], pairs[1], np.array(list(edges.values()), np.float64)
            ),
            spread=np.bincount(said[1], minlength=len(entities)),
            by_word=by_word,
            names=tuple(entities),
        )

    def link(self, text: str) -> list[int]:
        """Return the entities that a text names: by normal form, else by most words in common; no model is asked.

        Names are what is written like one, and what is known by a name of several words that stands in the text.
        """
        linked = dict.fromkeys(node for span in spot(text) if (node := self._entity(span.text)) is not None)
        words, begin = normalise(text).split(), 0
        while begin < len(words):
            ends = range(min(len(words), begin + _LONGEST_NAME), begin + 1, -1)
            known = ((end, self.entities.get(" ".join(words[begin:end]))) for end in ends)
            end, node = next(((end, node) for end, node in known if node is not None), (begin + 1, None))
            if node is not None:
                linked[node] = None
            begin = end
        return list(linked)

    def rank(self, entities: Iterable[int], k: int) -> list[ScoredPassage]:
        """Return the k passages whose entities are nearest to the given ones; none if none is given.

        A walk begins at an entity the more often the fewer passages name it (HippoRAG's node specificity).
        """
        seeds = {node: 1 / float(self.spread[node]) for node in entities}
        if not seeds:
            return []
        nearness = self.walk.push(seeds)
        scores = np.bincount(self.stated[0], nearness[self.stated[1]], minlength=len(self.passages))
        best = sorted(np.flatnonzero(scores), key=lambda number: (-scores[number], self.passages[number]))[:k]
        return [ScoredPassage(id=self.passages[number], score=float(scores[number])) for number in best]

    def _entity(self, name: str) -> int | None:
        form = normalise(name)
        if form and form in self.entities:
            return self.entities[form]
        words = set(form.split())
        rare = [word for word in words if 0 < len(self.by_word.get(word, ())) <= _COMMON]
        candidates = {node for word in rare for node in self.by_word[word]}
        alike = ((_shared(words, set(self.names[node].split())), -node) for node in candidates)
        best, node = max(alike, default=(0.0, 0))
        return -node if best >= _ALIKE else None


def _shared(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other)
