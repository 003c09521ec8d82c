"""CIRAG on scripted models: the case study of its paper (appendix D, table 7), its cascade, its stops, its options."""

import itertools
import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from fakes import ArithmeticEmbeddings, ScriptedModel, asked_for, kept_and_own
from pydantic import TypeAdapter
from running import TableExtractor, say, values, visited

from langgraph_rag.errors import (
    EmptyKnowledgeBaseError,
    ModelCallError,
    ModelOutputError,
    QuestionError,
    UnknownNameError,
)
from langgraph_rag.graphs.cirag import CiragResult, create_cirag
from langgraph_rag.llm import MAX_REPAIRS
from langgraph_rag.nodes.answer_from import gather_passages
from langgraph_rag.nodes.construct import most_similar, new_first
from langgraph_rag.records import Evidence, Source, Triple
from langgraph_rag.tools.knowledge_base import KnowledgeBase

QUESTION = "Which film has the director who is older, God's Gift To Women or Aldri Annet Enn Bråk?"
BIRTHS = "What are the birth years of Michael Curtiz and Edith Carlmar?"
GIFT = ["God's Gift to Women", "directed by", "Michael Curtiz"]
GIFT_IS = ["God's Gift to Women", "is a", "romantic musical comedy film"]
BRAK = ["Aldri annet enn bråk", "directed by", "Edith Carlmar"]
CURTIZ = ["Michael Curtiz", "born on", "December 24, 1886"]
CARLMAR = ["Edith Carlmar", "born on", "15 November 1911"]
STARTED = ["Edith Carlmar", "started", "Carlmar Film A/S"]
DOCUMENTS = [
    {
        "id": "gift",
        "title": "God's Gift to Women",
        "text": "God's Gift to Women is a romantic musical comedy film from 1931. Its director was Michael Curtiz.",
    },
    {
        "id": "brak",
        "title": "Aldri annet enn bråk",
        "text": "Aldri annet enn bråk is a Norwegian film of 1954. Edith Carlmar directed it.",
    },
    {
        "id": "milne",
        "title": "Dan Milne",
        "text": "Dan Milne is a British actor and film director. He works in theatre too.",
    },
    {
        "id": "carlmar",
        "title": "Edith Carlmar",
        "text": "Edith Carlmar was born on 15 November 1911 and died on 17 May 2003. She started Carlmar Film A/S.",
    },
    {
        "id": "curtiz",
        "title": "Michael Curtiz",
        "text": "Michael Curtiz was born on December 24, 1886 in Budapest. He made God's Gift to Women in Hollywood.",
    },
]
TRIPLES = {
    "gift": [GIFT, GIFT_IS],
    "brak": [BRAK],
    "milne": [["Dan Milne", "is a", "British actor"]],
    "carlmar": [STARTED, CARLMAR],
    "curtiz": [CURTIZ, ["michael curtiz", "born in", "Budapest"]],
}
INTEGRATE = "integrate_as_published"  # the prompt
ALL_LEVELS = ["answer_from_triples", "answer_from_sentences", "answer_from_passages"]
PAPERS_STEPS = {"top_k": 3, "search": "dense"}


