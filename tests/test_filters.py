"""Filters: what they let through, and that what they hide neither shows nor steers."""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import DOCUMENTS
from fakes import ArithmeticEmbeddings, kept_and_own
from langchain_core.callbacks import BaseCallbackHandler

from langgraph_rag import Context, KnowledgeBase, KnowledgeBaseRetriever, knowledge_base_tools, load_model
from langgraph_rag.context import Search
from langgraph_rag.errors import EmptyKnowledgeBaseError, FilterError
from langgraph_rag.filters import filter_in, joined, kind_of, read_filter
from langgraph_rag.methods import METHODS, create

LAW: dict[str, Any] = {"team": "law"}
TEAMS = ["law", "press", "law", "law", "press", "law", "press", "law"]
TEAM_OF = dict(zip([document["id"] for document in DOCUMENTS], TEAMS, strict=True))
SEEN = {id_ for id_, team in TEAM_OF.items() if team == "law"}
VALUES: dict[str, Any] = {
    "team": "law",
    "year": 1988,
    "score": 0.5,
    "open": True,
    "tags": ["red", "blue"],
    "note": None,
    "empty": [],
}


def with_teams(**more: Any) -> list[dict[str, Any]]:
    numbered = enumerate(zip(DOCUMENTS, TEAMS, strict=True))
    return [{**document, "team": team, "number": number, **more} for number, (document, team) in numbered]


@contextmanager
def of_two_teams(folder: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        kb.add(with_teams(), progress=False)
        yield kb


teams, own_teams = kept_and_own(of_two_teams)


@pytest.fixture(scope="module")
def law(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """Hold the documents of one team alone."""
    with KnowledgeBase.open(tmp_path_factory.mktemp("law") / "kb", ArithmeticEmbeddings()) as kb:
        kb.add([document for document in with_teams() if document["team"] == "law"], progress=False)
        yield kb


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """Hold a passage with the values, and one that has each kind of them in each field."""
    with KnowledgeBase.open(tmp_path_factory.mktemp("mill") / "kb", ArithmeticEmbeddings()) as kb:
        every = dict.fromkeys([*VALUES, "other"], ["x", 1, True, None])
        kb.add([{"id": "mill", "title": "Mill", "text": "It mills.", **VALUES}], progress=False)
        kb.add([{"id": "every", "title": "Each", "text": "It is all.", **every}], progress=False)
        yield kb


# --- what a filter lets through --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("given", "admitted"),
    [
        ({}, True),
        ({"team": "law"}, True),
        ({"team": "Law"}, False),
        ({"team": {"$eq": "law"}, "year": {"$gte": 1988, "$lt": 1989}}, True),
        ({"team": "law", "year": {"$gt": 1988}}, False),
        ({"year": 1988.0}, True),
        ({"year": {"$lte": 1987.5}}, False),
        ({"year": "1988"}, False),
        ({"open": True}, True),
        ({"open": 1}, False),
        ({"score": {"$gt": 0}}, True),
        ({"tags": "blue"}, True),
        ({"tags": {"$ne": "blue"}}, False),
        ({"tags": {"$in": ["green", "red"]}}, True),
        ({"tags": {"$nin": ["green", "red"]}}, False),
        ({"tags": {"$nin": ["green"]}}, True),
        ({"tags": {"$in": []}}, False),
        ({"note": None}, True),
        ({"note": {"$exists": True}}, True),
        ({"empty": {"$exists": True}}, True),
        ({"other": {"$exists": False}}, True),
        ({"other": {"$exists": True}}, False),
        ({"other": {"$ne": 1}}, True),
        ({"other": {"$gt": 1}}, False),
        ({"title": {"$gte": "M", "$lt": "N"}}, True),
        ({"$or": [{"team": "press"}, {"year": 1988}]}, True),
        ({"$and": [{"team": "law"}, {"$or": [{"year": 1}, {"year": 2}]}]}, False),
        ({"$not": {"team": "law", "year": 1}}, True),
        ({"$not": {"team": "law", "year": 1988}}, False),
        ({"year": {"$not": {"$gt": 1900, "$lt": 1950}}}, True),
        ({"year": {"$not": {"$gt": 1900}}}, False),
    ],
)
def test_conditions(mill: KnowledgeBase, given: dict[str, Any], admitted: bool) -> None:
    assert [passage["id"] for passage in mill.passages(["mill"], filter=given)] == ["mill"] * admitted


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("team", "expected a filter such as"),
        ([LAW], "expected a filter such as"),
        ({1: 2}, "names of fields as text"),
        ({"year": {"gte": 2}}, r"year: expected one of \$eq, .*got 'gte'"),
        ({"year": {"$regex": "x"}}, r"got '\$regex'"),
        ({"$nor": [LAW]}, r"\$and, \$or, \$not, got '\$nor'"),
        ({"$and": LAW}, r"a list of filters after \$and"),
        ({"$or": []}, r"a list of filters after \$or"),
        ({"$or": ["law"]}, "expected a filter such as"),
        ({"$not": "law"}, "expected a filter such as"),
        ({"year": {}}, "a condition on year"),
        ({"year": {"$not": 3}}, r"conditions on year after \$not"),
        ({"year": {"$in": 3}}, r"a list after \$in of year"),
        ({"year": [1, 2]}, r"one value after \$eq of year"),
        ({"year": {"$gt": True}}, r"a number or text after \$gt of year"),
        ({"year": {"$gt": None}}, r"a number or text after \$gt of year"),
        ({"year": {"$in": [[1]]}}, r"single values after \$in of year"),
        ({"year": {"$exists": 1}}, r"true or false after \$exists of year"),
        ({"year": float("nan")}, "got nan"),
        ({"year": object()}, "to compare with"),
        ({"team": "\ud800"}, "text to compare with"),
    ],
)
def test_what_is_no_filter_is_refused(given: Any, told: str) -> None:
    with pytest.raises(FilterError, match=told):
        read_filter(given)
    with pytest.raises(ValueError, match=told):
        Context(filter=given)


