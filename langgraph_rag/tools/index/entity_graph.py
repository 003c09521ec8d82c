"""The triple graph: entities, the facts between them, and the passages that state them; for walks, and for NetworkX."""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain

import numpy as np

from langgraph_rag.normal_forms import apart, normalise
from langgraph_rag.records import Fact, ScoredPassage, Source, Statement, Triple
from langgraph_rag.tools.facts.names import ABBREVIATION, TITLE
from langgraph_rag.tools.index.entity_rows import NAMES, NO_PASSAGES, PASSAGES, EntityRows, Given, Row, entity_index
from langgraph_rag.tools.index.joining import NONE, Joining, Joins, chosen
from langgraph_rag.tools.index.pagerank import EdgeChanges, Ids, PageRankGraph
from langgraph_rag.tools.index.tables import (
    Names,
    NodeSpace,
    PartOfNames,
    Passages,
    PassageTable,
    Stored,
    alike,
    between,
    walk_rows,
)
from langgraph_rag.tools.ingest.spans import spot

_LONGEST_NAME = 16  # words, or characters in scripts without spaces
_EPSILON = 1e-5  # finer steps take twice as long and find no more of the wanted passages, only other last ones


@dataclass(frozen=True)
class Meanings:
    """Which entities names mean, by rows: as it is stored, and what changed since."""

    stored: Stored
    everywhere: Mapping[int, int] = field(default_factory=dict)
    bearers_now: Mapping[int, Sequence[int]] = field(default_factory=dict)
    in_passages: Mapping[int, Mapping[int, int]] = field(default_factory=dict)

    def entity(self, name: int) -> int:
        """Return the entity of a name outside of passages: itself, if it is not joined."""
        if name in self.everywhere:
            return self.everywhere[name]
        found = self.stored.arrays["joined_to"][between(self.stored.arrays["joined"], name)]
        return int(found[0]) if found.size else name

    def entities(self, names: Sequence[int]) -> list[int]:
        """Return the entity of each of some names."""
        joined, rows = self.stored.arrays["joined"], np.array(names, np.int32)
        if joined.size:
            places = joined.searchsorted(rows).clip(max=joined.size - 1)
            rows = np.where(joined[places] == rows, self.stored.arrays["joined_to"][places], rows)
        return [self.everywhere.get(name, entity) for name, entity in zip(names, rows.tolist(), strict=True)]

    def bearers(self, name: int) -> Sequence[int]:
        """Return the entities that bear a name which is not joined, in alphabetical order."""
        if name in self.bearers_now:
            return self.bearers_now[name]
        arrays = self.stored.arrays
        place = between(arrays["borne"], name)
        if place.start == place.stop:
            return ()
        starts = arrays["borne_starts"]
        bearers: list[int] = arrays["bearers"][int(starts[place.start]) : int(starts[place.stop])].tolist()
        return bearers

    def in_passage(self, passage: int) -> Mapping[int, int]:
        """Return the entities of names, where they are others in a passage."""
        if passage in self.in_passages:
            return self.in_passages[passage]
        places = self.stored.arrays["elsewhere"]
        some = slice(*np.searchsorted(places, [passage << 32, (passage + 1) << 32]).tolist())
        names = (places[some] & 0xFFFFFFFF).tolist()
        return dict(zip(names, self.stored.arrays["elsewhere_meant"][some].tolist(), strict=True))

    def all_joined(self) -> dict[int, int]:
        """Return the entity of each joined name."""
        arrays = self.stored.arrays
        joined = dict(zip(arrays["joined"].tolist(), arrays["joined_to"].tolist(), strict=True))
        return {name: entity for name, entity in (joined | dict(self.everywhere)).items() if name != entity}

    def all_borne(self) -> dict[int, Sequence[int]]:
        """Return the bearers of each name that is not joined."""
        borne = {name: self.bearers(name) for name in [*self.stored.arrays["borne"].tolist(), *self.bearers_now]}
        return {name: bearers for name, bearers in borne.items() if bearers}

    def all_in_passages(self) -> dict[tuple[int, int], int]:
        """Return the entities of names where they are others in a passage, by passage and name."""
        stored = {place >> 32 for place in self.stored.arrays["elsewhere"].tolist()}
        return {
            (passage, name): entity
            for passage in stored.union(self.in_passages)
            for name, entity in self.in_passage(passage).items()
        }


