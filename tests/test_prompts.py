"""The text of every prompt, rendered for one question, against its snapshot.

`UPDATE_SNAPSHOTS=1 pytest tests/test_prompts.py` updates the snapshots; read the difference before you commit it.
"""

import json
import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import langgraph_rag.prompts
from langgraph_rag.models.replies import read_reply
from langgraph_rag.nodes.citations import uncited
from langgraph_rag.prompts import (
    adaptive,
    answering,
    cirag,
    conversation,
    dualrag,
    ircot,
    judging,
    kirag,
    mgranrag,
    par_rag,
)
from langgraph_rag.prompts.answering import TitledText
from langgraph_rag.prompts.cirag import HistoryStep
from langgraph_rag.prompts.dualrag import OutlineEntry
from langgraph_rag.prompts.par_rag import Trajectory
from langgraph_rag.prompts.prompt import Prompt, PromptReply, TripleReplies

SNAPSHOTS = Path(__file__).parent / "snapshots"
QUESTION = "Whom did the director of Nine Tides marry?"
NINE_TIDES = TitledText(
    title="Nine Tides",
    text='Nine Tides is a 1954 drama film directed by Ilse Tarrant. Its working title was "Ebb {1}".',
)
TARRANT = TitledText(
    title="Ilse Tarrant",
    text="Ilse Tarrant (3 March 1912 – 9 June 1984) was a Tharnish film director born in Port Ellowin. "
    "On 4 June 1938 she married the composer Corwen Ashlade.",
)
DIRECTED = ["Nine Tides", "directed by", "Ilse Tarrant"]
MARRIED = ["Ilse Tarrant", "married", "Corwen Ashlade"]
BORN = ["Ilse Tarrant", "born in", "Port Ellowin"]
HISTORY = [
    HistoryStep(
        query=QUESTION,
        candidates=[DIRECTED, ["Nine Tides", "is", '1954 drama film, first named "Ebb"']],
        thought="Ilse Tarrant directed the film. Whom she married is missing.",
        facts=[DIRECTED],
    ),
    HistoryStep(
        query="Whom did Ilse Tarrant marry?",
        candidates=[],
        thought="None of them tells.",
        facts=[],
    ),
]
OUTLINE = [
    OutlineEntry(entity="Nine Tides", fragments=["Ilse Tarrant directed it.", "It is of 1954."], read=["tides"]),
    OutlineEntry(entity="", fragments=['"Ebb {1}" is a working title.'], read=["ebb"]),
]
THOUGHTS = ["Who directed Nine Tides?", "Ilse Tarrant directed it. Whom she married is missing."]
TRAJECTORIES = [
    Trajectory(
        place=0,
        question="Who directed Nine Tides?",
        answer="Ilse Tarrant directed Nine Tides.",
        short="Ilse Tarrant",
        status="PASS",
        sources=[NINE_TIDES],
    ),
    Trajectory(
        place=1, question="Who is Ilse?", answer="unknown; {1} tells.", short="", status="UNCONFIDENT", sources=[]
    ),
]


class Triples(PromptReply):
    triples: TripleReplies
    useful_in_part = True


