"""PAR RAG on scripted models: the order of its Algorithm 1, its reviews, its plans and their approval, its options.

The paper shows no case study; documents and question are our own.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from fakes import ScriptedModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command
from pydantic import TypeAdapter
from running import TableExtractor, say, values, visited

from langgraph_rag.context import Context
from langgraph_rag.errors import EmptyKnowledgeBaseError, ModelOutputError, QuestionError, UnknownNameError
from langgraph_rag.graphs.par_rag import ParRagResult, create_par_rag
from langgraph_rag.methods import create
from langgraph_rag.models.replies import MAX_REPLY_CHARS
from langgraph_rag.nodes.citations import cited, uncited
from langgraph_rag.nodes.receive_question import QuestionInput
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.knowledge_base import KnowledgeBase

QUESTION = "In which country lies the birthplace of the director of The Salt Road?"
DIRECTOR = "Who is the director of The Salt Road?"
BIRTHPLACE = "What is the birthplace of the director of The Salt Road?"
BIRTHPLACE_OF_VINT = "What is the birthplace of Orla Vint?"
COUNTRY_OF_PELLWORTH = "In which country lies Pellworth?"
STEPS = [DIRECTOR, BIRTHPLACE, QUESTION]
FIRST = ["receive_question", "look_up_question", "plan"]
STEP = ["retrieve", "act", "retrieve_finely", "review", "record"]
LAST = ["answer_from_trajectories", "conclude"]


@pytest.fixture
def kb(read_kb: KnowledgeBase) -> KnowledgeBase:
    return read_kb


# --- what models say -------------------------------------------------------------------------------------------------
def planned(*questions: str, action: str = "Retrieve") -> str:
    return json.dumps({"steps": [{"thought": "Hm.", "question": q, "action": action} for q in questions]})


def said(answer: str) -> str:
    return json.dumps({"answer": answer})


def reviewed(status: str, *, answer: str | None = None, question: str | None = None) -> str:
    return json.dumps({"status": status, "answer": answer, "question": question})


def refined(question: str) -> str:
    return json.dumps({"question": question})


PASS = reviewed("PASS")
RUN = [
    planned(*STEPS),
    said("Orla Vint directed The Salt Road [1]."),
    PASS,
    refined(BIRTHPLACE_OF_VINT),
    said("Orla Vint was born in Pellworth [1]."),
    PASS,
    refined(COUNTRY_OF_PELLWORTH),
    said("Pellworth is in Norland [1]."),
    PASS,
    say("Norland"),
]


# --- how they are run ------------------------------------------------------------------------------------------------
def visit(
    kb: KnowledgeBase, model: ScriptedModel, context: Mapping[str, Any] | None = None, **options: Any
) -> tuple[list[str], dict[str, Any]]:
    """Return the nodes in the order they ran, and the result."""
    return visited(create_par_rag(model, kb, **{"course": "published", **options}), QUESTION, context)


def run(kb: KnowledgeBase, script: Any, context: Mapping[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    return visit(kb, ScriptedModel.of(script), context, **options)[1]


# --- Algorithm 1 -----------------------------------------------------------------------------------------------------
def test_a_run_takes_the_steps_of_algorithm_1_and_4n_calls_at_most(kb: KnowledgeBase) -> None:
    nodes, result = visit(kb, ScriptedModel.of(RUN))

    assert nodes == [*FIRST, *STEP, "refine", *STEP, "refine", *STEP, *LAST]
    assert result["answer"] == "Norland"
    assert result["usage"]["calls"] == 4 * 3 - 2
    assert [step["question"] for step in result["plan"]] == STEPS
    assert [(step["query"], step["next_question"]) for step in result["trace"]] == [
        (DIRECTOR, BIRTHPLACE),
        (BIRTHPLACE_OF_VINT, QUESTION),
        (COUNTRY_OF_PELLWORTH, ""),
    ]


def test_each_call_sees_what_the_paper_gives_it(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of(RUN)

    visit(kb, model)

    assert values(model, "plan_in_order") == [{"question": QUESTION, "most": 6}]
    assert [request["question"] for request in values(model, "act_in_order")] == [
        DIRECTOR,
        BIRTHPLACE_OF_VINT,
        COUNTRY_OF_PELLWORTH,
    ]
    assert [request["answer"] for request in values(model, "review")] == [
        "Orla Vint directed The Salt Road.",
        "Orla Vint was born in Pellworth.",
        "Pellworth is in Norland.",
    ]
    assert [
        (request["question"], [found["question"] for found in request["found"]], request["following"])
        for request in values(model, "refine")
    ] == [(QUESTION, [DIRECTOR], BIRTHPLACE), (QUESTION, [DIRECTOR, BIRTHPLACE_OF_VINT], QUESTION)]
    chain = values(model, "answer_from_trajectories")[0]["trajectories"]
    assert [(t["place"], t["question"], t["answer"], t["status"]) for t in chain] == [
        (0, DIRECTOR, "Orla Vint directed The Salt Road.", "PASS"),
        (1, BIRTHPLACE_OF_VINT, "Orla Vint was born in Pellworth.", "PASS"),
        (2, COUNTRY_OF_PELLWORTH, "Pellworth is in Norland.", "PASS"),
    ]


def test_the_result_is_of_the_declared_types(kb: KnowledgeBase) -> None:
    result = run(kb, RUN)

    TypeAdapter(ParRagResult).validate_python(result, strict=True)
    assert set(result) == set(ParRagResult.__annotations__)


# --- citations -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("answer", "cited", "dropped"),
    [
        ("Orla Vint [1].", [0], 0),
        ("Orla Vint [3], born in Pellworth [1][3].", [2, 0], 0),
        ("Orla Vint [1, 4]", [0, 3], 0),
        ("Orla Vint [2-4]", [1, 2, 3], 0),
        ("Orla Vint [2]-[4]", [1, 2, 3], 0),
        ("Orla Vint [1 and 3]", [0, 2], 0),
        ("Orla Vint [Source 1, Source 2, and 4]", [0, 1, 3], 0),
        ("Orla Vint [Passage: 2] [#4]", [1, 3], 0),
        ("Orla Vint [2: The Salt Road] [[4]]", [1, 3], 0),
        ("Orla Vint (source 2), \u30103\u2020source\u3011", [1, 2], 0),
        ("According to [2], Orla Vint", [1], 0),
        ("[2] states that Orla Vint did", [1], 0),
        ("**Orla Vint** **[2]**", [1], 0),
        ("Orla Vint\u30102\u3011\uff3b1\u30014\uff3d", [1, 0, 3], 0),
        ("Orla Vint [0][5]", [0, 1, 2], 2),
        ("Orla Vint", [0, 1, 2], 0),
        ("unknown", [], 0),
        ("The director is not stated in the sources.", [], 0),
        ("unknown; there is a road [2]", [1], 0),
    ],
)
def test_cited_passages_are_the_evidence_from_the_first_to_the_last(
    kb: KnowledgeBase, answer: str, cited: list[int], dropped: int
) -> None:
    found = [passage["id"] for passage in kb.search(DIRECTOR, 4, by="graph")]

    result = run(kb, [planned(DIRECTOR), said(answer), PASS, say("Orla Vint")])

    assert list(dict.fromkeys(e["passage_id"] for e in result["evidence"])) == [found[position] for position in cited]
    assert result["usage"]["dropped"] == dropped
    assert not set("[\u3010\uff3b") & set(result["trajectories"][0]["answer"].replace("**Orla Vint**", ""))
    assert "****" not in result["trajectories"][0]["answer"]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("According to [2], Orla Vint.", "Orla Vint."),
        ("[2] states that Orla Vint did.", "Orla Vint did."),
        ("Orla Vint [2: The Salt Road] (source 1).", "Orla Vint."),
        ("Orla Vint (2).", "Orla Vint (2)."),
        ("Orla Vint [1], [2].", "Orla Vint."),
        ("Orla Vint [1]-[3].", "Orla Vint."),
        ("Orla Vint, [1990]-[2000].", "Orla Vint, [1990]-[2000]."),
        ("Orla Vint [1] and [2], of Kell [3][4].", "Orla Vint, of Kell."),
        ("Orla Vint ([1], [2]).", "Orla Vint."),
        ("Orla Vint did [1], and Ada Renk did [2].", "Orla Vint did, and Ada Renk did."),
        ("According to [1] and [2], Orla Vint did.", "Orla Vint did."),
        ("Sources [1] and [3] say that Orla Vint did.", "Orla Vint did."),
        ("Source [1] states that Orla Vint did.", "Orla Vint did."),
    ],
)
def test_words_that_introduce_a_citation_go_with_it(text: str, read: str) -> None:
    assert uncited(text) == read


@pytest.mark.parametrize("status", ["UNCONFIDENT", "PASS"])
def test_an_answer_to_what_was_unknown_is_a_correction_whatever_it_is_called(kb: KnowledgeBase, status: str) -> None:
    result = run(kb, [planned(DIRECTOR), said("unknown"), reviewed(status, answer="Orla Vint [1]."), say("Orla Vint")])

    assert [(found["status"], found["answer"]) for found in result["trajectories"]] == [("REVISED", "Orla Vint.")]


@pytest.mark.parametrize("refinement", ["Orla Vint", "Vint is the director of it."])
def test_what_was_found_is_no_next_question(kb: KnowledgeBase, refinement: str) -> None:
    script = [planned(DIRECTOR, BIRTHPLACE), said("Orla Vint is the director of it [1]"), PASS, refined(refinement)]

    result = run(kb, [*script, said("Pellworth [1]"), PASS, say("Pellworth")])

    assert [found["question"] for found in result["trajectories"]] == [DIRECTOR, BIRTHPLACE]


def test_of_a_plan_only_the_unreadable_is_lost(kb: KnowledgeBase) -> None:
    steps = [DIRECTOR, {"question": BIRTHPLACE, "action": "search"}, {"thought": "Say it.", "action": "answer"}]

    script = [
        json.dumps({"steps": steps}),
        said("Orla Vint [1]"),
        PASS,
        refined(BIRTHPLACE),
        said("Pellworth [1]"),
        PASS,
    ]
    result = run(kb, [*script, say("Pellworth")])

    assert [(step["question"], step["action"]) for step in result["plan"]] == [
        (DIRECTOR, "retrieve"),
        (BIRTHPLACE, "retrieve"),
    ]


def test_an_answer_of_blanks_is_read_to_its_end() -> None:
    blanks = " " * MAX_REPLY_CHARS  # what small models end in

    assert uncited(f"Orla Vint [2]{blanks}.") == f"Orla Vint{blanks}."
    assert cited(f"[1{blanks}Orla Vint [2]", 3) == [1]


def test_a_year_in_brackets_is_no_citation(kb: KnowledgeBase) -> None:
    result = run(kb, [planned(DIRECTOR), said("Orla Vint [1990] directed it [2]."), PASS, say("Orla Vint")])

    assert result["trajectories"][0]["answer"] == "Orla Vint [1990] directed it."
    assert result["usage"]["dropped"] == 0


def test_the_evidence_is_the_sentence_that_supports_the_answer(kb: KnowledgeBase) -> None:
    def one(prompt: str, shown: Mapping[str, Any]) -> str:
        if prompt != "act_in_order":
            return {"plan_in_order": planned(DIRECTOR), "review": PASS}.get(prompt) or say("Orla Vint")
        number = [source["title"] for source in shown["sources"]].index("The Salt Road") + 1
        return said(f"Orla Vint directed The Salt Road [{number}].")

    (evidence,) = run(kb, one)["evidence"]

    assert evidence == {
        "triple": ["The Salt Road", "directed by", "Orla Vint"],
        "sentence": "The Salt Road is a 1968 drama film directed by Orla Vint.",
        "passage_id": "salt-road",
        "title": "The Salt Road",
        "step": 1,
    }


def test_the_model_is_shown_as_many_passages_as_the_context_says(kb: KnowledgeBase) -> None:
    models = [ScriptedModel.of([planned(DIRECTOR), said("Orla Vint [1]"), PASS, say("Orla Vint")]) for _ in range(2)]

    visit(kb, models[0])
    visit(kb, models[1], {"read_k": 2})

    assert [len(values(model, "act_in_order")[0]["sources"]) for model in models] == [4, 2]


# --- fine-grained retrieval and review -------------------------------------------------------------------------------
def test_the_review_sees_at_most_the_allowed_sentences_the_cited_ones_first(kb: KnowledgeBase) -> None:
    models = [ScriptedModel.of([planned(DIRECTOR), said("Orla Vint [1]"), PASS, say("Orla Vint")]) for _ in range(2)]

    results = [visit(kb, models[0])[1], visit(kb, models[1], {"max_candidates": 2})[1]]

    shown = [[source["text"] for source in values(model, "review")[0]["sources"]] for model in models]
    assert len(shown[0]) == 6
    assert len(shown[1]) == 2
    assert shown[0][0] == shown[1][0] == results[0]["evidence"][0]["sentence"]


@pytest.mark.parametrize("citations", ["[1][2][3][4]", ""])
def test_an_answer_is_not_checked_against_its_own_sources_alone(kb: KnowledgeBase, citations: str) -> None:
    script = [planned(DIRECTOR), said(f"Orla Vint directed it {citations}"), PASS, say("Orla Vint")]
    model = ScriptedModel.of(script)

    _, result = visit(kb, model)

    own = {(entry["title"], entry["sentence"]) for entry in result["evidence"]}
    shown = [(source["title"], source["text"]) for source in values(model, "review")[0]["sources"]]
    assert [place in own for place in shown] == [True] * 3 + [False] * 3


def background(kb: KnowledgeBase, answer: str, context: Mapping[str, Any] | None = None) -> list[dict[str, str]]:
    """Return the sources that a review of an answer is shown."""
    model = ScriptedModel.of([planned(DIRECTOR), said(answer), PASS, say("x")])
    visit(kb, model, context)
    return values(model, "review")[0]["sources"]  # type: ignore[no-any-return]


def test_the_review_sees_all_sentences_that_state_a_fact_together(own_kb: KnowledgeBase) -> None:
    own_kb.extractor = TableExtractor({"barrow": [["Skellby film director", "studied in", "Pellworth"]]})

    shown = [source["text"] for source in background(own_kb, "She studied in Pellworth [1].", {"max_candidates": 8})]

    assert "Ines Barrow (born 2 June 1940) is a film director from Skellby." in shown
    assert "She studied in Pellworth." in shown


def test_the_review_sees_passages_that_no_facts_were_read_from(own_kb: KnowledgeBase) -> None:
    facts = [["Norland", "has", f"harbour town {number}"] for number in range(9)]
    own_kb.extractor = TableExtractor({"pellworth": facts, "skellby": facts})

    shown = [source["title"] for source in background(own_kb, "Orla Vint was born in Pellworth [4].")]

    assert "Orla Vint" in shown


def test_where_facts_are_few_the_review_sees_the_nearest_sentences_as_well(own_kb: KnowledgeBase) -> None:
    own_kb.extractor = TableExtractor({d: [["The Salt Road", "directed by", "Orla Vint"]] for d in own_kb.ids()})

    assert len(background(own_kb, "Orla Vint [1]")) == 6


def test_a_revised_answer_without_citations_rests_on_what_the_first_did_not_cite(kb: KnowledgeBase) -> None:
    revised = reviewed("REVISED", answer="Orla Vint directed it.")
    model = ScriptedModel.of([planned(DIRECTOR), said("Casper Holm [1]"), revised, say("Orla Vint")])

    _, result = visit(kb, model)

    own, *others = (source["text"] for source in values(model, "review")[0]["sources"])
    assert [entry["sentence"] for entry in result["evidence"]] == others[:3]


def test_an_answer_that_is_revised_to_itself_keeps_its_sources(kb: KnowledgeBase) -> None:
    revised = reviewed("REVISED", answer="orla vint directed it")
    script = [planned(DIRECTOR), said("Orla Vint directed it. [1]"), revised, say("Orla Vint")]

    result = run(kb, script)

    assert [e["sentence"] for e in result["evidence"]] == ["She directed The Salt Road in 1968."]


@pytest.mark.parametrize("question", ["null", "None", "No question needed."])
def test_a_refined_question_that_is_none_leaves_the_planned_one(kb: KnowledgeBase, question: str) -> None:
    script = [
        planned(DIRECTOR, BIRTHPLACE),
        said("Orla Vint [1]"),
        PASS,
        refined(question),
        said("Pellworth [1]"),
        PASS,
    ]

    result = run(kb, [*script, say("Pellworth")])

    assert result["trajectories"][1]["question"] == BIRTHPLACE


@pytest.mark.parametrize(
    ("answer", "query"),
    [("Orla Vint", "Orla Vint"), ("in 1968", f"{DIRECTOR} in 1968"), ("unknown", f"{DIRECTOR} unknown")],
)
def test_an_answer_that_names_nothing_is_checked_together_with_its_question(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, answer: str, query: str
) -> None:
    asked, rank = list[str](), kb.arank

    async def noted(query: str, *args: Any, **options: Any) -> Any:
        asked.append(query)
        return await rank(query, *args, **options)

    monkeypatch.setattr(kb, "arank", noted)
    run(kb, [planned(DIRECTOR), said(f"{answer} [1]"), PASS, say("Orla Vint")])

    assert query in asked


def test_a_refined_question_needs_no_question_mark(kb: KnowledgeBase) -> None:
    script = [planned(DIRECTOR, BIRTHPLACE), said("Vint [1]"), PASS, refined("Name the birthplace of the director.")]

    result = run(kb, [*script, said("Pellworth [1]"), PASS, say("Pellworth")])

    assert result["trajectories"][1]["question"] == "Name the birthplace of the director."


def too_long(shown: Mapping[str, Any], name: str, most: int) -> RuntimeError | None:
    return RuntimeError("maximum context length") if len(shown.get(name, [])) > most else None


def test_a_citation_of_a_source_left_out_of_a_prompt_that_is_too_long_is_none(kb: KnowledgeBase) -> None:
    def narrow(prompt: str, shown: Mapping[str, Any]) -> Any:
        if prompt == "act_in_order":
            return too_long(shown, "sources", 2) or said("Orla Vint directed The Salt Road [1], [4].")
        return {"plan_in_order": planned(DIRECTOR), "review": PASS}.get(prompt) or say("Orla Vint")

    result = run(kb, narrow)

    assert [e["sentence"] for e in result["evidence"]] == ["She directed The Salt Road in 1968."]
    assert (result["usage"]["left_out"], result["usage"]["dropped"]) == (2, 1)


def test_findings_too_long_for_the_model_lose_sentences_before_steps(kb: KnowledgeBase) -> None:
    script = iter(RUN)

    def narrow(prompt: str, shown: Mapping[str, Any]) -> Any:
        if prompt != "answer_from_trajectories":
            return next(script)
        return too_long(shown, "trajectories", 2) or say("Norland")

    model = ScriptedModel.of(narrow)
    _, result = visit(kb, model)

    assert result["answer"] == "Norland"
    *_, last = values(model, "answer_from_trajectories")
    assert [t["answer"] for t in last["trajectories"]] == ["Pellworth is in Norland."]


def test_a_step_that_no_review_has_seen_is_not_said_to_have_passed(kb: KnowledgeBase) -> None:
    script = [planned(DIRECTOR), said("Orla Vint [1]"), say("Orla Vint")]

    result = run(kb, script, {"max_model_calls": 3})

    assert [step["status"] for step in result["trajectories"]] == ["NOT REVIEWED"]


def test_the_graph_leads_to_passages_that_name_what_the_answer_names(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of([planned(DIRECTOR), said("It was Casper Holm [1]"), PASS, say("Casper Holm")])

    visit(kb, model, {"top_k": 2, "search": "bm25"})

    assert {"Casper Holm"} <= {source["title"] for source in values(model, "review")[0]["sources"]}


def test_a_revised_answer_takes_the_place_of_the_first_with_its_own_evidence(kb: KnowledgeBase) -> None:
    def one(prompt: str, shown: Mapping[str, Any]) -> str:
        if prompt == "review":
            texts = [source["text"] for source in shown["sources"]]
            number = texts.index("The Salt Road is a 1968 drama film directed by Orla Vint.") + 1
            return reviewed("revised", answer=f"Orla Vint directed it [{number}].")
        return {"plan_in_order": planned(DIRECTOR), "act_in_order": said("Casper Holm [1]")}.get(prompt) or say(
            "Orla Vint"
        )

    result = run(kb, one)

    assert [(t["answer"], t["status"]) for t in result["trajectories"]] == [("Orla Vint directed it.", "REVISED")]
    assert [e["sentence"] for e in result["evidence"]] == ["The Salt Road is a 1968 drama film directed by Orla Vint."]


@pytest.mark.parametrize(
    ("answer", "better", "status"),
    [
        ("Orla Vint", None, "PASS"),
        ("Orla Vint", "", "PASS"),
        ("Orla Vint", "unknown", "UNCONFIDENT"),
        ("Orla Vint", "unknown; Casper Holm produced it [1]", "UNCONFIDENT"),
        ("Orla Vint", "The director is unknown.", "UNCONFIDENT"),
        ("unknown", "unknown", "PASS"),
    ],
)
def test_a_revision_to_nothing_leaves_the_answer_and_doubts_what_it_rejects(
    kb: KnowledgeBase, answer: str, better: str | None, status: str
) -> None:
    revised = reviewed("REVISED", answer=better)

    nodes, result = visit(kb, ScriptedModel.of([planned(DIRECTOR), said(answer), revised, say("Orla Vint")]))

    assert nodes == [*FIRST, *STEP, *LAST]
    assert [(t["answer"], t["status"]) for t in result["trajectories"]] == [(answer, status)]


def test_a_doubt_is_followed_once_and_then_kept_as_a_mark(kb: KnowledgeBase) -> None:
    doubts = [reviewed("UNCONFIDENT", question=q) for q in ("Who made The Salt Road?", "Who shot The Salt Road?")]
    script = [planned(DIRECTOR, BIRTHPLACE), said("Holm [1]"), doubts[0], said("Vint [1]"), doubts[1]]
    model = ScriptedModel.of([*script, refined(BIRTHPLACE_OF_VINT), said("Pellworth [1]"), PASS, say("Pellworth")])

    nodes, result = visit(kb, model)

    assert nodes == [*FIRST, *STEP, *STEP, "refine", *STEP, *LAST]
    assert [(t["place"], t["question"], t["status"]) for t in result["trajectories"]] == [
        (0, DIRECTOR, "UNCONFIDENT"),
        (0, "Who made The Salt Road?", "UNCONFIDENT"),
        (1, BIRTHPLACE_OF_VINT, "PASS"),
    ]
    assert [t["answer"] for t in values(model, "refine")[0]["found"]] == ["Holm", "Vint"]
    assert model.received[-1][1].text.count("(unconfirmed)") == 2


@pytest.mark.parametrize("settled", [PASS, reviewed("REVISED", answer="Orla Vint made it [1].")])
def test_a_doubted_answer_is_left_out_once_its_doubt_is_settled(kb: KnowledgeBase, settled: str) -> None:
    doubt = reviewed("UNCONFIDENT", question="Who made The Salt Road?")
    script = [planned(DIRECTOR, BIRTHPLACE), said("Holm [4]"), doubt, said("Orla Vint made it [1]."), settled]
    model = ScriptedModel.of([*script, refined(BIRTHPLACE_OF_VINT), said("Pellworth [1]"), PASS, say("Pellworth")])

    _, result = visit(kb, model)

    assert [t["answer"] for t in result["trajectories"]] == ["Orla Vint made it.", "Pellworth"]
    assert [t["answer"] for t in values(model, "refine")[0]["found"]] == ["Orla Vint made it."]
    assert {entry["step"] for entry in result["evidence"]} == {2, 3}
    assert [step["step"] for step in result["trace"]] == [1, 2, 3]


@pytest.mark.parametrize("status", ["PASS", "UNCONFIDENT"])
def test_who_adds_up_the_evidence_that_is_told_has_that_of_the_result(kb: KnowledgeBase, status: str) -> None:
    doubt = reviewed("UNCONFIDENT", question="Who made The Salt Road?")
    script = [planned(DIRECTOR), said("Holm [4]"), doubt, said("Orla Vint made it [1]."), reviewed(status), say("Vint")]
    graph: Any = create_par_rag(ScriptedModel.of(script), kb).compile()

    added: list[Any] = []
    result: Any = {}
    for mode, chunk in graph.stream({"question": QUESTION}, stream_mode=["custom", "values"]):
        if mode == "custom" and chunk["node"] == "record":
            doubted = chunk["step"] - 1 if chunk["settled"] else None
            added = [entry for entry in added if entry["step"] != doubted] + chunk["evidence"]
        elif mode == "values":
            result = chunk

    places = [[(entry["passage_id"], entry["step"]) for entry in evidence] for evidence in (added, result["evidence"])]
    assert places[0] == places[1]


@pytest.mark.parametrize(
    ("doubted", "question", "followed"),
    [
        ("Holm [4]", "Who made The Salt Road?", "unknown"),
        ("unknown; Holm made it [4]", "Who made The Salt Road?", "Vint [1]"),
        ("Holm [4]", "When was Holm born?", "Holm was born in 1901 [4]."),
    ],
    ids=["nothing better came", "it claims nothing", "something else was asked"],
)
def test_a_doubted_answer_stays_where_it_has_no_other_in_its_place(
    kb: KnowledgeBase, doubted: str, question: str, followed: str
) -> None:
    doubt = reviewed("UNCONFIDENT", question=question)
    script = [planned(DIRECTOR), said(doubted), doubt, said(followed), PASS, say("Orla Vint")]

    result = run(kb, script)

    assert [t["status"] for t in result["trajectories"]] == ["UNCONFIDENT", "PASS"]


def test_an_answer_after_doubt_is_shown_with_what_led_to_it(kb: KnowledgeBase) -> None:
    doubt = reviewed("UNCONFIDENT", question="Who made The Salt Road?")
    script = [
        planned(DIRECTOR, BIRTHPLACE),
        said("unknown; Holm made it [4]"),
        doubt,
        said("Orla Vint made it [1]."),
        PASS,
    ]
    model = ScriptedModel.of([*script, refined(BIRTHPLACE_OF_VINT), said("Pellworth [1]"), PASS, say("Pellworth")])

    visit(kb, model)

    found = [t["answer"] for t in values(model, "refine")[0]["found"]]
    assert found == ["unknown; Holm made it", "Orla Vint made it."]


@pytest.mark.parametrize("question", [None, "", "N/A", "null", DIRECTOR, f" {DIRECTOR.upper()} "])
def test_a_doubt_that_asks_nothing_new_is_only_marked(kb: KnowledgeBase, question: str | None) -> None:
    doubt = reviewed("UNCONFIDENT", question=question)

    nodes, result = visit(kb, ScriptedModel.of([planned(DIRECTOR), said("Vint [1]"), doubt, say("Orla Vint")]))

    assert nodes == [*FIRST, *STEP, *LAST]
    assert [t["status"] for t in result["trajectories"]] == ["UNCONFIDENT"]


# --- plans -----------------------------------------------------------------------------------------------------------
def test_a_plan_that_cannot_be_read_becomes_one_step(kb: KnowledgeBase) -> None:
    result = run(kb, ["1. Look it up.", "{}", '{"steps": 3}', said("Norland [1]"), PASS, say("Norland")])

    assert result["plan"] == [{"thought": "", "question": QUESTION, "action": "retrieve"}]
    assert result["usage"]["repairs"] == 2


@pytest.mark.parametrize("questions", [[], ["", "  "]])
def test_an_empty_plan_becomes_one_step(kb: KnowledgeBase, questions: list[str]) -> None:
    result = run(kb, [planned(*questions), said("Norland [1]"), PASS, say("Norland")])

    assert [step["question"] for step in result["plan"]] == [QUESTION]


def test_a_question_that_is_planned_again_is_asked_once(kb: KnowledgeBase) -> None:
    plan = planned(DIRECTOR, BIRTHPLACE, f" {DIRECTOR.lower()} ")

    result = run(kb, [plan, said("Vint [1]"), PASS, refined(BIRTHPLACE), said("Norland [1]"), PASS, say("Norland")])

    assert [step["question"] for step in result["plan"]] == [DIRECTOR, BIRTHPLACE]


@pytest.mark.parametrize(("context", "most"), [(None, 6), ({"max_steps": 2}, 2)])
def test_a_plan_has_no_more_steps_than_allowed(kb: KnowledgeBase, context: Mapping[str, Any] | None, most: int) -> None:
    def long_winded(prompt: str, shown: Mapping[str, Any]) -> str:
        replies = {
            "plan_in_order": planned(*(f"What is {n}?" for n in range(9))),
            "act_in_order": said("Vint [1]"),
            "review": PASS,
        }
        return replies.get(prompt) or (say("Vint") if prompt == "answer_from_trajectories" else refined("Who?"))

    result = run(kb, long_winded, context)

    assert len(result["trace"]) == most
    assert result["usage"]["dropped"] == 9 - most


def test_a_last_step_that_only_answers_is_left_to_the_final_answer(kb: KnowledgeBase) -> None:
    steps = json.loads(planned(DIRECTOR))["steps"] + json.loads(planned(QUESTION, action="Answer"))["steps"]
    script = [json.dumps({"steps": steps}), said("Vint [1]"), PASS, say("Norland")]

    nodes, result = visit(kb, ScriptedModel.of(script))

    assert nodes == [*FIRST, *STEP, *LAST]
    assert [step["next_question"] for step in result["trace"]] == [""]


def test_a_step_in_between_that_only_answers_retrieves_nothing(kb: KnowledgeBase) -> None:
    steps = [
        *json.loads(planned(DIRECTOR))["steps"],
        *json.loads(planned("Who is older?", action="answer"))["steps"],
        *json.loads(planned(QUESTION))["steps"],
    ]
    script = [json.dumps({"steps": steps}), said("Vint [2]"), PASS, refined("Is Vint older?"), said("yes [1]"), PASS]
    model = ScriptedModel.of([*script, refined(QUESTION), said("Norland [1]"), PASS, say("Norland")])

    nodes, result = visit(kb, model)

    assert nodes == [*FIRST, *STEP, "refine", "recall", *STEP[1:], "refine", *STEP, *LAST]
    assert [source["title"] for source in values(model, "act_in_order")[1]["sources"]] == [
        result["evidence"][0]["title"]
    ]
    assert [step["step"] for step in result["trace"]] == [1, 2, 3]


def test_a_step_that_combines_sees_what_each_step_before_cites(kb: KnowledgeBase) -> None:
    steps = [
        *json.loads(planned(DIRECTOR, BIRTHPLACE))["steps"],
        *json.loads(planned("Who is older?", action="answer"))["steps"],
        *json.loads(planned(QUESTION))["steps"],
    ]
    four = "[1][2][3][4]"
    acted = [said(f"Vint {four}"), PASS, refined("Where do herons fish?"), said(f"Water {four}"), PASS]
    combined = [refined("Who?"), said("Vint [1]"), PASS, refined(QUESTION), said("Norland [1]"), PASS]
    model = ScriptedModel.of([json.dumps({"steps": steps}), *acted, *combined, say("Norland")])

    visit(kb, model)

    first, second, both, _ = (
        [source["title"] for source in shown["sources"]] for shown in values(model, "act_in_order")
    )
    assert both[0] == first[0]
    assert set(both[1:]) & set(second) - set(first)


def test_a_plan_that_begins_with_an_answer_begins_with_retrieval(kb: KnowledgeBase) -> None:
    nodes, _ = visit(kb, ScriptedModel.of([planned(QUESTION, action="answer"), said("x [1]"), PASS, say("x")]))

    assert nodes == [*FIRST, *STEP, *LAST]


@pytest.mark.parametrize("answer", ["unknown", "The director of The Salt Road is unknown."])
def test_nothing_is_refined_with_an_answer_that_is_none(kb: KnowledgeBase, answer: str) -> None:
    script = [planned(DIRECTOR, BIRTHPLACE), said(answer), PASS, said("Pellworth [1]"), PASS, say("Pellworth")]

    nodes, result = visit(kb, ScriptedModel.of(script))

    assert nodes == [*FIRST, *STEP, *STEP, *LAST]
    assert result["trace"][1]["query"] == BIRTHPLACE


def test_the_last_answer_found_goes_into_a_question_behind_one_that_found_nothing(kb: KnowledgeBase) -> None:
    script = [
        planned(*STEPS),
        said("Orla Vint directed The Salt Road [1]."),
        PASS,
        refined(BIRTHPLACE_OF_VINT),
        said("unknown"),
        PASS,
        refined("In which country was Orla Vint born?"),
        said("Pellworth is in Norland [1]."),
        PASS,
        say("Norland"),
    ]
    model = ScriptedModel.of(script)

    _, result = visit(kb, model, refine_with="last")

    found = [[trajectory["question"] for trajectory in request["found"]] for request in values(model, "refine")]
    assert found == [[DIRECTOR], [DIRECTOR]]
    assert result["trace"][2]["query"] == "In which country was Orla Vint born?"


# --- a person approves the plan --------------------------------------------------------------------------------------
THREAD: Any = {"configurable": {"thread_id": "1"}}


def stopped(kb: KnowledgeBase, script: list[str]) -> tuple[Any, dict[str, Any]]:
    """Return a graph that waits for approval, and what it shows."""
    graph: Any = create_par_rag(ScriptedModel.of(script), kb, approve_plan=True, course="published").compile(
        checkpointer=InMemorySaver()
    )
    (shown,) = graph.invoke({"question": QUESTION}, THREAD)["__interrupt__"]
    return graph, shown.value


@pytest.mark.parametrize("approval", [True, "approve", " OK", "Yes.", "true"])
def test_the_graph_waits_with_the_plan_and_goes_on_when_it_is_approved(kb: KnowledgeBase, approval: object) -> None:
    graph, shown = stopped(kb, list(RUN))

    assert shown["question"] == QUESTION
    assert [step["question"] for step in shown["plan"]] == STEPS
    assert graph.invoke(Command(resume=approval), THREAD)["answer"] == "Norland"


def test_a_plan_that_waits_is_not_shown_with_the_answer_to_the_question_before(kb: KnowledgeBase) -> None:
    graph, _ = stopped(kb, [*RUN, planned("Who?")])
    graph.invoke(Command(resume=True), THREAD)

    waiting = graph.invoke({"question": "Who?"}, THREAD)

    assert [step["question"] for step in waiting["plan"]] == ["Who?"]
    assert (waiting["answer"], waiting["passages"], waiting["trajectories"]) == ("", [], [])


@pytest.mark.parametrize("way", ["alone", "as it was shown", "typed"])
async def test_an_edited_plan_is_acted_on_instead(way: str, kb: KnowledgeBase) -> None:
    graph: Any = create_par_rag(
        ScriptedModel.of([RUN[0], said("Norland [1]"), PASS, refined("And?"), said("x [1]"), PASS, say("Norland")]),
        kb,
        approve_plan=True,
        course="published",
    ).compile(checkpointer=InMemorySaver())
    await graph.ainvoke({"question": QUESTION}, THREAD)

    edited = [COUNTRY_OF_PELLWORTH, {"question": " And\nthen? ", "action": "retrieve"}]
    ways = {"alone": edited, "as it was shown": {"question": QUESTION, "plan": edited}, "typed": json.dumps(edited)}
    result = await graph.ainvoke(Command(resume=ways[way]), THREAD)

    assert [step["question"] for step in result["plan"]] == [COUNTRY_OF_PELLWORTH, "And then?"]
    assert [step["query"] for step in result["trace"]] == [COUNTRY_OF_PELLWORTH, "And?"]


@pytest.mark.parametrize("rejection", [False, "reject", "No"])
def test_a_plan_that_is_rejected_ends_the_question_without_an_answer(kb: KnowledgeBase, rejection: object) -> None:
    model = ScriptedModel.of([RUN[0]])
    graph: Any = create_par_rag(model, kb, approve_plan=True, course="published").compile(checkpointer=InMemorySaver())
    graph.invoke({"question": QUESTION}, THREAD)

    result = graph.invoke(Command(resume=rejection), THREAD)

    assert is_refusal(result["answer"])
    assert (result["evidence"], result["trajectories"]) == ([], [])
    assert [step["question"] for step in result["plan"]] == STEPS
    assert model.prompts() == ["plan_in_order"]


SERACH = {"question": "When?", "action": "serach"}


@pytest.mark.parametrize(
    ("edited", "problem"),
    [
        ([], "expected 1 to 6 questions, got none"),
        (["Who?"] * 7, "expected 1 to 6 questions, got 7"),
        ("", "expected approve, reject, True, False or a plan of 1 to 6 questions or steps, got ''"),
        (42, "expected approve, reject, True, False or a plan of 1 to 6 questions or steps, got 42"),
        (
            {"steps": []},
            "expected approve, reject, True, False or a plan of 1 to 6 questions or steps, got {'steps': []}",
        ),
        (["Who?", " "], "step 2: expected a question as a non-empty string, got ''"),
        (["Who?", SERACH], "step 2: action: Input should be 'retrieve' or 'answer', got 'serach'"),
        ([{"action": "retrieve"}], "step 1: question: Field required, got {'action': 'retrieve'}"),
        ([{"question": "Who?", "acton": "answer"}], "step 1: expected thought, question, action, got acton as well"),
        ([None], "step 1: expected a question or a step with a question, got None"),
        (["?" * 4_001], "step 1: expected a question of at most 4000 characters, got 4001"),
    ],
)
def test_an_edited_plan_that_is_none_is_asked_for_again(kb: KnowledgeBase, edited: object, problem: str) -> None:
    graph, _ = stopped(kb, list(RUN))

    again = graph.invoke(Command(resume=edited), THREAD)["__interrupt__"][0].value

    assert again["problem"] == problem
    assert again["plan"]
    assert graph.invoke(Command(resume=True), THREAD)["answer"] == "Norland"


def test_a_plan_that_was_refused_stays_refused(kb: KnowledgeBase) -> None:
    graph, _ = stopped(kb, list(RUN))
    graph.invoke(Command(resume=["Who?", "When?"]), THREAD, context=Context(max_steps=1))
    graph.invoke(Command(resume=[("Who?", "When?")]), THREAD)

    result = graph.invoke(Command(resume=False), THREAD)

    assert is_refusal(result["answer"])
    assert [step["question"] for step in result["plan"]] == STEPS


def test_a_problem_repeats_no_more_than_the_beginning_of_what_came(kb: KnowledgeBase) -> None:
    graph, _ = stopped(kb, list(RUN))

    again = graph.invoke(Command(resume="z" * 10_000), THREAD)["__interrupt__"][0].value

    assert len(again["problem"]) < 300


async def test_a_plan_cannot_wait_without_a_checkpointer(kb: KnowledgeBase) -> None:
    inner = create_par_rag(
        ScriptedModel.of([RUN[0], RUN[0], RUN[0]]), kb, approve_plan=True, course="published"
    ).compile()
    outer: Any = StateGraph(QuestionInput).add_node("ask", inner).add_edge(START, "ask")

    for graph in (inner, outer.compile()):
        with pytest.raises(ValueError, match="a plan that waits for a person needs a checkpointer: compile"):
            await graph.ainvoke({"question": QUESTION}, THREAD)
    waiting = await outer.compile(checkpointer=InMemorySaver()).ainvoke({"question": QUESTION}, THREAD)
    assert [step["question"] for step in waiting["__interrupt__"][0].value["plan"]] == STEPS


# --- options ---------------------------------------------------------------------------------------------------------
def test_without_a_plan_the_question_is_the_only_step(kb: KnowledgeBase) -> None:
    nodes, result = visit(kb, ScriptedModel.of([said("Norland [1]"), PASS, say("Norland")]), plan=False)

    assert nodes == [*FIRST, *STEP, *LAST]
    assert [step["query"] for step in result["trace"]] == [QUESTION]


def test_without_review_answers_are_taken_as_they_come(kb: KnowledgeBase) -> None:
    script = [reply for reply in RUN if reply != PASS]

    nodes, result = visit(kb, ScriptedModel.of(script), review=False)

    step = ["retrieve", "act", "record"]
    assert nodes == [*FIRST, *step, "refine", *step, "refine", *step, *LAST]
    assert {t["status"] for t in result["trajectories"]} == {"NOT REVIEWED"}


def test_the_next_question_can_be_refined_with_the_last_answer_alone(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of(RUN)

    visit(kb, model, refine_with="last")

    found = [[trajectory["question"] for trajectory in request["found"]] for request in values(model, "refine")]
    assert found == [[DIRECTOR], [BIRTHPLACE_OF_VINT]]


def test_each_part_can_have_a_model_of_its_own(kb: KnowledgeBase) -> None:
    parts: dict[str, Any] = {
        "planner": ScriptedModel.of([planned(DIRECTOR, BIRTHPLACE_OF_VINT)]),
        "executor": ScriptedModel.of([said("Orla Vint [1]"), refined(BIRTHPLACE_OF_VINT), said("Pellworth [1]")]),
        "reviewer": ScriptedModel.of([PASS, PASS]),
        "reader": ScriptedModel.of([say("Pellworth")]),
    }

    visit(kb, ScriptedModel.of([]), **parts)

    assert {part: model.prompts() for part, model in parts.items()} == {
        "planner": ["plan_in_order"],
        "executor": ["act_in_order", "refine", "act_in_order"],
        "reviewer": ["review", "review"],
        "reader": ["answer_from_trajectories"],
    }


def test_an_unknown_option_is_refused_with_the_known_ones(kb: KnowledgeBase) -> None:
    options: Any = {"refine_with": "some"}
    with pytest.raises(UnknownNameError, match="unknown refine_with 'some': expected one of last, all"):
        create_par_rag(ScriptedModel.of([]), kb, **options)


# --- errors and passages ---------------------------------------------------------------------------------------------
def test_a_question_that_is_none_is_refused_before_anything_is_asked(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of([])

    with pytest.raises(QuestionError, match="expected a question"):
        create_par_rag(model, kb).compile().invoke({"question": " "})
    assert model.received == []


def test_an_empty_knowledge_base_is_said_to_be_empty(empty_kb: KnowledgeBase) -> None:
    with pytest.raises(EmptyKnowledgeBaseError, match="add documents first"):
        run(empty_kb, [])


GARBAGE = ["Hm.", "{}", '{"status": "FINE"}']


def test_a_model_that_keeps_talking_garbage_is_an_error(kb: KnowledgeBase) -> None:
    with pytest.raises(ModelOutputError, match="gave no usable reply in 3 attempts"):
        run(kb, [*RUN[:1], *GARBAGE])


@pytest.mark.parametrize("place", [2, 3])
def test_a_question_goes_on_without_a_usable_review_or_refinement(kb: KnowledgeBase, place: int) -> None:
    result = run(kb, [*RUN[:place], *GARBAGE, *RUN[place + 1 :]])

    assert result["answer"] == run(kb, RUN)["answer"]


def test_what_each_step_cites_first_comes_before_what_any_cites_second(kb: KnowledgeBase) -> None:
    first, second = ([p["id"] for p in kb.search(q, 3, by="graph")] for q in (DIRECTOR, BIRTHPLACE_OF_VINT))
    script = [planned(DIRECTOR, BIRTHPLACE), said("Vint [3][2]"), PASS, refined(BIRTHPLACE_OF_VINT)]

    result = run(kb, [*script, said("Pellworth [1]"), PASS, say("Pellworth")])

    expected = dict.fromkeys([first[2], second[0], first[1]])
    assert [passage["id"] for passage in result["passages"]][: len(expected)] == list(expected)


def test_the_cited_passages_come_first_and_those_found_with_the_whole_question_fill_up(kb: KnowledgeBase) -> None:
    found = [passage["id"] for passage in kb.search(QUESTION, by="graph")]

    result = run(kb, RUN)

    cited = list(dict.fromkeys(e["passage_id"] for e in result["evidence"]))
    assert [passage["id"] for passage in result["passages"]] == [*cited, *(id_ for id_ in found if id_ not in cited)]


# --- the default course ----------------------------------------------------------------------------------------------
CHAIN = [DIRECTOR, "Where was #1 born?", "In which country is #2?"]
SHORTS = {
    DIRECTOR: ("Orla Vint directed The Salt Road.", "Orla Vint", "The Salt Road"),
    "Where was Orla Vint born?": ("Orla Vint was born in Pellworth.", "Pellworth", "Orla Vint"),
    "In which country is Pellworth?": ("Pellworth is a town in Norland.", "Norland", "Pellworth"),
    "When was Casper Holm born?": ("Casper Holm was born on 3 May 1929.", "3 May 1929", "Casper Holm"),
    "When was Ines Barrow born?": ("Ines Barrow was born on 2 June 1940.", "2 June 1940", "Ines Barrow"),
}


class Careful:
    """Acts as a strong model does: short answers with the source that states them; other replies come as given."""

    def __init__(self, plan: str, changes: Mapping[str, Any] | None = None, **others: Any) -> None:
        self.plan, self.changes, self.others = plan, dict(changes or {}), others

    def __call__(self, prompt: str, shown: Mapping[str, Any]) -> str:
        if prompt == "act":
            return self.act(shown)
        if prompt in self.others:
            reply = self.others[prompt]
            return str(reply.pop(0) if isinstance(reply, list) else reply)
        return {"plan": self.plan, "review": PASS, "plan_anew": planned()}.get(prompt) or say("Norland")

    def act(self, shown: Mapping[str, Any]) -> str:
        answer, short, title = SHORTS.get(shown["question"], ("unknown", "", ""))
        titles = [source["title"] for source in shown["sources"]]
        number = f" [{titles.index(title) + 1}]" if title in titles else ""
        reply = {"answer": answer + number, "short": short, "settled": False}
        return json.dumps(reply | self.changes.get(shown["question"], {}))


def short_visit(
    kb: KnowledgeBase, script: Any, context: Mapping[str, Any] | None = None, **options: Any
) -> tuple[list[str], dict[str, Any], ScriptedModel]:
    model = ScriptedModel.of(script)
    return *visit(kb, model, {"read_k": 8, **(context or {})}, course="short", **options), model


def test_a_chain_costs_a_call_a_step_beside_plan_and_answer(kb: KnowledgeBase) -> None:
    nodes, result, model = short_visit(kb, Careful(planned(*CHAIN)))

    step = ["retrieve", "act", "record"]
    assert nodes == [*FIRST, *step, "refine", *step, "refine", *step, *LAST]
    assert model.prompts() == ["plan", "act", "act", "act", "answer_from_trajectories"]
    assert [found["question"] for found in result["trajectories"]] == list(SHORTS)[:3]
    assert {found["status"] for found in result["trajectories"]} == {"QUOTED"}


def test_steps_that_refer_to_none_are_taken_side_by_side_and_not_refined(kb: KnowledgeBase) -> None:
    plan = planned("When was Casper Holm born?", "When was Ines Barrow born?")

    nodes, result, model = short_visit(kb, Careful(plan))

    assert nodes == [*FIRST, "retrieve", "act", "record", *LAST]
    assert len(model.received) == 4
    assert [step["step"] for step in result["trace"]] == [1, 2]
    assert {entry["step"]: entry["title"] for entry in result["evidence"]} == {1: "Casper Holm", 2: "Ines Barrow"}


def test_both_sides_of_a_comparison_go_on_at_the_same_time(kb: KnowledgeBase) -> None:
    plan = planned(DIRECTOR, "When was Casper Holm born?", "Where was #1 born?")

    _, result, model = short_visit(kb, Careful(plan))

    assert [request["question"] for request in values(model, "act")] == [
        DIRECTOR, "When was Casper Holm born?", "Where was Orla Vint born?",
    ]  # fmt: skip
    assert [step["next_question"] for step in result["trace"]] == ["", "Where was #1 born?", ""]
    assert len(model.received) == 5


@pytest.mark.parametrize(("answer", "settled"), [("Orla Vint of Pellworth in Norland", True), ("unknown", False)])
def test_a_step_that_settles_the_question_ends_the_plan(kb: KnowledgeBase, answer: str, settled: bool) -> None:
    script = Careful(planned(*CHAIN), {DIRECTOR: {"answer": f"{answer} [1].", "short": "Orla Vint", "settled": True}})

    _, result, model = short_visit(kb, script)

    assert len(values(model, "act")) == 1
    assert ("plan_anew" in model.prompts()) == (not settled)
    assert values(model, "act")[0]["whole"] == QUESTION
    assert len(result["plan"]) == (3 if settled else 1)


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ({}, "QUOTED"),
        ({"short": "orla vint"}, "QUOTED"),
        ({"short": "Casper Holm", "answer": "Casper Holm directed The Salt Road [1]."}, "PASS"),
        ({"short": ""}, "PASS"),
        ({"short": "yes"}, "PASS"),
        ({"short": "unknown"}, "PASS"),
    ],
)
def test_an_answer_that_is_quoted_from_its_sentence_is_not_reviewed(
    kb: KnowledgeBase, reply: Mapping[str, str], status: str
) -> None:
    _, result, model = short_visit(kb, Careful(planned(DIRECTOR), {DIRECTOR: reply}))

    assert [found["status"] for found in result["trajectories"]] == [status]
    assert ("review" in model.prompts()) == (status == "PASS")


def test_a_quotation_of_another_name_is_reviewed(kb: KnowledgeBase) -> None:
    asked = "When was Tobin Holm born?"
    said_of_another = {"answer": "He was born on 3 May 1929 [1].", "short": "3 May 1929"}

    _, result, _ = short_visit(kb, Careful(planned(asked), {asked: said_of_another}))

    assert result["trajectories"][0]["status"] == "PASS"


def test_of_steps_side_by_side_only_those_not_quoted_are_reviewed(kb: KnowledgeBase) -> None:
    plan = planned(DIRECTOR, "When was Casper Holm born?")

    nodes, result, model = short_visit(kb, Careful(plan, {DIRECTOR: {"short": ""}}))

    assert nodes == [*FIRST, *STEP, *LAST]
    assert [request["question"] for request in values(model, "review")] == [DIRECTOR]
    assert [found["status"] for found in result["trajectories"]] == ["PASS", "QUOTED"]


@pytest.mark.parametrize("course", ["short", "published"])
def test_evidence_is_carried_in_the_order_of_its_passage_and_once(kb: KnowledgeBase, course: str) -> None:
    def script(prompt: str, shown: Mapping[str, Any]) -> str:
        if prompt.startswith("act"):
            number = [source["title"] for source in shown["sources"]].index("The Salt Road") + 1
            told = "The film was shot in Pellworth. Orla Vint directed it. It was shot in Pellworth"
            return said(f"{told} [{number}].")
        plan = planned(DIRECTOR)
        return {"plan": plan, "plan_in_order": plan, "review": PASS}.get(prompt) or say("Orla Vint")

    _, result = visit(kb, ScriptedModel.of(script), {"read_k": 8}, course=course)

    assert [entry["sentence"] for entry in result["evidence"]] == [
        "The Salt Road is a 1968 drama film directed by Orla Vint.",
        "The film was shot in Pellworth.",
    ]


def test_what_builds_on_a_step_that_stays_unknown_is_planned_anew(kb: KnowledgeBase) -> None:
    plan = planned("Who owns the heron?", "Where was #1 born?", "When was Casper Holm born?")
    anew = planned("Who owns the heron?", DIRECTOR, "Where was #3 born?")

    nodes, result, model = short_visit(kb, Careful(plan, plan_anew=anew))

    assert nodes.count("plan_anew") == 1
    (request,) = values(model, "plan_anew")
    assert [(taken["place"], taken["answer"]) for taken in request["found"]] == [
        (0, "unknown"),
        (1, "Casper Holm was born on 3 May 1929."),
    ]
    assert [step["question"] for step in result["plan"]] == [
        "Who owns the heron?", "When was Casper Holm born?", DIRECTOR, "Where was #3 born?",
    ]  # fmt: skip
    assert [found["question"] for found in result["trajectories"]][2:] == [DIRECTOR, "Where was Orla Vint born?"]
    assert result["answer"] == "Norland"


@pytest.mark.parametrize("anew", [[], ["Who owns the heron?"], ["Who fed the heron?", "Who is #2?"]])
def test_a_plan_is_made_anew_once_and_then_answered_from_what_was_found(kb: KnowledgeBase, anew: list[str]) -> None:
    plan = planned("Who owns the heron?", "Where was #1 born?")

    nodes, result, _ = short_visit(kb, Careful(plan, plan_anew=planned(*anew)))

    assert nodes.count("plan_anew") == 1
    assert nodes[-2:] == LAST
    assert result["answer"] == "Norland"


def test_an_answer_that_was_revised_is_put_in_by_a_model(kb: KnowledgeBase) -> None:
    revised = reviewed("REVISED", answer="Orla Vint directed it [1].")
    script = Careful(
        planned(*CHAIN[:2]),
        {DIRECTOR: {"answer": "Holm [1]", "short": ""}},
        review=revised,
        refine=refined("Where was Orla Vint born?"),
    )

    _, result, model = short_visit(kb, script)

    assert values(model, "refine")[0]["following"] == "Where was #1 born?"
    assert result["trajectories"][1]["question"] == "Where was Orla Vint born?"


def test_without_a_usable_refinement_the_answer_is_put_in(kb: KnowledgeBase) -> None:
    script = Careful(planned(*CHAIN[:2]), {DIRECTOR: {"short": ""}}, refine=refined(""))

    _, result, _ = short_visit(kb, script)

    assert result["trajectories"][1]["question"] == "Where was Orla Vint directed The Salt Road. born?"


def test_doubts_of_steps_side_by_side_are_settled_side_by_side(kb: KnowledgeBase) -> None:
    plan = planned("When was Casper Holm born?", "When was Ines Barrow born?")
    wrong = {"answer": "In 1900 [1].", "short": "1900"}

    def script(prompt: str, shown: Mapping[str, Any]) -> str:
        if prompt == "review":
            name = "Casper Holm" if "Holm" in shown["question"] else "Ines Barrow"
            return PASS if "1900" not in shown["answer"] else reviewed("UNCONFIDENT", question=f"Who is {name}?")
        return careful(prompt, shown)

    careful = Careful(plan, {question: wrong for question in list(SHORTS)[3:]})
    for name in ("Casper Holm", "Ines Barrow"):
        careful.changes[f"Who is {name}?"] = {"answer": f"{name} made films [1].", "short": ""}

    nodes, result, _ = short_visit(kb, script)

    assert nodes == [*FIRST, *STEP, *STEP, *LAST]
    assert [found["question"] for found in result["trajectories"]] == ["Who is Casper Holm?", "Who is Ines Barrow?"]
    assert {entry["step"] for entry in result["evidence"]} == {3, 4}


def test_an_edited_plan_is_taken_in_order_and_refined_by_a_model(kb: KnowledgeBase) -> None:
    script = Careful(planned(*CHAIN), refine=refined("Where was Orla Vint born?"))
    model = ScriptedModel.of(script)
    graph: Any = create_par_rag(model, kb, approve_plan=True).compile(checkpointer=InMemorySaver())
    graph.invoke({"question": QUESTION}, THREAD, context=Context(read_k=8))

    result = graph.invoke(Command(resume=[DIRECTOR, "Where was she born?"]), THREAD, context=Context(read_k=8))

    assert [found["question"] for found in result["trajectories"]] == [DIRECTOR, "Where was Orla Vint born?"]
    assert model.prompts() == ["plan", "act", "refine", "act", "answer_from_trajectories"]


def test_an_approved_plan_is_taken_as_it_was_made(kb: KnowledgeBase) -> None:
    model = ScriptedModel.of(Careful(planned("When was Casper Holm born?", "When was Ines Barrow born?")))
    graph: Any = create_par_rag(model, kb, approve_plan=True).compile(checkpointer=InMemorySaver())
    graph.invoke({"question": QUESTION}, THREAD)

    graph.invoke(Command(resume=True), THREAD)

    assert model.prompts()[:3] == ["plan", "act", "act"]


@pytest.mark.parametrize("question", ["Who is #1?", "Who is #9?", "Who is #0?"])
def test_a_reference_to_no_earlier_step_waits_for_none(kb: KnowledgeBase, question: str) -> None:
    _, result, _ = short_visit(kb, Careful(planned(question)))

    assert [found["question"] for found in result["trajectories"]] == [question]


def test_the_methods_name_has_the_course_of_the_paper(kb: KnowledgeBase) -> None:
    nodes, result = visited(create("par_rag/published", ScriptedModel.of(RUN), kb), QUESTION)

    assert nodes == [*FIRST, *STEP, "refine", *STEP, "refine", *STEP, *LAST]
    assert result["answer"] == "Norland"