@dataclass(frozen=True)
class EntityGraph:
    """Nodes are numbers: of passages by id, and of entities by normal form.

    The weight of an edge between two entities is their number of facts; between an entity and a passage that names it,
    it is 1 (HippoRAG 2, Gutiérrez et al. 2025). The graph never changes; after the records change, a new one is made.
    """

    passages: Passages
    walk: PageRankGraph
    _names: "Names | PartOfNames"
    _missing: frozenset[int]
    _meanings: Meanings
    _given: Mapping[str, str]  # the entities of the names that people gave, both in normal form
    _space: NodeSpace
    _rows: EntityRows  # of the newest state

    def link(self, text: str) -> list[str]:
        """Return the entities in a text, by normal form or else by most common words, without a model.

        Names are spans that look like a name, and known names of several words; or else the whole text, if it is known.
        Of the entities that bear one name, they are those whose other words are most in the text, such as their year.
        """
        return list(self.linked(text))

    def linked(self, text: str) -> dict[str, str]:
        """Return the name of each of the entities in a text."""
        words, begin = normalise(apart(text)).split(), 0
        whole, spotted = " ".join(words), [normalise(span.text) for span in spot(text)]
        spans = {
            " ".join(words[start:end])
            for start in range(len(words))
            for end in range(start + 2, min(len(words), start + _LONGEST_NAME) + 1)
        }
        rows = self._rows_of({*spotted, *spans, whole})
        names = [self._entity(form, rows[form]) for form in spotted]
        known = self._known({span: rows[span] for span in [*spans, whole]})
        while begin < len(words):
            ends = range(min(len(words), begin + _LONGEST_NAME), begin + 1, -1)
            found_here = ((end, name) for end in ends if (name := known.get(" ".join(words[begin:end]))))
            begin, name = next(found_here, (begin + 1, ""))
            names.append(name)
        found = dict.fromkeys(filter(None, names)) or dict.fromkeys(filter(None, [known.get(whole)]))
        return {entity: name for name in found for entity in self._meant(name, words)}

    def bearing(self, name: str) -> list[str]:
        """Return the entities that bear a name, by normal form; none if it is unknown."""
        form = normalise(apart(name))
        return self._meant(known, ()) if (known := self._known(self._rows_of([form])).get(form)) else []

    @cached_property
    def entities(self) -> "Entities":
        """The nodes of entities, by each of their names."""
        return Entities(self)

    def nodes(self, names: Sequence[str]) -> list[int | None]:
        """Return the node of the entity of each name, if it is known."""
        rows = self._rows_of(map(normalise, names))
        entities = zip(rows, self._meanings.entities(list(rows.values())), strict=True)
        found = {form: self._node_of(entity) if rows[form] >= 0 else None for form, entity in entities}
        found |= {form: self.entities.get(form) for form in rows if form in self._given}
        return [found[normalise(name)] for name in names]

    def _rows_of(self, forms: Iterable[str]) -> dict[str, int]:
        """Return the row of each name in normal form, -1 of an unknown one; one look-up for all takes least time."""
        listed = list(dict.fromkeys(forms))
        return dict(zip(listed, self._names.find(listed).tolist(), strict=True))

    def _node(self, row: int) -> int | None:
        """Return the node of the entity of a name, by its row, if facts name it."""
        return None if row < 0 else self._node_of(self._meanings.entity(row))

    def _node_of(self, entity: int) -> int | None:
        node = self._space.node(NAMES, entity)
        return node if node < self.walk.size and self.walk.has_edges(node) else None

    def spread(self, node: int) -> int:
        """Return the number of passages that name a node."""
        return int(np.count_nonzero(self._space.are(PASSAGES, self.walk.neighbours(node))))

    def naming(self, entities: Iterable[str]) -> list[str]:
        """Return the passages that name some of its entities, in the order of storing."""
        around = [self.walk.neighbours(self.entities[name]) for name in entities]
        return self.passages.ids_of(np.unique(np.concatenate(around))) if around else []

    def near(self, texts: Iterable[str], k: int) -> list[ScoredPassage]:
        """Return the k passages nearest to the entities in some texts."""
        return self.rank({self.entities[name]: 1.0 for text in texts for name in self.link(text)}, k)

    def rank(self, seeds: Mapping[int, float], k: int) -> list[ScoredPassage]:
        """Return the k passages nearest to weighted nodes, by personalized PageRank; none without nodes.

        The more passages name an entity, the less often a walk begins there (HippoRAG's node specificity).
        """
        if not seeds:
            return []
        specific = {node: weight / max(self.spread(node), 1.0) for node, weight in seeds.items()}
        return self.passages.best(self.walk.push(specific, epsilon=_EPSILON), k)

    def entity(self, name: str) -> str:
        """Return the entity of a name in normal form: itself, if it is not joined."""
        name = self._given.get(name, name)
        row = self._row(name)
        return name if row < 0 else self._names[self._meanings.entity(row)]

    def meant(self, passage: str, names: Iterable[str]) -> dict[str, str]:
        """Return the entities that names in normal form mean in a passage."""
        found = self._rows.passages.find([passage])[0]
        here = self._meanings.in_passage(found) if found >= 0 else {}
        others = {self._names[name]: self._names[entity] for name, entity in here.items()}
        return {name: others.get(name) or self.entity(name) for name in names}

    def joins(self) -> Joins:
        """Return which names are joined, all of them."""
        name, ids = self._names.__getitem__, self._rows.passages.id
        everywhere = {name(one): name(other) for one, other in self._meanings.all_joined().items()}
        return Joins(
            everywhere | {one: everywhere.get(other, other) for one, other in self._given.items()},
            {(ids(at), name(one)): name(other) for (at, one), other in self._meanings.all_in_passages().items()},
            {name(one): list(map(name, several)) for one, several in self._meanings.all_borne().items()},
        )

    def _row(self, name: str) -> int:
        return int(self._names.find([name])[0])

    def _is_entity(self, row: int) -> bool:
        """Return whether facts name the entity of a name, by its row."""
        return self._node(row) is not None

    def _is_told(self, name: str, row: int) -> bool:
        """Return whether facts name the entity of a name in normal form, also one that people gave."""
        return self._is_entity(row) or (name in self._given and name in self.entities)

    def _known(self, names: Mapping[str, int]) -> dict[str, str]:
        """Return the known ones of some names, by their rows, each as it is known."""
        known: dict[str, str] = {}
        for name, row in names.items():
            if self._is_told(name, row) or (row >= 0 and self._meanings.bearers(row)):
                known[name] = name
            elif not name.isascii() and (other := self._names.by_characters(name)) >= 0:
                known[name] = self._names[other]
        return known

    def _meant(self, name: str, words: Sequence[str]) -> list[str]:
        """Return the entities that bear a known name, as far as the words of a text tell which."""
        row = self._row(name)
        bearers = [self._names[bearer] for bearer in self._meanings.bearers(row)] if row >= 0 else []
        several = dict.fromkeys([self.entity(name), *bearers])
        known = [one for one, place in self._rows_of(several).items() if self._is_told(one, place)]
        meant = chosen(known, name, words)
        return [name] if meant == known and name in bearers and name in known else meant  # it is a title itself

    def _entity(self, form: str, row: int) -> str:
        if self._is_told(form, row) or (row >= 0 and self._meanings.bearers(row)):
            return form
        shares = alike(self._names, form, self._missing, self._is_entity)
        most = [other for other, share in shares.items() if share == max(shares.values())]
        return (
            self._names[min(most, key=lambda row: (*self._mention(row), row)) if len(most) > 1 else most[0]]
            if most
            else ""
        )

    def _mention(self, name: int) -> tuple[int, int]:
        """Return the first passage with the entity of a name, and its place among the ends of the facts there."""
        entity = self._meanings.entity(name)
        around = self.walk.neighbours(self._space.node(NAMES, entity))
        passages = self._space.rows(PASSAGES, around[self._space.are(PASSAGES, around)])
        if not passages.size:
            return len(self._rows.passages), 0
        first = int(passages.min())
        here = self._meanings.in_passage(first)
        ends = [end for head, _, tail in self._rows.facts(first) for end in (head, tail)]
        meant = [here.get(end, entity) for end, entity in zip(ends, self._meanings.entities(ends), strict=True)]
        return first, meant.index(entity) if entity in meant else len(meant)