CASES: list[tuple[Prompt[Any], dict[str, Any]]] = [
    (
        cirag.EXTRACT_FACTS,
        {
            "passages": [
                {"title": NINE_TIDES["title"], "sentences": [NINE_TIDES["text"], 'Its working title was "Ebb {1}".']},
                {"title": "Brontë", "sentences": ["Brontë wrote it."]},
            ]
        },
    ),
    *(
        (
            prompt,
            {
                "question": QUESTION,
                "history": HISTORY,
                "query": "Who was the husband of Ilse Tarrant?",
                "facts": [BORN, MARRIED],
                "is_last": True,
            },
        )
        for prompt in (cirag.INTEGRATE, cirag.INTEGRATE_WITH_SENTENCES, cirag.INTEGRATE_AS_PUBLISHED)
    ),
    (
        conversation.RESTATE_QUESTION,
        {
            "conversation": [{"speaker": "Person", "text": QUESTION}, {"speaker": "Assistant", "text": "Corwen {1}"}],
            "question": "And where was he born?",
        },
    ),
    (answering.ANSWER_FROM_TRIPLES, {"question": QUESTION, "triples": [DIRECTED, MARRIED]}),
    (answering.ANSWER_FROM_SENTENCES, {"question": QUESTION, "sentences": [NINE_TIDES, TARRANT]}),
    (answering.ANSWER_FROM_PASSAGES, {"question": QUESTION, "passages": [NINE_TIDES, TARRANT]}),
    (
        answering.ANSWER_FROM_CHAIN,
        {"question": QUESTION, "passages": [NINE_TIDES, TARRANT], "chain": [" ".join(DIRECTED), " ".join(MARRIED)]},
    ),
    (
        dualrag.REASON,
        {"question": QUESTION, "outline": OUTLINE, "thoughts": THOUGHTS, "vain": ["Ilse Tarrant: husband"]},
    ),
    (dualrag.THINK_ON, {"question": QUESTION, "outline": OUTLINE, "thoughts": [], "vain": []}),
    (
        dualrag.IDENTIFY_ENTITIES,
        {"question": QUESTION, "outline": OUTLINE, "names": ["Nine Tides"], "thoughts": THOUGHTS, "vain": []},
    ),
    (
        dualrag.SUMMARIZE,
        {
            "question": QUESTION,
            "thoughts": THOUGHTS,
            "entity": "Ilse Tarrant",
            "known": ["Ilse Tarrant directed Nine Tides."],
            "queries": ["Ilse Tarrant husband", "Whom did Ilse Tarrant marry"],
            "documents": [TARRANT],
        },
    ),
    (dualrag.ANSWER_FROM_OUTLINE, {"question": QUESTION, "outline": OUTLINE, "thoughts": THOUGHTS}),
    (
        adaptive.ANSWER_OR_LOOK_UP,
        {
            "known": [TARRANT],
            "passages": [{"title": "Nine Tides", "first": 1, "sentences": ["Ilse Tarrant directed it."]}],
            "question": QUESTION,
            "looked_up": ["Nine Tides director"],
            "last": True,
        },
    ),
    (mgranrag.DECOMPOSE, {"question": QUESTION}),
    (
        mgranrag.EXTRACT_AND_GO_ON,
        {
            "known": [],
            "passages": [{"title": "Nine Tides", "first": 1, "sentences": ["Ilse Tarrant directed it."]}],
            "questions": [QUESTION, "Who directed Nine Tides?"],
        },
    ),
    (
        mgranrag.EXTRACT_EVIDENCE,
        {
            "known": [TARRANT],
            "passages": [
                {
                    "title": "Nine Tides",
                    "first": 1,
                    "sentences": ["Nine Tides is a film.", 'Its first title was "{1}".'],
                },
                {"title": "Ilse Tarrant", "first": 3, "sentences": ["She married Corwen Ashlade."]},
            ],
            "questions": [QUESTION, "Who directed Nine Tides?"],
        },
    ),
    (
        dualrag.REASON_AND_LOOK_UP,
        {"question": QUESTION, "outline": OUTLINE, "names": ["Nine Tides"], "thoughts": THOUGHTS, "vain": ["Kell"]},
    ),
    (
        dualrag.TAKE_NOTES,
        {
            "question": QUESTION,
            "thoughts": THOUGHTS,
            "wanted": [
                {"entity": "Nine Tides", "queries": ["director"], "known": []},
                {"entity": "Ilse Tarrant", "queries": ["spouse", "birth"], "known": ["She is a director."]},
                {"entity": "", "queries": ["{1}"], "known": []},
            ],
            "documents": [NINE_TIDES, TARRANT],
        },
    ),
    (par_rag.PLAN, {"question": QUESTION, "most": 6}),
    (par_rag.PLAN_IN_ORDER, {"question": QUESTION, "most": 6}),
    (par_rag.PLAN_ANEW, {"question": QUESTION, "found": TRAJECTORIES, "most": 4}),
    (
        par_rag.ACT,
        {
            "question": "Whom did Ilse Tarrant marry?",
            "whole": QUESTION,
            "found": TRAJECTORIES[:1],
            "sources": [NINE_TIDES, TARRANT],
        },
    ),
    (par_rag.ACT_IN_ORDER, {"question": QUESTION, "sources": [NINE_TIDES, TARRANT]}),
    (par_rag.REVIEW, {"question": QUESTION, "answer": "Corwen Ashlade.", "sources": [NINE_TIDES, TARRANT]}),
    (par_rag.REFINE, {"question": QUESTION, "found": TRAJECTORIES[:1], "following": QUESTION}),
    (par_rag.ANSWER_FROM_TRAJECTORIES, {"question": QUESTION, "trajectories": TRAJECTORIES}),
    (
        kirag.CONSTRUCT_CHAIN,
        {
            "question": QUESTION,
            "candidates": [MARRIED, BORN],
            "chain": [DIRECTED],
            "refused": ["Ilse Tarrant wife of Corwen Ashlade"],
        },
    ),
    (
        kirag.CONSTRUCT_CHAIN_OF_SENTENCES,
        {
            "question": QUESTION,
            "candidates": ["Nine Tides: Nine Tides is a 1954 drama film directed by Ilse Tarrant."],
            "chain": [],
            "refused": [],
        },
    ),
    (
        kirag.CONSTRUCT_CHAIN_OF_DOCUMENTS,
        {"question": QUESTION, "candidates": [TARRANT], "chain": [NINE_TIDES], "refused": []},
    ),
    (
        ircot.NEXT_THOUGHT,
        {"passages": [NINE_TIDES, TARRANT], "question": QUESTION, "thoughts": ["Ilse Tarrant directed Nine Tides."]},
    ),
    (judging.JUDGE, {"question": QUESTION, "accepted": ["Corwen Ashlade", "Ashlade"], "given": "C. Ashlade"}),
]
each_prompt = pytest.mark.parametrize(("prompt", "values"), CASES, ids=[prompt.name for prompt, _ in CASES])


