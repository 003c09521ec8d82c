"""KiRAG on scripted models: the running example of its paper (figures 1 and 2), its chain, its stops, its options."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from fakes import ArithmeticEmbeddings, ScriptedModel
from langgraph.checkpoint.memory import InMemorySaver
from running import TableExtractor, say, values, visited

from langgraph_rag.errors import EmptyKnowledgeBaseError, ModelOutputError, UnknownNameError
from langgraph_rag.graphs.kirag import create_kirag
from langgraph_rag.nodes.identify_candidates import best_alone, places_for_all
from langgraph_rag.records import Candidate, Source, Triple, ids_of
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.retrieve.ranking import by_score

QUESTION = "According to the 2001 census, what was the population of the city in which Kirton End is located?"
LOCATED = ["Kirton End", "location", "Boston"]
POPULATION = ["Boston", "population in 2001 census", "35,124"]
DOCUMENTS = [
    {
        "id": "kirton-end",
        "title": "Kirton End",
        "text": "Kirton End lies in the parish of Kirton, in the district of Boston. It is a hamlet.",
    },
    {
        "id": "boston",
        "title": "Boston, Lincolnshire",
        "text": "Boston is a port on the east coast. The census of 2001 counted a population of 35,124 in the town.",
    },
    {
        "id": "kirton",
        "title": "Kirton, Nottinghamshire",
        "text": "Kirton is a village. In the census of 2001 its population was 273.",
    },
    {"id": "ollerton", "title": "Ollerton", "text": "Ollerton is a small town. It has a mill."},
]
TRIPLES = {
    "kirton-end": [LOCATED, ["Kirton End", "is", "hamlet"]],
    "boston": [["Boston", "is", "port"], POPULATION],
    "kirton": [["Kirton", "population in 2001 census", "273"], ["Kirton", "is", "village"]],
    "ollerton": [["Ollerton", "is", "small town"]],
}
TWO = {"top_k": 2, "search": "dense"}
STEP = ["retrieve", "decompose_knowledge", "identify_candidates", "construct_chain"]
PUBLISHED: dict[str, Any] = {"construction": "first", "reading": "passages"}
END = ["rank_documents", "read_passages", "find_support", "conclude"]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """Hold what all tests read."""
    with KnowledgeBase.open(
        tmp_path_factory.mktemp("places") / "kb", ArithmeticEmbeddings(), extractor=TableExtractor(TRIPLES)
    ) as kb:
        kb.add(DOCUMENTS, progress=False)
        yield kb


def chain(*pieces: Any, conclusion: str = "More is missing.") -> str:
    """Write a constructor's reply."""
    return json.dumps({"chain": pieces, "conclusion": conclusion})


ANSWERED = "So the answer is 35,124."
CASE = [chain(LOCATED), chain(POPULATION, conclusion=ANSWERED), chain(conclusion=ANSWERED), say("35,124")]


def visit(
    kb: KnowledgeBase, model: ScriptedModel, context: Mapping[str, Any] | None = None, **options: Any
) -> tuple[list[str], dict[str, Any]]:
    """Return the nodes in the order they ran, and the result."""
    return visited(create_kirag(model, kb, **options), QUESTION, context)


# --- the paper's example ---------------------------------------------------------------------------------------------
def test_the_papers_example_goes_through_its_steps_to_its_answer(places: KnowledgeBase) -> None:
    model = ScriptedModel.of(CASE)

    nodes, result = visit(places, model, TWO, **PUBLISHED)

    grown = [*STEP, "accumulate"]
    assert nodes == ["receive_question", *grown, *grown, *STEP, *END]
    assert result["answer"] == "35,124"
    assert [(e["triple"], e["passage_id"], e["step"]) for e in result["evidence"]] == [
        (LOCATED, "kirton-end", 1),
        (POPULATION, "boston", 2),
    ]
    assert result["evidence"][1]["sentence"].startswith("The census of 2001")
    assert [step["core_triples"] for step in result["trace"]] == [[LOCATED], [POPULATION], []]
    assert result["trace"][2]["thought"] == ANSWERED