@contextmanager
def indexed(folder: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(folder, ArithmeticEmbeddings(), extractor=TableExtractor(TRIPLES)) as kb:
        kb.add(DOCUMENTS, progress=False)
        yield kb


films, own_films = kept_and_own(indexed)


@pytest.fixture
def films_all_alike(films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    """Find all questions alike, as a bi-encoder does that tells small words apart badly."""

    async def acosines(query: str, others: Sequence[str]) -> list[float]:
        return [1.0] * len(others)

    monkeypatch.setattr(films, "acosines", acosines)
    return films


def keep(*facts: list[str], ask: str | None = None, thought: str = "Hm.") -> str:
    """Write an integrator's reply."""
    return json.dumps({"thought": thought, "facts": facts, "question": ask})


def run(kb: KnowledgeBase, script: Any, context: Mapping[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    return visit(kb, ScriptedModel.of(script), context, **options)[1]


def visit(
    kb: KnowledgeBase, model: ScriptedModel, context: Mapping[str, Any] | None = None, **options: Any
) -> tuple[list[str], dict[str, Any]]:
    """Return the nodes in the order they ran, and the result, by default as published."""
    return visited(create_cirag(model, kb, **{"variant": "published", **options}), QUESTION, context)


# --- the paper's case study ------------------------------------------------------------------------------------------
CASE_STUDY = [
    keep(
        ["god s gift to women", "directed by", "michael curtiz"],
        ["aldri annet enn br k", "directed by", "edith carlmar"],
        ask=BIRTHS,
        thought="Curtiz directed the one film and Carlmar the other; their birth years are missing.",
    ),
    keep(
        ["edith carlmar", "born on", "15 november 1911"],
        ["michael curtiz", "born on", "december 24 1886"],
        ask="<no question>",
        thought="Curtiz is older than Carlmar.",
    ),
    say("God's Gift To Women"),
]


def test_the_case_study_takes_the_papers_two_steps_to_the_papers_answer(films: KnowledgeBase) -> None:
    nodes, result = visit(films, ScriptedModel.of(CASE_STUDY), PAPERS_STEPS)

    step = ["retrieve", "construct", "integrate", "accumulate"]
    assert nodes == ["receive_question", *step, *step, "answer_from_triples", "conclude"]
    assert result["answer"] == "God's Gift To Women"
    assert result["granularity"] == "triples"
    assert [(round_["query"], round_["core_triples"]) for round_ in result["trace"]] == [
        (QUESTION, [GIFT, BRAK]),
        (BIRTHS, [CARLMAR, CURTIZ]),
    ]


def test_the_case_studys_answer_carries_each_fact_with_its_sentence(films: KnowledgeBase) -> None:
    result = run(films, CASE_STUDY, PAPERS_STEPS)

    assert [tuple(entry.values()) for entry in result["evidence"]] == [
        (GIFT, "Its director was Michael Curtiz.", "gift", "God's Gift to Women", 1),
        (BRAK, "Edith Carlmar directed it.", "brak", "Aldri annet enn bråk", 1),
        (CARLMAR, "Edith Carlmar was born on 15 November 1911 and died on 17 May 2003.", "carlmar", "Edith Carlmar", 2),
        (CURTIZ, "Michael Curtiz was born on December 24, 1886 in Budapest.", "curtiz", "Michael Curtiz", 2),
    ]


def test_the_answer_is_asked_from_the_cumulative_triples(films: KnowledgeBase) -> None:
    model = ScriptedModel.of(CASE_STUDY)

    visit(films, model, PAPERS_STEPS)

    assert values(model, "answer_from_triples") == [{"question": QUESTION, "triples": [GIFT, BRAK, CARLMAR, CURTIZ]}]


def test_the_result_is_of_the_declared_types(films: KnowledgeBase) -> None:
    result = run(films, CASE_STUDY, PAPERS_STEPS)

    TypeAdapter(CiragResult).validate_python(result, strict=True)
    assert set(result) == set(CiragResult.__annotations__)


# --- the cascade -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("answers", "granularity", "answer"),
    [
        (["1931"], "triples", "1931"),
        (["unanswerable", "1931"], "sentences", "1931"),
        (["Unanswerable.", "Not enough information in them.", "1931"], "passages", "1931"),
        (["", "  ", "cannot be determined"], "none", "cannot be determined"),
    ],
)
def test_a_refusal_leads_to_the_next_level_and_an_answer_ends_the_cascade(
    films: KnowledgeBase, answers: list[str], granularity: str, answer: str
) -> None:
    nodes, result = visit(films, ScriptedModel.of([keep(GIFT), *map(say, answers)]))

    support = ["find_support"] if granularity == "passages" else []
    assert nodes[nodes.index("accumulate") + 1 :] == [*ALL_LEVELS[: len(answers)], *support, "conclude"]
    assert (result["granularity"], result["answer"]) == (granularity, answer)


def test_an_answer_that_only_sounds_like_a_refusal_is_an_answer(films: KnowledgeBase) -> None:
    assert run(films, [keep(GIFT), say("Unknownville")])["granularity"] == "triples"


def test_each_level_is_shown_the_evidence_in_its_own_grain(films: KnowledgeBase) -> None:
    model = ScriptedModel.of([keep(BRAK, CARLMAR), say("unknown"), say("unknown"), say("no answer")])

    visit(films, model)

    assert values(model, "answer_from_triples")[0]["triples"] == [BRAK, CARLMAR]
    assert values(model, "answer_from_sentences")[0]["sentences"] == [
        {"title": "Aldri annet enn bråk", "text": "Edith Carlmar directed it."},
        {"title": "Edith Carlmar", "text": "Edith Carlmar was born on 15 November 1911 and died on 17 May 2003."},
    ]
    assert values(model, "answer_from_passages")[0]["passages"] == [
        {"title": DOCUMENTS[1]["title"], "text": DOCUMENTS[1]["text"]},
        {"title": DOCUMENTS[3]["title"], "text": DOCUMENTS[3]["text"]},
    ]


def test_all_supporting_passages_are_read_one_of_each_step_first(films: KnowledgeBase) -> None:
    script = [keep(GIFT, BRAK, ask=BIRTHS), keep(CARLMAR, CURTIZ), *[say("unknown")] * 3]
    model = ScriptedModel.of(script)

    visit(films, model, PAPERS_STEPS)

    sentences, shown = (values(model, f"answer_from_{level}")[0][level] for level in ("sentences", "passages"))
    assert [text["title"] for text in shown] == [
        "God's Gift to Women",
        "Edith Carlmar",
        "Aldri annet enn bråk",
        "Michael Curtiz",
    ]
    assert {text["title"] for text in sentences} == {text["title"] for text in shown}


def test_without_candidates_in_the_first_step_the_first_passages_are_read(tmp_path: Path) -> None:
    model = ScriptedModel.of([say("God's Gift To Women")])
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=TableExtractor({})) as kb:
        kb.add(DOCUMENTS, progress=False)
        nodes, result = visit(kb, model, {"top_k": 2, "search": "dense"})
        found = [passage["id"] for passage in kb.search(QUESTION, 2)]

    assert [passage["id"] for passage in result["passages"]][:2] == found
    assert nodes == ["receive_question", "retrieve", "construct", *ALL_LEVELS, "find_support", "conclude"]
    assert model.prompts() == ["answer_from_passages"]
    assert sorted(text["title"] for text in values(model, "answer_from_passages")[0]["passages"]) == [
        "Aldri annet enn bråk",
        "God's Gift to Women",
    ]
    assert (result["granularity"], [entry["passage_id"] for entry in result["evidence"]]) == ("passages", ["gift"])
    assert [step["query"] for step in result["trace"]] == [QUESTION]


def test_without_candidates_in_a_later_step_the_evidence_so_far_answers(films: KnowledgeBase) -> None:
    everything = [triple for triples in TRIPLES.values() for triple in triples]

    nodes, result = visit(films, ScriptedModel.of([keep(*everything, ask=BIRTHS), say("1886")]))

    assert nodes[5:] == ["retrieve", "construct", "answer_from_triples", "conclude"]
    assert result["answer"] == "1886"


async def test_of_many_passages_ten_are_read_each_step_in_turn(empty_kb: KnowledgeBase) -> None:
    ids = [f"d{number:02}" for number in range(12)]
    empty_kb.add([{"id": id_, "title": id_, "text": f"This is {id_}."} for id_ in ids], progress=False)
    evidence = [Evidence(triple=[], sentence="", passage_id=id_, title="", step=1 + (id_ == ids[-1])) for id_ in ids]

    found = await gather_passages(
        empty_kb, {"question": QUESTION, "evidence": evidence, "answer": "", "first_retrieval": []}
    )

    assert [text["title"] for text in found["passages"]] == [ids[0], ids[-1], *ids[1:9]]


def test_where_nothing_was_kept_only_the_passages_of_the_first_retrieval_are_read(films: KnowledgeBase) -> None:
    model = ScriptedModel.of([keep(ask=BIRTHS), keep(), say("1886")])

    visit(films, model, {"top_k": 2, "search": "dense"})

    assert model.prompts() == [INTEGRATE, INTEGRATE, "answer_from_passages"]
    assert {text["title"] for text in values(model, "answer_from_passages")[0]["passages"]} == {
        "Aldri annet enn bråk",
        "God's Gift to Women",
    }


@pytest.mark.parametrize("levels", [("triples",), ("triples", "sentences")])
def test_a_level_without_evidence_asks_nothing_and_refuses(films: KnowledgeBase, levels: tuple[str, ...]) -> None:
    model = ScriptedModel.of([keep()])

    _, result = visit(films, model, granularities=levels)

    assert model.prompts() == [INTEGRATE]
    assert (result["answer"], result["granularity"]) == ("unanswerable", "none")


def test_a_level_without_evidence_leaves_the_refusal_before_it(films: KnowledgeBase) -> None:
    result = run(films, [keep(), say("cannot be determined")], granularities=("passages", "sentences"))

    assert (result["answer"], result["granularity"]) == ("cannot be determined", "none")


# --- our own variant -------------------------------------------------------------------------------------------------
OURS: dict[str, Any] = {"variant": "ours"}


def keep_one(prompt: str, shown: Mapping[str, Any]) -> str:
    """Keep the first candidate and ask on; answer with its end."""
    return keep(shown["facts"][0], ask=BIRTHS) if prompt == "integrate" else say(shown["triples"][0][2])


def test_what_was_not_kept_leaves_the_history(films: KnowledgeBase) -> None:
    model = ScriptedModel.of(keep_one)

    visit(films, model, {"max_candidates": 2}, **OURS)

    first, second = values(model, "integrate")
    assert [(step["candidates"], step["facts"]) for step in second["history"]] == [([], first["facts"][:1])]


async def test_what_was_offered_before_makes_room_for_what_is_new(
    films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cosines(queries: Sequence[str], triples: Sequence[Sequence[str]]) -> Any:
        return np.array([[1.0], [0.9], [0.7]], np.float32)

    monkeypatch.setattr(films, "atriple_cosines", cosines)
    old, new, far = (Triple(triple=triple, sources=[Source(passage_id="x", sentences=[0])]) for triple in
                     (GIFT, BRAK, CURTIZ))  # fmt: skip
    state: Any = {"query": QUESTION, "offered": [old]}

    assert await new_first(films, state, [old, new, far], 2) == [new, old]
    assert await most_similar(films, state, [old, new, far], 2) == [old, new]


def test_the_last_step_is_told_that_it_is_the_last(films: KnowledgeBase) -> None:
    model = ScriptedModel.of(keep_one)

    visit(films, model, {"max_steps": 2, "max_candidates": 2}, **OURS)

    first, second = (request[-1].text for request in model.received[:2])
    assert "last step" not in first and "This is the last step" in second


@pytest.mark.parametrize(
    ("answers", "granularity"),
    [
        (["Michael Curtiz"], "triples"),
        (["yes"], "triples"),
        (["1931", "1931"], "sentences"),  # no triple says so
    ],
)
def test_an_answer_that_no_kept_fact_states_is_sought_in_their_sentences(
    films: KnowledgeBase, answers: list[str], granularity: str
) -> None:
    result = run(films, [keep(GIFT), *map(say, answers)], **OURS)

    assert (result["answer"], result["granularity"]) == (answers[-1], granularity)


def test_an_answer_from_facts_stays_where_more_text_gives_none(films: KnowledgeBase) -> None:
    result = run(films, [keep(GIFT), *map(say, ["1931", "unanswerable", "unanswerable"])], **OURS)

    assert (result["answer"], result["granularity"]) == ("1931", "none")


def test_one_talkative_passage_leaves_places_among_the_candidates(tmp_path: Path) -> None:
    talkative = [["Edith Carlmar", "directed", f"Film {number}"] for number in range(40)]
    text = " ".join(f"Edith Carlmar directed {film}." for _, _, film in talkative)
    model = ScriptedModel.of([keep(BRAK), say("Edith Carlmar")])
    extractor = TableExtractor({**TRIPLES, "carlmar": talkative})
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=extractor) as kb:
        kb.add([{**document, "text": text} if document["id"] == "carlmar" else document for document in DOCUMENTS])
        visit(kb, model, {"max_candidates": 10}, **OURS)

    shown = values(model, "integrate")[0]["facts"]
    assert 0 < sum(triple in talkative for triple in shown) < 10
    assert all(any(triple in shown for triple in TRIPLES[id_]) for id_ in ("gift", "brak", "milne", "curtiz"))


# --- stops -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "question",
    [
        None,
        "",
        "  ",
        "none",
        "None.",
        "<no question>",
        "N/A",
        "No further questions are needed.",
        QUESTION,
        f"  {QUESTION.upper()}!",
        unicodedata.normalize("NFD", QUESTION),
    ],
)
def test_the_search_ends_when_nothing_new_is_asked(films: KnowledgeBase, question: str | None) -> None:
    result = run(films, [keep(GIFT, ask=question), say("1931")])

    assert [(step["query"], step["next_question"]) for step in result["trace"]] == [(QUESTION, "")]


def test_a_question_of_an_earlier_step_ends_the_search_too(films: KnowledgeBase) -> None:
    result = run(films, [keep(GIFT, ask=BIRTHS), keep(CURTIZ, ask=QUESTION), say("1886")])

    assert [step["next_question"] for step in result["trace"]] == [BIRTHS, ""]


def test_a_question_about_a_namesake_is_another_one(films: KnowledgeBase) -> None:
    first, second = (f"When did Philip {number}, Duke of Brunswick and Duke of Kell, die?" for number in ("I", "II"))

    result = run(films, [keep(GIFT, ask=first), keep(CURTIZ, ask=second), keep(BRAK), say("1886")])

    assert [step["next_question"] for step in result["trace"]] == [first, second, ""]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("When was Edith Carlmar born?", "Where was Edith Carlmar born?"),
        ("Who was king of France before Louis XIV?", "Who was king of France after Louis XIV?"),
        ("Which country was not a member of the League?", "Which country was a member of the League?"),
        ("What was the first film of Edith Carlmar?", "What was the last film of Edith Carlmar?"),
        ("Who did Chelsea beat in the final?", "Who beat Chelsea in the final?"),
    ],
)
def test_a_question_that_differs_in_a_small_word_or_in_order_is_another_one(
    films_all_alike: KnowledgeBase, first: str, second: str
) -> None:
    result = run(films_all_alike, [keep(GIFT, ask=first), keep(CURTIZ, ask=second), keep(BRAK), say("1886")])

    assert [step["next_question"] for step in result["trace"]] == [first, second, ""]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("What is on Holm Varra?", "What is Holm Varra in?"),  # half to nine tenths alike for the embedder of the tests
        ("Which film was Orla Vint of?", "Which film has Orla Vint been in?"),
        ("Who had the Salt Road in Kell?", "Who has been at the Salt Road of a Kell?"),
    ],
)
def test_a_question_of_the_same_words_that_means_something_else_is_another_one(
    films: KnowledgeBase, first: str, second: str
) -> None:
    result = run(films, [keep(GIFT, ask=first), keep(BRAK, ask=second), keep(CURTIZ), say("Ost")])

    assert [step["next_question"] for step in result["trace"]] == [first, second, ""]