@each_prompt
def test_a_prompt_reads_as_its_snapshot(prompt: Prompt[Any], values: dict[str, Any]) -> None:
    file = SNAPSHOTS / f"{prompt.name}.txt"
    rendered = "\n\n".join(f"--- {message.type} ---\n{message.text}" for message in prompt.render(**values)) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(rendered, encoding="utf-8", newline="\n")

    assert rendered == file.read_text(encoding="utf-8")


def test_every_prompt_has_a_name_of_its_own_and_a_snapshot() -> None:
    folder = Path(langgraph_rag.prompts.__file__).parent
    modules = [import_module(f"langgraph_rag.prompts.{file.stem}") for file in folder.glob("[a-z]*.py")]
    prompts = {id(value): value for module in modules for value in vars(module).values() if isinstance(value, Prompt)}
    names = sorted(prompt.name for prompt in prompts.values())

    assert names == sorted(prompt.name for prompt, _ in CASES)
    assert names == sorted(file.stem for file in SNAPSHOTS.iterdir())
    assert len(set(names)) == len(names)  # the offline model knows them by name


@each_prompt
def test_instructions_do_not_depend_on_the_values_so_that_servers_can_reuse_them(
    prompt: Prompt[Any], values: dict[str, Any]
) -> None:
    nothing: dict[str, Any] = {key: [] if key in prompt.show else "" for key in values}

    assert prompt.render(**values)[0] == prompt.render(**nothing)[0]


WITH_EXAMPLES = [
    prompt for prompt, _ in CASES if prompt is not cirag.EXTRACT_FACTS
]  # weak models copy examples as facts


@pytest.mark.parametrize("prompt", WITH_EXAMPLES, ids=lambda prompt: prompt.name)
def test_the_replies_shown_as_examples_are_replies_the_prompt_accepts(prompt: Prompt[Any]) -> None:
    examples = prompt.instructions.split("\nReply: ")[1:]

    assert examples
    for example in examples:
        assert set(read_reply(example, prompt.reply).model_dump()) == set(prompt.reply.model_fields)


@pytest.mark.parametrize("prompt", [par_rag.PLAN, par_rag.PLAN_IN_ORDER])
def test_a_plan_shown_as_example_looks_up_all_and_leaves_the_question_to_the_final_answer(prompt: Prompt[Any]) -> None:
    question, example = prompt.instructions.rpartition("\nQuestion: ")[2].split("\nReply: ")

    steps = read_reply(example, par_rag.Plan).steps

    assert {step.action for step in steps} == {"retrieve"}
    assert question not in [step.question for step in steps]


