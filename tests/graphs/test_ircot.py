"""IRCoT and single-shot RAG on scripted models: passages accumulate, sentences are queries, the answer ends it."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from fakes import ScriptedModel
from running import values, visited

from langgraph_rag.graphs.ircot import create_ircot
from langgraph_rag.graphs.native_rag import create_native_rag
from langgraph_rag.nodes.find_support import FindSupportInput, _found
from langgraph_rag.records import Evidence
from langgraph_rag.tools.knowledge_base import KnowledgeBase

QUESTION = "Where was the director of The Salt Road born?"
DIRECTED = "The Salt Road was directed by Orla Vint."
BORN = "Orla Vint was born in Pellworth in the U.S. state of Norland."
DONE = "So the answer is: Pellworth."


@pytest.fixture
def kb(read_kb: KnowledgeBase) -> KnowledgeBase:
    return read_kb


def think(sentence: str) -> str:
    return json.dumps({"sentence": sentence})


def say(answer: str, thought: str = "So it is.") -> str:
    return json.dumps({"thought": thought, "answer": answer})


CASE = [think(DIRECTED), think(BORN), think(DONE), say("Pellworth")]


def visit(
    create: Any, kb: KnowledgeBase, model: ScriptedModel, context: Mapping[str, Any] | None = None, **options: Any
) -> tuple[list[str], dict[str, Any]]:
    """Return the nodes in the order they ran, and the result."""
    return visited(create(model, kb, **options), QUESTION, context)


def test_each_sentence_is_the_next_query_until_one_gives_the_answer(kb: KnowledgeBase) -> None:
    nodes, result = visit(create_ircot, kb, ScriptedModel.of(CASE), {"top_k": 2})

    step = ["retrieve", "rank_passages", "think"]
    assert nodes == ["receive_question", *step, *step, *step, "read_passages", "find_support", "conclude"]
    assert [entry["query"] for entry in result["trace"]] == [QUESTION, DIRECTED, BORN]
    assert [entry["thought"] for entry in result["trace"]] == [DIRECTED, BORN, DONE]
    assert result["answer"] == "Pellworth"


def test_passages_accumulate_and_all_of_them_are_shown(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of(CASE)

    visit(create_ircot, kb, model, {"top_k": 2, "search": "dense"})

    shown = [{text["title"] for text in given["passages"]} for given in values(model, "next_thought")]
    assert shown[0] <= shown[1] <= shown[2]
    assert shown[2] == {text["title"] for text in values(model, "answer_from_passages")[0]["passages"]}
    assert len(shown[0]) == 2 < len(shown[2])


def test_read_k_passages_are_shown_at_most(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of(CASE)

    visit(create_ircot, kb, model, {"top_k": 5, "read_k": 3})

    assert [len(given["passages"]) for given in values(model, "next_thought")] == [3, 3, 3]


def test_passages_are_ranked_by_their_best_place(kb: KnowledgeBase) -> None:
    _, result = visit(create_ircot, kb, ScriptedModel.of(CASE), {"search": "dense"})

    firsts = [kb.search(query, 1, by="dense")[0]["id"] for query in (QUESTION, DIRECTED, BORN)]
    distinct = list(dict.fromkeys(firsts))
    assert [passage["id"] for passage in result["passages"]][: len(distinct)] == distinct


def test_the_evidence_is_what_the_sentences_say(kb: KnowledgeBase) -> None:
    _, result = visit(create_ircot, kb, ScriptedModel.of(CASE))

    found = [(e["passage_id"], e["sentence"], e["step"]) for e in result["evidence"]]
    assert ("salt-road", "The Salt Road is a 1968 drama film directed by Orla Vint.", 1) in found
    assert ("vint", "Vint was born in Pellworth.", 2) in found
    assert ["Orla Vint", "was born in", "Pellworth"] in [e["triple"] for e in result["evidence"]]


def test_what_the_reader_thought_and_answered_is_evidence_too(kb: KnowledgeBase) -> None:
    script = [think("It has to be found out."), think(DONE), say("Pellworth", DIRECTED)]

    _, result = visit(create_ircot, kb, ScriptedModel.of(script))

    found = {(e["sentence"], e["step"]) for e in result["evidence"]}
    film = "The Salt Road is a 1968 drama film directed by Orla Vint."
    assert {(film, 2), ("Vint was born in Pellworth.", 2)} <= found


def test_a_sentence_with_the_answer_is_sought_only_if_the_evidence_has_none(kb: KnowledgeBase) -> None:
    shot = "The film was shot in Pellworth."
    known = Evidence(triple=[], sentence=shot, passage_id="salt-road", title="The Salt Road", step=1)
    state = FindSupportInput(
        question=QUESTION, answer="Pellworth", thought="", read=["vint"], evidence=[known], trace=[]
    )

    assert _found(state, kb.passages(["vint"])) == []
    assert len(_found({**state, "evidence": []}, kb.passages(["vint"]))) == 1


def test_an_abbreviation_does_not_cut_a_sentence_and_a_second_one_is_left_out(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of([think(f"{BORN} It is a harbour town."), *CASE[2:]])

    _, result = visit(create_ircot, kb, model)

    assert result["trace"][0]["thought"] == BORN


@pytest.mark.parametrize("last", ["", DIRECTED])
def test_a_sentence_that_says_nothing_new_ends_the_reasoning(kb: KnowledgeBase, last: str) -> None:
    nodes, _ = visit(create_ircot, kb, ScriptedModel.of([think(DIRECTED), think(last), say("unanswerable")]))

    assert nodes.count("think") == nodes.count("retrieve") == 2


@pytest.mark.parametrize(("context", "steps"), [({}, 8), ({"max_steps": 3}, 3)])
def test_the_reasoning_ends_after_the_papers_number_of_steps(
    kb: KnowledgeBase, context: dict[str, int], steps: int
) -> None:
    thoughts = [think(f"Vint made film number {number}.") for number in range(steps)]

    nodes, result = visit(create_ircot, kb, ScriptedModel.of([*thoughts, say("unanswerable")]), context)

    assert nodes.count("think") == nodes.count("retrieve") == len(result["trace"]) == steps


def test_the_last_thought_says_that_nothing_is_retrieved_with_it(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of([think("Vint made a film."), think("Vint made another film."), say("unanswerable")])
    graph: Any = create_ircot(model, kb).compile()
    told = graph.stream({"question": "What did Vint make?"}, context={"max_steps": 2}, stream_mode="custom")

    assert [event["goes_on"] for event in told if event["node"] == "think"] == [True, False]


def test_thinker_and_reader_can_be_models_of_their_own(kb: KnowledgeBase) -> None:
    thinker, reader = ScriptedModel.of(CASE[:-1]), ScriptedModel.of(CASE[-1:])

    _, result = visit(create_ircot, kb, ScriptedModel(), thinker=thinker, reader=reader)

    assert (len(thinker.received), len(reader.received), result["answer"]) == (3, 1, "Pellworth")


# --- single-shot RAG -------------------------------------------------------------------------------------------------
def test_single_shot_rag_retrieves_once_and_reads(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of([say("Pellworth", "The Salt Road was directed by Orla Vint. She was born in Pellworth.")])

    nodes, result = visit(create_native_rag, kb, model, {"top_k": 4, "search": "dense"})

    ends = ["read_passages", "find_support", "conclude"]
    assert nodes == ["receive_question", "retrieve", "rank_passages", *ends]
    assert [passage["id"] for passage in result["passages"]] == [hit["id"] for hit in kb.search(QUESTION, by="dense")]
    assert len(values(model, "answer_from_passages")[0]["passages"]) == 4
    assert {evidence["sentence"] for evidence in result["evidence"]} >= {"Vint was born in Pellworth."}
    assert [(step["step"], step["query"]) for step in result["trace"]] == [(1, QUESTION)]
    assert {evidence["step"] for evidence in result["evidence"]} == {1}


def test_single_shot_rag_can_read_fewer_than_it_retrieves(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of([say("Pellworth")])

    visit(create_native_rag, kb, model, {"top_k": 5, "read_k": 3})

    assert len(values(model, "answer_from_passages")[0]["passages"]) == 3


def test_what_words_do_not_find_is_listed_by_meaning(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of([say("Pellworth")])
    by_words, by_meaning = ([found["id"] for found in kb.search(QUESTION, by=by)] for by in ("bm25", "dense"))

    _, result = visit(create_native_rag, kb, model, {"search": "bm25"})

    assert len(by_words) == len(values(model, "answer_from_passages")[0]["passages"]) < len(by_meaning)
    rest = [id_ for id_ in by_meaning if id_ not in by_words]
    assert [passage["id"] for passage in result["passages"]] == by_words + rest


def test_words_are_enough_where_the_embedder_is_not_at_hand(kb: KnowledgeBase) -> None:
    with KnowledgeBase.open(kb.path) as unembedded:
        _, result = visit(create_native_rag, unembedded, ScriptedModel.of([say("Pellworth")]), {"search": "bm25"})

    assert result["answer"] == "Pellworth"
    assert [passage["id"] for passage in result["passages"]] == [hit["id"] for hit in kb.search(QUESTION, by="bm25")]
