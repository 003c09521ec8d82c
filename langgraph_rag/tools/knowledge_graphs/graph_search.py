"""Search by a walk over the triple graph, from the entities of a query and the results of other searches.

It follows HippoRAG 2 (Gutiérrez et al. 2025) and has its weight for passages. There, a model filters the facts nearest
to the query; here, the facts are from the first results, without a model, and names in the query count, too. A passage
without facts, such as a list or a text in another language, keeps its rank.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import inf
from statistics import fmean

from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import ScoredPassage, ids_of
from langgraph_rag.tools.knowledge_graphs.entity_graph import EntityGraph

READ = 5  # passages whose facts are used
FACTS = 5  # the most similar ones to the query
_NAMED = 1.0  # weight of an entity in the query: that of an entity in a fact that equals the query
_FOUND = 0.05  # weight of the first passage; others in proportion to their scores


def walk_from(
    graph: EntityGraph,
    query: str,
    facts: Sequence[tuple[Sequence[str], float]],
    found: Sequence[ScoredPassage],
    k: int,
) -> list[ScoredPassage]:
    """Return the k passages nearest to the entities of a query and of facts (with cosines), and to passages.

    A passage without facts, or that is newer than the graph, keeps its rank in `found`.
    """
    likeness: defaultdict[int, list[float]] = defaultdict(list)
    for (subject, _, object_), cosine in facts:
        for name in (subject, object_):
            if cosine > 0 and (entity := graph.entities.get(normalise(name))) is not None:
                likeness[entity].append(cosine)
    seeds = defaultdict(float, {entity: fmean(cosines) for entity, cosines in likeness.items()})
    for name in graph.link(query):
        seeds[graph.entities[name]] += _NAMED
    stating = graph.stating(ids_of(found))
    for passage in found:
        if passage["id"] in stating:
            seeds[stating[passage["id"]]] = _FOUND * passage["score"] / found[0]["score"]
    ranking = graph.rank(seeds, k)
    for place, passage in enumerate(found[:k]):
        if passage["id"] not in stating:
            _insert(ranking, min(place, len(ranking)), passage)
    return ranking[:k]


def _insert(ranking: list[ScoredPassage], place: int, passage: ScoredPassage) -> None:
    """Insert a passage in a ranking; its score, which has another scale, is limited to those of its neighbours."""
    above = ranking[place - 1]["score"] if place > 0 else inf
    below = ranking[place]["score"] if place < len(ranking) else 0.0
    ranking.insert(place, ScoredPassage(id=passage["id"], score=min(max(passage["score"], below), above)))
