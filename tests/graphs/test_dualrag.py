"""DualRAG on scripted models: the case study of its paper (appendix E, table 7), its loop, its outline, its options."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from fakes import ArithmeticEmbeddings, ScriptedModel, kept_and_own
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import TypeAdapter, ValidationError
from running import say, values, visited

from langgraph_rag.errors import EmptyKnowledgeBaseError, ModelOutputError, QuestionError, UnknownNameError
from langgraph_rag.graphs.dualrag import create_dualrag
from langgraph_rag.methods import create
from langgraph_rag.nodes.retrieve_for_entity import Found
from langgraph_rag.nodes.update_outline import append_support
from langgraph_rag.prompts.dualrag import LookUp
from langgraph_rag.records import Evidence, Result, ScoredPassage, ids_of
from langgraph_rag.tools.knowledge_base import KnowledgeBase

QUESTION = "Which film has the director who was born later, El Extraño Viaje or Love In Pawn?"
VIAJE, PAWN, GOMEZ, SAUNDERS = "El Extraño Viaje", "Love In Pawn", "Fernando Fernán Gómez", "Charles Saunders"
DOCUMENTS = [
    {
        "id": "viaje",
        "title": "El extraño viaje",
        "text": "El extraño viaje is a black drama film made in Spain in 1964. Fernando Fernán Gómez directed it.",
    },
    {
        "id": "pawn",
        "title": "Love in Pawn",
        "text": "Love in Pawn is a comedy film made in Britain in 1953. Charles Saunders directed it. "
        "Bernard Braden plays the lead.",
    },
    {
        "id": "lover",
        "title": "A Lover in Pawn",
        "text": "A Lover in Pawn is a silent film made in Sweden in 1920. Victor Sjöström directed it.",
    },
    {
        "id": "gomez",
        "title": "Fernando Fernán Gómez",
        "text": "Fernando Fernán Gómez was an actor and director. His life began on 28 August 1921 and ended in 2007.",
    },
    {
        "id": "saunders",
        "title": "Charles Saunders (director)",
        "text": "Charles Joel Saunders was a director of films. His life began on 8 April 1904 in London.",
    },
    {
        "id": "alrededor",
        "title": "La vida alrededor",
        "text": "La vida alrededor is a comedy film made in Spain in 1959. Fernando Fernán Gómez wrote it.",
    },
]
DIRECTORS = {
    VIAJE: "El extraño viaje is a black drama film directed by Fernando Fernán Gómez.",
    PAWN: "Love in Pawn is a comedy film directed by Charles Saunders.",
}
BIRTHS = {
    GOMEZ: "Fernando Fernán Gómez: his life began on 28 August 1921.",
    SAUNDERS: "Charles Joel Saunders: life began on 8 April 1904.",
}
FIRST = "To compare I need the birth years of the directors of El Extraño Viaje and Love In Pawn."
SECOND = "I need the birth years of Fernando Fernán Gómez and of Charles Saunders."
LAST = "Gómez was born in 1921, Saunders in 1904. 1921 is later, so it is El Extraño Viaje."
RETRIEVALS = ["retrieve_for_entity", "retrieve_for_entity"]
ROUND = ["identify_entities", *RETRIEVALS, "select_documents", "summarize", "summarize", "update_outline"]


@contextmanager
def indexed(folder: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as kb:
        kb.add(DOCUMENTS, progress=False)
        yield kb


films, own_films = kept_and_own(indexed)


# --- what models say -------------------------------------------------------------------------------------------------
def think(thought: str, *, more: bool = True) -> str:
    return json.dumps({"thought": thought, "needs_retrieval": more})


def look_up(**queries: list[str]) -> str:
    return name([[entity.replace("_", " "), asked] for entity, asked in queries.items()])


def name(entities: Sequence[Sequence[Any]]) -> str:
    return json.dumps({"entities": [{"entity": entity, "queries": queries} for entity, queries in entities]})


def note(summary: str | None) -> str:
    return json.dumps({"summary": summary})


class Actor:
    """Plays the parts of the method: each prompt has its own script, and summaries go by the entity's name."""

    def __init__(
        self,
        thoughts: Sequence[str],
        demands: Sequence[str] = (),
        notes: Mapping[str, str | None] | Callable[[Mapping[str, Any]], str | None] = {},  # noqa: B006
        answer: str = VIAJE,
    ) -> None:
        self.scripts = {
            "reason": list(thoughts),
            "think_on": list(thoughts),
            "identify_entities": list(demands),
            "answer_from_outline": [say(answer)],
            "answer_from_passages": [say("1964")],
        }
        self.notes = notes if callable(notes) else lambda values: dict(notes).get(values["entity"])

    def __call__(self, prompt: str, values: Mapping[str, Any]) -> str:
        return note(self.notes(values)) if prompt == "summarize" else self.scripts[prompt].pop(0)


def case_study() -> Actor:
    demands = [
        name([(VIAJE, [f"{VIAJE} director"]), (PAWN, [f"{PAWN} director", "Who directed Love In Pawn"])]),
        name([(GOMEZ, [GOMEZ, f"{GOMEZ} birth year"]), (SAUNDERS, [f"{SAUNDERS} birth year"])]),
    ]
    return Actor([think(FIRST), think(SECOND), think(LAST, more=False)], demands, DIRECTORS | BIRTHS)