def test_filters_are_not_read_to_any_depth() -> None:
    deep: dict[str, Any] = LAW
    for _ in range(10_000):
        deep = {"$not": deep}
    with pytest.raises(FilterError, match="at most 20 levels"):
        read_filter(deep)


def test_a_filter_may_be_written_as_json() -> None:
    assert filter_in('{"year": {"$in": [1, 2]}}') == {"year": {"$in": [1, 2]}}
    with pytest.raises(FilterError, match="expected a filter as JSON"):
        filter_in("year=1")


def test_two_filters_both_hold() -> None:
    assert joined(None, {}) is None
    assert joined(LAW, None) == LAW
    assert joined(LAW, {"year": 1}) == {"$and": [LAW, {"year": 1}]}


def test_a_context_keeps_the_filter_that_it_was_given() -> None:
    given = {"year": {"$in": [1, 2]}}
    settings = Context(filter=given)
    given["year"]["$in"].append(3)
    assert settings.filter == {"year": {"$in": [1, 2]}}
    assert hash(settings) == hash(Context(filter={"year": {"$in": [1, 2]}}))


@pytest.mark.parametrize("value", [True, 1, 0.5, "x", None, {}])
def test_kinds_are_words(value: object) -> None:
    assert kind_of(value) in {"true or false", "a number", "text", "null", "an object"}


# --- searches --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("by", ["dense", "bm25", "hybrid", "graph"])
@pytest.mark.parametrize("query", ["Who directed The Salt Road?", "Casper Holm", "a harbour town in Norland", "fish"])
def test_a_search_is_as_if_the_rest_were_not_there(
    teams: KnowledgeBase, law: KnowledgeBase, by: Search, query: str
) -> None:
    found, expected = teams.search(query, 8, by=by, filter=LAW), law.search(query, 8, by=by)
    assert [passage["id"] for passage in found] == [passage["id"] for passage in expected]
    assert [p["score"] for p in found] == pytest.approx([p["score"] for p in expected], rel=1e-6)


@pytest.mark.parametrize("query", ["Casper Holm", "Who directed Winter Tide?", "The Salt Road"])
def test_facts_and_entities_are_as_if_the_rest_were_not_there(
    teams: KnowledgeBase, law: KnowledgeBase, query: str
) -> None:
    assert teams.search_triples(query, 20, filter=LAW) == law.search_triples(query, 20)
    assert teams.near_entities([query], 8, filter=LAW) == [
        {"id": passage["id"], "score": pytest.approx(passage["score"])} for passage in law.near_entities([query], 8)
    ]