def test_a_question_with_what_for_which_is_the_same_one(films_all_alike: KnowledgeBase) -> None:
    first, second = "In which city was Edith Carlmar born?", "In what city has Edith Carlmar been born?"

    result = run(films_all_alike, [keep(GIFT, ask=first), keep(CURTIZ, ask=second), say("1886")])

    assert [step["next_question"] for step in result["trace"]] == [first, ""]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_search_ends_after_max_steps(films: KnowledgeBase, most: int) -> None:
    asks = [f"What happened in {place}?" for place in ("Oslo", "Budapest", "Hollywood", "London")]
    facts = [GIFT, BRAK, CURTIZ, CARLMAR]
    script = [keep(fact, ask=ask) for fact, ask in zip(facts[:most], asks, strict=False)]

    nodes, result = visit(films, ScriptedModel.of([*script, say("Oslo")]), {"max_steps": most})

    assert nodes.count("retrieve") == most
    assert [step["step"] for step in result["trace"]] == list(range(1, most + 1))


def test_two_steps_in_a_row_that_keep_nothing_end_the_search(films: KnowledgeBase) -> None:
    script = [keep(ask=BIRTHS), keep(GIFT, ask="Who?"), keep(ask="When?"), keep(ask="Where?"), say("1886")]

    result = run(films, script, {"max_steps": 9})

    assert [step["core_triples"] for step in result["trace"]] == [[], [GIFT], [], []]


