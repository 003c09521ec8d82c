"""The graphs of passages as their definitions say, made at once in plain Python, to compare those on disk with."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import Record
from langgraph_rag.tools.facts.names import ABBREVIATION, INITIALS, KINDS, TITLE, WORD
from langgraph_rag.tools.index.entity_graph import EntityGraph
from langgraph_rag.tools.index.entity_rows import NAMES, Given
from langgraph_rag.tools.index.hierarchy_graph import HierarchyGraph, said_in
from langgraph_rag.tools.index.joining import _DIFFERS, _OFTEN, _REGNAL, Joins, _fit, _tells
from langgraph_rag.tools.index.pagerank import PageRankGraph

Edges = Counter[tuple[str, str]]


def joins_of(said: Mapping[str, Given]) -> Joins:
    """Return which names mean one entity (`joining`), from all that passages say."""
    given = [
        (id_, normalise(name), normalise(entity), kind)
        for id_, one in said.items()
        for name, entity, kind in one.namings
        if normalise(name)
    ]
    facts = [(id_, *map(normalise, fact)) for id_, one in said.items() for fact in one.facts]
    names = {end for _, head, _, tail in facts for end in (head, tail)}
    names.update(name for _, *both, _ in given for name in both if name)
    bearers = defaultdict[str, set[str]](set)
    titles = {name for _, name, _, kind in given if kind == TITLE}
    for _, name, entity, kind in given:
        if entity and kind != INITIALS:
            bearers[name].add(entity)
    borne, initialled = set(bearers), defaultdict[str, set[str]](set)
    for _, name, entity, kind in given:
        if kind == INITIALS:
            initialled[entity].add(name)
    for entity, several in initialled.items():
        if len(several) == 1 and (entity in titles or entity in borne):
            bearers[min(several)].add(entity)
    everywhere = _everywhere(given, facts, names, bearers)
    told = {
        name: sorted({everywhere.get(entity, entity) for entity in those})
        for name, those in bearers.items()
        if name not in everywhere
    }
    several_bear = {name: those for name, those in told.items() if those != [name]}
    in_passages = {
        (id_, name): entity
        for id_ in said
        for name, entity in _in_passage(id_, given, facts, everywhere, several_bear).items()
    }
    return Joins(everywhere, in_passages, several_bear)


def _everywhere(
    given: Sequence[Any], facts: Sequence[Any], names: Iterable[str], bearers: Mapping[str, set[str]]
) -> dict[str, str]:
    used = Counter(end for _, head, _, tail in facts for end in (head, tail))
    explained = Counter(name for _, name, _, kind in given if kind == ABBREVIATION)
    single = {name: min(those) for name, those in bearers.items() if len(those) == 1 and those != {name}}
    whole = {}
    for name, entity in single.items():
        own = {other for other, of in single.items() if of == entity} | {entity}
        if set(name.split()) < set(entity.split()) or re.fullmatch(_REGNAL, name):
            continue
        if name in explained:
            joined = explained[name] > 1 or used[name] <= _OFTEN
        else:
            joined = " " in name or own.issuperset(other for other in names if name in other.split())
        if joined:
            whole[name] = entity
    found = {}
    for name in whole:
        seen = [name]
        while (following := whole.get(seen[-1], seen[-1])) not in seen:
            seen.append(following)
        if following == seen[-1] != name:
            found[name] = following
    return found


def _in_passage(
    id_: str,
    given: Sequence[Any],
    facts: Sequence[Any],
    everywhere: Mapping[str, str],
    several: Mapping[str, Sequence[str]],
) -> dict[str, str]:
    mine = [(name, entity, kind) for at, name, entity, kind in given if at == id_]
    said, here = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for name, entity, kind in mine:
        if not entity:
            said[name].update(kind.split())
        elif kind not in (TITLE, INITIALS):
            here[name].add(everywhere.get(entity, entity))
    meant = {
        name: min(those)
        for name, those in here.items()
        if len(those) == 1 and _fit(min(those), name, said[name] & KINDS) > _DIFFERS
    }
    own = {name for name, _, kind in mine if kind == TITLE}
    for name, fits in _fitting(id_, given, facts, everywhere, several, said).items():
        best = [entity for entity, fit in fits.items() if fit == max(fits.values()) > 0]
        if name not in here and name not in own and len(best) == 1:
            meant[name] = best[0]
    for name, kinds in said.items():
        if name in everywhere and (WORD in kinds or _fit(everywhere[name], name, kinds) == _DIFFERS):
            meant.setdefault(name, name)
    return {name: entity for name, entity in meant.items() if entity != everywhere.get(name, name)}


def _fitting(
    id_: str,
    given: Sequence[Any],
    facts: Sequence[Any],
    everywhere: Mapping[str, str],
    several: Mapping[str, Sequence[str]],
    said: Mapping[str, set[str]],
) -> dict[str, Counter[str]]:
    fitting = defaultdict[str, Counter[str]](Counter)
    for at, head, relation, tail in facts:
        for name, other in ((head, tail), (tail, head)) if at == id_ else ():
            for entity in several.get(name, ()):
                homes = {place for place, title, _, kind in given if kind == TITLE and title == entity}
                around = {everywhere.get(end, end) for place, *f in facts if place in homes for end in (f[0], f[2])}
                last = relation.split()[-1:] if name == tail else []
                fit = _fit(entity, name, [*said.get(name, ()), *last])
                mutual = everywhere.get(other, other) in around
                tells = name != entity and _tells(relation, entity, name, mutual=mutual)
                fitting[name][entity] += fit + (fit > _DIFFERS) * tells
    return fitting


def entity_edges(said: Mapping[str, Given]) -> Edges:
    """Return the weights of the edges between passages and entities, in both directions."""
    joins, facts, edges = joins_of(said), set[tuple[str, str, str]](), Edges()
    for id_, one in said.items():
        for head, relation, tail in (tuple(map(normalise, fact)) for fact in one.facts):
            fact = joins.meant(id_, head), relation, joins.meant(id_, tail)
            facts.add(fact)
            edges |= _both(f"p {id_}", f"e {fact[0]}") | _both(f"p {id_}", f"e {fact[2]}")
    for head, _, tail in facts:
        edges += _both(f"e {head}", f"e {tail}")
    return edges


def hierarchy_edges(records: Iterable[Record]) -> Edges:
    """Return the edges between passages, sentences and phrases, in both directions."""
    edges = Edges()
    for record in records:
        for sentence, phrases in said_in(record):
            edges |= _both(f"p {record['id']}", f"s {sentence}")
            for phrase in phrases:
                edges |= _both(f"s {sentence}", f"w {phrase}")
    return edges


def edges_of(graph: EntityGraph | HierarchyGraph, sentences: Iterable[str] = ()) -> Edges:
    """Return the weights of the edges of a graph; those of some sentences, as texts of others are not kept."""
    nodes = {node: f"p {id_}" for id_, node in graph.passages.items()}
    if isinstance(graph, EntityGraph):
        nodes |= {graph._space.node(NAMES, row): f"e {graph._names[row]}" for row in range(len(graph._names))}
    else:
        nodes |= {node: f"w {phrase}" for phrase, node in graph.phrases.items()}
        nodes |= {graph.sentences[sentence]: f"s {sentence}" for sentence in sentences}
    rows = ((name, _row(graph.walk, node)) for node, name in nodes.items() if node < graph.walk.size)
    return Edges({(name, nodes[to]): weight for name, row in rows for to, weight in row.items()})


def _row(walk: PageRankGraph, node: int) -> dict[int, int]:
    ends, weights = walk._row(node)
    return dict(zip(ends.tolist(), map(int, weights.tolist()), strict=True))


def _both(one: str, other: str) -> Edges:
    return Edges({(one, other): 1, (other, one): 1})
