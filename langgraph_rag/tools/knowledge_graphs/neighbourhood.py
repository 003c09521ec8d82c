"""The facts around an entity, read from the passages that name it."""

from collections.abc import Iterable, Sequence

from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import Statement
from langgraph_rag.tools.knowledge_graphs.entity_graph import EntityGraph


def facts_about(entities: Sequence[str], statements: Iterable[Statement], graph: EntityGraph) -> list[list[str]]:
    """Return the facts that name some entities, first as head, then only as tail, each spelled as in its first passage.

    Args:
        entities: the entities, in normal form.
        statements: facts of passages, with their ids.
        graph: the graph of the entities and passages.
    """
    places = {id_: place for place, id_ in enumerate(graph.passages)}
    facts: dict[tuple[str, str, str], list[str]] = {}
    for id_, *fact in sorted(statements, key=lambda statement: places.get(statement[0], len(places))):
        head, relation, tail = map(normalise, fact)
        facts.setdefault((graph.joins.meant(id_, head), relation, graph.joins.meant(id_, tail)), fact)
    about = [[fact for ends, fact in facts.items() if ends[0] == one] for one in entities]
    told = [[fact for ends, fact in facts.items() if ends[2] == one != ends[0]] for one in entities]
    found = [fact for leaving, coming in zip(about, told, strict=True) for fact in [*leaving, *coming]]
    return [list(fact) for fact in dict.fromkeys(map(tuple, found))]