def test_the_query_of_each_step_is_the_question_with_the_chain(places: KnowledgeBase) -> None:
    _, result = visit(places, ScriptedModel.of(CASE), TWO, **PUBLISHED)

    first, second, third = (step["query"] for step in result["trace"])
    assert first == QUESTION
    assert second.startswith(QUESTION) and second.endswith(" Kirton End location Boston.")
    assert third.endswith(" Kirton End location Boston. Boston population in 2001 census 35,124.")


def test_the_weighed_knowledge_is_kept_only_until_it_was_weighed(places: KnowledgeBase) -> None:
    graph: Any = create_kirag(ScriptedModel.of(CASE), places).compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}

    graph.invoke({"question": QUESTION}, thread, context=TWO)

    holding = [state.next for state in graph.get_state_history(thread) if state.values.get("knowledge")]
    assert set(holding) == {("identify_candidates",)}


def test_only_the_first_triple_of_the_completed_chain_is_taken(places: KnowledgeBase) -> None:
    whole = chain(LOCATED, POPULATION, conclusion=ANSWERED)

    _, result = visit(places, ScriptedModel.of([whole, say("35,124")]), {"max_steps": 1}, **PUBLISHED)

    assert [step["core_triples"] for step in result["trace"]] == [[LOCATED]]


def test_the_constructor_sees_the_chain_and_no_triple_of_it_again(places: KnowledgeBase) -> None:
    model = ScriptedModel.of(CASE)

    visit(places, model, **PUBLISHED)

    first, second, _ = values(model, "construct_chain")
    assert (first["chain"], second["chain"]) == ([], [LOCATED])
    assert LOCATED in first["candidates"] and LOCATED not in second["candidates"]


def test_at_most_the_papers_number_of_candidates_is_shown_best_first(places: KnowledgeBase) -> None:
    model = ScriptedModel.of(CASE)

    visit(places, model, {"max_candidates": 3})

    shown = values(model, "construct_chain")[0]["candidates"]
    assert len(shown) == 3
    assert shown[0] in (POPULATION, ["Kirton", "population in 2001 census", "273"])


# --- documents and reader --------------------------------------------------------------------------------------------
def test_documents_are_ranked_by_their_best_triple_over_all_steps(places: KnowledgeBase) -> None:
    graph: Any = create_kirag(ScriptedModel.of(CASE), places, ranking="best_score", **PUBLISHED).compile()

    *states, last = graph.stream({"question": QUESTION}, stream_mode="values")

    scored = [(c["score"], s["passage_id"]) for v in states for c in v.get("candidates", []) for s in c["sources"]]
    best = {id_: max(score for score, other in scored if other == id_) for _, id_ in scored}
    assert {p["id"]: p["score"] for p in last["ranking"]} == pytest.approx(best)
    assert [p["id"] for p in last["ranking"]] == sorted(best, key=lambda id_: -best[id_])
    assert [p["id"] for p in last["passages"]][: len(best)] == [p["id"] for p in last["ranking"]]


def test_documents_are_ranked_by_the_chain_their_best_triple_and_the_first_retrieval(places: KnowledgeBase) -> None:
    graph: Any = create_kirag(ScriptedModel.of(CASE), places, **PUBLISHED).compile()

    *_, last = graph.stream({"question": QUESTION}, stream_mode="values")

    rankings = [["kirton-end", "boston"], ids_of(by_score(last["scores"])), ids_of(last["first_retrieval"])]
    shares = {id_: sum(1 / (3 + one.index(id_)) for one in rankings if id_ in one) for id_ in sum(rankings, [])}
    assert {p["id"]: p["score"] for p in last["ranking"]} == pytest.approx(shares)
    assert ids_of(last["ranking"])[:2] == ["kirton-end", "boston"]


@pytest.mark.parametrize(("context", "most"), [({}, 3), ({"read_k": 1}, 1)])
def test_the_reader_sees_the_best_three_documents(places: KnowledgeBase, context: dict[str, int], most: int) -> None:
    model = ScriptedModel.of(CASE)

    _, result = visit(places, model, context, **PUBLISHED)

    (read,) = values(model, "answer_from_passages")
    titles = {document["id"]: document["title"] for document in DOCUMENTS}
    assert [text["title"] for text in read["passages"]] == [titles[p["id"]] for p in result["passages"][:most]]