def test_random_filters_find_what_a_knowledge_base_of_only_these_passages_does(
    tmp_path: Path, embeddings: ArithmeticEmbeddings
) -> None:
    rng = random.Random(7)
    words = [f"{one}{other}" for one in ("ka", "lo", "mi", "tu", "re") for other in ("ran", "sel", "dim", "pol")]
    documents: list[dict[str, Any]] = [
        {"id": f"d{n}", "text": " ".join(rng.choices(words, k=rng.randint(5, 40))) + ".", "n": n, "kind": n % 3}
        for n in range(60)
    ]
    with KnowledgeBase.open(tmp_path / "all", embeddings) as kb:
        kb.add(documents, progress=False)
        for case in range(4):
            low, high = sorted(rng.sample(range(60), 2))
            where = {"$or": [{"n": {"$gte": low, "$lt": high}}, {"kind": case % 3}]}
            left = [d for d in documents if low <= d["n"] < high or d["kind"] == case % 3]
            with KnowledgeBase.open(tmp_path / str(case), embeddings) as alone:
                alone.add(left, progress=False)
                for by in ("dense", "bm25"):
                    query = " ".join(rng.choices(words, k=3))
                    found, expected = kb.search(query, 60, by=by, filter=where), alone.search(query, 60, by=by)
                    assert [(p["id"], p["score"]) for p in found] == [(p["id"], p["score"]) for p in expected]


def test_a_filter_follows_changes(own_teams: KnowledgeBase) -> None:
    hidden = next(document for document in with_teams() if document["id"] == "salt-road")
    assert "salt-road" not in ids(own_teams.search("The Salt Road", filter=LAW))
    own_teams.update([{**hidden, "team": "law"}], progress=False)
    assert ids(own_teams.search("The Salt Road", filter=LAW))[0] == "salt-road"
    own_teams.delete(["salt-road"])
    assert "salt-road" not in ids(own_teams.search("The Salt Road", filter=LAW))


def test_a_field_that_no_passage_has_and_a_value_of_another_kind_are_errors(teams: KnowledgeBase) -> None:
    with pytest.raises(FilterError, match="no passage has the field 'tem', but number, source, team, title"):
        teams.search("herons", filter={"tem": "law"})
    with pytest.raises(FilterError, match="number is compared with text, but in all passages it is a number"):
        teams.search("herons", filter={"number": {"$gt": "3"}})
    with pytest.raises(FilterError, match="team is compared with a number, but in all passages it is text"):
        teams.search_triples("herons", filter={"$or": [LAW, {"team": {"$in": [1]}}]})
    assert teams.search("herons", filter={"team": "sales"}) == []


def test_an_empty_knowledge_base_is_empty_with_a_filter_too(empty_kb: KnowledgeBase) -> None:
    with pytest.raises(EmptyKnowledgeBaseError, match="is empty"):
        empty_kb.search("herons", filter=LAW)


def test_a_passage_of_several_sources_is_shown_as_from_a_visible_one(empty_kb: KnowledgeBase) -> None:
    text = {"id": "gulls", "title": "Gulls", "text": "Gulls sleep on the pier."}
    empty_kb.add([{**text, "source": "secret.md", "team": "press"}], progress=False)
    assert empty_kb.search("gulls", filter={"source": {"$exists": True}})[0]["source"] == "secret.md"
    empty_kb.add([{**text, "source": "open.md", "team": "law"}], progress=False)
    for found in (empty_kb.search("gulls", filter=LAW), empty_kb.passages(["gulls"], filter=LAW)):
        assert [(p["source"], p["metadata"]) for p in found] == [("open.md", {"team": "law"})]
    assert empty_kb.search("gulls")[0]["source"] == "secret.md"
    empty_kb.delete(sources=["open.md"])
    assert empty_kb.search("gulls", filter=LAW | {"source": "secret.md"}) == []


async def test_the_retriever_and_the_tools_take_a_filter(teams: KnowledgeBase) -> None:
    retriever = KnowledgeBaseRetriever(kb=teams, filter=LAW)
    assert {document.id for document in await retriever.ainvoke("The Salt Road")} == SEEN
    assert {document.id for document in retriever.invoke("The Salt Road", filter={"number": {"$lt": 3}})} == {
        "vint",
        "pellworth",
    }
    asked = {"query": "The Salt Road", "entity": "Casper Holm", "entities": ["Casper Holm"]}
    for tool in knowledge_base_tools(teams, filter=LAW):
        shown = await tool.ainvoke({name: asked[name] for name in tool.args if name in asked})
        assert "1968 drama film" not in shown
        assert "Winter Tide is" not in shown
    with pytest.raises(FilterError):
        knowledge_base_tools(teams, filter={"$nor": []})