class Entities(Mapping[str, int]):
    """The nodes of the entities of a graph, by each of their names in normal form."""

    def __init__(self, graph: EntityGraph) -> None:
        self._graph = graph

    def __getitem__(self, name: str) -> int:
        graph = self._graph
        for form in dict.fromkeys((graph._given.get(name, name), name)):
            if (node := graph._node(graph._row(form))) is not None:
                return node
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        graph = self._graph
        rows = (row for row in range(len(graph._names)) if row not in graph._missing and graph._is_entity(row))
        names = dict.fromkeys(graph._names[row] for row in rows)
        return iter(names | dict.fromkeys(name for name in graph._given if name in self))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class EntityIndex:
    """Keeps the triple graph in step with the records; one thread at a time."""

    def __init__(self, stored: Stored | None = None, rows: EntityRows | None = None) -> None:
        if stored is None:
            stored, rows = entity_index(NO_PASSAGES)
        self.stored, self.rows = stored, rows or EntityRows(stored)
        self._walk = walk_rows(stored.arrays)
        self._space = NodeSpace(len(stored.texts["ids"]), self._walk.size - len(stored.texts["ids"]))
        self._edges = EdgeChanges(self._walk)
        self._meanings = Meanings(stored)
        self._times: Counter[Row] = Counter()

    def graph(self, given: Mapping[str, str]) -> EntityGraph:
        """Return the graph as it is now; `given` has the entities of the names that people gave, in normal form."""
        walk = PageRankGraph.of(self._nodes, self._walk, self._edges)
        passages = self.rows.passages.snapshot(self._space)
        given = {name: normalise(entity) for name, entity in given.items()}
        return EntityGraph(
            passages, walk, self.rows.names, self.rows.missing, self._meanings, given, self._space, self.rows
        )

    def update(self, ids: Sequence[str], now: Mapping[str, Given]) -> None:
        """Bring passages up to date: those in `now` are as there, the others are gone."""
        changes = self._changes(ids, now)
        before = {passage: self._contribution(passage) for passage in changes}
        titles = self._titles(changes)
        names, namings = self._put(changes)
        joining = Joining(self.rows)
        joined, borne = self._rejoined(joining, names, namings)
        around = self._around(joining, changes, joined, borne, titles)
        before |= {passage: self._contribution(passage) for passage in around.difference(before)}
        in_passages = {passage: joining.in_passage(passage) for passage in before}
        self._meanings = Meanings(
            self.stored,
            {**self._meanings.everywhere, **joined},
            {**self._meanings.bearers_now, **borne},
            {**self._meanings.in_passages, **in_passages},
        )
        for passage, (named, facts) in before.items():
            self._count(passage, named, facts, -1)
        for passage in before:
            self._count(passage, *self._contribution(passage), 1)

    @property
    def passages(self) -> PassageTable:
        """The passages."""
        return self.rows.passages

    @property
    def grown(self) -> bool:
        """Whether most nodes are new; numbers of removed ones are not given again."""
        return self._nodes > 2 * self._space.stored

    @property
    def _nodes(self) -> int:
        return self._space.size(len(self.rows.passages), len(self.rows.names))

    def take(self, ids: Sequence[str], now: Mapping[str, Given]) -> None:
        """Take over what passages say, without the graph; `made` must follow."""
        for passage, (facts, namings) in self._changes(ids, now).items():
            self.rows.put(passage, facts, namings)

    def made(self) -> "EntityIndex":
        """Return an index of the same passages without changes in memory."""
        return EntityIndex(*entity_index(self.rows.data(self.rows.passages.live())))

    def _changes(self, ids: Sequence[str], now: Mapping[str, Given]) -> dict[int, tuple[Sequence[Row], Sequence[Row]]]:
        """Return the facts and namings of the passages that changed; new ones get rows, in the order of storing."""
        given = sorted(now.values(), key=lambda one: one.number)
        rows, gone = self.rows.passages.brought({one.id: one.number for one in given}, ids)
        changes: dict[int, tuple[Sequence[Row], Sequence[Row]]] = {passage: ((), ()) for passage in gone}
        for one, (facts, namings) in zip(given, self.rows.numbered(given), strict=True):
            passage = rows[one.id]
            if (list(self.rows.facts(passage)), list(self.rows.namings(passage))) != (facts, namings):
                changes[passage] = facts, namings
        return changes

    def _put(self, changes: Mapping[int, tuple[Sequence[Row], Sequence[Row]]]) -> tuple[set[int], set[Row]]:
        """Replace what passages say; return the names whose joining may depend on it, and the namings that differ.

        These names came or went, or are abbreviations, for which it counts how often they are used.
        """
        names, came, namings = set[int](), set[int](), set[Row]()
        for passage, (facts, called) in changes.items():
            was = list(self.rows.facts(passage)), list(self.rows.namings(passage))
            self.rows.put(passage, facts, called)
            names.update(end for head, _, tail in [*was[0], *facts] for end in (head, tail))
            namings.update(set(was[1]) ^ set(called))
            came.update(end for name, entity, _ in [*was[1], *called] for end in (name, entity) if end != NONE)
        return {*self.rows.told(names | came), *filter(self._is_abbreviation, names)}, namings

    def _is_abbreviation(self, name: int) -> bool:
        return any(self.rows.kind(kind) == ABBREVIATION for _, _, kind in self.rows.given(name))

    def _rejoined(
        self, joining: Joining, names: Iterable[int], namings: Iterable[Row]
    ) -> tuple[dict[int, int], dict[int, Sequence[int]]]:
        """Return the names that mean something else than before, and those with other bearers."""
        rows, touched = self.rows, set(names)
        words = {word for name in touched for word in rows.names[name].split()}
        known = [row for row in rows.names.find(sorted(words)).tolist() if row >= 0]
        touched.update(row for row in known if rows.given(row))
        for name, entity, _ in namings:
            touched.update([name, *self._named_as(name)])
            touched.update([] if entity == NONE else [entity, *self._named_as(entity)])
        for name in list(touched):
            for _, entity, _ in rows.given(name):
                touched.update([] if entity == NONE else self._named_as(entity))
        frontier = list(touched)
        while frontier:  # names lead to entities by way of others
            frontier = [
                one for one in dict.fromkeys(o for name in frontier for o in self._named_as(name)) if one not in touched
            ]
            touched.update(frontier)
        joined = {name: entity for name in touched if (entity := joining.entity(name)) != self._meanings.entity(name)}
        touched.update(other for entity in joined for other in self._named_as(entity))
        borne = {
            name: several
            for name in touched
            if tuple(several := joining.several(name)) != tuple(self._meanings.bearers(name))
        }
        return joined, borne

    def _named_as(self, entity: int) -> list[int]:
        return [name for _, name, _ in self.rows.naming(entity)]

    def _around(
        self,
        joining: Joining,
        changed: Iterable[int],
        joined: Iterable[int],
        borne: Iterable[int],
        titles: Iterable[int],
    ) -> set[int]:
        """Return the passages in which names may mean something else than before; `titles` are those of before."""
        rows, around = self.rows, set(changed)
        for name in {*joined, *borne}:
            around.update(rows.users(name))
            around.update(passage for passage, *_ in [*rows.given(name), *rows.naming(name)])
        for title in {*titles, *self._titles(around)}:
            for name in {title, *self._named_as(title)}:
                if title in joining.several(name) or title in self._meanings.bearers(name):
                    around.update(rows.users(name))
        return around

    def _titles(self, passages: Iterable[int]) -> set[int]:
        rows = self.rows
        return {name for passage in passages for name, _, kind in rows.namings(passage) if rows.kind(kind) == TITLE}

    def _contribution(self, passage: int) -> tuple[frozenset[int], frozenset[Row]]:
        """Return the entities and the facts that a passage has in the graph."""
        here = self._meanings.in_passage(passage)
        facts = self.rows.facts(passage)
        names = {end for head, _, tail in facts for end in (head, tail)}
        meant = {name: here.get(name, self._meanings.entity(name)) for name in names}
        return frozenset(meant.values()), frozenset((meant[head], by, meant[tail]) for head, by, tail in facts)

    def _count(self, passage: int, named: Iterable[int], facts: Iterable[Row], by: int) -> None:
        node = self._space.node
        for entity in named:
            self._edges.add(node(PASSAGES, passage), node(NAMES, entity), by)
        for fact in facts:
            stated = self._stated(fact) + self._times[fact]
            self._times[fact] += by
            if (stated > 0) != (stated + by > 0):
                self._edges.add(node(NAMES, fact[0]), node(NAMES, fact[2]), by)

    def _stated(self, fact: Row) -> int:
        """Return how many passages state a fact, as it is stored."""
        arrays = self.stored.arrays
        heads = between(arrays["stated_head"], fact[0])
        tails = between(arrays["stated_tail"][heads], fact[2])
        relations = between(arrays["stated_relation"][heads][tails], fact[1])
        times = arrays["stated_times"][heads][tails][relations]
        return int(times[0]) if times.size else 0


def part_of(rows: EntityRows, passages: Ids, given: Mapping[str, str]) -> EntityGraph:
    """Return the graph of some passages (rows, ascending), as if there were no others."""
    data = rows.data(passages)
    return EntityIndex(*entity_index(data, data.names)).graph(given)


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
