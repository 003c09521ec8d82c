"""Graph search: facts lead to passages that share no word with the question."""

import pytest

from langgraph_rag.records import ScoredPassage
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.knowledge_graphs.entity_graph import EntityRows
from langgraph_rag.tools.knowledge_graphs.graph_search import walk_from

CHAIN = [
    {"id": "viaduct", "title": "Sarl Viaduct", "text": "The Sarl Viaduct was designed by Matthis Orvane."},
    {"id": "orvane", "title": "Matthis Orvane", "text": "Matthis Orvane was raised in Anstrey."},
    {"id": "anstrey", "title": "Anstrey", "text": "Anstrey is a village in Ostrel."},
]
OTHERS = [
    {"id": f"bridge-{n}", "title": f"Bridge {n}", "text": f"Who built bridge {n} over the river is not known."}
    for n in range(30)
]
QUESTION = "Where was the designer of the Sarl Viaduct raised?"
STATEMENTS = [("viaduct", "Sarl Viaduct", "designed by", "Orvane"), ("orvane", "Orvane", "raised in", "Anstrey")]
ROWS = EntityRows()
ROWS.add([*STATEMENTS, ("other", "Sund", "lies in", "Tharn")])
GRAPH = ROWS.graph(["viaduct", "orvane", "other", "blank"])


def walked(query: str, facts: list[tuple[list[str], float]], found: dict[str, float]) -> list[str]:
    passages = [ScoredPassage(id=id_, score=score) for id_, score in found.items()]
    return [passage["id"] for passage in walk_from(GRAPH, query, facts, passages, 10)]


def test_a_passage_that_only_facts_lead_to_is_found(empty_kb: KnowledgeBase) -> None:
    empty_kb.add(CHAIN + OTHERS, progress=False)

    assert "anstrey" not in [passage["id"] for passage in empty_kb.search(QUESTION, 8, by="hybrid")]
    assert {"viaduct", "orvane", "anstrey"} <= {passage["id"] for passage in empty_kb.search(QUESTION, 6, by="graph")}


@pytest.mark.parametrize(
    ("query", "facts", "found", "first"),
    [
        ("the Sarl Viaduct", [], {}, ["viaduct", "orvane"]),
        ("which one?", [(["Orvane", "raised in", "Anstrey"], 0.5)], {}, ["orvane", "viaduct"]),
        ("which one?", [], {"other": 2.0, "orvane": 1.0}, ["other", "orvane"]),
        ("Sund", [], {"orvane": 1.0}, ["other", "orvane"]),
        ("which one?", [], {"blank": 1.0}, ["blank"]),
    ],
    ids=["name", "fact", "found", "a name weighs more than a passage found", "a passage without facts"],
)
def test_a_walk_begins_at_names_facts_and_passages(
    query: str, facts: list[tuple[list[str], float]], found: dict[str, float], first: list[str]
) -> None:
    assert walked(query, facts, found)[: len(first)] == first


@pytest.mark.parametrize("fact", [(["Orvane", "raised in", "Anstrey"], -0.1), (["Nobody", "knows", "this"], 0.9)])
def test_a_fact_unlike_the_query_or_not_in_the_graph_leads_nowhere(fact: tuple[list[str], float]) -> None:
    assert walked("which one?", [fact], {}) == []


@pytest.mark.parametrize("unjudged", ["blank", "new"], ids=["states nothing", "came meanwhile"])
@pytest.mark.parametrize(
    ("place", "expected"),
    [(0, ["?", "viaduct", "orvane"]), (1, ["viaduct", "?", "orvane"]), (2, ["viaduct", "orvane", "?"])],
)
def test_a_passage_that_no_facts_lead_to_keeps_its_place(unjudged: str, place: int, expected: list[str]) -> None:
    found = ["orvane", "other"]
    found.insert(place, unjudged)
    passages = [ScoredPassage(id=id_, score=1 / rank) for rank, id_ in enumerate(found, start=2)]

    ranking = walk_from(GRAPH, "the Sarl Viaduct", [], passages, 3)

    assert [passage["id"] for passage in ranking] == [id_.replace("?", unjudged) for id_ in expected]
    scores = [passage["score"] for passage in ranking]
    assert scores == sorted(scores, reverse=True)


def test_where_no_passage_states_anything_the_ranking_is_the_one_found() -> None:
    found = [ScoredPassage(id=id_, score=1 / rank) for rank, id_ in enumerate("cab", start=1)]

    assert walk_from(EntityRows().graph(["a", "b", "c"]), "the Sarl Viaduct", [], found, 2) == found[:2]


def test_what_meaning_and_words_put_first_stays_first_without_a_fact(empty_kb: KnowledgeBase) -> None:
    bought = [
        {"id": f"mill-{n}", "title": f"Mill {n}", "text": f"Mill {n} is a mill. Mill {n} bought Tarvel looms in 19{n}."}
        for n in range(10, 40)
    ]
    makers = {
        "id": "makers",
        "title": "Makers of Tarvel looms",
        "text": "- Osk, makers of looms\n- Tarvel makers",
    }
    empty_kb.add([*bought, makers], progress=False)
    ids = ["makers", *map(str, range(100)), "makers"]
    assert empty_kb.without_triples(ids) == ["makers"]

    query = "makers of Tarvel looms"
    assert [empty_kb.search(query, 1, by=by)[0]["id"] for by in ("hybrid", "graph")] == ["makers", "makers"]


def test_what_was_added_or_deleted_is_found_or_not_at_once(empty_kb: KnowledgeBase) -> None:
    empty_kb.add([*CHAIN[:2], *OTHERS], progress=False)

    def found() -> list[str]:
        return [passage["id"] for passage in empty_kb.search(QUESTION, 6, by="graph")]

    before = found()
    empty_kb.add(CHAIN, progress=False)
    assert "anstrey" in found()
    empty_kb.delete(["anstrey"])
    assert found() == before