# --- stops -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("context", "steps"), [({}, 5), ({"max_steps": 2}, 2)])
def test_the_search_ends_after_the_papers_number_of_steps(
    places: KnowledgeBase, context: dict[str, int], steps: int
) -> None:
    def script(prompt: str, given: Mapping[str, Any]) -> str:
        return say("35,124") if prompt == "answer_from_passages" else chain(given["candidates"][0])

    nodes, result = visit(places, ScriptedModel.of(script), context, **PUBLISHED)

    assert nodes.count("construct_chain") == len(result["trace"]) == steps


def test_a_chain_that_nothing_continues_ends_after_a_second_look(places: KnowledgeBase) -> None:
    nodes, result = visit(places, ScriptedModel.of([chain(), chain(), say("unanswerable")]), **PUBLISHED)

    assert nodes == ["receive_question", *STEP, "construct_chain", *END]
    assert (result["answer"], result["evidence"]) == ("unanswerable", [])


@pytest.mark.parametrize(
    "conclusion", ["More is missing.", "It has to be found out what the answer is.", "So the answer is unknown."]
)
def test_an_empty_completion_without_an_answer_is_asked_for_once_more(places: KnowledgeBase, conclusion: str) -> None:
    model = ScriptedModel.of([chain(conclusion=conclusion), *CASE])

    _, result = visit(places, model, TWO, **PUBLISHED)

    assert "added nothing, but the answer is not there" in model.received[1][-1].text
    assert [step["core_triples"] for step in result["trace"]] == [[LOCATED], [POPULATION], []]


def test_a_chain_with_an_answer_and_nothing_to_add_is_complete_at_once(places: KnowledgeBase) -> None:
    nodes, _ = visit(places, ScriptedModel.of([chain(conclusion=ANSWERED), say("35,124")]))

    assert nodes == ["receive_question", *STEP, *END]


def test_an_answer_that_rests_on_an_invented_triple_does_not_complete_the_chain(places: KnowledgeBase) -> None:
    invented = chain(["Kirton End", "part of", "Grimsby"], conclusion="So the answer is 86,138.")

    _, result = visit(places, ScriptedModel.of([invented, *CASE]), TWO, **PUBLISHED)

    assert [step["core_triples"] for step in result["trace"]] == [[LOCATED], [POPULATION], []]


def test_an_answer_beyond_the_chain_has_the_sentence_it_was_read_from(places: KnowledgeBase) -> None:
    _, result = visit(places, ScriptedModel.of([chain(LOCATED), chain(conclusion=ANSWERED), say("35,124")]), TWO)

    kept, read = result["evidence"]
    assert (kept["triple"], kept["passage_id"], kept["step"]) == (LOCATED, "kirton-end", 1)
    assert (read["passage_id"], read["step"]) == ("boston", 2)
    assert read["sentence"] == "The census of 2001 counted a population of 35,124 in the town."


def test_an_invented_triple_is_refused_and_asked_for_once_more(places: KnowledgeBase) -> None:
    invented = ["Kirton End", "part of", "Grimsby"]
    model = ScriptedModel.of([chain(invented), *CASE])

    nodes, result = visit(places, model)

    assert nodes[4:6] == ["construct_chain", "construct_chain"]
    assert [given["refused"] for given in values(model, "construct_chain")][:3] == [
        [],
        ["Kirton End part of Grimsby"],
        [],
    ]
    assert (result["answer"], result["usage"]["dropped"]) == ("35,124", 1)


def test_a_candidate_left_out_of_a_prompt_that_is_too_long_is_not_taken(places: KnowledgeBase) -> None:
    def narrow(prompt: str, shown: Mapping[str, Any]) -> Any:
        if prompt != "construct_chain":
            return say("unknown")
        candidates = shown["candidates"]
        left_out.extend(candidates[1:])
        return RuntimeError("maximum context length") if candidates[1:] else chain(left_out[-1])

    left_out: list[list[str]] = []
    result = visit(places, ScriptedModel.of(narrow), {**TWO, "max_steps": 1})[1]

    assert left_out
    assert result["trace"][0]["core_triples"] == []
    assert result["usage"]["dropped"] > 0


def test_two_invented_triples_end_the_chain(places: KnowledgeBase) -> None:
    invented = chain(["Kirton End", "part of", "Grimsby"], conclusion="Its population is open.")

    nodes, result = visit(places, ScriptedModel.of([invented, invented, say("unanswerable")]))

    assert nodes == ["receive_question", *STEP, "construct_chain", *END]
    assert (result["evidence"], result["usage"]["dropped"]) == ([], 2)
    assert [step["thought"] for step in result["trace"]] == ["Its population is open."]


