"""Search by a walk over the triple graph, from the entities of a query and the results of other searches.

After HippoRAG 2 (Gutiérrez et al. 2025), whose weight for passages this is. There a model filters the facts nearest to
the query among all; here they come from the passages found first, no model is asked, and names in the query count, too.
A walk cannot judge what no fact leads to, such as a list or a text in another language: it stays where it was found.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import inf
from statistics import fmean

from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import ScoredPassage, ids_of
from langgraph_rag.tools.knowledge_graphs.entity_graph import EntityGraph

READ = 5  # passages whose facts are looked at
FACTS = 5  # of them, the most similar to the query
_NAMED = 1.0  # what an entity weighs that the query names: as much as one of a fact that says what the query says
_FOUND = 0.05  # what the passage found first weighs, the others in proportion to their scores


def walk_from(
    graph: EntityGraph,
    query: str,
    facts: Sequence[tuple[Sequence[str], float]],
    found: Sequence[ScoredPassage],
    k: int,
) -> list[ScoredPassage]:
    """Return the k passages nearest to the entities of a query and of facts (with cosines), and to passages.

    One that states no facts, or was not there when the graph was made, keeps its place among those found.
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
    """Put a passage in a place of a ranking; its score, of another scale, becomes one between its neighbours'."""
    above = ranking[place - 1]["score"] if place > 0 else inf
    below = ranking[place]["score"] if place < len(ranking) else 0.0
    ranking.insert(place, ScoredPassage(id=passage["id"], score=min(max(passage["score"], below), above)))
