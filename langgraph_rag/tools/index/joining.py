"""Which names of passages mean one entity.

A name that a passage gives holds in that passage. A name of its own, such as "also known as", is joined elsewhere, too,
if nothing else bears it; a single word must also be part of no other name, unless it is an abbreviation. A part of a
name, such as a title without its qualifier, may mean something else in another passage: there it is joined only if the
passage tells: by year or kind (`the 1931 film Nine Tides`), by a relation (`directed by` for a director), or by another
end of the fact, which the passage about the bearer names, too. A wrong merge is worse than none.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, Protocol

from langgraph_rag.tools.facts.names import ABBREVIATION, INITIALS, KINDS, TITLE, WORD

NONE = -1
"""The entity of what is said of a name."""
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

    def entity(self, name: str) -> str:
        """Return the entity of a name outside of passages: itself, if it is not joined."""
        return self.everywhere.get(name, name)

    def meant(self, passage: str, name: str) -> str:
        """Return the entity that a name means in a passage."""
        return self.in_passage.get((passage, name)) or self.entity(name)


class Said(Protocol):
    """What passages say of names. Passages, names, relations and kinds are rows; titles name themselves."""

    def name(self, name: int, /) -> str:
        """Return a name in normal form."""

    def relation(self, relation: int, /) -> str:
        """Return a relation in normal form."""

    def kind(self, kind: int, /) -> str:
        """Return what kind of name it is (`facts.names`), or what is said of it."""

    def given(self, name: int, /) -> Sequence[tuple[int, int, int]]:
        """Return the passage, entity (or `NONE`) and kind of each naming with a name, without titles."""

    def naming(self, entity: int, /) -> Sequence[tuple[int, int, int]]:
        """Return the passage, name and kind of each naming of an entity, without titles."""

    def titled(self, name: int, /) -> Sequence[int]:
        """Return the passages with a title."""

    def namings(self, passage: int, /) -> Sequence[tuple[int, int, int]]:
        """Return the name, entity and kind of all namings in a passage."""

    def facts(self, passage: int, /) -> Sequence[tuple[int, int, int]]:
        """Return the head, relation and tail of the facts of a passage."""

    def uses(self, name: int, /) -> int:
        """Return how often a name is an end of a fact."""

    def with_word(self, word: str, most: int, /) -> Collection[int]:
        """Return the names with a word in them; if there are more than `most`, some of them that are more."""


class Joining:
    """Tells which entities names mean, by what passages say now; what it was asked once, it keeps."""

    def __init__(self, said: Said) -> None:
        self._said = said
        self._bearers: dict[int, frozenset[int]] = {}
        self._entities: dict[int, int] = {}
        self._several: dict[int, Sequence[int]] = {}
        self._around: dict[int, frozenset[int]] = {}

    def bearers(self, name: int) -> frozenset[int]:
        """Return all that bears a name; one with initials is borne by what is titled without them."""
        if name not in self._bearers:
            given = self._said.given(name)
            found = {entity for _, entity, kind in given if entity != NONE and self._said.kind(kind) != INITIALS}
            found.update([name] if self._said.titled(name) else [])
            short = {entity for _, entity, kind in given if entity != NONE and self._said.kind(kind) == INITIALS}
            found.update(entity for entity in short if self._initialled(entity) == {name} and self._borne(entity))
            self._bearers[name] = frozenset(found)
        return self._bearers[name]

    def entity(self, name: int) -> int:
        """Return the entity of a name outside of passages: itself, if it is not joined.

        A name is joined if nothing else bears it, and it is not only a part of its entity. One that leads back to
        itself is not.
        """
        if name not in self._entities:
            seen = [name]
            while (following := self._whole(seen[-1])) not in seen:
                seen.append(following)
            self._entities[name] = seen[-1] if following == seen[-1] else name
        return self._entities[name]

    def several(self, name: int) -> Sequence[int]:
        """Return the bearers of a name that is not joined, in alphabetical order; none if it has none but itself."""
        if name not in self._several:
            told: list[int] = []
            if self.entity(name) == name:
                told = sorted({self.entity(entity) for entity in self.bearers(name)}, key=self._said.name)
            self._several[name] = () if told == [name] else told
        return self._several[name]

    def in_passage(self, passage: int) -> dict[int, int]:
        """Return what names mean in a passage, where that is not what they mean everywhere."""
        here, said, own = defaultdict[int, set[int]](set), defaultdict[int, set[str]](set), set[int]()
        for name, entity, kind in self._said.namings(passage):
            if self._said.kind(kind) == TITLE:
                own.add(name)
            elif entity == NONE:
                said[name].update(self._said.kind(kind).split())
            elif self._said.kind(kind) != INITIALS:
                here[name].add(self.entity(entity))
        meant = {
            name: entity
            for name, (entity, *others) in here.items()
            if not others and self._fit(entity, name, said[name] & KINDS) > _DIFFERS
        }
        for name, fits in self._fitting(passage, said).items():
            best = [entity for entity, fit in fits.items() if fit == max(fits.values()) > 0]
            if name not in here and name not in own and len(best) == 1:
                meant[name] = best[0]
        for name, kinds in said.items():
            entity = self.entity(name)
            if entity != name and (WORD in kinds or self._fit(entity, name, kinds) == _DIFFERS):
                meant.setdefault(name, name)
        return {name: entity for name, entity in meant.items() if entity != self.entity(name)}

    def _fitting(self, passage: int, said: Mapping[int, Collection[str]]) -> dict[int, Counter[int]]:
        """Return how well the facts of a passage fit the bearers of the names in them."""
        fitting = defaultdict[int, Counter[int]](Counter)
        for head, by, tail in self._said.facts(passage):
            for name, other in ((head, tail), (tail, head)):
                for entity in self.several(name):
                    relation = self._said.relation(by)
                    last = relation.split()[-1:] if name == tail else ()
                    fit = self._fit(entity, name, [*said.get(name, ()), *last])
                    mutual = self.entity(other) in self._beside(entity)
                    tells = entity != name and _tells(
                        relation, self._said.name(entity), self._said.name(name), mutual=mutual
                    )
                    fitting[name][entity] += fit + (fit > _DIFFERS) * tells
        return fitting

    def _beside(self, entity: int) -> frozenset[int]:
        """Return what is named in the passages about an entity."""
        if entity not in self._around:
            facts = [fact for passage in self._said.titled(entity) for fact in self._said.facts(passage)]
            self._around[entity] = frozenset(self.entity(end) for head, _, tail in facts for end in (head, tail))
        return self._around[entity]

    def _fit(self, entity: int, name: int, said: Collection[str]) -> int:
        return 0 if entity == name or not said else _fit(self._said.name(entity), self._said.name(name), said)

    def _initialled(self, entity: int) -> set[int]:
        return {name for _, name, kind in self._said.naming(entity) if self._said.kind(kind) == INITIALS}

    def _borne(self, name: int) -> bool:
        given = ((entity, self._said.kind(kind)) for _, entity, kind in self._said.given(name))
        return bool(self._said.titled(name)) or any(entity != NONE and kind != INITIALS for entity, kind in given)

    def _single(self, name: int) -> int:
        """Return the only bearer of a name; the name itself if there is none, or several."""
        bearers = self.bearers(name)
        return next(iter(bearers)) if len(bearers) == 1 else name

    def _whole(self, name: int) -> int:
        """Return the only bearer of a name that is not only a part of it, or the name itself.

        An abbreviation that is used often, but explained once, may mostly mean something known to everybody.
        """
        entity = self._single(name)
        if entity == name:
            return name
        text, words = self._said.name(name), set(self._said.name(name).split())
        if words < set(self._said.name(entity).split()) or _REGNAL.fullmatch(text):
            return name
        explained = sum(self._said.kind(kind) == ABBREVIATION for _, _, kind in self._said.given(name))
        if explained:
            return entity if explained > 1 or self._said.uses(name) <= _OFTEN else name
        if " " in text:
            return entity
        own = {other for _, other, _ in self._said.naming(entity) if self._single(other) == entity} | {entity}
        return entity if own.issuperset(self._said.with_word(text, len(own))) else name


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