def test_what_was_not_shown_is_filtered_out_before_the_first_triple_is_taken(places: KnowledgeBase) -> None:
    invented = ["Kirton End", "part of", "Grimsby"]

    _, result = visit(places, ScriptedModel.of([chain(invented, LOCATED), *CASE[1:]]), TWO, **PUBLISHED)

    assert [step["core_triples"] for step in result["trace"]] == [[LOCATED], [POPULATION], []]
    assert result["usage"]["dropped"] == 1


def test_a_model_that_repeats_the_chain_continues_it_all_the_same(places: KnowledgeBase) -> None:
    repeating = [*[chain(LOCATED, POPULATION, conclusion=ANSWERED)] * 3, say("35,124")]

    _, result = visit(places, ScriptedModel.of(repeating), TWO, **PUBLISHED)

    assert [step["core_triples"] for step in result["trace"]] == [[LOCATED], [POPULATION], []]
    assert result["usage"]["dropped"] == 0


def test_a_repeated_piece_of_the_chain_does_not_stand_for_a_similar_candidate(tmp_path: Path) -> None:
    similar = [LOCATED[0], f"{LOCATED[1]}s", LOCATED[2]]
    triples = {**TRIPLES, "kirton-end": [LOCATED, similar]}
    script = [chain(LOCATED), chain(LOCATED, POPULATION), chain(conclusion=ANSWERED), say("35,124")]
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=TableExtractor(triples)) as kb:
        kb.add(DOCUMENTS, progress=False)

        _, result = visit(kb, ScriptedModel.of(script), TWO)

    assert [step["core_triples"] for step in result["trace"]] == [[LOCATED], [POPULATION], []]


def test_a_model_that_tells_the_chain_in_other_words_completes_it_all_the_same(places: KnowledgeBase) -> None:
    told_anew = chain([LOCATED[0], f"has {LOCATED[1]}", LOCATED[2]], conclusion=ANSWERED)

    nodes, result = visit(places, ScriptedModel.of([chain(LOCATED), told_anew, say("35,124")]))

    assert nodes == ["receive_question", *STEP, "accumulate", *STEP, *END]
    assert ([step["core_triples"] for step in result["trace"]], result["usage"]["dropped"]) == ([[LOCATED], []], 0)


@pytest.mark.parametrize("retriever", ["passages", "none"])
def test_without_any_triple_the_reader_gets_the_first_retrieval(tmp_path: Path, retriever: str) -> None:
    with KnowledgeBase.open(tmp_path / "bare", ArithmeticEmbeddings(), extractor=TableExtractor({})) as kb:
        kb.add(DOCUMENTS, progress=False)
        model = ScriptedModel.of([say("35,124")])
        found = STEP[:3] if retriever == "passages" else ["look_up_question", "identify_in_whole_graph"]

        nodes, result = visit(kb, model, {"top_k": 2}, retriever=retriever, **PUBLISHED)

    assert nodes == ["receive_question", *found, *END]
    assert len(values(model, "answer_from_passages")[0]["passages"]) == 2
    assert len(result["passages"]) == len(DOCUMENTS)


# --- our own construction and reading ---------------------------------------------------------------------------------
def test_a_completion_that_gives_the_answer_is_added_whole_and_ends_the_search(places: KnowledgeBase) -> None:
    model = ScriptedModel.of([chain(LOCATED, POPULATION, conclusion=ANSWERED), say("35,124")])

    nodes, result = visit(places, model)

    assert nodes == ["receive_question", *STEP, "accumulate", *END]
    assert [step["core_triples"] for step in result["trace"]] == [[LOCATED, POPULATION]]
    assert [(e["triple"], e["passage_id"]) for e in result["evidence"]] == [
        (LOCATED, "kirton-end"),
        (POPULATION, "boston"),
    ]


