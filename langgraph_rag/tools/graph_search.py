"""Search by a walk over the triple graph, begun at what a query names and at what other searches find for it.

After HippoRAG 2 (Gutiérrez et al. 2025), whose weight for passages this is. There a model filters the facts nearest to
the query among all; here they come from the passages found first, no model is asked, and names in the query count, too.
"""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from langgraph_rag.matching import normalise
from langgraph_rag.records import ScoredPassage
from langgraph_rag.tools.entity_graph import EntityGraph

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
    """Return the k passages nearest to a query's entities, to those of facts (with their cosines), and to passages."""
    likeness: defaultdict[int, list[float]] = defaultdict(list)
    for (subject, _, object_), cosine in facts:
        for name in (subject, object_):
            if cosine > 0 and (entity := graph.entities.get(normalise(name))) is not None:
                likeness[entity].append(cosine)
    seeds = defaultdict(float, {entity: fmean(cosines) for entity, cosines in likeness.items()})
    for name in graph.link(query):
        seeds[graph.entities[name]] += _NAMED
    for passage in found:
        if passage["id"] in graph.passages:  # the graph may be a moment older or younger
            seeds[graph.passages[passage["id"]]] = _FOUND * passage["score"] / found[0]["score"]
    return graph.rank(seeds, k)
