"""Derived graphs follow the records: after additions and removals, they equal those that a new process builds."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest
from fakes import ArithmeticEmbeddings

from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.records import Record, Statement
from langgraph_rag.tools.index.entity_graph import EntityGraph, EntityRows
from langgraph_rag.tools.index.hierarchy_graph import HierarchyGraph, HierarchyRows
from langgraph_rag.tools.index.triple_graph import TripleGraph
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores import change_log
from langgraph_rag.tools.stores.change_log import _KEPT, ChangeLog

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


# --- rows that grow and shrink ---------------------------------------------------------------------------------------
def stated(id_: str, seed: int) -> list[Statement]:
    chance = random.Random(seed)
    facts = range(chance.randrange(5))
    return [(id_, chance.choice(NAMES), chance.choice(RELATIONS), chance.choice(NAMES)) for _ in facts]


def named(id_: str, seed: int) -> list[tuple[str, str, str, str]]:
    """Return the names that a passage gives: its title, and perhaps others."""
    chance = random.Random(seed)
    title = next((head for _, head, _, _ in stated(id_, seed)), chance.choice(NAMES))
    given = [(chance.choice(NAMES), title, chance.choice(["", "abbreviation"])) for _ in range(chance.randrange(3))]
    said = [(chance.choice(NAMES), "", "film 1931")] * chance.randrange(2)
    return [(id_, *names) for names in dict.fromkeys([(title, title, "title"), *given, *said])]


def recorded(id_: str, seed: int) -> Record:
    chance = random.Random(seed)
    sentences = [f"{chance.choice(NAMES)} {chance.choice(RELATIONS)} {chance.choice(NAMES)}." for _ in range(3)]
    title, phrases = chance.choice(NAMES), chance.sample(NAMES, 3)
    return Record(id=id_, title=title, text=" ".join(sentences), hash="", sentences=sentences, phrases=phrases)


def changes() -> Iterator[tuple[list[str], dict[str, int], dict[str, int]]]:
    """Yield what changes, what comes in its place (with the seed of its text), and what is there afterwards."""
    chance, there = random.Random(7), dict[str, int]()
    for _ in range(30):
        gone = chance.sample(sorted(there), min(len(there), chance.randrange(4)))
        come = {f"p{chance.randrange(12)}": chance.randrange(1000) for _ in range(2)}
        there = {id_: seed for id_, seed in there.items() if id_ not in gone} | come
        yield list(dict.fromkeys([*gone, *come])), come, dict(there)


def found_by_walks(graph: EntityGraph) -> dict[str, dict[str, float]]:
    """Return what a walk from each entity finds."""
    return {
        name: {passage["id"]: passage["score"] for passage in graph.rank({node: 1.0}, 99)}
        for name, node in graph.entities.items()
    }


def facts_and_names(seeds: dict[str, int]) -> tuple[list[Statement], list[tuple[str, str, str, str]]]:
    facts = [statement for id_, seed in seeds.items() for statement in stated(id_, seed)]
    return facts, [naming for id_, seed in seeds.items() for naming in named(id_, seed)]


def test_a_triple_graph_that_grew_and_shrank_is_one_made_at_once() -> None:
    graph, rows = TripleGraph(), EntityRows()
    joined = 0
    for changed, come, there in changes():
        facts, names = facts_and_names(come)
        rows.remove(changed)
        rows.add(facts, names)
        graph.remove(changed)
        graph.add(facts)
        joins = rows.graph(list(there)).joins
        graph.join(joins)
        graph.sort(list(there))

        anew = TripleGraph()
        anew.join(joins)
        anew.add(facts_and_names(there)[0])
        anew.sort(list(there))
        assert dict(graph.networkx.nodes(data="name")) == dict(anew.networkx.nodes(data="name"))
        edges, made = graph.networkx.edges, anew.networkx.edges
        assert {edge: dict(edges[edge]) for edge in edges} == {edge: dict(made[edge]) for edge in made}
        joined += len(joins.everywhere) + len(joins.in_passage)
    assert joined


def test_an_entity_graph_that_grew_and_shrank_is_one_made_at_once() -> None:
    rows = EntityRows()
    for changed, come, there in changes():
        rows.remove(changed)
        rows.add(*facts_and_names(come))
        grown = rows.graph(list(there))

        anew = EntityRows()
        anew.add(*facts_and_names(there))
        made = anew.graph(list(there))
        assert grown.joins == made.joins
        found, expected = found_by_walks(grown), found_by_walks(made)
        assert found.keys() == expected.keys()
        assert all(found[name] == pytest.approx(expected[name]) for name in expected)
        for text in ("Does the Halden Ferry serve Kell?", "the Bridge of Tolmar", "Who is Renk?"):
            assert set(grown.link(text)) == set(made.link(text))


def linked(graph: HierarchyGraph) -> Counter[tuple[str, str]]:
    kinds = [("p", graph.passages), ("s", graph.sentences), ("w", graph.phrases)]
    names = {node: f"{kind} {key}" for kind, nodes in kinds for key, node in nodes.items()}
    return Counter((name, names[other]) for node, name in names.items() for other in graph.walk.neighbours(node))


def test_a_hierarchical_graph_that_grew_and_shrank_is_one_made_at_once() -> None:
    rows = HierarchyRows()
    for changed, come, there in changes():
        rows.remove(changed)
        rows.add(recorded(id_, seed) for id_, seed in come.items())
        grown = rows.graph(list(there))

        anew = HierarchyRows()
        anew.add(recorded(id_, seed) for id_, seed in there.items())
        made = anew.graph(list(there))
        assert linked(grown) == linked(made)
        assert grown.spellings == made.spellings
        assert made.spellings.keys() == made.phrases.keys()
        for name in NAMES:
            assert len(grown.similar(name)) == len(made.similar(name))


def test_a_graph_that_somebody_holds_stays_as_it_was() -> None:
    rows = EntityRows()
    rows.add([("renk", "Ada Renk", "was born on", "Kell")])
    held = rows.graph(["renk"])
    rows.add([("bridge", "Tolmar Bridge", "built by", "Ada Renk"), ("other", "Renk the Elder", "lived on", "Kell")])
    rows.graph(["renk", "bridge", "other"])

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
    monkeypatch.setattr(change_log, "_KEPT", 1)
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
    monkeypatch.setattr(EntityRows, "add", None)
    monkeypatch.setattr(HierarchyRows, "add", None)
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