def test_all_of_a_completion_is_added_and_what_is_missing_is_looked_up(places: KnowledgeBase) -> None:
    port, missing = ["Boston", "is", "port"], "The population of Boston is missing."
    model = ScriptedModel.of(
        [chain(LOCATED, port, conclusion=missing), chain(POPULATION, conclusion=ANSWERED), say("35,124")]
    )

    _, result = visit(places, model)

    assert [step["core_triples"] for step in result["trace"]] == [[LOCATED, port], [POPULATION]]
    assert result["trace"][1]["query"] == f"{QUESTION} Kirton End location Boston. Boston is port. {missing}"


def test_what_was_offered_and_not_taken_makes_room_for_what_is_new() -> None:
    old, new, far = (
        Candidate(triple=[name, "is", "port"], sources=[Source(passage_id=name, sentences=[0])], name=name, text=name,
                  score=score)
        for name, score in [("Old", 1.0), ("New", 0.9), ("Far", 0.7)]
    )  # fmt: skip
    state: Any = {"question": "Which port is it?", "offered": ["old"]}

    assert places_for_all(state, [old, new, far], 2) == [new, old]
    assert best_alone(state, [old, new, far], 2) == [old, new]


def test_a_whole_completion_with_an_invented_triple_does_not_end_the_search(places: KnowledgeBase) -> None:
    invented = chain(LOCATED, ["Boston", "population", "99,000"], conclusion="So the answer is 99,000.")
    model = ScriptedModel.of([invented, chain(POPULATION, conclusion=ANSWERED), say("35,124")])

    _, result = visit(places, model)

    assert [step["core_triples"] for step in result["trace"]] == [[LOCATED], [POPULATION]]
    assert result["usage"]["dropped"] == 1


def test_a_step_that_adds_nothing_looks_up_what_is_missing(places: KnowledgeBase) -> None:
    missing = "The population of Boston in 2001 is missing."
    model = ScriptedModel.of(
        [chain(LOCATED), chain(conclusion=missing), chain(POPULATION, conclusion=ANSWERED), say("35,124")]
    )

    nodes, result = visit(places, model, TWO)

    assert nodes.count("retrieve") == 3
    assert [step["query"] for step in result["trace"]][2] == missing
    assert result["trace"][1]["next_question"] == missing
    assert result["answer"] == "35,124"


def test_two_steps_in_a_row_that_add_nothing_end_the_search(places: KnowledgeBase) -> None:
    nodes, result = visit(places, ScriptedModel.of([*[chain(conclusion="Nothing fits.")] * 2, say("unanswerable")]))

    assert nodes == ["receive_question", *STEP, *STEP, *END]
    assert result["evidence"] == []


@pytest.mark.parametrize(("context", "steps"), [({}, 5), ({"max_steps": 2}, 2)])
def test_our_search_ends_after_the_number_of_steps_too(
    places: KnowledgeBase, context: dict[str, int], steps: int
) -> None:
    def script(prompt: str, given: Mapping[str, Any]) -> str:
        return say("35,124") if prompt == "answer_from_chain" else chain(given["candidates"][0])

    nodes, _ = visit(places, ScriptedModel.of(script), context)

    assert nodes.count("construct_chain") == steps


def test_the_reader_sees_the_passages_of_the_chain_first_and_the_chain(places: KnowledgeBase) -> None:
    model = ScriptedModel.of([chain(POPULATION, LOCATED, conclusion=ANSWERED), say("35,124")])

    visit(places, model, {"read_k": 2})

    (read,) = values(model, "answer_from_chain")
    assert {text["title"] for text in read["passages"]} == {"Kirton End", "Boston, Lincolnshire"}
    assert read["chain"] == ["Boston population in 2001 census 35,124", "Kirton End location Boston"]


def test_one_passage_with_many_facts_leaves_places_for_others_and_each_name_compared_has_one(tmp_path: Path) -> None:
    talkative = [["Boston", "larger than", f"Ward {number}"] for number in range(30)]
    text = " ".join(f"Boston is larger than {ward}." for _, _, ward in talkative)
    model = ScriptedModel.of([chain(conclusion=ANSWERED), say("35,124")])
    extractor = TableExtractor({**TRIPLES, "boston": talkative})
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=extractor) as kb:
        kb.add([{**document, "text": text} if document["id"] == "boston" else document for document in DOCUMENTS])
        visited(create_kirag(model, kb), "Which is larger, Kirton End or Ollerton?", {"max_candidates": 7})

    shown = values(model, "construct_chain")[0]["candidates"]
    assert len(shown) == 7
    assert ["Ollerton", "is", "small town"] in shown
    assert 0 < sum(triple in talkative for triple in shown) <= 5


