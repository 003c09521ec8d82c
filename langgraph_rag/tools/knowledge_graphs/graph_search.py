"""Search by a walk over the triple graph, from the entities of a query and of the facts in what other searches found.

The walk is that of HippoRAG 2 (Gutiérrez et al. 2025). There, a model filters the facts nearest to the query; here, the
facts are from the first results, without a model, and names in the query count, too. The walk only proposes: the first
two passages remain those of meaning and words, and of the rest it moves the more, the more of the query is names that
the graph knows, and the more of it the first passage leaves open. Without such a name it moves nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice
from math import sqrt
from statistics import fmean

from langgraph_rag.records import ScoredPassage, ids_of
from langgraph_rag.tools.fusion import DEPTH
from langgraph_rag.tools.knowledge_graphs.entity_graph import EntityGraph
from langgraph_rag.tools.language.spans import is_generic

READ = 5  # passages whose facts are used
_FACTS = 6  # the most similar ones to the query
_OWN = 3  # of these for each entity in the query, so that no other's facts take its place
KEPT = 2  # first passages of meaning and words, of which the walk begins
_NAMED = 0.7  # weight of an entity in the query; that of one in a fact is the likeness of the fact
_WALK = 6.0  # weight of the walk against meaning and words, times its share


def walk_from(
    graph: EntityGraph,
    names: Iterable[str],
    share: float,
    facts: Iterable[tuple[Sequence[str], float]],
    found: Sequence[ScoredPassage],
    k: int,
) -> list[ScoredPassage]:
    """Return the k best passages of those found and of those near to the entities of a query and of facts.

    Args:
        graph: the entities, facts and passages.
        names: the entities in the query, as `graph.link` returns them.
        share: how much the walk counts, from 0 to 1.
        facts: facts of the first passages with their cosines with the query.
        found: the passages by meaning and words, best first, with scores of at most 1.
        k: the maximum number of passages.
    """
    names = list(names)
    near = graph.rank(_seeds(graph, names, _likest(graph, names, facts)), max(k, DEPTH)) if share > 0 else []
    if not near:
        return list(found[:k])
    scores = {passage["id"]: passage["score"] for passage in found}
    reached = {passage["id"]: sqrt(passage["score"] / near[0]["score"]) for passage in near}
    reached |= dict.fromkeys(ids_of(found[:KEPT]), 1.0)
    weight = _WALK * share
    ranking = [
        ScoredPassage(id=id_, score=(scores.get(id_, 0.0) + weight * reached.get(id_, 0.0)) / (1 + weight))
        for id_ in dict.fromkeys([*scores, *reached])
    ]
    return sorted(ranking, key=lambda passage: -passage["score"])[:k]  # alike: in the order found


def _likest(
    graph: EntityGraph, names: Iterable[str], facts: Iterable[tuple[Sequence[str], float]]
) -> list[tuple[Sequence[str], float]]:
    """Return the facts to walk from: of each entity in the query its likest ones, then the likest of all."""
    likest = sorted(facts, key=lambda fact: -fact[1])
    ends = [{graph.node(subject), graph.node(object_)} for (subject, _, object_), _ in likest]
    own = [
        place
        for name in names
        for place in islice((place for place, nodes in enumerate(ends) if graph.entities[name] in nodes), _OWN)
    ]
    places = dict.fromkeys([*own, *range(len(likest))])
    return [likest[place] for place in islice(places, max(_FACTS, len(set(own))))]


def _seeds(
    graph: EntityGraph, names: Iterable[str], facts: Sequence[tuple[Sequence[str], float]]
) -> defaultdict[int, float]:
    """Return the weights of the entities to walk from; generic ones (`default value`) would lead anywhere."""
    likeness: defaultdict[int, list[float]] = defaultdict(list)
    for (subject, _, object_), cosine in facts:
        for name in (subject, object_):
            if cosine > 0 and not is_generic(name) and (entity := graph.node(name)) is not None:
                likeness[entity].append(cosine)
    seeds = defaultdict(float, {entity: fmean(cosines) for entity, cosines in likeness.items()})
    for name in names:
        seeds[graph.entities[name]] += _NAMED
    return seeds