# --- facts -----------------------------------------------------------------------------------------------------------
def test_a_fact_that_was_not_shown_is_dropped_and_counted(films: KnowledgeBase) -> None:
    invented = ["Edith Carlmar", "married", "Otto Carlmar"]
    another_year = ["Edith Carlmar", "born on", "15 November 1912"]

    result = run(films, [keep(invented, CARLMAR, another_year), say("1911")])

    assert result["trace"][0]["core_triples"] == [CARLMAR]
    assert result["usage"]["dropped"] == 2


def test_a_fact_that_differs_in_one_part_is_not_meant(films: KnowledgeBase) -> None:
    another_town = [CARLMAR[0], "died in", *CARLMAR[2:]]

    result = run(films, [keep(another_town), say("1911")])

    assert (result["trace"][0]["core_triples"], result["usage"]["dropped"]) == ([], 1)


def test_a_kept_fact_named_again_is_neither_kept_again_nor_taken_for_another(films: KnowledgeBase) -> None:
    result = run(films, [keep(GIFT, ask=BIRTHS), keep(GIFT, CURTIZ), say("1886")])

    assert [step["core_triples"] for step in result["trace"]] == [[GIFT], [CURTIZ]]
    assert result["usage"]["dropped"] == 0


def test_a_kept_fact_told_in_other_words_is_not_kept_again(films: KnowledgeBase) -> None:
    reworded = [GIFT[0], f"was {GIFT[1]}", GIFT[2]]

    result = run(films, [keep(GIFT, ask=BIRTHS), keep(reworded, ask="When?"), keep(reworded, ask="Who?"), say("1886")])

    assert [step["core_triples"] for step in result["trace"]] == [[GIFT], [], []]
    assert {entry["step"] for entry in result["evidence"]} == {1}


