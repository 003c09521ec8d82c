"""A run of a method on questions is recorded with each call of the model, and what is learned is made of the calls."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import SAMPLE
from fakes import ScriptedModel
from running import say
from test_cli import refuse, run

from langgraph_rag.errors import ModelAccessError, UnknownNameError
from langgraph_rag.evaluation.outcomes import Outcome
from langgraph_rag.evaluation.places import located
from langgraph_rag.evaluation.questions import Question, load_questions
from langgraph_rag.evaluation.run_folder import OutcomesError
from langgraph_rag.graphs.cirag import create_cirag
from langgraph_rag.graphs.native_rag import create_native_rag
from langgraph_rag.methods import create
from langgraph_rag.models.loading import load_model
from langgraph_rag.prompts import cirag, dualrag, mgranrag
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.training.dualrag_rows import identified, reasoned, summarized
from langgraph_rag.training.preferences import gatings, preference_pairs
from langgraph_rag.training.rows import Gold, Turn, as_written, gold_of, integrated, make_rows, reply_text
from langgraph_rag.training.sets import rows_of_set
from langgraph_rag.training.trajectories import Call, read_trajectories, record_trajectories

QUESTION = Question(id="1", question="Who directed The Salt Road?", answers=["Orla Vint"], supporting_ids=["salt-road"])
BORN = Question(id="2", question="Where was Orla Vint born?", answers=["Pellworth"], supporting_ids=["vint"])


def integration(facts: list[list[str]], question: str | None = None) -> str:
    return json.dumps({"thought": "Kept.", "facts": facts, "question": question})


def call(prompt: Prompt[Any], values: Mapping[str, Any], reply: Mapping[str, Any], repairs: int = 0) -> Call:
    return Call(
        node="",
        prompt=prompt.name,
        values=dict(values),
        messages=[],
        replies=[],
        reply=dict(reply),
        repairs=repairs,
        left_out=0,
        dropped=0,
    )


# --- recording -------------------------------------------------------------------------------------------------------
async def test_each_call_is_recorded_as_it_was_sent_and_read(kb: KnowledgeBase, tmp_path: Path) -> None:
    candidates = ["The Salt Road", "directed by", "Orla Vint"], ["Casper Holm", "directed", "Moon"]
    model = ScriptedModel.of(["Let me see", integration([*map(list, candidates)]), say("Orla Vint")])

    (outcome,) = await record_trajectories(create_cirag(model, kb).compile(), [QUESTION], tmp_path)

    (integrate, answer), events = outcome["calls"], outcome["events"]
    assert (integrate["node"], integrate["prompt"], integrate["repairs"]) == ("integrate", "integrate", 1)
    assert integrate["replies"][0] == "Let me see"
    assert integrate["reply"] == {"thought": "Kept.", "facts": [*map(list, candidates)], "question": None}
    assert integrate["dropped"] == 1
    assert integrate["values"]["question"] == QUESTION["question"]
    system, user = model.received[0]
    assert integrate["messages"] == [
        {"role": "system", "content": system.text},
        {"role": "user", "content": user.text},
    ]
    assert (answer["node"], answer["repairs"], answer["reply"]["answer"]) == ("answer_from_triples", 0, "Orla Vint")
    assert [event["node"] for event in events][:3] == ["receive_question", "retrieve", "construct"]
    assert (outcome["em"], outcome["error"]) == (1.0, None)
    assert read_trajectories(tmp_path) == [outcome]


async def test_runs_at_once_do_not_mix(kb: KnowledgeBase, tmp_path: Path) -> None:
    graph = create("dualrag/published", load_model("offline"), kb).compile()
    alone = await record_trajectories(graph, [QUESTION, BORN], tmp_path / "alone")
    beside = await record_trajectories(graph, [QUESTION, BORN], tmp_path / "beside", concurrency=2)

    def calls(runs: list[Outcome]) -> list[list[str]]:
        return [sorted(json.dumps(one) for one in of_run["calls"]) for of_run in runs]

    assert calls(alone) == calls(beside)
    assert calls(alone)[0] != calls(alone)[1]


async def test_a_stopped_run_goes_on_where_it_was(kb: KnowledgeBase, tmp_path: Path) -> None:
    def locked_out(prompt: str, told: Mapping[str, Any]) -> Any:
        return ModelAccessError("no key") if told["question"] == BORN["question"] else say("Orla Vint")

    with pytest.raises(ModelAccessError):
        graph = create_native_rag(ScriptedModel.of(locked_out), kb).compile()
        await record_trajectories(graph, [QUESTION, BORN], tmp_path)
    model = ScriptedModel.of([say("Pellworth")])
    runs = await record_trajectories(create_native_rag(model, kb).compile(), [QUESTION, BORN], tmp_path)

    assert [[one["reply"]["answer"] for one in of_run["calls"]] for of_run in runs] == [["Orla Vint"], ["Pellworth"]]
    assert len(model.received) == 1


async def test_a_folder_of_runs_without_calls_is_told(kb: KnowledgeBase, tmp_path: Path) -> None:
    model = ScriptedModel.of([say("Orla Vint")])
    await record_trajectories(create_native_rag(model, kb).compile(), [QUESTION], tmp_path)
    (line,) = (tmp_path / "outcomes.jsonl").read_text().splitlines()
    without = {name: value for name, value in json.loads(line).items() if name != "calls"}
    (tmp_path / "outcomes.jsonl").write_text(json.dumps(without) + "\n")

    with pytest.raises(OutcomesError, match=r"expected runs with their calls in .*, got an outcome without for .*'1'"):
        read_trajectories(tmp_path)


# --- rows ------------------------------------------------------------------------------------------------------------
async def test_filters_reject_with_a_reason(kb: KnowledgeBase, tmp_path: Path) -> None:
    model = ScriptedModel.of([say("Orla Vint"), "{", say("Skellby")])
    runs = await record_trajectories(create_native_rag(model, kb).compile(), [QUESTION, BORN], tmp_path)
    gold, prompt = gold_of([QUESTION, BORN], kb), ["answer_from_passages"]

    async def kept(*filters: Any, gold: Mapping[str, Gold] = gold) -> list[str]:
        rows, rejected = await make_rows(runs, prompt, as_written, gold, kb, filters)
        return [row["reply"] for row in rows] + [row["reason"] for row in rejected]

    right = '{"thought": "So it is.", "answer": "Orla Vint"}'
    assert await kept() == [right, '{"thought": "So it is.", "answer": "Skellby"}']
    assert await kept("right") == [right, "the answer is not right"]
    assert await kept("unrepaired") == [right, "the reply was repaired"]
    assert await kept("evidence") == [right, "the evidence is not of every gold passage"]
    assert (await kept("evidence", gold={}))[0] == "the evidence is not of every gold passage"
    judged = [{"id": "2", "judge": "j", "answer": "Skellby", "answers": ["Pellworth"], "correct": True, "error": None}]
    rows, _ = await make_rows(runs, prompt, as_written, gold, kb, ["right"], judged)  # type: ignore[arg-type]
    assert len(rows) == 2
    with pytest.raises(UnknownNameError, match="unknown filter 'good'"):
        await kept("good")


async def test_a_reply_that_was_cut_off_is_not_learned(kb: KnowledgeBase) -> None:
    rows_read = ["1 | 0 | 1 | Vint", "2 | 1 | | Pellworth"]
    whole = json.dumps({"evidence": rows_read})
    replies = whole, whole[: whole.rindex("| P")]
    prompt, reply = mgranrag.EXTRACT_EVIDENCE, {"evidence": rows_read[:1]}
    calls = [{**call(prompt, {}, reply), "replies": [text]} for text in replies]
    run: Any = {"id": "1", "error": None, "em": 1, "answer": "", "calls": calls}
    rows, rejected = await make_rows([run], ["extract_evidence"], as_written, {}, kb)

    assert (len(rows), [row["reason"] for row in rejected]) == (1, ["the reply was cut off"])


async def test_a_judge_makes_right_the_answer_that_it_saw_and_no_other_of_the_question(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    runs = list[Outcome]()
    for answer in ("by a woman named Vint", "Casper Holm"):
        graph = create_native_rag(ScriptedModel.of([say(answer)]), kb).compile()
        runs += await record_trajectories(graph, [QUESTION], tmp_path / answer)
    made = {"id": "1", "judge": "j", "answers": ["Orla Vint"], "error": None}
    judged: Any = [{**made, "answer": runs[0]["answer"], "correct": True}]
    judged.append({**made, "answer": runs[1]["answer"], "correct": False})

    rows, rejected = await make_rows(runs, ["answer_from_passages"], as_written, {}, kb, ["right"], judged)
    assert [json.loads(row["reply"])["answer"] for row in rows] == ["by a woman named Vint"]
    assert [row["reason"] for row in rejected] == ["the answer is not right"]
    (pair,), _ = preference_pairs(runs, judged)
    assert [json.loads(pair[name])["answer"] for name in ("chosen", "rejected")] == [
        "by a woman named Vint",
        "Casper Holm",
    ]
    assert preference_pairs(runs)[0] == []


FACTS = [["Nine Tides", "directed by", "Ilse Tarrant"], ["Ilse Tarrant", "married", "Corwen Ashlade"]]


@pytest.mark.parametrize(
    ("facts", "question", "learned"),
    [
        (
            [["nine tides", "was directed by", "ilse tarrant"]],
            "Whom did she marry?",
            ([FACTS[0]], "Whom did she marry?"),
        ),
        ([FACTS[1], ["Ilse Tarrant", "hated", "fog"]], None, ([FACTS[1]], None)),
        ([FACTS[0]], "who directed NINE TIDES", ([FACTS[0]], None)),
        ([], "none", ([], None)),
        ([["Ilse Tarrant", "hated", "fog"]], None, "no fact of the reply was shown"),
    ],
)
async def test_the_integrator_learns_facts_as_they_were_shown(
    kb: KnowledgeBase, facts: list[list[str]], question: str | None, learned: Any
) -> None:
    values = {"question": "Whom?", "history": [], "query": "Who directed Nine Tides?", "facts": FACTS, "is_last": False}
    reply = {"thought": "T", "facts": facts, "question": question}
    found = await integrated(Turn(call(cirag.INTEGRATE, values, reply), reply, {}, Gold(), kb))  # type: ignore[typeddict-item]

    assert (found.reason or (found.reply["facts"], found.reply["question"])) == learned


def test_a_reply_is_learned_in_the_order_of_its_schema() -> None:
    from langgraph_rag.prompts.adaptive import ANSWER_OR_LOOK_UP

    reply = {"thought": "é", "answer": "Norway", "sentences": [1], "missing": []}

    assert (
        reply_text(ANSWER_OR_LOOK_UP, reply) == '{"thought": "é", "sentences": [1], "missing": [], "answer": "Norway"}'
    )
    assert ANSWER_OR_LOOK_UP.reply.model_validate_json(reply_text(ANSWER_OR_LOOK_UP, reply))


def test_rows_of_evidence_are_learned_as_the_schema_has_them() -> None:
    rows = ["2 | 0 | | Ada Moss; Bergen", "1 | 1 | 0, 2 | Ada Moss", "3 | | 1 |"]
    reply = mgranrag.Extraction.model_validate({"thought": "T", "evidence": rows})
    learned = reply_text(mgranrag.EXTRACT_EVIDENCE, reply.model_dump())

    assert json.loads(learned)["evidence"] == rows
    assert mgranrag.Extraction.model_validate_json(learned) == reply


# --- DualRAG's sets --------------------------------------------------------------------------------------------------
def turn(
    prompt: Prompt[Any], values: Mapping[str, Any], reply: Mapping[str, Any], kb: KnowledgeBase, gold: Gold
) -> Turn:
    return Turn(call(prompt, values, reply), dict(reply), {}, gold, kb)  # type: ignore[typeddict-item]


@pytest.fixture
def gold(kb: KnowledgeBase) -> Gold:
    asked = {
        **QUESTION,
        "supporting_ids": ["salt-road", "vint"],
        "supporting_sentences": ["Vint was born in Pellworth."],
    }
    return gold_of([asked], kb)["1"]  # type: ignore[list-item]


async def test_the_reasoner_learns_when_to_search(kb: KnowledgeBase, gold: Gold) -> None:
    for read, flag, reason in (
        (["salt-road"], True, ""),
        (["salt-road", "vint"], True, "it searches on although all gold passages were read"),
        (["salt-road", "vint"], False, ""),
    ):
        values = {"outline": [{"entity": "E", "fragments": ["f"], "read": read}]}
        reply = {"thought": "T", "needs_retrieval": flag}
        found = await reasoned(turn(dualrag.REASON, values, reply, kb, gold))
        assert found.reason == reason
        assert reason or found.reply == reply


async def test_the_identifier_learns_each_gold_document_once(kb: KnowledgeBase, gold: Gold) -> None:
    entities = [
        {"entity": entity, "queries": [f"{entity}?"]}
        for entity in ("The Salt Road (film)", "Salt Road", "Grey heron", "Orla Vint")
    ]
    outline = [
        {"entity": "", "fragments": ["apart"], "read": []},
        {"entity": "Grey heron", "fragments": ["stands"], "read": ["heron"]},
        {"entity": "Salt Road", "fragments": ["a", "b"], "read": ["x"]},
        {"entity": "The Salt Road (film)", "fragments": ["b", "c"], "read": ["y"]},
    ]
    values = {"question": "Q", "outline": outline, "names": ["Salt Road"], "thoughts": [], "vain": []}
    found = await identified(turn(dualrag.IDENTIFY_ENTITIES, values, {"entities": entities}, kb, gold))

    assert [one["entity"] for one in found.reply["entities"]] == ["The Salt Road (film)", "Orla Vint"]
    assert found.values is not None
    assert found.values["outline"] == [
        {"entity": "", "fragments": ["apart"], "read": []},
        {"entity": "The Salt Road (film)", "fragments": ["a", "b", "c"], "read": ["x", "y"]},
    ]
    assert found.values["names"] == ["The Salt Road (film)"]
    assert found.label == "teacher, fewer entities"
    heron = {"entities": [entities[2]]}
    none = await identified(turn(dualrag.IDENTIFY_ENTITIES, {**values, "outline": []}, heron, kb, gold))
    assert (none.reply, none.label) == ({"entities": []}, "no entity")


@pytest.mark.parametrize(
    ("shown", "summary", "known", "learned"),
    [
        (["vint", "heron"], "She was born in Pellworth.", [], ("She was born in Pellworth.", "teacher")),
        (["vint", "heron"], None, [], ("Vint was born in Pellworth.", "gold sentence")),
        (["vint"], "None.", ["Vint was born in Pellworth."], (None, "none")),
        (["heron"], "Herons wait.", [], (None, "none")),
    ],
)
async def test_the_summarizer_is_labelled_by_gold_documents(
    kb: KnowledgeBase, gold: Gold, shown: list[str], summary: str | None, known: list[str], learned: Any
) -> None:
    documents = [{"title": one["title"], "text": one["text"]} for one in kb.passages(shown)]
    values = {"documents": documents, "known": known}
    found = await summarized(turn(dualrag.SUMMARIZE, values, {"summary": summary}, kb, gold))

    assert (found.reply["summary"], found.label) == learned


async def test_gold_sentences_are_found_whatever_their_spaces(kb: KnowledgeBase, gold: Gold) -> None:
    (vint,) = kb.passages(["vint"])
    values = {"documents": [{"title": vint["title"], "text": vint["text"]}], "known": []}
    spaced = Gold(gold.groups, gold.passages, ["Vint  was born\nin Pellworth. "])
    found = await summarized(turn(dualrag.SUMMARIZE, values, {"summary": None}, kb, spaced))

    assert (found.reply["summary"], found.label) == ("Vint was born in Pellworth.", "gold sentence")


async def test_without_gold_sentences_the_passage_stands_for_them(kb: KnowledgeBase, gold: Gold) -> None:
    values = {"documents": [{"title": "The Salt Road", "text": kb.passages(["salt-road"])[0]["text"]}], "known": []}
    without = Gold(gold.groups, gold.passages)
    found = await summarized(turn(dualrag.SUMMARIZE, values, {"summary": None}, kb, without))

    assert found.reply["summary"] == values["documents"][0]["text"]


# --- beyond the papers -----------------------------------------------------------------------------------------------
async def test_a_pair_is_where_a_right_and_a_wrong_run_part(kb: KnowledgeBase, tmp_path: Path) -> None:
    runs = list[Outcome]()
    facts = [["The Salt Road", "directed by", "Orla Vint"]]
    for number, (kept, answer) in enumerate([(facts, "Orla Vint"), ([], "Casper Holm")]):

        def script(prompt: str, told: Mapping[str, Any], kept: Any = kept, answer: str = answer) -> str:
            return integration(kept) if prompt == "integrate" else say(answer)

        graph = create_cirag(ScriptedModel.of(script), kb).compile()
        runs += await record_trajectories(graph, [QUESTION, BORN], tmp_path / str(number))
    pairs, rejected = preference_pairs(runs)

    (pair,) = pairs
    assert pair["messages"] == runs[0]["calls"][0]["messages"]
    assert json.loads(pair["chosen"])["facts"] == facts
    assert json.loads(pair["rejected"])["facts"] == []
    assert [(one["id"], one["reason"]) for one in rejected] == [("2", "there is not a right and a wrong run")]


async def test_the_gate_of_adaptive_is_exported(sample_kb: KnowledgeBase, tmp_path: Path) -> None:
    questions = load_questions(SAMPLE / "questions.jsonl", 2)
    graph = create("adaptive", load_model("offline"), sample_kb).compile()
    runs = await record_trajectories(graph, questions, tmp_path)
    rows = gatings(runs)

    assert [row["way"] for row in rows if row["id"] == "q01"] == [
        event["way"] for event in runs[0]["events"] if event["node"] == "assess"
    ]
    assert {row["right"] for row in rows if row["id"] == "q01"} == {runs[0]["em"] == 1}
    gold = gold_of(located(questions, sample_kb), sample_kb)
    learned, _ = await rows_of_set("answer_or_look_up", runs, gold, sample_kb)
    assert len(learned) == sum(len(one["calls"]) for one in runs)


def test_from_questions_to_rows_on_the_command_line(
    sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--kb", sample_folder, "--questions", SAMPLE / "questions.jsonl"]
    recorded = run("train", "trajectories", *asked, "--out", tmp_path / "t", "--limit", "3", "--concurrency", "2")
    assert "3 runs with " in recorded.stdout
    again = run("train", "trajectories", *asked, "--out", tmp_path / "t", "--limit", "3")
    assert again.stdout == recorded.stdout

    sets = ["--set", "integrator", "--set", "answer_from_triples", "--set", "pairs"]
    made = run("train", "rows", *asked, "--trajectories", tmp_path / "t", "--out", tmp_path / "r", *sets)

    manifest = json.loads((tmp_path / "r" / "rows.json").read_text())
    report = manifest["sets"]["integrator"]
    rows = [json.loads(line) for line in (tmp_path / "r" / "integrator.jsonl").read_text().splitlines()]
    assert report["rows"] == len(rows) > 0
    assert f"integrator: {len(rows)} row" in made.stdout
    assert {row["messages"][0]["content"] for row in rows} == {cirag.INTEGRATE.instructions}
    assert manifest["filters"] == ["right"]
    assert manifest["sources"][0]["model"] == "offline"
    rejected = (tmp_path / "r" / "integrator.rejected.jsonl").read_text().splitlines()
    assert len(rejected) == sum(report["rejects"].values())
    wrong = ["--trajectories", tmp_path / "t", "--out", tmp_path / "r", "--set", "x"]
    told = refuse(monkeypatch, capsys, "train", "rows", *asked, *wrong)
    assert told.startswith("error: unknown set 'x': expected one of integrator, reasoner, ")


def test_rows_of_other_questions_or_of_another_method_or_in_a_used_folder_are_refused(
    sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = tmp_path / "asked.jsonl"
    lines = (SAMPLE / "questions.jsonl").read_text().splitlines()[:2]
    asked.write_text("\n".join(lines))
    runs, out = tmp_path / "t", tmp_path / "r"
    run("train", "trajectories", "--kb", sample_folder, "--questions", asked, "--out", runs)

    def refused(set_name: str = "integrator") -> str:
        given = ["--kb", sample_folder, "--questions", asked, "--trajectories", runs, "--out", out, "--set", set_name]
        return refuse(monkeypatch, capsys, "train", "rows", *given)

    for name in ("gate", "reasoner"):
        assert f"turns of the set '{name}', got none in those of cirag" in refused(name)
    first = json.loads(lines[0])
    asked.write_text("\n".join([json.dumps({**first, "question": "Who is it?"}), lines[1]]))
    assert f"such as {first['question']!r} ('q01'), got 'Who is it?'" in refused()
    asked.write_text(lines[0])
    assert "('q02'), got no such id" in refused()
    assert not out.exists()
    lost = [{**json.loads(line), "supporting_ids": ["nowhere"]} for line in lines]
    asked.write_text("\n".join(map(json.dumps, lost)))
    given = ["--kb", sample_folder, "--questions", asked, "--trajectories", runs, "--out", out]
    told = run("train", "rows", *given, "--set", "integrator")
    assert "1 of 1 supporting ids ('nowhere') are of no passage" in told.stderr
    assert "expected a new folder for the sets, got" in refused()