def test_reviews_are_shown_as_examples_as_they_are_asked_for() -> None:
    examples = re.findall(r"^Question: (.+)\nAnswer: (.+)\nReply: ", par_rag.REVIEW.instructions, re.MULTILINE)

    assert len(examples) == par_rag.REVIEW.instructions.count("\nReply: ")
    assert [answer for _, answer in examples] == [uncited(answer) for _, answer in examples]


def test_evidence_shown_as_example_answers_one_question_and_leads_on_with_another() -> None:
    example = mgranrag.EXTRACT_EVIDENCE.instructions.split("\nReply: ")[1]

    rows = read_reply(example, mgranrag.Extraction).evidence

    assert [(row.full, row.partial) for row in rows] == [(["0"], []), (["1"], ["0"])]


@pytest.mark.parametrize("unsaid", [{}, {"question": None}])
def test_a_round_without_a_question_asks_none(unsaid: dict[str, None]) -> None:
    reply = read_reply(json.dumps({"thought": "Enough.", "facts": [DIRECTED], **unsaid}), cirag.Integration)

    assert reply == cirag.Integration(thought="Enough.", facts=[DIRECTED], question=None)


def test_null_stands_for_the_default_of_a_field() -> None:
    step = {"thought": None, "question": "Where is Kell?", "action": None}
    (read,) = read_reply(json.dumps({"steps": [step]}), par_rag.Plan).steps

    assert (read.thought, read.action) == ("", "retrieve")
    assert read_reply('{"entities": [{"entity": "Kell", "queries": null}]}', dualrag.Demands).entities[0].queries == []


@pytest.mark.parametrize("unsaid", [{}, {"conclusion": None}])
def test_a_chain_without_a_conclusion_concludes_nothing(unsaid: dict[str, None]) -> None:
    assert read_reply(json.dumps({"chain": [DIRECTED], **unsaid}), kirag.ChainOfTriples).conclusion == ""
    assert read_reply(json.dumps({"chain": ["Nine Tides"], **unsaid}), kirag.ChainOfTexts).conclusion == ""


def test_a_question_under_another_name_is_not_taken_for_none() -> None:
    with pytest.raises(ValueError, match="field 'question': Field required"):
        read_reply('{"thought": "", "facts": [], "next_query": "Whom did she marry?"}', cirag.Integration)


def test_an_object_that_is_closed_too_early_is_asked_for_again() -> None:
    with pytest.raises(ValueError, match="^field 'facts': it stands outside the object"):
        read_reply('{"thought": "Enough?"}, "facts": [["Mill", "in", "Kell"]], "question": null}', cirag.Integration)


def test_an_object_after_one_that_is_closed_too_early_is_read() -> None:
    reply = read_reply('{"thought": "?"}\n{"facts": [["Mill", "in", "Kell"]], "question": "Where?"}', cirag.Integration)

    assert reply == cirag.Integration(facts=[["Mill", "in", "Kell"]], question="Where?")


@pytest.mark.parametrize(
    "said", [{}, {"reasoning": "x"}, {"thought": None}, {"thought": ["First this.", "Then that."]}]
)
def test_an_answer_needs_no_thought(said: dict[str, object]) -> None:
    assert read_reply(json.dumps({**said, "answer": "Kell"}), answering.Answer).answer == "Kell"


def test_an_empty_object_is_no_reply() -> None:
    with pytest.raises(ValueError, match="^it has none of the fields thought, facts, question"):
        read_reply("{}", cirag.Integration)