def test_a_fact_left_out_of_a_prompt_that_is_too_long_is_dropped(films: KnowledgeBase) -> None:
    def narrow(prompt: str, shown: Mapping[str, Any]) -> Any:
        if prompt != INTEGRATE:
            return say("unknown")
        facts = shown["facts"]
        left_out.extend(facts[1:])
        return RuntimeError("maximum context length") if facts[1:] else keep(left_out[-1])

    left_out: list[list[str]] = []
    result = run(films, narrow, PAPERS_STEPS)

    assert left_out
    assert (result["trace"][0]["core_triples"], result["usage"]["dropped"]) == ([], 1)


def test_kept_triples_are_not_shown_again_but_rejected_ones_are(films: KnowledgeBase) -> None:
    model = ScriptedModel.of([keep(GIFT, BRAK, ask=BIRTHS), keep(), say("1886")])

    visit(films, model)

    first, second = (request["facts"] for request in values(model, INTEGRATE))
    assert GIFT in first
    assert BRAK in first
    assert sorted(second) == sorted(fact for fact in first if fact not in (GIFT, BRAK))


def test_a_triple_stated_by_two_passages_brings_evidence_from_both(tmp_path: Path) -> None:
    spelled_otherwise = ["God’s gift to women", "Directed by", "Michael CURTIZ"]
    extractor = TableExtractor({"gift": [GIFT], "curtiz": [spelled_otherwise]})
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=extractor) as kb:
        kb.add(DOCUMENTS, progress=False)
        model = ScriptedModel.of([keep(GIFT), say("Michael Curtiz")])
        _, result = visit(kb, model)

    assert len(values(model, INTEGRATE)[0]["facts"]) == 1
    assert len(values(model, "answer_from_triples")[0]["triples"]) == 1
    assert {(entry["passage_id"], entry["sentence"]) for entry in result["evidence"]} == {
        ("gift", "Its director was Michael Curtiz."),
        ("curtiz", "He made God's Gift to Women in Hollywood."),
    }


def test_a_passage_deleted_while_the_question_runs_is_no_evidence(own_films: KnowledgeBase) -> None:
    def delete_then_keep(prompt: str, shown: Mapping[str, Any]) -> str:
        own_films.delete(["gift"])
        return keep(GIFT, BRAK) if prompt == INTEGRATE else say("1954")

    result = run(own_films, delete_then_keep)

    assert {entry["passage_id"] for entry in result["evidence"]} == {"brak"}


# --- history ---------------------------------------------------------------------------------------------------------
def test_the_integrator_sees_what_earlier_steps_were_shown_thought_and_kept(films: KnowledgeBase) -> None:
    model = ScriptedModel.of(CASE_STUDY)

    visit(films, model, PAPERS_STEPS)

    first, second = values(model, INTEGRATE)
    thought = json.loads(CASE_STUDY[0])["thought"]
    assert first["history"] == []
    assert second["history"] == [
        {"query": QUESTION, "candidates": first["facts"], "thought": thought, "facts": [GIFT, BRAK]}
    ]
    assert (second["question"], second["query"]) == (QUESTION, BIRTHS)


def test_a_candidate_of_an_earlier_step_may_be_kept_later(films: KnowledgeBase) -> None:
    script = [keep(GIFT, ask=BIRTHS), keep(BRAK, ask=None), say("1886")]
    model = ScriptedModel.of(script)

    _, result = visit(films, model, {"max_candidates": 4})

    first, second = (given["facts"] for given in values(model, INTEGRATE))
    assert BRAK in first
    assert BRAK not in second
    assert [step["core_triples"] for step in result["trace"]] == [[GIFT], [BRAK]]
    assert "brak" in [entry["passage_id"] for entry in result["evidence"]]
    assert result["usage"]["dropped"] == 0


