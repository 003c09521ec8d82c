"""Names of entities: how they are compared, and which of them name the same entity."""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import Statement
from langgraph_rag.tools.facts.names import ABBREVIATION, INITIALS, KINDS, TITLE, WORD
from langgraph_rag.tools.index.pagerank import Ids, Nodes, Rows

_ALIKE = 0.5  # share of common words of two names; with fewer, they rarely mean the same
_COMMON = 200  # maximum names with a word that is used to find similar names


class Names:
    """Names in normal form; other threads may read while one adds and removes."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._by_word: defaultdict[str, dict[str, None]] = defaultdict(dict)  # ordered, with fast removal
        self.add(names)

    def add(self, names: Iterable[str]) -> None:
        """Add new names."""
        for name in names:
            for word in dict.fromkeys(name.split()):
                self._by_word[word][name] = None

    def remove(self, names: Iterable[str]) -> None:
        """Remove existing names."""
        for name in names:
            for word in dict.fromkeys(name.split()):
                del self._by_word[word][name]
                if not self._by_word[word]:
                    del self._by_word[word]

    def with_word(self, word: str) -> Iterable[str]:
        """Return the names with a word in them."""
        return tuple(self._by_word.get(word, ()))

    def alike(self, name: str, among: Container[str]) -> Mapping[str, float]:
        """Return the names in `among` that share at least half of all words with a name, each with this share."""
        words = set(name.split())
        by_word = (self._by_word.get(word, ()) for word in words)
        candidates = {other for names in by_word if len(names) <= _COMMON for other in tuple(names) if other in among}
        shares = {other: _shared(words, set(other.split())) for other in candidates}
        return {other: share for other, share in shares.items() if share >= _ALIKE}


def _shared(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other)


WithWord = Callable[[str], Iterable[str]]
Place = tuple[str, str]
"""The id of a passage, and a name in it."""
_NONE = -1  # the entity of what is said of a name
_DIFFERS = -9  # more than anything that fits
_REGNAL = re.compile(r"\w+ [ivxl]+")  # many kings have the name
_OFTEN = 12  # facts
_STEM = 5  # letters that "directed" and "director" share at least
_FILMED, _SUNG, _WRITTEN = "direc starr produ filme appea actor", "recor perfo compo", "wrote writt autho publi novel"
_DONE = {  # with works of a kind: the beginnings of verbs
    **dict.fromkeys(["film", "movie", "documentary"], _FILMED),
    **dict.fromkeys(["series", "show", "sitcom", "episode"], "starr creat appea actor"),
    **dict.fromkeys(["song", "single", "album"], _SUNG),
    **dict.fromkeys(["novel", "book", "story", "poem"], _WRITTEN),
    **dict.fromkeys(["play", "musical", "opera"], f"{_SUNG} wrote writt stage appea"),
}


@dataclass(frozen=True)
class Joins:
    """Which names are joined: names and entities are in normal form."""

    everywhere: Mapping[str, str] = field(default_factory=dict)
    """The entity of each joined name."""
    in_passage: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """The entity of a name, where it is another one in some passage; by the passage's id and the name."""
    bearers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The entities that bear a name which is not joined, in alphabetical order."""

    def with_given(self, names: Mapping[str, str]) -> "Joins":
        """Return these joins with the names that people gave; the entities are written as people write them."""
        given = {name: self.entity(normalise(entity)) for name, entity in names.items()}
        return replace(self, everywhere={**self.everywhere, **given})

    def entity(self, name: str) -> str:
        """Return the entity of a name outside of passages: itself, if it is not joined."""
        return self.everywhere.get(name, name)

    def meant(self, passage: str, name: str) -> str:
        """Return the entity that a name means in a passage."""
        return self.in_passage.get((passage, name)) or self.entity(name)


class NameRows:
    """The names that passages give, kept for a fast rebuild after changes of passages.

    Args:
        entities: the nodes of entities by normal form, shared with their facts.
        passages: the nodes of passages by id, shared with their facts.
    """

    def __init__(self, entities: "defaultdict[str, int]", passages: "defaultdict[str, int]") -> None:
        self._entities, self._passages = entities, passages
        self._kinds: defaultdict[str, int] = defaultdict(Nodes())
        self._title = self._kinds[TITLE]
        self.rows = Rows(4)  # passage, name, entity, kind

    def add(self, namings: Iterable[tuple[str, str, str, str]]) -> None:
        """Add the names that passages give: id of the passage, name, entity, kind."""
        rows = array("q")
        for id_, name, entity, kind in namings:
            form, of = normalise(name), normalise(entity)
            if form:
                node = self._entities[of] if of else _NONE
                rows.extend((self._passages[id_], self._entities[form], node, self._kinds[kind]))
        self.rows.add(rows)

    def joins(
        self,
        passages: Mapping[str, int],
        facts: Ids,
        relations: Mapping[str, int],
        with_word: Callable[[str], Iterable[str]],
    ) -> Joins:
        """Return which names are joined by what passages say.

        Args:
            passages: the nodes of the passages by id.
            facts: passage, head, relation and tail of each of their facts; shape: 4 x facts.
            relations: the numbers of relations by normal form.
            with_word: returns the names with a word in them.
        """
        there = self.rows.columns[:, np.isin(self.rows.columns[0], list(passages.values()))]
        _, name, entity, kind = there
        others = np.unique(
            np.concatenate([name[(kind != self._title) & (entity != _NONE)], entity[kind != self._title]])
        )
        there = there[:, np.isin(name, others)]  # most titles have no other name
        kinds = {number: kind for kind, number in self._kinds.items()}
        ids = {node: id_ for id_, node in passages.items()}
        forms = {node: form for form, node in self._entities.items()} | {_NONE: ""}
        given = _Given([(ids[at], forms[one], forms[of], kinds[how]) for at, one, of, how in there.T.tolist()])
        uses = np.bincount(facts[[1, 3]].ravel(), minlength=1)
        everywhere = given.everywhere(
            with_word, {forms[node] for node in np.flatnonzero(uses > _OFTEN).tolist() if node in forms}
        )
        bearers = given.several(everywhere)
        wanted, homes = [self._entities[one] for one in bearers], given.homes(bearers)
        near = np.isin(facts[0], [passages[id_] for id_ in chain.from_iterable(homes.values())])
        using = np.isin(facts[1], wanted) | np.isin(facts[3], wanted)
        how = {number: relation for relation, number in relations.items()} if using.any() else {}

        def stated(some: npt.NDArray[np.bool_]) -> list[Statement]:
            return [(ids[at], forms[head], how[by], forms[tail]) for at, head, by, tail in facts[:, some].T.tolist()]

        beside = defaultdict[str, set[str]](set)
        for id_, head, _, tail in stated(near) if using.any() else ():
            beside[id_].update((everywhere.get(head, head), everywhere.get(tail, tail)))
        around = {entity: set().union(*(beside[id_] for id_ in those)) for entity, those in homes.items()}
        return Joins(everywhere, given.in_passages(everywhere, bearers, stated(using), around), bearers)


class _Given:
    """What passages say of names: id of the passage, name, entity (or none), kind; all in normal form."""

    def __init__(self, given: Sequence[tuple[str, str, str, str]]) -> None:
        self._given = given
        self._titles = {name for _, name, _, kind in given if kind == TITLE}
        self._bearers = defaultdict[str, set[str]](set)
        for _, name, entity, kind in given:
            if entity and kind != INITIALS:
                self._bearers[name].add(entity)
        for entity, names in self._initialled().items():
            if len(names) == 1 and (entity in self._titles or entity in self._bearers):
                self._bearers[min(names)].add(entity)

    def _initialled(self) -> Mapping[str, set[str]]:
        initialled = defaultdict[str, set[str]](set)
        for _, name, entity, kind in self._given:
            if kind == INITIALS:
                initialled[entity].add(name)
        return initialled

    def everywhere(self, with_word: WithWord, often: Container[str]) -> dict[str, str]:
        """Return the entities of the names that nothing else bears, and that are not only a part of their entity's.

        An abbreviation that is used often, but explained once, may mostly mean something known to everybody.
        """
        explained = Counter(name for _, name, _, kind in self._given if kind == ABBREVIATION)
        short = {name for name, times in explained.items() if times > 1 or name not in often}
        single = {name: min(those) for name, those in self._bearers.items() if len(those) == 1 and those != {name}}
        own = defaultdict[str, set[str]](set)
        for name, entity in single.items():
            own[entity].update((name, entity))
        whole = {
            name: entity
            for name, entity in single.items()
            if not (set(name.split()) < set(entity.split()) or _REGNAL.fullmatch(name))
            and (name in short if name in explained else " " in name or own[entity].issuperset(with_word(name)))
        }
        return {name: entity for name in whole if (entity := _end(name, whole)) != name}

    def several(self, everywhere: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the bearers of the names that are not joined everywhere."""
        told = {
            name: sorted({everywhere.get(entity, entity) for entity in those})
            for name, those in self._bearers.items()
            if name not in everywhere
        }
        return {name: those for name, those in told.items() if those != [name]}

    def homes(self, bearers: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        """Return the passages about each of some bearers of names."""
        homes: dict[str, list[str]] = {entity: [] for those in bearers.values() for entity in those}
        for id_, name, _, kind in self._given:
            if kind == TITLE and name in homes:
                homes[name].append(id_)
        return homes

    def in_passages(
        self,
        everywhere: Mapping[str, str],
        bearers: Mapping[str, Sequence[str]],
        using: Iterable[Statement],
        around: Mapping[str, Container[str]],
    ) -> dict[tuple[str, str], str]:
        """Return what names mean in single passages, where that is not what they mean everywhere.

        Args:
            everywhere: what names mean in all passages.
            bearers: the bearers of the other names.
            using: the facts with these names, of any passage.
            around: what is named in the passages about a bearer.
        """
        here, said = self._in_passages(everywhere)
        meant = {
            (id_, name): entity
            for (id_, name), (entity, *others) in here.items()
            if not others and _fit(entity, name, said[id_, name] & KINDS) > _DIFFERS
        }
        own = {(id_, name) for id_, name, _, kind in self._given if kind == TITLE}
        fitting = defaultdict[Place, Counter[str]](Counter)
        for id_, head, relation, tail in using:
            for name, other in ((head, tail), (tail, head)):
                for entity in bearers.get(name, ()):
                    fit = _fit(
                        entity, name, [*said.get((id_, name), ()), *(relation.split()[-1:] if name == tail else ())]
                    )
                    mutual = everywhere.get(other, other) in around[entity]
                    tells = name != entity and _tells(relation, entity, name, mutual=mutual)
                    fitting[id_, name][entity] += fit + (fit > _DIFFERS) * tells
        for place, fits in fitting.items():
            best = [entity for entity, fit in fits.items() if fit == max(fits.values()) > 0]
            if place not in here and place not in own and len(best) == 1:
                meant[place] = best[0]
        for (id_, name), kinds in said.items():
            if name in everywhere and (WORD in kinds or _fit(everywhere[name], name, kinds) == _DIFFERS):
                meant.setdefault((id_, name), name)
        return {place: entity for place, entity in meant.items() if entity != everywhere.get(place[1], place[1])}

    def _in_passages(
        self, everywhere: Mapping[str, str]
    ) -> tuple[Mapping[Place, set[str]], defaultdict[Place, set[str]]]:
        """Return the entities that each passage gives to a name, and what it says of a name."""
        here, said = defaultdict[Place, set[str]](set), defaultdict[Place, set[str]](set)
        for id_, name, entity, kind in self._given:
            if entity and kind not in (TITLE, INITIALS):
                here[id_, name].add(everywhere.get(entity, entity))
            elif not entity and name in self._bearers:
                said[id_, name].update(kind.split())
        return here, said


def _end(name: str, joined: Mapping[str, str]) -> str:
    """Follow a name to its entity, and return it; the name itself if it leads back to it."""
    seen = [name]
    while (following := joined.get(seen[-1], seen[-1])) not in seen:
        seen.append(following)
    return seen[-1] if following == seen[-1] else name


class _Qualifier(NamedTuple):
    """The words that tell an entity from others with its name: its years, kinds of works, and others."""

    years: frozenset[str]
    kinds: frozenset[str]
    others: frozenset[str]


@lru_cache(maxsize=65_536)  # the same after each change
def _qualifier(entity: str, name: str) -> _Qualifier:
    words = frozenset(entity.split()) - frozenset(name.split())
    years, kinds = frozenset(filter(str.isdigit, words)), words & KINDS
    return _Qualifier(years, kinds, words - years - kinds)


def _fit(entity: str, name: str, said: Collection[str]) -> int:
    """Return how well what is said of a name fits a bearer: `_DIFFERS` if it does not, 0 if it does not tell."""
    if entity == name or not said:
        return 0
    years, kinds, _ = _qualifier(entity, name)
    said_years, said_kinds = set(filter(str.isdigit, said)), KINDS.intersection(said)
    other_kind = said_kinds and not kinds & said_kinds
    if other_kind or (years and said_years and not years & said_years):
        return _DIFFERS
    return 2 * bool(years & said_years) + bool(kinds & said_kinds)


def _tells(relation: str, entity: str, name: str, *, mutual: bool) -> bool:
    """Return whether a fact tells that a bearer of a name is meant.

    It does if the relation is what somebody of that kind does (`directed by` for a director), or if the other end is
    named in the passage about the bearer (`mutual`). Of works, there are often several of one name by the same people:
    there, the relation must be one to a work of that kind, too.
    """
    _, kinds, others = _qualifier(entity, name)
    if kinds and not mutual:
        return False
    verbs = {word[:_STEM] for word in relation.split() if len(word) >= _STEM}
    if kinds:
        return any(verbs.intersection(_DONE.get(kind, "").split()) for kind in kinds)
    return mutual or any(word[:_STEM] in verbs for word in others)


def chosen(bearers: Sequence[str], name: str, words: Iterable[str]) -> list[str]:
    """Return those of the bearers of a name whose other words are most among the words of a text; all without any."""
    among = set(words) - set(name.split())
    counts = {bearer: len(among.intersection(bearer.split())) for bearer in bearers}
    return [bearer for bearer, count in counts.items() if count == max(counts.values())]
