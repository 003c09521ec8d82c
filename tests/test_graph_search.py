"""Graph search: facts lead to passages that share no word with the question."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from made_graphs import entity_graph

from langgraph_rag.records import Record, ScoredPassage
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.retrieve.ranking import blend, covering, fuse, with_mentioned
from langgraph_rag.tools.retrieve.search import SEARCHES, walk_from

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
GRAPH = entity_graph(
    [*STATEMENTS, ("other", "Sund", "lies in", "Tharn"), ("other", "a town", "is", "Sund")],
    passages=["viaduct", "orvane", "other", "blank"],
)


def walked(names: list[str], facts: list[tuple[list[str], float]], found: dict[str, float]) -> list[str]:
    passages = [ScoredPassage(id=id_, score=score) for id_, score in found.items()]
    return [passage["id"] for passage in walk_from(GRAPH, names, 1.0, facts, passages, 10)]


def test_a_passage_that_only_facts_lead_to_is_found(empty_kb: KnowledgeBase) -> None:
    empty_kb.add(CHAIN + OTHERS, progress=False)

    assert "anstrey" not in [passage["id"] for passage in empty_kb.search(QUESTION, 8, by="hybrid")]
    assert {"viaduct", "orvane", "anstrey"} <= {passage["id"] for passage in empty_kb.search(QUESTION, 6, by="graph")}


@pytest.mark.parametrize(
    ("names", "facts", "found", "ranking"),
    [
        (["sarl viaduct"], [], {}, ["viaduct", "orvane"]),
        ([], [(["Orvane", "raised in", "Anstrey"], 0.5)], {}, ["orvane", "viaduct"]),
        ([], [], {"other": 1.0, "orvane": 0.5}, ["other", "orvane"]),
        (["sarl viaduct"], [], {"other": 0.6, "blank": 0.5, "orvane": 0.1}, ["other", "blank", "viaduct", "orvane"]),
        (["sund"], [], {"blank": 0.5, "viaduct": 0.4, "orvane": 0.3}, ["blank", "viaduct", "other", "orvane"]),
        (["sund"], [], {"viaduct": 0.5, "orvane": 0.4, "blank": 0.3}, ["viaduct", "orvane", "other", "blank"]),
    ],
    ids=[
        "name",
        "fact",
        "nothing to walk from",
        "the first two stay",
        "a walk overrules the rest",
        "and what no facts lead to",
    ],
)
def test_a_walk_begins_at_names_and_facts(
    names: list[str], facts: list[tuple[list[str], float]], found: dict[str, float], ranking: list[str]
) -> None:
    assert walked(names, facts, found) == ranking


@pytest.mark.parametrize(
    "fact",
    [
        (["Orvane", "raised in", "Anstrey"], -0.1),
        (["Nobody", "knows", "this"], 0.9),
        (["a village", "is", "tarn"], 0.9),
    ],
    ids=["unlike the query", "not in the graph", "generic"],
)
def test_a_fact_that_tells_nothing_leads_nowhere(fact: tuple[list[str], float]) -> None:
    assert walked([], [fact], {}) == []


@pytest.mark.parametrize("share", [0.0, 0.02])
def test_a_walk_counts_as_much_as_its_share(share: float) -> None:
    found = [ScoredPassage(id=id_, score=score) for id_, score in (("blank", 1.0), ("other", 0.9), ("orvane", 0.5))]

    ranking = walk_from(GRAPH, ["sarl viaduct"], share, [], found, 4)

    assert [passage["id"] for passage in ranking] == ["blank", "other", "orvane", *(["viaduct"] if share else [])]


@pytest.mark.parametrize("unjudged", ["blank", "new"], ids=["states nothing", "came meanwhile"])
def test_a_passage_that_no_walk_reaches_keeps_its_place_among_its_like(unjudged: str) -> None:
    found = ["orvane", "other", unjudged, "unknown", "viaduct"]
    passages = [ScoredPassage(id=id_, score=1 / rank) for rank, id_ in enumerate(found, start=1)]

    ranking = walk_from(GRAPH, ["sarl viaduct"], 1.0, [], passages, 5)

    assert [passage["id"] for passage in ranking] == ["orvane", "other", "viaduct", unjudged, "unknown"]
    scores = [passage["score"] for passage in ranking]
    assert scores == sorted(scores, reverse=True)


def test_where_no_passage_states_anything_the_ranking_is_the_one_found() -> None:
    found = [ScoredPassage(id=id_, score=1 / rank) for rank, id_ in enumerate("cab", start=1)]

    assert walk_from(entity_graph([]), [], 1.0, [], found, 2) == found[:2]


OFFICE = {
    "Offer": "The offer of Halm GmbH was accepted by Sturm AG on 3 March 2024.",
    "Sturm AG": "Sturm AG is based in Graz.",
    "Other": "Talg Inc. makes pumps in Kiel.",
    "Third": "Sturm AG hired Jo Moll in 2020. Jo Moll had been at Talg Inc. before. Sturm AG sells pumps to Halm GmbH.",
}
LETTERS = {
    "Letter": "The letter of Ines Roth was answered by Paul Kern on 4 May 2021.",
    "Paul Kern": "Paul Kern lives in Ulm.",
    "Ida Vogt": "Ida Vogt keeps bees in Bern.",
    "Club": "Paul Kern met Ida Vogt in 2019. Ida Vogt had been at the club before. Paul Kern writes to Ines Roth.",
}
SETTINGS = {
    "generic-date-based": "generic-date-based is a default value. It has a default value.",
    "BOAT_LIMIT": "BOAT_LIMIT has the value 12 by default. It limits the boats of a harbour.",
    "PIER_LIMIT": "PIER_LIMIT has the value 3 by default. It limits the piers of a harbour.",
    "Limits": "The default value of a setting is used if none is given. generic-date-based is a default value.",
}


@pytest.mark.parametrize(
    ("documents", "query", "first"),
    [
        (OFFICE, "Where is Sturm AG based?", "Sturm AG"),
        (OFFICE, "Where does Talg Inc. make pumps?", "Other"),
        (LETTERS, "Where does Paul Kern live?", "Paul Kern"),
        (LETTERS, "In which town does Ida Vogt keep bees?", "Ida Vogt"),
        (SETTINGS, "What is the default value of the setting BOAT_LIMIT?", "BOAT_LIMIT"),
        (SETTINGS, "PIER_LIMIT default value", "PIER_LIMIT"),
    ],
)
def test_a_walk_does_not_overrule_the_passage_that_answers(
    empty_kb: KnowledgeBase, documents: dict[str, str], query: str, first: str
) -> None:
    empty_kb.add([{"id": title, "title": title, "text": text} for title, text in documents.items()], progress=False)

    assert {by: empty_kb.search(query, 1, by=by)[0]["id"] for by in SEARCHES if by != "dense"} == dict.fromkeys(
        ("bm25", "hybrid", "graph"), first
    )
    assert empty_kb.search(query) == empty_kb.search(query, by="graph")


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


def test_of_many_facts_those_most_like_the_query_are_walked_on(empty_kb: KnowledgeBase) -> None:
    """The first passage has more facts than are used: its last is the one asked about, and alone leads to Orvane."""
    bought = " ".join(f"Sarl Works bought Reed {n}." for n in range(9))
    works = {"id": "works", "title": "Sarl Works", "text": f"{bought} Sarl Works was founded by Matthis Orvane."}
    reeds = [{"id": f"reed-{n}", "title": f"Reed {n}", "text": f"Reed {n} owns Pond {n}."} for n in range(9)]
    empty_kb.add([works, *reeds, CHAIN[1], *OTHERS], progress=False)

    found = [
        passage["id"] for passage in empty_kb.search("Who founded Sarl Works, and what had he studied?", 5, by="graph")
    ]

    assert found[0] == "works"
    assert "orvane" in found


@pytest.mark.parametrize(("sure", "first"), [(True, "c"), (False, "a")])
def test_what_words_are_sure_of_comes_first(sure: bool, first: str) -> None:
    meaning = [ScoredPassage(id="a", score=0.9), ScoredPassage(id="b", score=0.8), ScoredPassage(id="c", score=0.1)]
    words = [ScoredPassage(id="c", score=9.0), ScoredPassage(id="a", score=8.9)]

    blended = blend(meaning, words, sure=sure)

    assert blended[0]["id"] == first
    assert [passage["score"] for passage in blended] == sorted((p["score"] for p in blended), reverse=True)


def test_passages_are_compared_by_how_far_ahead_they_are() -> None:
    meaning = [ScoredPassage(id=f"{place:03}", score=0.5 - place / 1_000) for place in range(60)]
    words = [ScoredPassage(id="known", score=12.0), ScoredPassage(id="001", score=2.0)]

    assert [passage["id"] for passage in blend(meaning, words)[:3]] == ["known", "001", "000"]
    assert blend([], words)[0]["id"] == "known"
    assert [passage["id"] for passage in blend(meaning, [])] == [passage["id"] for passage in meaning]
    assert blend([], []) == []


def test_passages_of_the_same_ranks_are_sorted_by_id_whatever_the_order_of_the_rankings() -> None:
    def ranking(*ids: str) -> list[ScoredPassage]:
        return [ScoredPassage(id=id_, score=1.0) for id_ in ids]

    rankings = [ranking(*"xabcdyb"[::step]) for step in (1, 2, 3)] + [ranking("b", "x", "a"), ranking("a", "b", "x")]
    orders = [fuse(order) for order in permutations(rankings)]
    swapped = fuse([ranking("b", "c", "a"), ranking("c", "a", "b"), ranking("a", "b", "c")])

    assert all(order == orders[0] for order in orders)
    assert [passage["id"] for passage in swapped] == ["a", "b", "c"]


def test_a_part_of_a_query_finds_what_the_whole_leaves_out() -> None:
    meaning = [ScoredPassage(id=f"mill-{place}", score=0.9 - place / 100) for place in range(6)]
    words = [ScoredPassage(id="mill-0", score=5.0), ScoredPassage(id="mill-1", score=1.0)]
    parts = [meaning, [ScoredPassage(id="ferry", score=0.6), ScoredPassage(id="mill-5", score=0.1)]]

    blended = blend(meaning, words, parts)

    places = [passage["id"] for passage in blended]
    assert places[0] == "mill-0"
    assert places.index("ferry") < places.index("mill-5")
    assert 0 <= blended[-1]["score"] < blended[0]["score"] <= 1


def test_what_the_first_passages_do_not_tell_gets_a_place() -> None:
    ranking = [ScoredPassage(id=id_, score=score) for id_, score in [("a", 0.9), ("a2", 0.8), ("a3", 0.7), ("b", 0.5)]]
    told = np.array([[1.0, 0.0], [1.0, 0.0], [0.9, 0.0], [0.0, 1.0]])

    chosen = covering(ranking, told, np.array([0.3, 0.7]), 3)

    assert [passage["id"] for passage in chosen] == ["a", "b", "a2"]
    assert 1 >= chosen[0]["score"] >= chosen[1]["score"] >= chosen[2]["score"] > 0


def test_a_query_without_words_that_tell_keeps_the_ranking() -> None:
    ranking = [ScoredPassage(id=f"{place:03}", score=1 - place / 100) for place in range(60)]

    chosen = covering(ranking, np.zeros((50, 0)), np.zeros(0), 55)

    assert [passage["id"] for passage in chosen] == [f"{place:03}" for place in range(55)]
    assert covering([], np.zeros((0, 2)), np.array([0.5, 0.5]), 5) == []


def scores_beside(first: str, title: str, text: str, told: float = 0.0) -> float:
    """Return what a passage of the score 0.5 scores below one with the text `first`."""
    said = {"first": ("Begin", first), "other": (title, text)}
    records = {
        id_: Record(id=id_, title=title, text=text, hash="", sentences=[text], phrases=[])
        for id_, (title, text) in said.items()
    }
    ranking = [ScoredPassage(id="first", score=1.0), ScoredPassage(id="other", score=0.5)]
    same, raised = with_mentioned(ranking, records, np.array([[1.0, 0.0], [0.0, told]]), np.array([0.5, 0.5]), 1)
    assert same == 1.0
    return round(raised, 3)


@pytest.mark.parametrize(
    ("first", "title", "text", "score"),
    [
        ("It needs the skell_limit of the pump.", "skell_limit (Settings)", "How much it holds.", 0.7),
        ("It was built by Karl Senn.", "Karl Senn (engineer)", "He lived in Ost.", 0.7),
        ("Its Security matters.", "Security", "How to lock it.", 0.7),
        ("Pass second_limit to it.", "Limits", "second_limit: How long it waits.", 0.6),
        ("For its security it is locked.", "Security", "How to lock it.", 0.5),
        ("It needs the skell_limits.", "skell_limit", "How much it holds.", 0.5),
        ("It is an Ant.", "Ant", "Ants are small.", 0.5),
        ("Pass second_limits to it.", "Limits", "second_limit: How long it waits.", 0.5),
        ("It tells nothing.", "Karl Senn", "He lived in Ost.", 0.5),
    ],
)
def test_what_the_first_passage_mentions_by_its_topic_scores_more(
    first: str, title: str, text: str, score: float
) -> None:
    assert scores_beside(first, title, text) == score


def test_a_mentioned_passage_scores_the_more_the_more_it_adds() -> None:
    assert scores_beside("It was built by Karl Senn.", "Karl Senn", "He lived in Ost.", told=1.0) == 0.95


def test_a_passage_without_a_record_keeps_its_score() -> None:
    ranking = [ScoredPassage(id="a", score=1.0), ScoredPassage(id="b", score=0.5)]
    assert with_mentioned(ranking, {}, np.zeros((2, 1)), np.ones(1), 1) == [1.0, 0.5]


def test_the_setting_that_the_found_passage_mentions_is_among_the_first(empty_kb: KnowledgeBase) -> None:
    others = [
        {"id": f"o{n}", "title": f"Valve {n}", "text": f"The valve {n} closes the pipe when the pump stops at night."}
        for n in range(30)
    ]
    check = {"id": "check", "title": "Checks", "text": "The check warns of a pump that runs dry: set `dry_stop_after`."}
    setting = {"id": "setting", "title": "dry_stop_after (Settings)", "text": "Default: 40. Seconds before a stop."}
    empty_kb.add([check, setting, *others], progress=False)

    found = empty_kb.search("Which check warns of a pump that runs dry, and after what time does the pump stop?", 3)

    assert {"check", "setting"} <= {passage["id"] for passage in found}


def test_both_things_that_a_question_names_are_among_the_first(empty_kb: KnowledgeBase) -> None:
    many = [
        {"id": f"age-{n}", "title": "Session age", "text": f"The session cookie of shop {n} has an age of {n} days."}
        for n in range(8)
    ]
    other = {"id": "csrf", "title": "Forgery", "text": "A token against forgery expires after one year."}
    empty_kb.add([*many, other, *OTHERS], progress=False)

    found = empty_kb.search("What age has a session cookie of shop 3, and when does the forgery token expire?", 3)

    assert "csrf" in [passage["id"] for passage in found]


def test_each_entity_of_a_query_leads_on_by_its_own_facts() -> None:
    sales = [("harl", "Harl Mill", "was sold to", f"Owner {n}") for n in range(8)]
    owners = [(f"owner-{n}", f"Owner {n}", "lived in", "Ost") for n in range(8)]
    built = [("kell", "Kell Mill", "was built by", "Ada Renk"), ("renk", "Ada Renk", "lived in", "Skell")]
    graph = entity_graph([*sales, *owners, *built])
    facts = [(statement[1:], 0.5) for statement in sales] + [(built[0][1:], 0.4)]
    found = [ScoredPassage(id="harl", score=1.0), ScoredPassage(id="kell", score=0.9)]

    ranking = walk_from(graph, ["harl mill", "kell mill"], 1.0, facts, found, 6)

    assert "renk" in [passage["id"] for passage in ranking]


def test_a_passage_to_which_no_name_of_the_query_leads_comes_after_those_with_one(tmp_path: Path) -> None:
    documents = [
        {"id": "film", "title": "Grey Water", "text": "Grey Water is a film that was directed by Jon Rask."},
        {"id": "director", "title": "Jon Rask", "text": "Rask came from Ost, and was a cooper before."},
        *(
            {"id": f"other-{n}", "title": f"Born in {n}", "text": f"The director of film {n} was born where he died."}
            for n in range(6)
        ),
    ]
    with KnowledgeBase.open(tmp_path / "kb") as kb:
        kb.add(documents, progress=False)
        query = "Where was the director of Grey Water born?"
        found, likest = kb.search(query, 3), kb.search(query, 3, by="hybrid")

    assert [passage["id"] for passage in found] == ["film", "director", likest[1]["id"]]
    assert "director" not in [passage["id"] for passage in likest]
    assert [passage["score"] for passage in found] == sorted((one["score"] for one in found), reverse=True)