# --- bad replies -----------------------------------------------------------------------------------------------------
def test_a_triple_spelled_otherwise_is_found_and_a_longer_reply_is_no_problem(places: KnowledgeBase) -> None:
    reply = "<think>hm</think>```json\n" + chain(["kirton end", "Location", "BOSTON"]) + "\n``` there you are"

    _, result = visit(places, ScriptedModel.of([reply, *CASE[1:]]))

    assert result["trace"][0]["core_triples"] == [LOCATED]


def test_a_model_that_never_replies_as_asked_raises(places: KnowledgeBase) -> None:
    with pytest.raises(ModelOutputError, match="construct_chain"):
        visit(places, ScriptedModel.of(["no"] * 3))


def test_an_empty_knowledge_base_says_so(tmp_path: Path) -> None:
    with (
        KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb,
        pytest.raises(EmptyKnowledgeBaseError, match="add documents"),
    ):
        visit(kb, ScriptedModel())


# --- options ---------------------------------------------------------------------------------------------------------
def test_without_constructor_the_best_candidate_continues_the_chain(places: KnowledgeBase) -> None:
    model = ScriptedModel.of([say("35,124")])

    nodes, result = visit(places, model, {"max_steps": 3}, constructor="none", **PUBLISHED)

    assert nodes.count("construct_chain") == 3
    assert model.prompts() == ["answer_from_passages"]
    assert len({tuple(step["core_triples"][0]) for step in result["trace"]}) == 3


def test_without_aligner_all_triples_are_shown_in_the_order_of_their_passages(places: KnowledgeBase) -> None:
    model = ScriptedModel.of(CASE)

    visit(places, model, {"max_candidates": 1, "search": "dense"}, aligner="none")

    found = [passage["id"] for passage in places.search(QUESTION, 10, by="dense")]
    assert values(model, "construct_chain")[0]["candidates"] == [t for id_ in found for t in TRIPLES[id_]]


def test_without_retriever_the_aligner_searches_all_triples(places: KnowledgeBase) -> None:
    model = ScriptedModel.of(CASE)

    nodes, result = visit(places, model, {"top_k": 1}, retriever="none", **PUBLISHED)

    assert nodes[:4] == ["receive_question", "look_up_question", "identify_in_whole_graph", "construct_chain"]
    assert not {"retrieve", "decompose_knowledge"} & set(nodes)
    assert len(values(model, "construct_chain")[0]["candidates"]) == sum(map(len, TRIPLES.values()))
    assert (result["answer"], [step["step"] for step in result["trace"]]) == ("35,124", [1, 2, 3])


