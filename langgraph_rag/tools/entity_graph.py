"""The triple graph to walk on: entities, the facts between them, the passages that state them."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from langgraph_rag.matching import normalise
from langgraph_rag.records import ScoredPassage, Statement
from langgraph_rag.tools.pagerank import Ids, PageRankGraph, ranking
from langgraph_rag.tools.spans import spot

_ALIKE = 0.5  # share of words that two names of one entity have in common
_COMMON = 200  # entities a word may stand in and still tell one
_LONGEST_NAME = 8  # words
_EPSILON = 1e-5  # finer steps change no ranking that matters and take twice as long


@dataclass(frozen=True)
class EntityGraph:
    """Nodes are numbers: passages first, then the entities of the triple graph, by normal form.

    An edge between two entities weighs as many facts as link them, one between an entity and a passage that names it
    weighs 1 (HippoRAG 2, Gutiérrez et al. 2025). Nothing here changes: after the records have, another one is built.
    """

    passages: tuple[str, ...]
    numbers: Mapping[str, int]
    """The node of each passage id."""
    entities: Mapping[str, int]
    walk: PageRankGraph
    spread: Ids
    """How many passages name each entity."""
    by_word: Mapping[str, Sequence[int]]
    names: tuple[str, ...]

    @classmethod
    def of(cls, passages: Sequence[str], statements: Iterable[Statement]) -> "EntityGraph":
        """Build the graph of what passages (given by id) state; a fact that several state weighs once."""
        nodes = {id_: node for node, id_ in enumerate(passages)}
        entities, relations = _Numbers(normalise), _Numbers(normalise)
        numbers = array("q")
        for id_, subject, predicate, object_ in statements:
            if id_ in nodes:  # not one added while this is read
                numbers.extend((nodes[id_], entities[subject], relations[predicate], entities[object_]))
        passage, head, relation, tail = np.frombuffer(numbers, np.int64).reshape(-1, 4).T
        size = len(entities.forms)
        _, facts = _distinct(_paired(_paired(head, tail, size), relation, len(relations.forms)))
        lower, higher = np.minimum(head, tail)[facts], np.maximum(head, tail)[facts]
        weights, edges = _distinct(_paired(lower, higher, size))
        named = np.stack([np.tile(passage, 2), np.concatenate([head, tail])])
        naming, named = named[:, _distinct(_paired(named[0], named[1], size))[1]]
        first = len(nodes)
        by_word: defaultdict[str, list[int]] = defaultdict(list)
        for form, number in entities.forms.items():
            for word in dict.fromkeys(form.split()):
                by_word[word].append(first + number)
        return cls(
            passages=tuple(nodes),
            numbers=nodes,
            entities={form: first + number for form, number in entities.forms.items()},
            walk=PageRankGraph.from_edges(
                first + size,
                np.concatenate([first + lower[edges], naming]),
                np.concatenate([first + higher[edges], first + named]),
                np.concatenate([weights, np.ones(naming.size, np.int64)]),
            ),
            spread=np.bincount(first + named, minlength=first + size),
            by_word=by_word,
            names=tuple(entities.forms),
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

    def name(self, node: int) -> str:
        """Return the normal form of the entity that is a node."""
        return self.names[node - len(self.passages)]

    def rank(self, seeds: Mapping[int, float], k: int) -> list[ScoredPassage]:
        """Return the k passages nearest to nodes that weigh so much, by personalized PageRank; none if none is given.

        A walk begins at an entity the less often the more passages name it (HippoRAG's node specificity).
        """
        if not seeds:
            return []
        specific = {node: weight / max(float(self.spread[node]), 1.0) for node, weight in seeds.items()}
        return ranking(self.passages, self.walk.push(specific, epsilon=_EPSILON), k)

    def _entity(self, name: str) -> int | None:
        form = normalise(name)
        if form and form in self.entities:
            return self.entities[form]
        words = set(form.split())
        rare = [word for word in words if 0 < len(self.by_word.get(word, ())) <= _COMMON]
        candidates = {node for word in rare for node in self.by_word[word]}
        alike = ((_shared(words, set(self.name(node).split())), -node) for node in candidates)
        best, node = max(alike, default=(0.0, 0))
        return -node if best >= _ALIKE else None


def _shared(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other)


class _Numbers(dict[str, int]):
    """Numbers spellings in the order in which they come, those of one form alike."""

    def __init__(self, form: Callable[[str], str]) -> None:
        self.forms: dict[str, int] = {}
        self._form = form

    def __missing__(self, spelling: str) -> int:
        number = self[spelling] = self.forms.setdefault(self._form(spelling), len(self.forms))
        return number


def _paired(one: Ids, other: Ids, others: int) -> Ids:
    """Return a number for each pair, the same for equal pairs; `other` is below `others`."""
    numbers = np.unique(one * others + other, return_inverse=True)[1]
    return np.asarray(numbers, np.int64)


def _distinct(numbers: Ids) -> tuple[Ids, Ids]:
    """Return how often each number occurs, and where it occurs first."""
    _, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    return counts, first