async def test_facts_about_an_entity_are_those_of_visible_passages(teams: KnowledgeBase, law: KnowledgeBase) -> None:
    for entity in ("Casper Holm", "The Salt Road", "Pellworth", "nobody"):
        assert await teams.afacts_about(entity, filter=LAW) == await law.afacts_about(entity)
    assert len(await teams.afacts_about("Casper Holm")) > len(await law.afacts_about("Casper Holm"))


# --- runs ------------------------------------------------------------------------------------------------------------
class Prompts(BaseCallbackHandler):
    """Keeps what a model is shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def on_chat_model_start(self, serialized: Any, messages: Any, **_: Any) -> None:
        self.shown += [str(message.content) for batch in messages for message in batch]


@pytest.mark.parametrize("method", METHODS)
def test_a_run_sees_nothing_of_hidden_passages(teams: KnowledgeBase, method: str) -> None:
    told, recorder = {document["id"]: document for document in with_teams()}, Prompts()
    graph = create(method, load_model("offline"), teams).compile()
    result: Mapping[str, Any] = graph.invoke(
        {"question": "Where was the director of The Salt Road born?"},
        {"callbacks": [recorder]},
        context=Context(filter=LAW),
    )
    assert recorder.shown
    assert {passage["id"] for passage in result["passages"]} == SEEN
    assert {evidence["passage_id"] for evidence in result["evidence"]} <= SEEN
    for id_ in TEAM_OF.keys() - SEEN:
        for sentence in told[id_]["text"].split(". "):
            assert not [shown for shown in recorder.shown if sentence in shown]


@pytest.mark.parametrize("method", METHODS)
def test_a_run_whose_filter_hides_everything_ends_at_once(teams: KnowledgeBase, method: str) -> None:
    graph = create(method, load_model("offline"), teams).compile()
    with pytest.raises(FilterError, match="the filter lets no passage"):
        graph.invoke({"question": "Who?"}, context=Context(filter={"team": "sales"}))
    with pytest.raises(FilterError, match="no passage has the field"):
        graph.invoke({"question": "Who?"}, context={"filter": {"tem": "sales"}})


async def test_every_read_of_a_run_is_filtered(teams: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.tools.retrieve.reads.context", lambda: Context(filter=LAW))
    everything, hidden = list(TEAM_OF), "salt-road"
    assert set(await teams.aids()) == SEEN
    assert set(ids(await teams.apassages(everything))) == SEEN
    assert set(await teams.apassage_cosines(["x"], everything)) == SEEN
    assert {s["passage_id"] for fact in await teams.atriples(everything) for s in fact["sources"]} <= SEEN
    passages, facts = await teams.apassages_with_triples(everything)
    assert set(ids(passages)) == SEEN
    assert {source["passage_id"] for fact in facts for source in fact["sources"]} <= SEEN
    graph = await teams.ahierarchy()
    assert set(graph.passages) == SEEN
    assert not graph.has("drama film")
    assert hidden not in ids(await teams.arank("The Salt Road", 8))
    assert await teams.aneighbours(hidden) == []
    assert ids(await teams.arank("The Salt Road", 8, filter={"number": {"$lt": 3}})) == ["vint", "pellworth"]


def ids(passages: Any) -> list[str]:
    return [passage["id"] for passage in passages]


@pytest.mark.parametrize(
    "where", [{"source": "notes.md"}, {"source": {"$in": ["notes.md"]}}, {"$or": [{"source": "docs/note.md"}]}]
)
def test_a_filter_on_a_source_that_is_none_says_which_may_be_meant(tmp_path: Path, where: dict[str, Any]) -> None:
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb:
        kb.add([{"title": "Gull", "text": "Gulls nest at Skellby.", "source": "docs/notes.md"}], progress=False)
        graph = create("native_rag", load_model("offline"), kb).compile()
        with pytest.raises(FilterError, match=r"no passage is from '.*' \(did you mean 'docs/notes.md'\?\)"):
            graph.invoke({"question": "Where do gulls nest?"}, context=Context(filter=where))