@pytest.mark.parametrize(
    "other", [{"status": "revised", "revised_answer": "Kell"}, {"status": "UNCONFIDENT", "new_question": "Where?"}]
)
def test_a_correction_under_another_name_is_not_taken_for_none(other: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=f"{other['status']} needs the field"):
        read_reply(json.dumps(other), par_rag.Reviewed)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ([DIRECTED, ["Ada", "in", None], "stray"], [DIRECTED]),
        ([{"subject": "Ada", "object": "Ost", "predicate": "in"}], [["Ada", "in", "Ost"]]),
        (["Ada | born in | 1900"], [["Ada", "born in", "1900"]]),
        ([["Ada", "born in", 1900]], [["Ada", "born in", "1900"]]),
        (["Ada", "born in", "1900"], [["Ada", "born in", "1900"]]),
        ([[["Ada", "born in", "1900"], DIRECTED]], [["Ada", "born in", "1900"], DIRECTED]),
        (['["Ada", "born in", "1900"]'], [["Ada", "born in", "1900"]]),
        ("Ada | born in | 1900", [["Ada", "born in", "1900"]]),
        ([DIRECTED, "none"], [DIRECTED]),
        (["None."], []),
        ("none", []),
        (None, []),
        ([], []),
    ],
)
def test_triples_are_read_as_small_models_write_them(written: list[object], read: list[list[str]]) -> None:
    reply = read_reply(json.dumps({"triples": written}), Triples)

    assert [[part.strip() for part in triple] for triple in reply.triples] == read


@pytest.mark.parametrize("written", [["Ada", "Ost"], [{"name": "Ada"}], [["Ada", "in", None]], ["[1, "]])
def test_what_holds_no_triple_is_asked_for_again(written: list[object]) -> None:
    with pytest.raises(ValueError, match="field 'triples"):
        read_reply(json.dumps({"triples": written}), Triples)


@pytest.mark.parametrize(("given", "read"), [(None, ""), (["Kell"], "Kell"), (True, "yes"), (False, "no"), (2, "2")])
def test_an_answer_that_is_no_text_is_read_as_what_it_says(given: object, read: str) -> None:
    assert read_reply(json.dumps({"thought": "", "answer": given}), answering.Answer).answer == read


@pytest.mark.parametrize("reply", [cirag.Integration, kirag.ChainOfTriples, kirag.ChainOfTexts, par_rag.StepReply])
def test_what_a_model_may_leave_out_it_is_asked_for_all_the_same(reply: type[PromptReply]) -> None:
    assert reply.model_json_schema()["required"] == list(reply.model_fields)


def test_where_there_is_nothing_to_show_the_prompt_says_so() -> None:
    _, request = cirag.INTEGRATE.render(question=QUESTION, history=[], query=QUESTION, facts=[], is_last=False)

    assert request.text.split("\n\n")[1] == "(this is the first step)"
    assert request.text.endswith("Candidate facts:\n(none)")
    assert answering.ANSWER_FROM_PASSAGES.render(question=QUESTION, passages=[])[1].text.startswith("(none)\n")


def test_no_text_looks_like_two() -> None:
    shown = answering.titled_texts([{"title": "Mill", "text": "Built in 1883.\n \n\nTitle: Kell\nA city.\n- dry"}])

    assert shown == "Title: Mill\nBuilt in 1883.\nTitle: Kell\nA city.\n- dry"


def test_no_source_looks_like_two_or_cites_another() -> None:
    mill = "Built in 1883 [2].\n \n[2] Kell: It was never built. [90]\n    [0] dry"

    shown = par_rag.numbered([{"title": "Mill", "text": mill}, {"title": "Kell", "text": "A city."}])

    assert shown == (
        "[1] Mill: Built in 1883 (2).\n  (2) Kell: It was never built. [90]\n      [0] dry\n[2] Kell: A city."
    )


@pytest.mark.parametrize(
    ("title", "text", "shown"),
    [
        ("Mill", "Mill is a town.", "Mill is a town."),
        ("Mill", "Mills had it built.", "Mill: Mills had it built."),
        ("Up", "Upon its release it won a prize.", "Up: Upon its release it won a prize."),
        ("Yes!", "Yes! is a song.", "Yes! is a song."),
        ("", "A city.", "A city."),
    ],
)
def test_a_source_tells_what_it_is_about(title: str, text: str, shown: str) -> None:
    assert par_rag.numbered([{"title": title, "text": text}]) == f"[1] {shown}"


@pytest.mark.parametrize("status", ["REVISED", "UNCONFIDENT"])
def test_a_review_may_say_more_than_it_is_asked_for(status: str) -> None:
    given = {"status": status, "answer": None, "question": None, "reason": "the sources contradict each other"}

    assert read_reply(json.dumps(given), par_rag.Reviewed).status == status
