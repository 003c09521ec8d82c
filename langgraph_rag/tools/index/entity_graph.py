"""The triple graph for walks: entities, the facts between them, and the passages that state them."""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import compress, islice

import numpy as np
import numpy.typing as npt

from langgraph_rag.normal_forms import UNSPACED, apart, normalise
from langgraph_rag.records import ScoredPassage, Statement
from langgraph_rag.tools.index.joining import Joins, NameRows, Names, chosen
from langgraph_rag.tools.index.pagerank import Ids, Nodes, PageRankGraph, PassageNodes, Rows, forget
from langgraph_rag.tools.ingest.spans import spot

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
    joins: Joins
    """Which names mean one entity."""
    by_characters: Mapping[str, str]
    """The entities in scripts without spaces, by their characters set apart."""

    def link(self, text: str) -> list[str]:
        """Return the entities in a text, by normal form or else by most common words, without a model.

        Names are spans that look like a name, and known names of several words; or else the whole text, if it is known.
        Of the entities that bear one name, they are those whose other words are most in the text, such as their year.
        """
        return list(self.linked(text))

    def linked(self, text: str) -> dict[str, str]:
        """Return the name of each of the entities in a text."""
        words, begin = normalise(apart(text)).split(), 0
        names = [self._entity(span.text) for span in spot(text)]
        while begin < len(words):
            ends = range(min(len(words), begin + _LONGEST_NAME), begin + 1, -1)
            known = ((end, name) for end in ends if (name := self._known(words[begin:end])))
            begin, name = next(known, (begin + 1, ""))
            names.append(name)
        found = dict.fromkeys(filter(None, names)) or dict.fromkeys(filter(None, [self._known(words)]))
        return {entity: name for name in found for entity in self._meant(name, words)}

    def bearing(self, name: str) -> list[str]:
        """Return the entities that bear a name, by normal form; none if it is unknown."""
        return self._meant(form, ()) if (form := self._known(normalise(apart(name)).split())) else []

    def node(self, name: str) -> int | None:
        """Return the node of an entity by one of its names, if it is known."""
        return self.entities.get(normalise(name))

    def naming(self, entities: Iterable[str]) -> list[str]:
        """Return the passages that name some of its entities, in the order of storing."""
        around = {node for name in entities for node in self.walk.neighbours(self.entities[name]).tolist()}
        nodes = around.intersection(self.passages.ids)
        return [id_ for id_, node in self.passages.items() if node in nodes] if nodes else []

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
        known = name in self.entities or name in self.joins.bearers
        return name if known else self.by_characters.get(name, "")

    def _meant(self, name: str, words: Sequence[str]) -> list[str]:
        """Return the entities that bear a known name, as far as the words of a text tell which."""
        bearers = self.joins.bearers.get(name, ())
        known = [one for one in dict.fromkeys([self.joins.entity(name), *bearers]) if one in self.entities]
        meant = chosen(known, name, words)
        return [name] if meant == known and name in bearers and name in known else meant  # it is a title itself

    def _entity(self, name: str) -> str:
        form = normalise(name)
        if form in self.entities or form in self.joins.bearers:
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
        self._namings = NameRows(self._entities, self._passages)

    def add(self, statements: Iterable[Statement], namings: Iterable[tuple[str, str, str, str]] = ()) -> None:
        """Add the facts of passages, and the names that they give: id of the passage, name, entity, kind."""
        known, facts, form = len(self._entities), array("q"), cache(normalise)
        for id_, head, relation, tail in statements:
            ends = self._entities[form(head)], self._entities[form(tail)]
            facts.extend((self._passages[id_], ends[0], self._relations[form(relation)], ends[1]))
        self._facts.add(facts)
        self._namings.add(namings)
        self._names.add(islice(self._entities, known, None))

    def remove(self, ids: Iterable[str]) -> None:
        """Remove the facts of passages, and the entities that no other passage names."""
        passages = [self._passages.pop(id_) for id_ in ids if id_ in self._passages]
        gone = self._facts.remove(passages, columns=(1, 3)) | self._namings.rows.remove(passages, columns=(1, 2))
        if unnamed := self._namings.rows.without(self._facts.without(gone, columns=(1, 3)), columns=(1, 2)):
            self._names.remove(forget(self._entities, unnamed))

    def outgrown(self) -> bool:
        """Return whether most nodes were removed; their numbers are not reused and take space in the arrays."""
        return self._nodes.given > 2 * (len(self._passages) + len(self._entities))

    def graph(
        self, passages: Collection[str], given: Mapping[str, str] | None = None, *, part: bool = False
    ) -> EntityGraph:
        """Build the graph of these passages; a fact that several passages state counts once.

        `given` has the entities of the names that people gave, which facts have no more; names are in normal form.
        `part` says that there are other passages, whose names are not known here.
        """
        nodes = PassageNodes((id_, self._passages[id_]) for id_ in passages)
        size = self._nodes.given
        there = np.zeros(size, bool)
        there[list(nodes.values())] = True
        facts = self._facts.columns[:, there[self._facts.columns[0]]]
        passage, head, relation, tail = facts
        named_here = self._names_in(there, facts) if part else self._entities
        names = Names(named_here) if part else self._names
        joins = self._namings.joins(nodes, facts, self._relations, names.with_word)
        everywhere = np.arange(size)
        everywhere[self._nodes_of(joins.everywhere)] = self._nodes_of(joins.everywhere.values())
        joins = joins.with_given(given or {})
        meant = partial(_meant, everywhere, *self._in_passages(joins, nodes))
        head, tail = meant(passage, head), meant(passage, tail)
        _, pair = np.unique(head * size + tail, return_inverse=True)
        _, distinct = _distinct(pair * len(self._relations) + relation)
        lower, higher = np.minimum(head, tail)[distinct], np.maximum(head, tail)[distinct]
        weights, edges = _distinct(lower * size + higher)
        naming, named = np.tile(passage, 2), np.concatenate([head, tail])
        _, once = _distinct(naming * size + named)
        naming, named = naming[once], named[once]
        places = np.zeros(size, np.int64)
        places[list(nodes.values())] = np.arange(len(nodes))
        in_order = np.argsort(places[passage], kind="stable")  # rows are in the order of changes
        return EntityGraph(
            passages=nodes,
            entities=self._named(everywhere, named, joins),
            walk=PageRankGraph.from_edges(
                size,
                np.concatenate([lower[edges], naming]),
                np.concatenate([higher[edges], named]),
                np.concatenate([weights, np.ones(naming.size, np.int64)]),
            ),
            spread=np.bincount(named, minlength=size),
            mention=_first_places(np.stack([head, tail])[:, in_order].ravel(order="F"), size),
            names=names,
            joins=joins,
            by_characters={apart(name): name for name in named_here if UNSPACED.search(name)},
        )

    def _names_in(self, passages: npt.NDArray[np.bool_], facts: Ids) -> list[str]:
        """Return the names in some facts, and those that some passages, a mask of nodes, give."""
        names = np.zeros(passages.size + 1, bool)  # the last is that of no entity
        names[facts[[1, 3]]] = True
        given = self._namings.rows.columns
        names[given[1:3, passages[given[0]]]] = True
        return [name for name, node in self._entities.items() if names[node]]

    def _nodes_of(self, names: Iterable[str]) -> list[int]:
        return [self._entities[name] for name in names]

    def _in_passages(self, joins: Joins, passages: Mapping[str, int]) -> tuple[Ids, Ids]:
        """Return keys of passage and name, ascending, and the entity that each means."""
        size = self._nodes.given
        places = [passages[id_] * size + self._entities[name] for id_, name in joins.in_passage]
        keys, meant = np.array(places, np.int64), np.array(self._nodes_of(joins.in_passage.values()), np.int64)
        order = np.argsort(keys)
        return keys[order], meant[order]

    def _named(self, everywhere: Ids, named: Ids, joins: Joins) -> dict[str, int]:
        """Return the nodes of the entities that facts name, by each of their names."""
        nodes = everywhere[np.fromiter(self._entities.values(), np.int64, len(self._entities))]
        known = dict(compress(zip(self._entities, nodes.tolist(), strict=True), np.isin(nodes, named).tolist()))
        return known | {name: known[entity] for name, entity in joins.everywhere.items() if entity in known}


def _meant(everywhere: Ids, keys: Ids, entities: Ids, passage: Ids, name: Ids) -> Ids:
    """Return what names mean in passages: what they mean there (`keys`, `entities`), or else everywhere."""
    meant, wanted = everywhere[name], passage * everywhere.size + name
    found = np.flatnonzero(np.isin(wanted, keys))
    meant[found] = entities[np.searchsorted(keys, wanted[found])]
    return meant


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
