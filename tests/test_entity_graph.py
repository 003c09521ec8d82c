"""The triple graph: entities are linked without a model, and a walk from them finds passages."""

import pytest
from made_graphs import entity_graph

from langgraph_rag.errors import EmptyKnowledgeBaseError
from langgraph_rag.records import Naming
from langgraph_rag.tools.index.entity_graph import EntityGraph
from langgraph_rag.tools.knowledge_base import KnowledgeBase

STATEMENTS = [
    ("ferry", "Halden Ferry", "serves", "Kell"),
    ("kell", "Kell", "lies in", "Norrland"),
    ("atlas", "KELL", "lies in", "Norrland"),
    ("renk", "Ada Renk", "was born on", "Kell"),
    ("bridge", "Tolmar Bridge", "built by", "Ada Renk"),
    ("tolmar", "market town", "is", "Tolmar"),
]


def built(statements: list[tuple[str, str, str, str]], names: list[tuple[str, Naming]] | None = None) -> EntityGraph:
    return entity_graph(statements, [(id_, *naming) for id_, naming in names or []], ["blank"])


@pytest.fixture
def graph() -> EntityGraph:
    return built(STATEMENTS)


def ranked(graph: EntityGraph, text: str, k: int = 10) -> list[str]:
    return [passage["id"] for passage in graph.rank({graph.entities[name]: 1.0 for name in graph.link(text)}, k)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("kell", ["kell"]),
        ("kell and norrland", []),
        ("Who built the Tolmar Bridge?", ["tolmar bridge"]),
        ("Was ADA RENK born on Kell?", ["ada renk", "kell"]),
        ("Where does the Ferry go?", ["halden ferry"]),
        ("which island does the halden ferry serve", ["halden ferry"]),
        ("halden ferry and its route", ["halden ferry"]),
        ("Is it a market town?", ["market town"]),
        ("Who is Otto Brandt?", []),
        ("yes", []),
        ("?!", []),
        ("", []),
    ],
)
def test_what_a_text_names_is_linked_by_form_or_by_most_words(graph: EntityGraph, text: str, names: list[str]) -> None:
    assert graph.link(text) == names


def test_passages_are_the_nearer_the_better_and_what_is_not_connected_is_not_found(graph: EntityGraph) -> None:
    found = ranked(graph, "Tolmar Bridge")

    assert found[:2] == ["bridge", "renk"]
    assert sorted(found[2:]) == ["atlas", "ferry", "kell"]
    assert ranked(graph, "Tolmar Bridge", 2) == ["bridge", "renk"]


def test_a_walk_begins_less_often_at_an_entity_that_more_passages_name(graph: EntityGraph) -> None:
    norrland, tolmar = graph.entities["norrland"], graph.entities["tolmar"]  # in two passages and in one

    found = graph.rank({norrland: 1.0, tolmar: 1.0}, 10)

    assert found == graph.passages.best(graph.walk.push({norrland: 1.0, tolmar: 2.0}, epsilon=1e-5), 10)


def test_a_walk_may_begin_at_passages_too_also_at_one_that_states_nothing(graph: EntityGraph) -> None:
    ferry, blank = graph.passages["ferry"], graph.passages["blank"]

    assert [passage["id"] for passage in graph.rank({ferry: 1.0}, 2)][0] == "ferry"
    assert [passage["id"] for passage in graph.rank({blank: 1.0}, 10)] == ["blank"]


def test_an_edge_weighs_as_many_facts_as_link_its_ends_however_many_passages_state_them() -> None:
    more = [("x", "Kell", "supplies", "Norrland"), ("y", "norrland", "owns", "kell"), ("y", "Kell", "is", "Kell")]
    graph = built(STATEMENTS + more)
    kell, norrland, ferry = (graph.entities[name] for name in ("kell", "norrland", "halden ferry"))

    def nearness(to: int) -> float:
        return float(graph.walk.push({kell: 1.0}).of([to])[0])

    assert nearness(norrland) > nearness(ferry)
    assert graph.walk.degree([norrland]) == [5]  # Kell, and the four passages that name it
    assert graph.spread(norrland) == 4  # passages


def test_nothing_named_finds_nothing(graph: EntityGraph) -> None:
    assert graph.rank({}, 10) == []
    assert entity_graph([]).link("Kell") == []


async def test_the_knowledge_base_walks_on_what_it_holds_now(kb: KnowledgeBase) -> None:
    async def found() -> set[str]:
        return {passage["id"] for passage in await kb.anear_entities(["Who is Skellby's best runner?"])}

    before = await found()
    kb.add([{"id": "runner", "title": "Tilda Marsh", "text": "Tilda Marsh was born in Skellby."}], progress=False)
    with_runner = await found()
    kb.delete(["runner"])

    assert "skellby" in before
    assert with_runner == before | {"runner"}
    assert await found() == before
    assert await kb.anear_entities(["nobody we know of"]) == []


def test_nothing_is_near_anything_in_an_empty_knowledge_base(empty_kb: KnowledgeBase) -> None:
    with pytest.raises(EmptyKnowledgeBaseError, match="is empty: add documents first"):
        empty_kb.near_entities(["Orla Vint"])
