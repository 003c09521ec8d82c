"""The facts of passages and the names that they give, in arrays that may lie on disk."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from langgraph_rag.normal_forms import normalise
from langgraph_rag.tools.facts.names import TITLE
from langgraph_rag.tools.index.joining import NONE, Joining
from langgraph_rag.tools.index.pagerank import Array, Ids, Rows
from langgraph_rag.tools.index.tables import (
    NO_NAMES,
    GrowingTexts,
    ListedTexts,
    Names,
    NodeSpace,
    PartOfNames,
    PartOfTexts,
    PassageTable,
    Stored,
    Texts,
    between,
    columns_of,
    flat,
    grouped,
    name_tables,
    numbering,
    walk_arrays,
)

PASSAGES, NAMES = 0, 1
"""The kinds of nodes."""
Row = tuple[int, int, int]
"""The head, relation and tail of a fact; or the name, entity and kind of a naming."""


@dataclass(frozen=True)
class Given:
    """What one passage says.

    Attributes:
        id: its id.
        number: its number in the records.
        facts: the head, relation and tail of each fact.
        namings: each name that it gives, with the entity and the kind.
    """

    id: str
    number: int
    facts: Sequence[tuple[str, str, str]]
    namings: Sequence[tuple[str, str, str]] = field(default=())


@dataclass(frozen=True)
class EntityData:
    """The facts of passages, and the names that they give, as numbers.

    Shape of `facts_of` and `namings_of`: passages + 1; they say where the rows of each begin, and the end.
    """

    ids: Texts
    numbers: Array
    names: PartOfNames
    relations: Texts
    kinds: Texts
    facts_of: Array
    head: Array
    relation: Array
    tail: Array
    namings_of: Array
    name: Array
    entity: Array
    kind: Array


class EntityRows:
    """The facts of passages, and the names that they give; the newest of each passage."""

    def __init__(self, stored: Stored, names: PartOfNames | None = None) -> None:
        texts, self._arrays = stored.texts, stored.arrays
        self.passages = PassageTable(texts["ids"], self._arrays["numbers"])
        self.names = Names.stored(stored) if names is None else names
        self.relations, self.kinds = GrowingTexts(texts["relations"]), GrowingTexts(texts["kinds"])
        self.missing: frozenset[int] = frozenset()
        """Names that no passage names or gives any more."""
        self._stored = len(texts["ids"])
        self._facts: dict[int, Sequence[Row]] = {}
        self._namings: dict[int, Sequence[Row]] = {}
        self._users: defaultdict[int, set[int]] = defaultdict(set)
        self._by_name: defaultdict[int, list[Row]] = defaultdict(list)
        self._by_entity: defaultdict[int, list[Row]] = defaultdict(list)
        self._more_uses: Counter[int] = Counter()
        self._loaded: tuple[Mapping[int, list[Row]], Mapping[int, list[Row]]] | None = None
        self._title = int(self.kinds.add([TITLE])[TITLE])

    # --- what passages say (`joining.Said`) --------------------------------------------------------------------------
    def name(self, name: int) -> str:
        """Return a name in normal form."""
        return self.names[name]

    def relation(self, relation: int) -> str:
        """Return a relation in normal form."""
        return self.relations[relation]

    def kind(self, kind: int) -> str:
        """Return what kind of name it is, or what is said of it."""
        return self.kinds[kind]

    def facts(self, passage: int) -> Sequence[Row]:
        """Return the head, relation and tail of the facts of a passage."""
        return self._rows_of(passage, self._facts, "facts_of", ("head", "relation", "tail"))

    def namings(self, passage: int) -> Sequence[Row]:
        """Return the name, entity and kind of all namings in a passage."""
        return self._rows_of(passage, self._namings, "namings_of", ("name", "entity", "kind"))

    def given(self, name: int) -> Sequence[Row]:
        """Return the passage, entity (or `NONE`) and kind of each naming with a name, without titles."""
        stored = self._loaded[0].get(name, ()) if self._loaded else self._namings_at("names", "entity", name)
        return [*stored, *(row for row in self._by_name.get(name, ()) if row[2] != self._title)]

    def naming(self, entity: int) -> Sequence[Row]:
        """Return the passage, name and kind of each naming of an entity, without titles."""
        stored = self._loaded[1].get(entity, ()) if self._loaded else self._namings_at("entities", "name", entity)
        return [*stored, *(row for row in self._by_entity.get(entity, ()) if row[2] != self._title)]

    def titled(self, name: int) -> Sequence[int]:
        """Return the passages with a title."""
        stored = self._arrays["titled_by"][between(self._arrays["titled"], name)].tolist()
        more = (passage for passage, _, kind in self._by_name.get(name, ()) if kind == self._title)
        return [*(passage for passage in stored if passage not in self._namings), *more]

    def uses(self, name: int) -> int:
        """Return how often a name is an end of a fact."""
        stored = self._arrays["uses"]
        return (int(stored[name]) if name < len(stored) else 0) + self._more_uses.get(name, 0)

    def with_word(self, word: str, most: int) -> Collection[int]:
        """Return the names with a word in them; if there are more than `most`, some of them that are more."""
        rows = self.names.with_word(word)[: most + 1 + len(self.missing)]
        return [row for row in rows.tolist() if row not in self.missing]

    # --- where names are ---------------------------------------------------------------------------------------------
    def users(self, name: int) -> list[int]:
        """Return the passages with facts that have a name as an end."""
        starts = self._arrays["user_starts"]
        stored: list[int] = []
        if name < len(starts) - 1:
            stored = self._arrays["users"][int(starts[name]) : int(starts[name + 1])].tolist()
        return [*(passage for passage in stored if passage not in self._facts), *self._users.get(name, ())]

    def exists(self, name: int) -> bool:
        """Return whether any passage names or gives a name."""
        return self.uses(name) > 0 or bool(self.given(name) or self.naming(name) or self.titled(name))

    @contextmanager
    def loaded(self) -> Iterator[None]:
        """Hold all namings that are no titles in memory in the block, in which most of them are asked for."""
        passage = np.repeat(np.arange(self._stored), _counts(self._arrays["namings_of"]))
        columns = [passage, *(self._arrays[column] for column in ("name", "entity", "kind"))]
        by_name, by_entity = defaultdict[int, list[Row]](list), defaultdict[int, list[Row]](list)
        told = columns[3] != self._title
        for at, name, entity, kind in zip(*(column[told].tolist() for column in columns), strict=True):
            by_name[name].append((at, entity, kind))
            if entity != NONE:
                by_entity[entity].append((at, name, kind))
        self._loaded = by_name, by_entity
        try:
            yield
        finally:
            self._loaded = None

    # --- changes -----------------------------------------------------------------------------------------------------
    def numbered(self, given: Sequence[Given]) -> list[tuple[list[Row], list[Row]]]:
        """Return the facts and the namings of passages as numbers; new names get rows."""
        form = cache(normalise)
        facts = [[(form(head), form(by), form(tail)) for head, by, tail in one.facts] for one in given]
        namings = [[(form(name), form(of), kind) for name, of, kind in one.namings if form(name)] for one in given]
        ends = [end for some in facts for head, _, tail in some for end in (head, tail)]
        of = [name for some in namings for naming in some for name in naming[:2] if name]
        names = self.names.add([*ends, *of]) if isinstance(self.names, Names) else {}
        relations = self.relations.add(by for some in facts for _, by, _ in some)
        kinds = self.kinds.add(kind for some in namings for *_, kind in some)
        return [
            (
                [(names[head], relations[by], names[tail]) for head, by, tail in stated],
                [(names[name], names[entity] if entity else NONE, kinds[kind]) for name, entity, kind in called],
            )
            for stated, called in zip(facts, namings, strict=True)
        ]

    def put(self, passage: int, facts: Sequence[Row], namings: Sequence[Row]) -> None:
        """Replace what a passage says."""
        for head, _, tail in self.facts(passage):
            self._more_uses.subtract((head, tail))
        for head, _, tail in self._facts.get(passage, ()):
            self._users[head].discard(passage)
            self._users[tail].discard(passage)
        for name, entity, kind in self._namings.get(passage, ()):
            self._by_name[name].remove((passage, entity, kind))
            if entity != NONE:
                self._by_entity[entity].remove((passage, name, kind))
        self._facts[passage], self._namings[passage] = facts, namings
        for head, _, tail in facts:
            self._more_uses.update((head, tail))
            self._users[head].add(passage)
            self._users[tail].add(passage)
        for name, entity, kind in namings:
            self._by_name[name].append((passage, entity, kind))
            if entity != NONE:
                self._by_entity[entity].append((passage, name, kind))

    def told(self, names: Iterable[int]) -> list[int]:
        """Note which of some names, whose uses changed, came or went; return them."""
        gone = {name for name in names if not self.exists(name)}
        changed = [name for name in names if (name in self.missing) != (name in gone)]
        self.missing = self.missing.union(gone).difference(set(names) - gone)
        return changed

    def data(self, passages: Ids) -> EntityData:
        """Return what some passages say (rows, ascending), with the names that are in it."""
        facts = columns_of(passages, self._stored, self._facts, self._arrays, "facts_of", ("head", "relation", "tail"))
        namings = columns_of(
            passages, self._stored, self._namings, self._arrays, "namings_of", ("name", "entity", "kind")
        )
        ends = [facts[1], facts[3], namings[1], namings[2][namings[2] != NONE]]
        names, relations, kinds = (
            numbering(size, used)
            for size, used in (
                (len(self.names), np.concatenate(ends)),
                (len(self.relations), facts[2]),
                (len(self.kinds), namings[3]),
            )
        )
        ids, numbers = self.passages.part(passages)
        of = np.append(names[1], NONE)  # the last is that of no entity
        return EntityData(
            ids,
            numbers,
            PartOfNames(self.names, names[0]),
            PartOfTexts(self.relations, relations[0]),
            PartOfTexts(self.kinds, kinds[0]),
            facts[0],
            names[1][facts[1]],
            relations[1][facts[2]],
            names[1][facts[3]],
            namings[0],
            names[1][namings[1]],
            of[namings[2]],
            kinds[1][namings[3]],
        )

    def _rows_of(
        self, passage: int, new: Mapping[int, Sequence[Row]], starts: str, columns: Sequence[str]
    ) -> Sequence[Row]:
        if passage in new:
            return new[passage]
        if passage >= self._stored:
            return ()
        begin, end = int(self._arrays[starts][passage]), int(self._arrays[starts][passage + 1])
        return list(zip(*(self._arrays[column][begin:end].tolist() for column in columns), strict=True))

    def _namings_at(self, keys: str, other: str, key: int) -> list[Row]:
        rows = self._arrays[f"{keys}_rows"][between(self._arrays[keys], key)]
        if not rows.size:
            return []
        passages = np.searchsorted(self._arrays["namings_of"], rows, side="right") - 1
        found = zip(
            passages.tolist(), self._arrays[other][rows].tolist(), self._arrays["kind"][rows].tolist(), strict=True
        )
        return [row for row in found if row[0] not in self._namings]


NO_PASSAGES = EntityData(
    *(ListedTexts(), np.empty(0, np.int64), NO_NAMES, ListedTexts(), ListedTexts()),
    *(np.zeros(1, np.int64), *(np.empty(0, np.int64) for _ in range(3))),
    *(np.zeros(1, np.int64), *(np.empty(0, np.int64) for _ in range(3))),
)


def entity_index(data: EntityData, part: PartOfNames | None = None) -> tuple[Stored, EntityRows]:
    """Return the index of facts, names, joined names and the graph for walks, in memory.

    With `part`, which are the names, these are found among all; they get no tables of their own.
    """
    arrays, texts = _arrays(data), dict[str, Texts]()
    names = ListedTexts() if part else ListedTexts(data.names[row] for row in range(len(data.names)))
    of_names, words = name_tables(names)
    texts |= {name: ListedTexts(some) for name, some in words.items()} | {"ids": data.ids, "names": names}
    for name, table in (("relations", data.relations), ("kinds", data.kinds)):
        texts[name] = ListedTexts(table[row] for row in range(len(table)))
    rows = EntityRows(Stored(arrays | of_names, texts), part)
    with rows.loaded():
        return Stored(arrays | of_names | _joined(rows, data), texts), rows


def _arrays(data: EntityData) -> dict[str, Array]:
    """Return the arrays of what passages say, and where each name is."""
    passages, size = len(data.ids), len(data.names)
    title = int(data.kinds.find([TITLE])[0]) if len(data.kinds) else -1
    head, relation, tail, name, entity, kind = (
        column.astype(np.int32) for column in (data.head, data.relation, data.tail, data.name, data.entity, data.kind)
    )
    told, entitled = kind != title, (kind != title) & (entity != NONE)
    names, names_rows = grouped(name[told], np.flatnonzero(told).astype(np.int32))
    entities, entities_rows = grouped(entity[entitled], np.flatnonzero(entitled).astype(np.int32))
    at = np.repeat(np.arange(passages, dtype=np.int32), _counts(data.namings_of))
    titled, titled_by = grouped(name[~told], at[~told])
    by = np.repeat(np.arange(passages), _counts(data.facts_of))
    using = np.unique(np.concatenate([data.head, data.tail]).astype(np.int64) << 32 | np.tile(by, 2))
    return {
        "numbers": data.numbers,
        **{"facts_of": data.facts_of, "head": head, "relation": relation, "tail": tail},
        **{"namings_of": data.namings_of, "name": name, "entity": entity, "kind": kind},
        **{"names": names, "names_rows": names_rows, "entities": entities, "entities_rows": entities_rows},
        **{"titled": titled, "titled_by": titled_by},
        "uses": (np.bincount(head, minlength=size) + np.bincount(tail, minlength=size)).astype(np.int32),
        "user_starts": np.searchsorted(using >> 32, np.arange(size + 1)),
        "users": (using & 0xFFFFFFFF).astype(np.int32),
    }


def _joined(rows: EntityRows, data: EntityData) -> dict[str, Array]:
    """Return the arrays of joined names, of distinct facts, and of the graph for walks."""
    passages, size, joining = len(data.ids), len(data.names), Joining(rows)
    title = int(data.kinds.find([TITLE])[0]) if len(data.kinds) else -1
    other = (data.kind != title) & (data.entity != NONE)
    given = np.unique(data.name[other]).tolist()
    joined = {name: entity for name in given if (entity := joining.entity(name)) != name}
    borne = {name: several for name in given if (several := joining.several(name))}
    everywhere, bearing = np.arange(size), np.zeros(size + 1, bool)
    everywhere[list(joined)] = list(joined.values())
    bearing[list(borne)] = True
    at, by = (np.repeat(np.arange(passages), _counts(starts)) for starts in (data.namings_of, data.facts_of))
    differs = np.zeros(at.size, bool)
    differs[other] = everywhere[data.name[other]] != everywhere[data.entity[other]]
    differs |= (data.entity == NONE) & (everywhere[data.name] != data.name)
    telling = np.unique(np.concatenate([at[differs], by[bearing[data.head] | bearing[data.tail]]]))
    places = {
        passage << 32 | name: entity
        for passage in telling.tolist()
        for name, entity in sorted(joining.in_passage(passage).items())
    }
    elsewhere, meant = np.array(list(places), np.int64), np.array(list(places.values()), np.int32)
    head, tail = (_meant(everywhere, elsewhere, meant, by, column) for column in (data.head, data.tail))
    space = NodeSpace(passages, size)
    stated, times = _distinct_facts(head, tail, data.relation, by)
    naming = np.unique(np.concatenate([head, tail]).astype(np.int64) << 32 | np.tile(by, 2))
    walk = Rows.from_edges(
        space.stored,
        np.concatenate([stated[0] + passages, naming & 0xFFFFFFFF]),
        np.concatenate([stated[2] + passages, (naming >> 32) + passages]),
        weighted=True,
    )
    starts, bearers = flat([[(one,) for one in several] for several in borne.values()], 1)
    return {
        **{"joined": np.array(list(joined), np.int32), "joined_to": np.array(list(joined.values()), np.int32)},
        **{"borne": np.array(list(borne), np.int32), "borne_starts": starts, "bearers": bearers.astype(np.int32)},
        **{"elsewhere": elsewhere, "elsewhere_meant": meant},
        **{"stated_head": stated[0], "stated_relation": stated[1], "stated_tail": stated[2], "stated_times": times},
        **walk_arrays(walk),
    }


def _counts(starts: Array) -> Ids:
    return starts[1:].astype(np.int64) - starts[:-1].astype(np.int64)


def _meant(everywhere: Ids, places: Ids, entities: Array, passage: Ids, name: Array) -> Ids:
    """Return what names mean in passages: what they mean there (`places`, `entities`), or else everywhere."""
    meant, wanted = everywhere[name], passage << 32 | name.astype(np.int64)
    if places.size:
        found = np.searchsorted(places, wanted).clip(max=places.size - 1)
        there = places[found] == wanted
        meant[there] = entities[found[there]]
    return meant


def _distinct_facts(head: Ids, tail: Ids, relation: Array, passage: Ids) -> tuple[list[Array], Array]:
    """Return the heads, relations and tails of facts, each once and in order, and how many passages state each."""
    pairs, pair = np.unique(head << 32 | tail, return_inverse=True)
    facts, fact = np.unique(pair.astype(np.int64) << 32 | relation.astype(np.int64), return_inverse=True)
    stating = np.unique(fact.astype(np.int64) << 32 | passage) >> 32
    of = pairs[facts >> 32]
    columns = [column.astype(np.int32) for column in (of >> 32, facts & 0xFFFFFFFF, of & 0xFFFFFFFF)]
    return columns, np.bincount(stating, minlength=facts.size).astype(np.int32)