def visit(
    kb: KnowledgeBase, model: ScriptedModel, context: Mapping[str, Any] | None = None, **options: Any
) -> tuple[list[str], dict[str, Any]]:
    """Return the nodes in the order they ran, and the result."""
    return visited(create_dualrag(model, kb, **{"course": "published", **options}), QUESTION, context)


def run(kb: KnowledgeBase, actor: Any, context: Mapping[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    return visit(kb, ScriptedModel.of(actor), context, **options)[1]


# --- the paper's case study ------------------------------------------------------------------------------------------
def test_the_case_study_takes_the_papers_three_steps_to_the_papers_answer(films: KnowledgeBase) -> None:
    nodes, result = visit(films, ScriptedModel.of(case_study()))

    assert nodes == ["receive_question", "reason", *ROUND, "reason", *ROUND, "reason", "answer", "conclude"]
    assert result["answer"] == VIAJE
    assert [step["thought"] for step in result["trace"]] == [FIRST, SECOND, LAST]
    assert [step["query"] for step in result["trace"]] == [
        f"{VIAJE}: {VIAJE} director; {PAWN}: {PAWN} director, Who directed Love In Pawn",
        f"{GOMEZ}: {GOMEZ}, {GOMEZ} birth year; {SAUNDERS}: {SAUNDERS} birth year",
        "",
    ]


def test_the_case_studys_answer_rests_on_the_sentences_its_notes_were_made_from(films: KnowledgeBase) -> None:
    result = run(films, case_study(), {"top_k": 2})

    lives = [entry for entry in result["evidence"] if entry["passage_id"] in ("gomez", "saunders")]
    assert [(e["sentence"], e["passage_id"], e["title"], e["step"]) for e in lives] == [
        (DOCUMENTS[3]["text"].split(". ")[1], "gomez", GOMEZ, 2),
        (DOCUMENTS[4]["text"].split(". ")[1], "saunders", "Charles Saunders (director)", 2),
    ]
    assert lives[0]["triple"] == [GOMEZ, "life began on", "28 August 1921"]
    assert {(entry["passage_id"], entry["step"]) for entry in result["evidence"]} >= {("viaje", 1), ("pawn", 1)}
    assert {passage["id"] for passage in result["passages"][:4]} == {"viaje", "pawn", "gomez", "saunders"}


def test_reasoner_and_answer_see_outline_and_thoughts_grow(films: KnowledgeBase) -> None:
    model = ScriptedModel.of(case_study())

    visit(films, model)

    def seen(prompt: str) -> list[tuple[list[str], list[str]]]:
        return [([entry["entity"] for entry in v["outline"]], v["thoughts"]) for v in values(model, prompt)]

    directors, everybody = [VIAJE, PAWN], [VIAJE, PAWN, GOMEZ, SAUNDERS]
    assert seen("reason") == [([], []), (directors, [FIRST]), (everybody, [FIRST, SECOND])]
    assert seen("identify_entities") == [([], [FIRST]), (directors, [FIRST, SECOND])]
    assert seen("answer_from_outline") == [(everybody, [FIRST, SECOND, LAST])]


def test_the_case_study_costs_ten_calls(films: KnowledgeBase) -> None:
    assert run(films, case_study())["usage"]["calls"] == 3 + 2 + 4 + 1


def test_the_result_is_of_the_declared_types(films: KnowledgeBase) -> None:
    result = run(films, case_study())

    TypeAdapter(Result).validate_python(result, strict=True)
    assert set(result) == set(Result.__annotations__)


# --- stops -----------------------------------------------------------------------------------------------------------
def test_a_reasoner_that_needs_nothing_is_answered_from_passages_all_the_same(films: KnowledgeBase) -> None:
    nodes, result = visit(films, ScriptedModel.of(Actor([think("I know it.", more=False)])))

    assert nodes == ["receive_question", "reason", "retrieve", "read_passages", "find_support", "conclude"]
    assert result["answer"] == "1964"
    assert any("1964" in entry["sentence"] for entry in result["evidence"])
    assert len(result["passages"]) == len(DOCUMENTS)


@pytest.mark.parametrize("most", [1, 2, 5])
def test_the_search_ends_after_max_steps_and_the_last_findings_count(films: KnowledgeBase, most: int) -> None:
    numbers = iter(range(most))
    actor = Actor(
        [think(f"Step {n}") for n in range(most)],
        [look_up(**{f"Film_{n}": ["film"]}) for n in range(most)],
        lambda _: f"This is note {next(numbers)}.",
    )
    model = ScriptedModel.of(actor)

    nodes, _ = visit(films, model, {"max_steps": most})

    assert nodes.count("reason") == nodes.count("retrieve_for_entity") == most
    assert nodes[-3:] == ["update_outline", "answer", "conclude"]
    assert len(values(model, "answer_from_outline")[0]["outline"]) == most


def test_five_steps_are_the_default(films: KnowledgeBase) -> None:
    numbers = iter(range(9))
    actor = Actor([think("More")] * 9, [look_up(Film=["film"])] * 9, lambda _: f"Note {next(numbers)}.")
    actor.scripts["identify_entities"] = [look_up(**{f"Film_{n}": ["film"]}) for n in range(9)]

    assert visit(films, ScriptedModel.of(actor))[0].count("retrieve_for_entity") == 5


def test_two_rounds_in_a_row_that_add_nothing_end_the_search(films: KnowledgeBase) -> None:
    demands = [look_up(A=["film"]), look_up(Love_in_Pawn=["director"]), look_up(B=["film"]), look_up(C=["film"])]
    actor = Actor([think("?")] * 9, demands, {"Love in Pawn": DIRECTORS[PAWN]})

    nodes, _ = visit(films, ScriptedModel.of(actor), {"max_steps": 9})

    assert nodes.count("update_outline") == 4
    assert nodes[-3:] == ["update_outline", "answer", "conclude"]


def test_where_nothing_was_noted_the_passages_are_read(films: KnowledgeBase) -> None:
    model = ScriptedModel.of(Actor([think("?")] * 2, [look_up(Film=["film"])] * 2))

    nodes, result = visit(films, model)

    assert nodes[-4:] == ["update_outline", "read_passages", "find_support", "conclude"]
    assert result["answer"] == "1964"
    assert any("1964" in entry["sentence"] for entry in result["evidence"])
    assert len(values(model, "answer_from_passages")[0]["passages"]) == len(DOCUMENTS)


def test_a_refusal_with_notes_stays_one(films: KnowledgeBase) -> None:
    actor = Actor([think("?"), think("No.", more=False)], [look_up(Film=["film"])], {"Film": "A film."}, "unanswerable")

    nodes, result = visit(films, ScriptedModel.of(actor))

    assert nodes[-2:] == ["answer", "conclude"]
    assert result["answer"] == "unanswerable"


# --- entities and queries --------------------------------------------------------------------------------------------
def test_an_entity_of_the_outline_is_known_by_its_name_there_however_it_is_written(films: KnowledgeBase) -> None:
    demands = [look_up(Love_in_Pawn=["director"]), name([("LOVE IN PAWN!", ["year of Love in Pawn"])])]
    notes = iter(["Charles Saunders directed Love in Pawn.", "It is of 1953."])
    actor = Actor([think("1"), think("2"), think("3", more=False)], demands, lambda _: next(notes))
    model = ScriptedModel.of(actor)

    visit(films, model, {"top_k": 1})

    outline = values(model, "answer_from_outline")[0]["outline"]
    assert [entry["entity"] for entry in outline] == ["Love in Pawn"]


def test_names_that_are_only_alike_stay_apart(films: KnowledgeBase) -> None:
    demands = [name([("Otto I", ["Otto I"]), ("Otto II", ["Otto II"])])]
    actor = Actor([think("1"), think("2", more=False)], demands, lambda values: f"Note on {values['entity']}.")
    model = ScriptedModel.of(actor)

    visit(films, model)

    assert [entry["entity"] for entry in values(model, "answer_from_outline")[0]["outline"]] == ["Otto I", "Otto II"]


def test_an_entity_named_twice_is_looked_up_once_with_all_its_queries(films: KnowledgeBase) -> None:
    demands = [name([("Love in Pawn", ["director", "Director!"]), ("love in pawn", ["year", "director"])])]
    model = ScriptedModel.of(Actor([think("1"), think("2", more=False)], demands))

    nodes, _ = visit(films, model)

    assert nodes.count("retrieve_for_entity") == 1
    assert values(model, "summarize")[0]["queries"] == ["director", "year"]


@pytest.mark.parametrize("demand", [name([]), name([("", ["x"]), ("", [])])])
def test_where_no_entity_is_named_the_thought_is_looked_up(films: KnowledgeBase, demand: str) -> None:
    model = ScriptedModel.of(Actor([think("Who directed Love in Pawn?"), think("2", more=False)], [demand]))

    _, result = visit(films, model)

    assert values(model, "summarize")[0]["queries"] == ["Who directed Love in Pawn?"]
    assert result["usage"]["dropped"] == len(json.loads(demand)["entities"])


@pytest.mark.parametrize("demand", [name([("Love in Pawn", ["", " "])]), '{"entities": ["Love in Pawn"]}'])
def test_an_entity_without_queries_is_looked_up_by_its_name(films: KnowledgeBase, demand: str) -> None:
    model = ScriptedModel.of(Actor([think("Who directed it?"), think("2", more=False)], [demand]))

    _, result = visit(films, model)

    assert values(model, "summarize")[0]["queries"] == ["Love in Pawn"]
    assert result["usage"]["dropped"] == 0


def test_no_more_than_eight_entities_are_looked_up_at_once(films: KnowledgeBase) -> None:
    demand = name([(f"Film {n}", [f"film {q}" for q in range(20)]) for n in range(20)])
    model = ScriptedModel.of(Actor([think("1"), think("2", more=False)], [demand]))

    nodes, result = visit(films, model)

    assert nodes.count("retrieve_for_entity") == 8
    assert {len(request["queries"]) for request in values(model, "summarize")} == {8}
    assert result["usage"]["dropped"] == 12 * 20 + 12  # queries, then entities


# --- documents -------------------------------------------------------------------------------------------------------
class LastFirst(BaseDocumentCompressor):
    """Keeps what contains a word, last first, and remembers what it was asked."""

    word: str
    queries: list[str] = []

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        self.queries.append(query)
        kept = [document for document in documents if self.word in document.page_content]
        return [Document(page_content="shortened", metadata=document.metadata) for document in reversed(kept)]


def test_any_document_compressor_reranks_by_entity_and_queries(films: KnowledgeBase) -> None:
    reranker = LastFirst(word="comedy")
    demands = [name([("Films", ["film", "made in Spain"])])]
    model = ScriptedModel.of(Actor([think("1"), think("2", more=False)], demands))

    visit(films, model, reranker=reranker)

    titles = [text["title"] for text in values(model, "summarize")[0]["documents"]]
    assert reranker.queries == ["Films: film, made in Spain"]
    assert set(titles[:2]) == {"Love in Pawn", "La vida alrededor"}
    assert len(titles) == 3, "never fewer than three"


def test_where_nothing_was_noted_the_passages_that_the_reranker_kept_are_read_first(films: KnowledgeBase) -> None:
    model = ScriptedModel.of(
        Actor([think("1"), think("2", more=False)], [name([("Films", ["film", "made in Spain"])])])
    )

    visit(films, model, reranker=LastFirst(word="comedy"))

    (noted,), (read,) = values(model, "summarize"), values(model, "answer_from_passages")
    assert read["passages"][:3] == noted["documents"]
    assert len(read["passages"]) == len(DOCUMENTS)


@pytest.mark.parametrize("most", [1, 2, 4])
def test_top_k_documents_are_kept_per_entity(films: KnowledgeBase, most: int) -> None:
    model = ScriptedModel.of(Actor([think("1"), think("2", more=False)], [name([("A", ["film"]), ("B", ["Spain"])])]))

    visit(films, model, {"top_k": most})

    assert [len(request["documents"]) for request in values(model, "summarize")] == [most, most]


def test_without_a_reranker_no_passage_is_embedded_again(tmp_path: Path) -> None:
    embeddings = ArithmeticEmbeddings()
    with KnowledgeBase.open(tmp_path / "kb", embeddings) as kb:
        kb.add(DOCUMENTS, progress=False)
        embeddings.batches.clear()
        run(kb, case_study())

    assert not [text for text in embeddings.embedded if len(text) > 100]


def test_only_documents_new_to_an_entity_are_read_and_without_new_ones_nothing_is_asked(films: KnowledgeBase) -> None:
    demands = [look_up(Film=["film"]), name([("Film", ["Spain"]), ("Spain", ["Spain"])])]
    notes = iter(["There is a film.", "Spain makes films."])
    model = ScriptedModel.of(Actor([think("1"), think("2"), think("3", more=False)], demands, lambda _: next(notes)))

    visit(films, model)

    assert [request["entity"] for request in values(model, "summarize")] == ["Film", "Spain"]


def test_what_was_read_for_an_entity_in_any_step_is_not_read_for_it_again(films: KnowledgeBase) -> None:
    demands = [look_up(Film=["Love in Pawn"]), look_up(Film=["La vida alrededor"]), look_up(Film=["Love in Pawn"])]
    notes = iter(["One film.", "Another film.", "The first film again."])
    model = ScriptedModel.of(
        Actor([*map(think, "123"), think("4", more=False)], demands, lambda _: next(notes)),
    )

    visit(films, model, {"top_k": 1, "search": "bm25"})

    titles = [text["title"] for request in values(model, "summarize") for text in request["documents"]]
    assert titles == ["Love in Pawn", "La vida alrededor"]


def test_the_passages_of_earlier_findings_come_first() -> None:
    found = [Found(entity="A", queries=["a"], passages=["z", "y", "x"], recalled=[])]
    evidence = [Evidence(triple=[], sentence="", passage_id=id_, title="", step=2) for id_ in ("x", "y", "first")]

    ranking = append_support([ScoredPassage(id="first", score=1.0)], found, evidence)

    assert ids_of(ranking) == ["first", "y", "x"]


def test_documents_left_out_of_a_prompt_that_is_too_long_are_read_the_next_time(films: KnowledgeBase) -> None:
    class Narrow(Actor):
        def __call__(self, prompt: str, values: Mapping[str, Any]) -> Any:
            too_long = len(values.get("documents", [])) > 3
            return RuntimeError("maximum context length") if too_long else super().__call__(prompt, values)

    demands, notes = [look_up(Film=["film"])] * 2, {"Film": "There is a film."}
    model = ScriptedModel.of(Narrow([think("1"), think("2"), think("3", more=False)], demands, notes))

    _, result = visit(films, model)

    whole, *parts = values(model, "summarize")
    assert [entry["title"] for part in parts for entry in part["documents"]] == [
        entry["title"] for entry in whole["documents"]
    ]
    assert result["usage"]["left_out"] > 0


def test_reasoner_and_identifier_see_what_was_searched_for_in_vain(films: KnowledgeBase) -> None:
    demands = [look_up(**{VIAJE: ["director"], "Herons": ["Heron year", "Herons"]}), look_up(A=["film"])]
    model = ScriptedModel.of(Actor([think("1"), think("2"), think("3", more=False)], demands, DIRECTORS))

    visit(films, model)

    herons = ["Herons: Heron year", "Herons"]
    assert [seen["vain"] for seen in values(model, "reason")] == [[], herons, [*herons, "A: film"]]
    assert [seen["vain"] for seen in values(model, "identify_entities")] == [[], herons]


def test_an_entity_nothing_was_noted_about_is_read_again(films: KnowledgeBase) -> None:
    demands = [look_up(Film=["film"]), look_up(Film=["film"])]
    notes = iter([None, "There is a film."])
    model = ScriptedModel.of(Actor([think("1"), think("2"), think("3", more=False)], demands, lambda _: next(notes)))

    visit(films, model)

    first, second = values(model, "summarize")
    assert first["documents"] == second["documents"]
    assert [seen["vain"] for seen in values(model, "reason")] == [[], ["Film: film"], []]


def test_what_has_been_read_already_was_not_searched_for_in_vain(films: KnowledgeBase) -> None:
    demands = [look_up(Film=["film"]), look_up(Film=["film year"])]
    model = ScriptedModel.of(Actor([think("1"), think("2"), think("3", more=False)], demands, lambda _: "A film."))

    visit(films, model)

    assert len(values(model, "summarize")) == 1
    assert [seen["vain"] for seen in values(model, "reason")] == [[], [], []]


@pytest.mark.parametrize("options", [{}, {"identify_entities": False}])
def test_what_a_thought_finds_that_names_no_entity_is_read_whole_each_time(
    films: KnowledgeBase, options: dict[str, Any]
) -> None:
    thoughts = [think("Who directed Love in Pawn?"), think("When was Saunders born?"), think("3", more=False)]
    notes = iter(["Charles Saunders directed it.", "He was born in 1904."])
    model = ScriptedModel.of(Actor(thoughts, [name([]), name([])], lambda _: next(notes)))

    visit(films, model, **options)

    first, second = ({document["title"] for document in given["documents"]} for given in values(model, "summarize"))
    assert first == second == {document["title"] for document in DOCUMENTS}


@pytest.mark.parametrize(
    ("summary", "kept"),
    [
        *((nothing, []) for nothing in (None, "", "  ", "None", "none.", "NULL", "N/A", "Nothing.")),
        ("None of them is a film.", ["None of them is a film."]),
        ("The documents do not mention who directed it.", []),
        ("No relevant information was found. Its director is not stated.", []),
        (
            "The documents do not mention its director, but say that Ada Moss wrote it.",
            ["The documents do not mention its director, but say that Ada Moss wrote it."],
        ),
        ("The documents do not say who directed it; it is unknown.", []),
        ("No information is given, though.", []),
        ("Its director is not stated; Ada Moss wrote it.", ["Its director is not stated; Ada Moss wrote it."]),
        ("Its director is not stated. Ada Moss wrote it.", ["Its director is not stated. Ada Moss wrote it."]),
    ],
)
def test_a_summary_that_says_nothing_adds_nothing(films: KnowledgeBase, summary: str | None, kept: list[str]) -> None:
    actor = Actor([think("1"), think("2", more=False)], [look_up(Film=["film"])], {"Film": summary})
    model = ScriptedModel.of(actor)

    visit(films, model)

    outline = values(model, "reason")[1]["outline"]
    assert [fragment for entry in outline for fragment in entry["fragments"]] == kept


def test_the_entry_with_the_latest_finding_is_the_last_of_the_outline(films: KnowledgeBase) -> None:
    thoughts = [think("1"), think("2"), think("3", more=False)]
    notes = iter(["Saunders directed it.", "He is from Ost.", "It was shot in Kell."])
    actor = Actor(
        thoughts,
        [look_up(Film=["El extraño viaje"], Man=["Love in Pawn"]), look_up(Film=["Charles Saunders"])],
        lambda _: next(notes),
    )
    model = ScriptedModel.of(actor)

    visit(films, model, {"recall_k": 1, "top_k": 1})

    orders = [[entry["entity"] for entry in asked["outline"]] for asked in values(model, "reason")]
    assert orders == [[], ["Film", "Man"], ["Man", "Film"]]


# --- ablations -------------------------------------------------------------------------------------------------------
def test_without_the_reasoners_flag_every_thought_retrieves_until_one_is_final(films: KnowledgeBase) -> None:
    thoughts = [json.dumps({"thought": f"Sentence {n}.", "final": n == 2}) for n in range(3)]
    actor = Actor(thoughts, [look_up(A=["film"]), look_up(B=["film"])], lambda values: f"On {values['entity']}.")
    model = ScriptedModel.of(actor)

    nodes, result = visit(films, model, detect_gaps=False)

    assert nodes.count("retrieve_for_entity") == 2
    assert "reason" not in model.prompts()
    assert [step["thought"] for step in result["trace"]] == ["Sentence 0.", "Sentence 1.", "Sentence 2."]


def test_without_the_entity_identifier_the_thought_is_the_query(films: KnowledgeBase) -> None:
    actor = Actor([think(FIRST), think(LAST, more=False)], notes=lambda _: "Saunders directed Love in Pawn.")
    model = ScriptedModel.of(actor)

    nodes, result = visit(films, model, identify_entities=False)

    assert nodes[2:4] == ["query_with_thought", "retrieve_for_entity"]
    assert result["trace"][0]["query"] == FIRST
    assert [entry["entity"] for entry in values(model, "answer_from_outline")[0]["outline"]] == [""]


def test_without_the_outline_the_passages_are_handed_on_whole_and_once(films: KnowledgeBase) -> None:
    demands = [name([("A", ["film"]), ("B", ["film"])]), look_up(C=["director"])]
    model = ScriptedModel.of(Actor([think("1"), think("2"), think("3", more=False)], demands))

    nodes, result = visit(films, model, keep_outline=False)

    (entry,) = values(model, "answer_from_outline")[0]["outline"]
    assert sorted(entry["fragments"]) == sorted(f"{d['title']}: {d['text']}" for d in DOCUMENTS)
    assert "summarize" not in model.prompts()
    assert nodes.count("collect_passages") == 2
    assert len({evidence["passage_id"] for evidence in result["evidence"]}) == len(DOCUMENTS)


def test_without_the_outline_passages_are_ranked_by_their_best_place_in_any_step(films: KnowledgeBase) -> None:
    demands = [
        look_up(**{VIAJE: [f"{VIAJE} director"]}),
        look_up(**{SAUNDERS: ["life began on 8 April 1904 in London"]}),
    ]
    model = ScriptedModel.of(Actor([think("1"), think("2"), think("3", more=False)], demands))

    _, result = visit(films, model, keep_outline=False)

    assert {passage["id"] for passage in result["passages"][:2]} == {"viaje", "saunders"}


def test_each_part_can_have_a_model_of_its_own(films: KnowledgeBase) -> None:
    play = case_study()
    parts: dict[str, Any] = {
        part: ScriptedModel.of(play) for part in ("reasoner", "identifier", "summarizer", "reader")
    }

    visit(films, ScriptedModel.of([]), **parts)

    assert {part: set(model.prompts()) for part, model in parts.items()} == {
        "reasoner": {"reason"},
        "identifier": {"identify_entities"},
        "summarizer": {"summarize"},
        "reader": {"answer_from_outline"},
    }


# --- errors ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("question", ["", "  ", None, 42])
def test_a_question_that_is_none_is_refused(films: KnowledgeBase, question: Any) -> None:
    with pytest.raises(QuestionError):
        create_dualrag(ScriptedModel.of([]), films).compile().invoke({"question": question})


def test_an_empty_knowledge_base_is_said_to_be_empty(empty_kb: KnowledgeBase) -> None:
    with pytest.raises(EmptyKnowledgeBaseError):
        run(empty_kb, case_study())


def garbled(prompt: str) -> Callable[[str, Mapping[str, Any]], str]:
    play = case_study()
    return lambda asked, shown: "Nice films!" if asked == prompt else play(asked, shown)


@pytest.mark.parametrize("prompt", ["reason", "answer_from_outline"])
def test_a_part_that_keeps_talking_garbage_is_an_error_that_names_it(films: KnowledgeBase, prompt: str) -> None:
    with pytest.raises(ModelOutputError, match=f"prompt '{prompt}'"):
        run(films, garbled(prompt))


def test_without_a_usable_summary_the_passages_are_read(films: KnowledgeBase) -> None:
    result = run(films, garbled("summarize"))

    assert result["answer"] == "1964"
    assert result["usage"]["repairs"] > 0


def test_without_usable_entities_the_thought_is_looked_up(films: KnowledgeBase) -> None:
    first, second, *_ = run(films, garbled("identify_entities"))["trace"]

    assert [first["query"], second["query"]] == [first["thought"], second["thought"]]


def test_a_bad_reply_is_repaired(films: KnowledgeBase) -> None:
    play, bad = case_study(), ["Well.", '{"entities": [["Film"]]}']

    def stumbling(asked: str, shown: Mapping[str, Any]) -> str:
        return bad.pop() if asked == "identify_entities" and bad else play(asked, shown)

    result = run(films, stumbling)

    assert result["answer"] == VIAJE
    assert result["usage"]["repairs"] == 2


def test_a_passage_deleted_while_the_question_runs_does_no_harm(own_films: KnowledgeBase) -> None:
    play = case_study()

    def deleting(asked: str, shown: Mapping[str, Any]) -> str:
        own_films.delete(["pawn"])
        return play(asked, shown)

    result = run(own_films, deleting)

    assert result["answer"] == VIAJE
    assert "pawn" not in {entry["passage_id"] for entry in result["evidence"]}


async def test_where_one_search_fails_the_others_are_called_off(
    films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []

    async def arank(query: str, *rest: Any, **options: Any) -> Any:
        if query == "fails":
            raise OSError("the line is dead")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(query)

    monkeypatch.setattr(films, "arank", arank)
    model = ScriptedModel.of(Actor([think("Film is unknown.")], [look_up(Film=["takes time", "fails"])]))

    with pytest.raises(OSError, match="the line is dead"):
        await create_dualrag(model, films, course="published").compile().ainvoke({"question": QUESTION})

    assert ended == ["takes time"]


# --- the default course ----------------------------------------------------------------------------------------------
def ask_for(thought: str, **queries: list[str]) -> str:
    return json.dumps({"thought": thought, **json.loads(look_up(**queries)), "answer": ""})


def end(thought: str, answer: str = VIAJE) -> str:
    return json.dumps({"thought": thought, "entities": [], "answer": answer})


def notes(missing: Sequence[str] = (), **told: str) -> str:
    found = [{"entity": entity.replace("_", " "), "summary": text} for entity, text in told.items()]
    return json.dumps({"notes": found, "missing": list(missing)})


FILMS_ASKED = ask_for(FIRST, **{VIAJE: [f"{VIAJE} director"], PAWN: [f"{PAWN} director"]})
PEOPLE_ASKED = ask_for(SECOND, **{GOMEZ: [f"{GOMEZ} birth year"], SAUNDERS: [f"{SAUNDERS} birth year"]})
SHORT_RUN = [FILMS_ASKED, notes(**DIRECTORS), PEOPLE_ASKED, notes(**BIRTHS), end(LAST)]
SHORT_ROUND = ["reason", *RETRIEVALS, "select_documents", "summarize", "update_outline"]


def short_visit(
    kb: KnowledgeBase, script: Any, context: Mapping[str, Any] | None = None, **options: Any
) -> tuple[list[str], dict[str, Any], ScriptedModel]:
    model = ScriptedModel.of(script)
    return *visit(kb, model, context, course="short", **options), model


def test_thought_and_entities_come_in_one_reply_and_the_last_thought_answers(films: KnowledgeBase) -> None:
    nodes, result, model = short_visit(films, SHORT_RUN)

    assert nodes == ["receive_question", *SHORT_ROUND, *SHORT_ROUND, "reason", "conclude"]
    assert model.prompts() == ["reason_and_look_up", "take_notes"] * 2 + ["reason_and_look_up"]
    assert result["answer"] == VIAJE
    assert [step["thought"] for step in result["trace"]] == [FIRST, SECOND, LAST]
    assert {(entry["passage_id"], entry["step"]) for entry in result["evidence"]} >= {("viaje", 1), ("gomez", 2)}


def test_a_question_that_one_round_answers_takes_three_calls(films: KnowledgeBase) -> None:
    script = [ask_for("Who directed it?", **{PAWN: ["director"]}), notes(**DIRECTORS), end("Saunders.", SAUNDERS)]

    assert short_visit(films, script)[1]["usage"]["calls"] == 3


def test_passages_of_a_round_are_read_once_together(films: KnowledgeBase) -> None:
    _, _, model = short_visit(films, SHORT_RUN)

    first, second = values(model, "take_notes")
    titles = [document["title"] for document in first["documents"]]
    assert len(titles) == len(set(titles)) == len(DOCUMENTS)
    assert [wanted["entity"] for wanted in first["wanted"]] == [VIAJE, PAWN]
    assert [wanted["known"] for wanted in second["wanted"]] == [[], []]


@pytest.mark.parametrize(("most", "read"), [(1, 2), (2, 3)])
def test_the_best_passages_of_each_entity_are_read(films: KnowledgeBase, most: int, read: int) -> None:
    _, _, model = short_visit(films, list(SHORT_RUN), {"top_k": most})

    assert len(values(model, "take_notes")[0]["documents"]) in (read, read + 1)


def test_what_stayed_open_is_shown_to_the_next_thought_alone(films: KnowledgeBase) -> None:
    script = [
        FILMS_ASKED,
        notes(["who directed Love In Pawn"], **{VIAJE: DIRECTORS[VIAJE]}),
        ask_for("Again.", **{PAWN: ["Who made Love In Pawn"]}),
        notes(**{PAWN: DIRECTORS[PAWN]}),
        end(LAST),
    ]

    _, _, model = short_visit(films, script, {"top_k": 2})

    vain = f"{PAWN} director"
    assert [asked["vain"] for asked in values(model, "reason_and_look_up")][:2] == [
        [],
        [vain, "who directed Love In Pawn"],
    ]
    assert "who directed Love In Pawn" not in values(model, "reason_and_look_up")[2]["vain"]


def test_a_finding_under_another_name_is_one_of_the_search(films: KnowledgeBase) -> None:
    script = [FILMS_ASKED, notes(["its budget"], **{SAUNDERS: DIRECTORS[PAWN]}), end(LAST)]

    _, _, model = short_visit(films, script)

    assert values(model, "reason_and_look_up")[1]["vain"] == ["its budget"]


def test_a_name_that_was_found_is_a_name(films: KnowledgeBase) -> None:
    script = [FILMS_ASKED, notes(**{**DIRECTORS, SAUNDERS: "Charles Saunders is a director."}), end(LAST)]

    _, _, model = short_visit(films, script)

    assert values(model, "reason_and_look_up")[1]["names"] == [VIAJE, PAWN, SAUNDERS]


@pytest.mark.parametrize("written", ["love in pawn", "LOVE IN PAWN!"])
def test_notes_go_to_the_entity_that_was_searched_for(films: KnowledgeBase, written: str) -> None:
    script = [FILMS_ASKED, json.dumps({"notes": [{"entity": written, "summary": DIRECTORS[PAWN]}]}), end(LAST)]

    _, _, model = short_visit(films, script)

    assert values(model, "reason_and_look_up")[1]["names"] == [PAWN]


@pytest.mark.parametrize("said", ["", "unanswerable", "unknown"])
def test_a_last_thought_without_an_answer_is_followed_by_the_final_one(films: KnowledgeBase, said: str) -> None:
    script = [FILMS_ASKED, notes(**DIRECTORS), end("It cannot be told.", said), say(VIAJE)]

    nodes, result, _ = short_visit(films, script)

    assert nodes[-3:] == ["reason", "answer", "conclude"]
    assert result["answer"] == VIAJE


def test_an_answer_in_a_style_is_asked_for(films: KnowledgeBase) -> None:
    nodes, result, _ = short_visit(films, [*SHORT_RUN, say("Es ist El Extraño Viaje.")], {"answer_style": "in German"})

    assert nodes[-2:] == ["answer", "conclude"]
    assert result["answer"] == "Es ist El Extraño Viaje."


def test_an_answer_from_memory_does_not_count(films: KnowledgeBase) -> None:
    nodes, result, _ = short_visit(films, [end("I know it."), say("1964")])

    assert nodes == ["receive_question", "reason", "retrieve", "read_passages", "find_support", "conclude"]
    assert result["answer"] == "1964"


def test_an_answer_where_nothing_was_found_does_not_count(films: KnowledgeBase) -> None:
    nodes, result, _ = short_visit(films, [FILMS_ASKED, notes(["all"]), end("I know it."), say("1964")])

    assert "read_passages" in nodes
    assert result["answer"] == "1964"


async def test_the_answer_of_the_last_thought_is_streamed(films: KnowledgeBase) -> None:
    graph = create_dualrag(ScriptedModel.of(SHORT_RUN), films).compile()

    streamed: list[Any] = [chunk async for chunk in graph.astream({"question": QUESTION}, stream_mode="messages")]

    assert "".join(message.text for message, _ in streamed) == VIAJE


@pytest.mark.parametrize(("said", "answer"), [(True, "yes"), (False, "no"), (1921, "1921")])
def test_answers_that_are_no_texts_are_read(films: KnowledgeBase, said: Any, answer: str) -> None:
    last = json.dumps({"thought": LAST, "entities": [], "answer": said})

    assert short_visit(films, [FILMS_ASKED, notes(**DIRECTORS), last])[1]["answer"] == answer


def test_an_identifier_of_its_own_is_asked(films: KnowledgeBase) -> None:
    identifier = ScriptedModel.of([look_up(**{PAWN: ["director"]})])
    script = [think(FIRST), notes(**DIRECTORS), think(LAST, more=False), say(VIAJE)]

    _, result, model = short_visit(films, script, identifier=identifier)

    assert model.prompts() == ["reason", "take_notes", "reason", "answer_from_outline"]
    assert identifier.prompts() == ["identify_entities"]
    assert result["answer"] == VIAJE


def test_notes_that_cannot_be_read_leave_the_passages_to_be_read(films: KnowledgeBase) -> None:
    bad = [FILMS_ASKED, *["Nice films!"] * 3] * 2

    nodes, result, _ = short_visit(films, [*bad, say("1964")])

    assert nodes[-3:] == ["read_passages", "find_support", "conclude"]
    assert result["answer"] == "1964"


def test_the_methods_name_has_the_course_of_the_paper(films: KnowledgeBase) -> None:
    nodes, result = visited(create("dualrag/published", ScriptedModel.of(case_study()), films), QUESTION)

    assert nodes == ["receive_question", "reason", *ROUND, "reason", *ROUND, "reason", "answer", "conclude"]
    assert result["usage"]["calls"] == 10


def test_a_course_has_two_names(films: KnowledgeBase) -> None:
    with pytest.raises(UnknownNameError, match="course 'long': expected one of short, published"):
        create_dualrag(ScriptedModel.of([]), films, course=cast(Any, "long"))


@pytest.mark.parametrize(("given", "read"), [(True, "yes"), (False, "no"), (1, "1"), (0, "0")])
def test_a_verdict_is_told_from_a_number(given: object, read: str) -> None:
    assert LookUp.model_validate({"thought": "So it is.", "answer": given}).answer == read


@pytest.mark.parametrize("given", [{"name": "Kell"}, [{"name": "Kell"}]])
def test_an_answer_that_is_no_text_is_a_reply_to_ask_for_again(given: object) -> None:
    with pytest.raises(ValidationError):
        LookUp.model_validate({"thought": "So it is.", "answer": given})