def test_a_candidate_that_the_history_no_longer_shows_is_dropped(films: KnowledgeBase) -> None:
    script = [keep(GIFT, ask=BIRTHS), keep(BRAK, GIFT), say("1886")]

    result = run(films, script, {"max_candidates": 4, "max_history_tokens": 1})

    assert [step["core_triples"] for step in result["trace"]] == [[GIFT], []]
    assert result["usage"]["dropped"] == 1  # GIFT was kept before, and stays in the history


def test_a_history_over_budget_loses_its_oldest_candidates_first_and_nothing_else(films: KnowledgeBase) -> None:
    script = [keep(GIFT, ask=BIRTHS), keep(BRAK, ask="Who was born in Budapest?"), keep(), say("1886")]
    whole, short, shortest = (ScriptedModel.of(script) for _ in range(3))

    visit(films, whole)
    visit(films, short, {"max_history_tokens": 200})
    visit(films, shortest, {"max_history_tokens": 1})

    histories = [values(model, INTEGRATE)[2]["history"] for model in (whole, short, shortest)]
    shown = [[bool(step["candidates"]) for step in history] for history in histories]
    assert shown == [[True, True], [False, True], [False, False]]
    assert [[step | {"candidates": []} for step in history] for history in histories] == [histories[2]] * 3


# --- options ---------------------------------------------------------------------------------------------------------
def shape(**options: Any) -> tuple[set[str], set[tuple[str, str]]]:
    """Return the nodes and edges of a graph built with some options."""
    kb = Mock(spec=KnowledgeBase)  # one that was never opened
    drawn = create_cirag(ScriptedModel.of([]), kb, **options).compile().get_graph()
    return set(drawn.nodes), {(edge.source, edge.target) for edge in drawn.edges}


def test_ranking_and_models_leave_the_graph_as_it_is() -> None:
    assert shape(ranking="none") == shape()
    assert shape(integrator=ScriptedModel.of([]), reader=ScriptedModel.of([])) == shape()


def test_the_extractor_is_the_knowledge_bases_of_now(own_films: KnowledgeBase) -> None:
    model = ScriptedModel.of([say("1931")])
    graph = create_cirag(model, own_films).compile()
    nothing = TableExtractor({})
    nothing.version = "nothing"
    own_films.extractor = nothing

    result = graph.invoke({"question": QUESTION})

    assert result["granularity"] == "passages"
    assert model.prompts() == ["answer_from_passages"]


def test_without_ranking_the_integrator_is_shown_every_triple(films: KnowledgeBase) -> None:
    ranked, unranked = (ScriptedModel.of([keep(GIFT), say("1931")]) for _ in range(2))

    visit(films, ranked, {"max_candidates": 2})
    visit(films, unranked, {"max_candidates": 2}, ranking="none")

    assert len(values(ranked, INTEGRATE)[0]["facts"]) == 2
    assert len(values(unranked, INTEGRATE)[0]["facts"]) == sum(map(len, TRIPLES.values()))


def test_ranking_puts_the_triples_most_like_the_query_first(films: KnowledgeBase) -> None:
    model = ScriptedModel.of([keep(GIFT, ask="What did Edith Carlmar start, Carlmar Film A/S?"), keep(), say("1931")])

    visit(films, model)

    assert values(model, INTEGRATE)[1]["facts"][0] == STARTED


def test_candidates_may_be_shown_with_their_sentences_and_are_kept_without(films: KnowledgeBase) -> None:
    model = ScriptedModel.of([keep([*GIFT, "Its director was Michael Curtiz."]), say("1931")])

    _, result = visit(films, model, variant="ours", shown="sentences", granularities=["triples"])

    shown = values(model, "integrate_with_sentences")[0]["facts"]
    assert [*GIFT, "Its director was Michael Curtiz."] in shown
    assert all(len(fact) == 4 for fact in shown)
    assert result["trace"][0]["core_triples"] == [GIFT]


def test_as_published_the_integrator_sees_facts_alone() -> None:
    with pytest.raises(UnknownNameError, match="unknown shown 'sentences': expected one of facts"):
        shape(variant="published", shown="sentences")


def test_online_triples_put_one_node_between_retrieval_and_construction() -> None:
    nodes, edges = shape()

    online_nodes, online_edges = shape(triples="online")

    assert online_nodes == nodes | {"extract_triples"}
    between = {("retrieve", "extract_triples"), ("extract_triples", "construct")}
    assert online_edges == edges - {("retrieve", "construct")} | between


def online_reply(shown: Mapping[str, Any], *trouble: str) -> str:
    """Write that each title is a title."""
    read = [
        {"passage": number, "facts": [["1", passage["title"], verb, passage["title"]] for verb in ("is", "was", "has")]}
        for number, passage in enumerate(shown["passages"], start=1)
        if passage["title"] not in trouble
    ]
    return json.dumps({"passages": read}) if read else "garbage"


def test_online_each_passage_is_read_once_when_it_is_first_retrieved(own_films: KnowledgeBase) -> None:
    def reads(prompt: str, shown: Mapping[str, Any]) -> str:
        if prompt == "extract_facts":
            return online_reply(shown)
        return keep(["Edith Carlmar", "is", "Edith Carlmar"]) if prompt == INTEGRATE else say("Carlmar")

    model = ScriptedModel.of(reads)
    first, again = run(own_films, reads, triples="online"), visit(own_films, model, triples="online")[1]

    assert first["usage"]["calls"] == 1 + 2
    assert model.prompts() == [INTEGRATE, "answer_from_triples"]
    assert again["evidence"] == first["evidence"] != []


