"""Derived graphs follow the records: after additions and removals, they equal those that their definitions give."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from fakes import ArithmeticEmbeddings
from made_graphs import given_by
from straightforward_graphs import edges_of, entity_edges, hierarchy_edges, joins_of

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import Record, Statement
from langgraph_rag.tools.index import arrays, entity_graph, hierarchy_graph
from langgraph_rag.tools.index.derived_graphs import Index
from langgraph_rag.tools.index.entity_graph import EntityGraph, EntityIndex, TripleGraph
from langgraph_rag.tools.index.entity_rows import Given
from langgraph_rag.tools.index.hierarchy_graph import HierarchyGraph, HierarchyIndex, contents_of, said_in
from langgraph_rag.tools.index.tables import Stored
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores import database
from langgraph_rag.tools.stores.database import _KEPT, ChangeLog

T = TypeVar("T")
NAMES = ["Kell", "kell", "Ada Renk", "Renk", "Halden Ferry", "Norrland", "Sund", "Tolmar Bridge", "Old Tolmar", "?!"]
RELATIONS = ["lies in", "Lies in", "was built by", "serves"]


# --- what changed ----------------------------------------------------------------------------------------------------
@pytest.fixture
def log(kb: KnowledgeBase) -> ChangeLog:
    return kb._records.triples.changes("nobody")


def test_a_log_tells_what_changed_since_a_place_each_once(log: ChangeLog) -> None:
    log.add(["a", "b"])
    place = log.end
    log.add(["c", "a"])
    log.add(["c"])

    assert log.since(place) == ["c", "a"]
    assert log.since(log.end) == []
    assert log.since(0) == ["a", "b", "c"]


def test_a_log_tells_when_too_much_changed_to_remember(log: ChangeLog) -> None:
    log.add([str(number) for number in range(_KEPT)])
    assert len(log.since(0) or ()) == _KEPT

    log.add(["one more"])

    assert log.since(0) is None
    assert log.since(_KEPT) == ["one more"]


# --- graphs that grow and shrink -------------------------------------------------------------------------------------
def said(chance: random.Random, number: int) -> Given:
    """Return what a passage may say: facts, its title, perhaps other names, and what names are."""
    facts = [(chance.choice(NAMES), chance.choice(RELATIONS), chance.choice(NAMES)) for _ in range(chance.randrange(5))]
    title = facts[0][0] if facts else chance.choice(NAMES)
    names = [
        (chance.choice(NAMES), chance.choice([title, chance.choice(NAMES)]), chance.choice(["", "abbreviation"]))
        for _ in range(chance.randrange(3))
    ]
    names += chance.sample([(f"{letter}. Sund", "Sund", "initials") for letter in "AB"], chance.randrange(2))
    told = [(chance.choice(NAMES), "", chance.choice(["film 1931", "word"]))] * chance.randrange(2)
    return Given("", number, facts, list(dict.fromkeys([(title, title, "title"), *names, *told])))


def recorded(chance: random.Random, number: int) -> Record:
    sentences = [f"{chance.choice(NAMES)} {chance.choice(RELATIONS)} {chance.choice(NAMES)}." for _ in range(3)]
    title, phrases = chance.choice(NAMES), chance.sample(NAMES, 3)
    return Record(id="", title=title, text=str(number), hash="", sentences=sentences, phrases=phrases)


def changes(
    seed: int, made: Callable[[random.Random, int], T], steps: int = 25
) -> Iterator[tuple[list[str], dict[str, tuple[int, T]]]]:
    """Yield the passages that change, and all that are there afterwards, in the order of their numbers.

    Some are replaced, which gives them a new number, and some say something else with the same one.
    """
    chance, there, number = random.Random(seed), dict[str, tuple[int, T]](), 0
    for _ in range(steps):
        gone = chance.sample(sorted(there), min(len(there), chance.randrange(4)))
        come = {f"p{chance.randrange(12)}" for _ in range(3)}
        for id_ in gone:
            del there[id_]
        for id_ in sorted(come):
            before = there.pop(id_, None)
            number += 1
            kept = before[0] if before and chance.random() < 0.5 else number
            there[id_] = kept, made(chance, number)
        there = dict(sorted(there.items(), key=lambda item: item[1][0]))
        yield sorted({*gone, *come}), dict(there)


def reopened(index: Index, folder: Path) -> Stored:
    """Return what is stored of an index, after it was written to a file."""
    stored = index.made().stored
    texts = {name: [table[row] for row in range(len(table))] for name, table in stored.texts.items()}
    found = arrays.write(folder, "index", 1, stored.arrays, texts)
    return Stored(found, {name: found.strings(name) for name in texts})


def check_entities(graph: EntityGraph, there: Mapping[str, Given]) -> None:
    joins, expected = graph.joins(), joins_of(there)
    assert joins.everywhere == expected.everywhere
    assert joins.in_passage == expected.in_passage
    assert joins.bearers == expected.bearers
    assert edges_of(graph) == entity_edges(there)
    assert list(graph.passages) == list(there)


@pytest.mark.parametrize("seed", range(4))
def test_an_entity_graph_that_grew_and_shrank_is_one_made_at_once(seed: int, tmp_path: Path) -> None:
    index, joined = EntityIndex(), 0
    for step, (changed, numbered) in enumerate(changes(seed, said)):
        there = {id_: replace(one, id=id_, number=number) for id_, (number, one) in numbered.items()}
        index.update(changed, {id_: there[id_] for id_ in changed if id_ in there})
        graph = index.graph({})
        check_entities(graph, there)
        joined += len(graph.joins().in_passage) + len(graph.joins().everywhere)
        if step % 8 == 5:
            index = EntityIndex(reopened(index, tmp_path))
            check_entities(index.graph({}), there)
        if step % 5 == 3:
            part = {id_: one for number, (id_, one) in enumerate(there.items()) if number % 2}
            rows = np.array(index.passages.find(list(part)), np.int64)
            check_entities(entity_graph.part_of(index.rows, rows, {}), part)
        if step % 5 == 4:
            new = EntityIndex()
            new.take(list(there), there)
            for text in ("Does the Halden Ferry serve Kell?", "the Bridge of Tolmar", "Who is Renk?", "A. Sund"):
                assert graph.link(text) == new.made().graph({}).link(text)
    assert joined


def check_hierarchy(graph: HierarchyGraph, there: Mapping[str, Record]) -> None:
    sentences = {sentence for record in there.values() for sentence in record["sentences"]}
    assert edges_of(graph, sentences) == hierarchy_edges(there.values())
    assert list(graph.passages) == list(there)
    assert len(graph.sentences) == len(sentences)
    spelled = {normalise(name): name for record in reversed(list(there.values())) for name in spellings(record)}
    assert {form: graph.spelling(form) for form in graph.phrases} == {form: spelled[form] for form in graph.phrases}


def spellings(record: Record) -> list[str]:
    """Return the phrases that stand in the sentences of a passage, the one that counts last."""
    forms = {form for _, forms in said_in(record) for form in forms}
    return [name for name in [*reversed(record["phrases"]), record["title"]] if normalise(name) in forms]


@pytest.mark.parametrize("seed", range(2))
def test_a_hierarchical_graph_that_grew_and_shrank_is_one_made_at_once(seed: int, tmp_path: Path) -> None:
    index, there = HierarchyIndex(), dict[str, Record]()

    def read(ids: Sequence[str]) -> list[Record]:
        return [there[id_] for id_ in ids if id_ in there]

    for step, (changed, numbered) in enumerate(changes(seed, recorded)):
        there = {id_: {**record, "id": id_} for id_, (_, record) in numbered.items()}
        index.update(changed, {id_: contents_of(there[id_], numbered[id_][0]) for id_ in changed if id_ in there})
        check_hierarchy(index.graph(read), there)
        if step % 8 == 5:
            index = HierarchyIndex(reopened(index, tmp_path))
            check_hierarchy(index.graph(read), there)
        if step % 5 == 3:
            part = {id_: record for number, (id_, record) in enumerate(there.items()) if number % 2}
            rows = np.array(index.passages.find(list(part)), np.int64)
            check_hierarchy(hierarchy_graph.part_of(index.rows, rows, read), part)


def test_a_triple_graph_that_grew_and_shrank_is_one_made_at_once() -> None:
    graph, joined = TripleGraph(), 0
    for changed, numbered in changes(7, said):
        there = {id_: replace(one, id=id_) for id_, (_, one) in numbered.items()}
        graph.remove(changed)
        graph.add((id_, *fact) for id_ in changed if id_ in there for fact in there[id_].facts)
        joins = joins_of(there)
        graph.join(joins)
        graph.sort(list(there))

        anew = TripleGraph()
        anew.join(joins)
        anew.add((id_, *fact) for id_, one in there.items() for fact in one.facts)
        anew.sort(list(there))
        assert dict(graph.networkx.nodes(data="name")) == dict(anew.networkx.nodes(data="name"))
        edges, made = graph.networkx.edges, anew.networkx.edges
        assert {edge: dict(edges[edge]) for edge in edges} == {edge: dict(made[edge]) for edge in made}
        joined += len(joins.everywhere) + len(joins.in_passage)
    assert joined


def test_a_graph_that_somebody_holds_stays_as_it_was() -> None:
    index = EntityIndex()
    index.update(["renk"], given_by([("renk", "Ada Renk", "was born on", "Kell")]))
    held = index.graph({})
    more = given_by(
        [("bridge", "Tolmar Bridge", "built by", "Ada Renk"), ("other", "Renk the Elder", "lived on", "Kell")]
    )
    index.update(list(more), {id_: replace(one, number=one.number + 1) for id_, one in more.items()})
    assert index.graph({}).link("Tolmar Bridge") == ["tolmar bridge"]

    assert held.link("Tolmar Bridge, and Renk the Elder") == []
    assert [passage["id"] for passage in held.rank({held.entities["kell"]: 1.0}, 10)] == ["renk"]


# --- in the knowledge base -------------------------------------------------------------------------------------------
def test_what_one_opening_changes_the_graphs_of_another_have(kb: KnowledgeBase) -> None:
    with KnowledgeBase.open(kb.path, ArithmeticEmbeddings()) as other:
        assert other.graph.neighbours("Tilda Marsh") == []
        assert not (other.hierarchy.has("Tilda Marsh") or other.entities.link("Tilda Marsh"))

        kb.add([{"id": "runner", "title": "Tilda Marsh", "text": "Tilda Marsh was born in Skellby."}], progress=False)
        assert other.graph.neighbours("Tilda Marsh") == [["Tilda Marsh", "was born in", "Skellby"]]
        assert other.hierarchy.has("Tilda Marsh")
        assert other.entities.link("Tilda Marsh") == ["tilda marsh"]

        kb.delete(["runner"])
        assert other.graph.neighbours("Tilda Marsh") == []
        assert not (other.hierarchy.has("Tilda Marsh") or other.entities.link("Tilda Marsh"))


def test_after_more_changes_than_the_log_holds_the_graphs_are_built_anew(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_KEPT", 1)
    assert kb.entities.link("Skellby") == ["skellby"]
    assert kb.hierarchy.has("Casper Holm")

    kb.add([{"id": f"t{n}", "title": f"Tarn {n}", "text": f"Tarn {n} lies in Norland."} for n in range(3)])
    kb.delete(["holm", "winter-tide", "salt-road"])

    assert kb.entities.link("Tarn 2") == ["tarn 2"]
    assert not kb.hierarchy.has("Casper Holm")


def test_a_graph_that_could_not_be_brought_up_to_date_is_the_next_time(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kb.entities.link("Skellby") == ["skellby"]
    kb.add([{"id": "tarn", "title": "Lake Tarn", "text": "Lake Tarn lies in Norland."}], progress=False)
    stated = kb._records.triples.statements

    def failing(extractor: str, ids: Sequence[str]) -> Iterator[Statement]:
        yield from islice(stated(extractor, ids), 1)
        raise KnowledgeBaseError("the disk is gone")

    monkeypatch.setattr(kb._records.triples, "statements", failing)
    with pytest.raises(KnowledgeBaseError, match="gone"):
        _ = kb.entities
    monkeypatch.undo()

    kb.delete(["tarn"])
    assert kb.entities.link("Skellby, Lake Tarn") == ["skellby"]


def test_making_a_knowledge_base_does_not_build_its_graphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EntityIndex, "update", None)
    monkeypatch.setattr(HierarchyIndex, "update", None)
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb:
        assert kb.add([{"id": "a", "text": "Kell lies in Norrland."}], progress=False)["added"] == 1


def test_a_graph_whose_passages_are_replaced_again_and_again_does_not_grow(kb: KnowledgeBase) -> None:
    for year in range(1900, 1920):
        kb.update([{"id": "mill", "title": f"Mill {year}", "text": f"Mill {year} lies in Skellby."}], progress=False)
        entities, hierarchy = kb.entities, kb.hierarchy

    assert entities.walk.size <= 2 * (len(entities.passages) + len(entities.entities))
    nodes = len(hierarchy.passages) + len(hierarchy.sentences) + len(hierarchy.phrases)
    assert hierarchy.walk.size <= 2 * nodes
    assert "mill 1919" in entities.link("Mill 1919")


def test_the_facts_of_an_entity_come_each_once_and_are_the_callers_own() -> None:
    graph = TripleGraph()
    graph.add([("a", "Kell", "is part of", "Kell"), ("b", "Sund", "lies in", "Kell")])

    assert graph.neighbours("Kell") == [["Kell", "is part of", "Kell"], ["Sund", "lies in", "Kell"]]
    graph.neighbours("Kell")[0].clear()
    assert graph.neighbours("Kell")[0] == ["Kell", "is part of", "Kell"]


def test_an_entity_is_named_as_it_is_spelled_most_often() -> None:
    graph = TripleGraph()
    graph.add([("a", "KELL", "lies in", "Sund"), ("b", "Kell", "serves", "Sund"), ("c", "Kell", "faces", "Sund")])
    named = graph.networkx.nodes["kell"]

    assert named["name"] == "Kell"
    graph.remove(["b", "c"])
    assert named["name"] == "KELL"
