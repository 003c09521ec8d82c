"""Graphs of given facts, names and passages."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from langgraph_rag.records import Record, Statement
from langgraph_rag.tools.index.entity_graph import EntityGraph, EntityIndex
from langgraph_rag.tools.index.entity_rows import Given
from langgraph_rag.tools.index.hierarchy_graph import HierarchyGraph, HierarchyIndex, contents_of

NamingOf = tuple[str, str, str, str]
"""The id of a passage, and a name that it gives, its entity and kind."""


def entity_graph(
    statements: Iterable[Statement],
    namings: Iterable[NamingOf] = (),
    passages: Sequence[str] = (),
    given: Mapping[str, str] | None = None,
) -> EntityGraph:
    """Return the graph of facts and names, in these passages and those of the facts."""
    index = EntityIndex()
    said = given_by(statements, namings, passages)
    index.take(list(said), said)
    return index.made().graph(given or {})


def given_by(
    statements: Iterable[Statement], namings: Iterable[NamingOf] = (), passages: Sequence[str] = ()
) -> dict[str, Given]:
    """Return what each passage says."""
    facts, names = (
        defaultdict[str, list[tuple[str, str, str]]](list),
        defaultdict[str, list[tuple[str, str, str]]](list),
    )
    for id_, head, relation, tail in statements:
        facts[id_].append((head, relation, tail))
    for id_, name, entity, kind in namings:
        names[id_].append((name, entity, kind))
    ids = dict.fromkeys([*passages, *facts, *names])
    return {id_: Given(id_, number, facts[id_], names[id_]) for number, id_ in enumerate(ids)}


def hierarchy_graph(records: Sequence[Record]) -> HierarchyGraph:
    """Return the graph of passages."""
    index, by_id = HierarchyIndex(), {record["id"]: record for record in records}
    index.take(list(by_id), {id_: contents_of(record, number) for number, (id_, record) in enumerate(by_id.items())})
    return index.made().graph(lambda ids: [by_id[id_] for id_ in ids if id_ in by_id])