def test_online_a_passage_that_cannot_be_read_is_tried_once_for_a_question(own_films: KnowledgeBase) -> None:
    asks = iter(["Who?", "When?", None])

    def reads(prompt: str, shown: Mapping[str, Any]) -> str:
        if prompt == "extract_facts":
            return online_reply(shown, "Dan Milne")
        return keep(shown["facts"][0], ask=next(asks)) if prompt == INTEGRATE else say("Carlmar")

    model = ScriptedModel.of(reads)
    _, result = visit(own_films, model, triples="online")

    asked = [passage["title"] for shown in values(model, "extract_facts") for passage in shown["passages"]]
    assert asked.count("Dan Milne") == 1 + 1 + MAX_REPAIRS  # among others, then alone
    assert len(result["trace"]) == 3


def test_online_passages_are_read_by_the_model_for_everything_else(own_films: KnowledgeBase) -> None:
    read = {"passages": [{"passage": number, "facts": [["1", *GIFT]]} for number in range(1, 1 + len(DOCUMENTS))]}
    llm = ScriptedModel.of([json.dumps(read)])

    integrator, reader = ScriptedModel.of([keep(GIFT)]), ScriptedModel.of([say("1931")])
    visit(own_films, llm, triples="online", integrator=integrator, reader=reader)

    assert llm.prompts() == ["extract_facts"]


LEVELS = ("triples", "sentences", "passages")


@pytest.mark.parametrize("levels", [levels for n in (1, 2, 3) for levels in itertools.permutations(LEVELS, n)])
def test_the_cascade_has_the_levels_asked_for_in_their_order(levels: tuple[str, ...]) -> None:
    nodes, edges = shape(granularities=levels)
    names = [f"answer_from_{level}" for level in levels]

    assert {node for node in nodes if node.startswith("answer_from_")} == set(names)
    assert {edge for edge in edges if edge[0] in names} == {
        *itertools.pairwise([*names, "conclude"]),
        *((name, names[-1]) for name in names[:-1]),
        *((name, "find_support" if name == "answer_from_passages" else "conclude") for name in names),
    }
    assert {target for source, target in edges if source == "construct"} == {"integrate", names[0], names[-1]}
    assert {
        edge for edge in shape()[1] if not any("answer_from_" in node or node == "find_support" for node in edge)
    } <= edges


@pytest.mark.parametrize("levels", [("triples",), ("sentences",), ("passages",), ("passages", "triples")])
def test_a_shorter_cascade_asks_only_its_own_levels(films: KnowledgeBase, levels: tuple[str, ...]) -> None:
    model = ScriptedModel.of([keep(GIFT), *[say("unanswerable")] * len(levels)])

    _, result = visit(films, model, granularities=levels)

    assert model.prompts() == [INTEGRATE, *(f"answer_from_{level}" for level in levels)]
    assert result["granularity"] == "none"


@pytest.mark.parametrize(
    ("most", "ask", "levels", "read"),
    [
        (2, None, ["passages"], ["gift"]),  # the search is complete, and one call is left
        (3, None, ["triples", "passages"], ["gift"]),
        (4, None, ["triples", "sentences", "passages"], ["gift"]),
        (2, BIRTHS, ["passages"], ["gift", "brak", "curtiz"]),  # the limit ended the search
    ],
)
def test_the_last_call_that_a_limit_leaves_reads_passages(
    films: KnowledgeBase, most: int, ask: str | None, levels: list[str], read: list[str]
) -> None:
    model = ScriptedModel.of([keep(GIFT, ask=ask), *[say("unanswerable")] * len(levels)])

    visit(films, model, {"max_model_calls": most, **PAPERS_STEPS})

    titles = {"gift": "God's Gift to Women", "brak": "Aldri annet enn bråk", "curtiz": "Michael Curtiz"}
    shown = [passage["title"] for passage in asked_for(model.received[-1])["values"]["passages"]]
    assert model.prompts() == [INTEGRATE, *(f"answer_from_{level}" for level in levels)]
    assert shown == [titles[id_] for id_ in read]