def test_without_retriever_the_names_that_a_chain_led_to_are_looked_up_too(
    places: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, search = list[str](), places.asearch_triples

    async def looked_up(query: str, k: int) -> list[Triple]:
        asked.append(query)
        return await search(query, k)

    monkeypatch.setattr(places, "asearch_triples", looked_up)

    _, result = visit(places, ScriptedModel.of(CASE), retriever="none")

    first = result["evidence"][0]["triple"]
    assert asked[0] == QUESTION
    assert first[2] in asked


def test_an_untrained_aligner_compares_with_the_whole_chain(places: KnowledgeBase) -> None:
    found = visit(places, ScriptedModel.of(CASE), aligner="untrained")
    whole = visit(places, ScriptedModel.of(CASE), aligner=places.embeddings)

    assert found[1]["passages"] == whole[1]["passages"]
    assert found[1]["answer"] == "35,124"


def test_a_chain_of_sentences(places: KnowledgeBase) -> None:
    where = "Kirton End: Kirton End lies in the parish of Kirton, in the district of Boston."
    model = ScriptedModel.of([chain(where), chain(conclusion=ANSWERED), say("35,124")])

    _, result = visit(places, model, knowledge="sentences")

    assert model.prompts()[0] == "construct_chain_of_sentences"
    kept, read = result["evidence"]
    assert (kept["triple"], kept["sentence"]) == (LOCATED, where.removeprefix("Kirton End: "))
    assert (read["passage_id"], read["step"]) == ("boston", 2)


@pytest.mark.parametrize(
    "piece", ["Kirton End", "Title: Kirton End", "1. Kirton End", "Title: Kirton End\nIt is a place."]
)
def test_a_chain_of_documents(places: KnowledgeBase, piece: str) -> None:
    model = ScriptedModel.of([chain(piece), chain(conclusion=ANSWERED), say("35,124")])

    _, result = visit(places, model, knowledge="documents")

    assert {"title": "Kirton End", "text": DOCUMENTS[0]["text"]} in values(model, model.prompts()[0])[0]["candidates"]
    assert [evidence["passage_id"] for evidence in result["evidence"]] == ["kirton-end", "kirton-end", "boston"]


def test_documents_of_one_title_are_told_apart_among_the_candidates_and_in_the_chain(tmp_path: Path) -> None:
    boston = [{"id": place, "title": "Boston", "text": f"Boston is a port in {place}."} for place in "abc"]
    replies = [chain("Boston (2)"), chain("Boston"), chain(conclusion=ANSWERED), say("35,124")]
    model = ScriptedModel.of(replies)
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb:
        kb.add(boston, progress=False)
        _, result = visit(kb, model, knowledge="documents")

    first, second, third = values(model, "construct_chain_of_documents")
    assert [text["title"] for text in first["candidates"]] == ["Boston", "Boston (2)", "Boston (3)"]
    assert second["chain"] == [first["candidates"][1]]
    assert [text["title"] for text in second["candidates"]] == ["Boston", "Boston (3)"]
    assert [text["text"] for text in third["chain"]] == [first["candidates"][n]["text"] for n in (1, 0)]
    assert [evidence["sentence"] for evidence in result["evidence"]] == [text["text"] for text in third["chain"]]


class Trained(ArithmeticEmbeddings):
    """Knows that a place's population is wanted once the place is known."""

    def _vector(self, text: str) -> list[float]:
        return super()._vector("35124" if "population" in text and "273" not in text else text)


def test_a_given_aligner_scores_the_triples_and_embeds_each_once(places: KnowledgeBase) -> None:
    aligner = Trained("trained")
    model = ScriptedModel.of(CASE)

    visit(places, model, aligner=aligner)

    assert values(model, "construct_chain")[0]["candidates"][0] == POPULATION
    triples = [text for text in aligner.embedded if text.startswith("<")]
    assert len(triples) == len(set(triples)) == sum(map(len, TRIPLES.values()))


def test_a_trained_aligner_is_loaded_by_its_path(
    places: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []

    def load(path: str) -> Trained:
        loaded.append(path)
        return Trained()

    monkeypatch.setattr("langgraph_rag.graphs.kirag.load_embeddings", load)

    visit(places, ScriptedModel.of(CASE), aligner=tmp_path)

    assert loaded == [str(tmp_path)]


def test_constructor_and_reader_can_be_models_of_their_own(places: KnowledgeBase) -> None:
    constructor, reader = ScriptedModel.of(CASE[:-1]), ScriptedModel.of(CASE[-1:])

    _, result = visit(places, ScriptedModel(), constructor=constructor, reader=reader, **PUBLISHED)

    assert (len(constructor.received), len(reader.received), result["answer"]) == (3, 1, "35,124")


@pytest.mark.parametrize(
    "options",
    [{"knowledge": "words"}, {"ranking": "best"}, {"retriever": "bm25"}, {"constructor": "any"}],
)
def test_unknown_options_are_named_with_the_known_ones(places: KnowledgeBase, options: dict[str, Any]) -> None:
    with pytest.raises(UnknownNameError, match=next(iter(options))):
        create_kirag(ScriptedModel(), places, **options)


def test_without_retriever_and_aligner_nothing_would_choose(places: KnowledgeBase) -> None:
    with pytest.raises(ValueError, match="there must be an aligner"):
        create_kirag(ScriptedModel(), places, retriever="none", aligner="none")


@pytest.mark.parametrize("folder", ["", "./nowhere", Path("nowhere")])
def test_an_aligner_that_is_not_there_is_refused_when_the_graph_is_built(
    places: KnowledgeBase, folder: str | Path
) -> None:
    with pytest.raises(ValueError, match=r"expected the folder of an aligner, got '.*', which does not exist"):
        create_kirag(ScriptedModel(), places, aligner=folder)