def test_integrator_and_reader_are_asked_their_own_prompts_only(films: KnowledgeBase) -> None:
    llm, integrator, reader = ScriptedModel.of([]), ScriptedModel.of([keep(GIFT)]), ScriptedModel.of([say("1931")])

    _, result = visit(films, llm, integrator=integrator, reader=reader)

    assert llm.prompts() == []
    assert integrator.prompts() == [INTEGRATE]
    assert reader.prompts() == ["answer_from_triples"]
    assert result["usage"]["calls"] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranking": "best"}, "unknown ranking 'best': expected one of similarity, none"),
        ({"triples": "later"}, "unknown triples 'later': expected one of offline, online"),
        ({"granularities": ["triples", "words"]}, "unknown granularity 'words': expected one of triples, sentences,"),
    ],
)
def test_unknown_options_are_refused_with_the_known_ones(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        shape(**options)


@pytest.mark.parametrize("levels", [[], ["triples", "triples"]])
def test_a_cascade_needs_a_level_and_none_twice(levels: list[str]) -> None:
    with pytest.raises(ValueError, match="at least one level and none twice, got"):
        shape(granularities=levels)


# --- errors ----------------------------------------------------------------------------------------------------------
BAD_QUESTIONS = ["", " \n\t", "\0", "\u200b \u00ad", None, 42, ["Who?"], {"q": "Who?"}, "why " * 5_000]


@pytest.mark.parametrize("question", BAD_QUESTIONS)
async def test_a_question_that_is_none_is_refused_before_anything_is_asked(films: KnowledgeBase, question: Any) -> None:
    model = ScriptedModel.of([])
    graph = create_cirag(model, films).compile()

    with pytest.raises(QuestionError, match="expected a question"):
        graph.invoke({"question": question})
    with pytest.raises(QuestionError, match="expected a question"):
        await graph.ainvoke({"question": question})
    assert model.received == []


def test_the_longest_question_is_a_matter_of_the_context(films: KnowledgeBase) -> None:
    with pytest.raises(QuestionError, match=f"at most 10 characters, got {len(QUESTION)}"):
        run(films, [], {"max_question_chars": 10})


async def test_an_empty_knowledge_base_is_said_to_be_empty(empty_kb: KnowledgeBase) -> None:
    graph = create_cirag(ScriptedModel.of([]), empty_kb).compile()

    with pytest.raises(EmptyKnowledgeBaseError, match="add documents first"):
        graph.invoke({"question": QUESTION})
    with pytest.raises(EmptyKnowledgeBaseError, match="add documents first"):
        await graph.ainvoke({"question": QUESTION})


async def test_a_model_that_keeps_talking_garbage_is_an_error_that_names_it(films: KnowledgeBase) -> None:
    model = ScriptedModel.of(["Nice films!", "{}", "I said: nice films!"] * 2, model_name="chatterbox")
    graph = create_cirag(model, films).compile()
    message = "prompt 'integrate': chatterbox gave no usable reply in 3 attempts.*I said: nice films!"

    with pytest.raises(ModelOutputError, match=message):
        graph.invoke({"question": QUESTION})
    with pytest.raises(ModelOutputError, match=message):
        await graph.ainvoke({"question": QUESTION})
    assert model.prompts() == ["integrate"] * 6


def test_a_model_that_cannot_be_reached_is_an_error(films: KnowledgeBase) -> None:
    with pytest.raises(ModelCallError, match="scripted could not be asked: OSError: no route"):
        run(films, [OSError("no route")])


@pytest.mark.parametrize(
    ("context", "error"),
    [({"max_steps": 0}, ValueError), ({"top_k": "ten"}, ValueError), ({"max_hops": 2}, TypeError)],
)
def test_a_context_that_makes_no_sense_is_refused(
    films: KnowledgeBase, context: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error, match=next(iter(context))):
        run(films, [], context)


# --- passages and usage ----------------------------------------------------------------------------------------------
def test_the_passages_of_the_evidence_come_first_and_the_first_retrieval_fills_up(films: KnowledgeBase) -> None:
    first = [passage["id"] for passage in films.search(QUESTION, by="graph")]

    result = run(films, [keep(CURTIZ, CARLMAR), say("1886")])

    rest = [id_ for id_ in first if id_ not in ("curtiz", "carlmar")]
    assert [passage["id"] for passage in result["passages"]] == ["curtiz", "carlmar", *rest]
    assert [passage["score"] for passage in result["passages"]] == [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]


def test_with_the_default_context_there_are_ten_passages_if_the_knowledge_base_has_them(kb: KnowledgeBase) -> None:
    isles = [{"id": f"isle-{n}", "title": f"Isle {n}", "text": f"Isle {n} is an island."} for n in range(6)]
    kb.add(isles, progress=False)

    result = run(kb, lambda prompt, _: keep() if prompt == INTEGRATE else say("1644"))

    assert len({passage["id"] for passage in result["passages"]}) == len(result["passages"]) == 10


def test_calls_tokens_and_repairs_are_counted_over_the_whole_run(films: KnowledgeBase) -> None:
    result = run(films, ["Let me think.", *CASE_STUDY], PAPERS_STEPS)

    counted = result["usage"]
    assert (counted["calls"], counted["repairs"], counted["dropped"]) == (4, 1, 0)
    assert (counted["input_tokens"], counted["output_tokens"]) == (40, 20)
    assert counted["seconds"] > 0


async def test_a_passage_that_states_what_was_kept_no_more_is_read_as_it_is_now(kb: KnowledgeBase) -> None:
    kb.add([{"id": "ferry", "title": "Luna", "text": "The ferry Luna was built in Kell."}], progress=False)

    def updating(prompt: str, values: Mapping[str, Any]) -> str:
        if prompt != "integrate":
            return say("Torrin" if "Torrin" in str(values) else "unanswerable")
        kb.upsert([{"id": "ferry", "title": "Luna", "text": "The ferry Luna was made in Torrin."}], progress=False)
        facts = [triple for triple in values["facts"] if "Luna" in triple[0]]
        return json.dumps({"thought": "", "facts": facts, "question": None})

    graph: Any = create_cirag(ScriptedModel.of(updating), kb).compile()
    result = await graph.ainvoke({"question": "Where was the ferry Luna built?"})

    assert (result["answer"], result["granularity"]) == ("Torrin", "sentences")
    assert [entry["sentence"] for entry in result["evidence"]] == ["The ferry Luna was made in Torrin."]
