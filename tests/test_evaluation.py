"""Metrics, question files, runs that can be stopped and continued, and reports."""

import asyncio
import doctest
import errno
import io
import json
import re
import signal
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from types import MappingProxyType, ModuleType
from typing import Any, cast

import pytest
from fakes import ScriptedModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from langgraph_rag import KnowledgeBase, create_ircot, create_native_rag
from langgraph_rag.context import Context
from langgraph_rag.errors import ModelAccessError, ModelCallError, RequestRefusedError
from langgraph_rag.evaluation import (
    Configuration,
    Judgement,
    Origin,
    Outcome,
    OutcomesError,
    Question,
    QuestionFileError,
    by_type,
    compare,
    comparison,
    differences,
    evaluate,
    judge,
    judgements_of,
    load_questions,
    markdown_table,
    metrics,
    origin,
    overview,
    question_files,
    read_outcomes,
    summarise,
    write_report,
)
from langgraph_rag.evaluation.metrics import all_at, contains, exact_match, f1, normalise_answer, recall_at
from langgraph_rag.evaluation.origin import beginning, this_version
from langgraph_rag.evaluation.outcomes import begun_with
from langgraph_rag.evaluation.pictures import draw_comparison, frontier
from langgraph_rag.nodes.receive_question import QuestionInput
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.records import Usage, no_usage
from langgraph_rag.tools.documents import rows

QUESTIONS = [
    Question(id="q1", question="Where is Kell?", answers=["Norrland"], supporting_ids=["p1", "p2"], type="bridge"),
    Question(id="q2", question="Who sailed?", answers=["Harriet Vane", "H. Vane"], supporting_ids=["p3"]),
    Question(id="q3", question="Is it old?", answers=["yes"]),
]
ANSWERS = {"Where is Kell?": "in Norrland", "Who sailed?": "H Vane", "Is it old?": "unknown"}
DEFAULT = Configuration(method="cirag", model="offline", knowledge_base="kb")
FINGERPRINTED = Configuration(**DEFAULT, knowledge_base_fingerprint="8 passages")


def reply(answer: object, **other: object) -> dict[str, Any]:
    usage = Usage(**no_usage() | {"calls": 2, "input_tokens": 30, "output_tokens": 4, "seconds": 0.1})
    passages = [{"id": id_, "score": 0.5} for id_ in ("p1", "p9", "p8", "p7", "p3", "p2")]
    made: dict[str, Any] = {"answer": answer, "passages": passages, "trace": [{}, {}], "usage": usage}
    return made | {"granularity": "triples", "evidence": [{"passage_id": "p1"}]} | other


class FakeGraph:
    """Answers from a table; what it was asked and how many asked at once can be read afterwards."""

    def __init__(self, answers: Mapping[str, object] = ANSWERS, *, pause: float = 0.0) -> None:
        self.answers, self.pause = answers, pause
        self.asked: list[str] = []
        self.contexts: list[object] = []
        self.running = self.most_at_once = 0

    async def ainvoke(self, input: Any, /, *, context: Any = None) -> dict[str, Any]:
        self.asked.append(input["question"])
        self.contexts.append(context)
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            await asyncio.sleep(self.pause)
        finally:
            self.running -= 1
        answer = self.answers[input["question"]]
        if isinstance(answer, BaseException):
            raise answer
        return reply(answer)


def lines_of(out: Path) -> list[dict[str, Any]]:
    """Every line of the file, also the last one, must be a whole JSON object."""
    text = (out / "outcomes.jsonl").read_text(encoding="utf-8")
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.split("\n")[:-1]]


# --- metrics ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("module", "examples"), [(metrics, 11), (origin, 1), (question_files, 1), (rows, 6)])
def test_the_examples_in_the_docstrings_hold(module: ModuleType, examples: int) -> None:
    result = doctest.testmod(module)
    assert (result.failed, result.attempted) == (0, examples)


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("The Halden  Ferry", "halden ferry"),
        ("Café-Théâtre\n“L’Art”", "caféthéâtre lart"),  # as "L'Art" in straight quotes
        ("Cafe\u0301 Zoë", "café zoë"),
        ("a\u0300 la carte", "à la carte"),  # an accent in two characters leaves no article behind
        ("CO₂, １９１４", "co2 1914"),
        ("1914–1918", "1914–1918"),  # dashes beyond ASCII stay, as in the official scripts
        ("‘Nine’ ‚Tides‛ „now‟ Oʼahu", "nine tides now oahu"),
        ("A-list", "alist"),  # punctuation first: no article left to find
        ("a.the", "athe"),
        ("x’a’y", "xay"),
        ("theatre and another", "theatre and another"),
        ("The", ""),
        ("", ""),
    ],
)
def test_answers_are_normalised_in_the_official_order(text: str, normalised: str) -> None:
    assert normalise_answer(text) == normalised


def _official(text: str) -> str:
    """Normalise as the scripts of SQuAD and HotpotQA do."""
    lowered = "".join(character for character in text.lower() if character not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", lowered).split())


def test_answers_in_ascii_are_normalised_as_by_the_official_scripts() -> None:
    random = Random(0)
    words = ["The", "a", "an", "A.", "O'Neil", "U.S.", "the-", "\t", "\n", "42", "anthem", "`x`", "^2", '"quoted"']
    for _ in range(2_000):
        text = "".join(random.choices([*words, *map(chr, range(128)), " "], k=8))
        assert normalise_answer(text) == _official(text)


def test_exact_match_takes_any_gold_answer_and_nothing_more() -> None:
    assert exact_match("an H. VANE", ["Harriet Vane", "H Vane"]) == 1.0
    assert exact_match("Captain H. Vane", ["Harriet Vane", "H Vane"]) == 0.0
    assert exact_match("", ["Vane"]) == 0.0
    assert exact_match("O’Neil", ["O'Neil"]) == 1.0 == f1("“Zoe\u0308” O’Neil", ["Zoë O'Neil"])


@pytest.mark.parametrize(
    ("prediction", "answers", "score"),
    [
        ("Harriet Vane", ["Harriet Vane"], 1.0),
        ("Vane Harriet", ["Harriet Vane"], 1.0),
        ("x y", ["Harriet Vane"], 0.0),
        ("to be to", ["to to to be"], 6 / 7),  # tokens count as often as both have them
        ("Harriet Vane of Kell", ["nobody", "Vane", "Kell Vane"], 2 / 3),  # the best gold answer counts
        ("yes", ["yes"], 1.0),
        ("yes it is", ["yes"], 0.0),
        ("no", ["no man's land"], 0.0),
        ("noanswer", ["noanswer given"], 0.0),
        ("Norrland, no doubt", ["Norrland"], 1 / 2),
        ("", ["Vane"], 0.0),
        ("Vane", ["The"], 0.0),
        ("", ["The"], 1.0),  # as in SQuAD and MuSiQue: nothing equals nothing
    ],
)
def test_f1(prediction: str, answers: list[str], score: float) -> None:
    assert f1(prediction, answers) == pytest.approx(score)


@pytest.mark.parametrize(
    ("prediction", "answers", "score"),
    [
        ("She was Harriet Vane.", ["x", "Harriet Vane"], 1.0),
        ("Harriet de Vane", ["Harriet Vane"], 0.0),
        ("Normandy", ["Norman"], 0.0),
        ("1883", ["18"], 0.0),
        ("Vane", ["Harriet Vane"], 0.0),
        ("Vane", ["The"], 0.0),  # an answer of which nothing is left is not found everywhere
        ("a", ["The"], 1.0),
    ],
)
def test_contains_compares_whole_tokens(prediction: str, answers: list[str], score: float) -> None:
    assert contains(prediction, answers) == score


@pytest.mark.parametrize("score", [exact_match, f1, contains])
def test_an_answer_cannot_be_scored_without_gold(score: Callable[[str, list[str]], float]) -> None:
    with pytest.raises(ValueError, match="at least one gold answer"):
        score("Vane", [])


def test_retrieval_counts_gold_among_the_first_k() -> None:
    ids, gold = ["p1", "p9", "p2"], ["p2", "p1", "p5"]
    assert [recall_at(ids, gold, k) for k in (1, 2, 3, 10)] == [1 / 3, 1 / 3, 2 / 3, 2 / 3]
    assert [all_at(ids, gold[:2], k) for k in (2, 3, 10)] == [0.0, 1.0, 1.0]
    assert recall_at(["p1", "p1"], ["p1", "p1", "p2"], 2) == 1 / 2
    assert recall_at([], ["p1"], 5) == 0.0 == all_at([], ["p1"], 5)


def test_retrieval_is_not_scored_without_gold() -> None:
    assert recall_at(["p1"], [], 5) is None
    assert all_at(["p1"], [], 5) is None


# --- question files --------------------------------------------------------------------------------------------------
GOOD = '{"id": "a", "question": "Q?", "answers": ["x"]}'


def test_questions_are_read_with_what_is_known_of_them(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    full = {"id": "b", "question": "Wo\u2028?", "answers": ["y", "z"], "supporting_ids": ["p"], "type": "bridge"}
    path.write_text(f"\ufeff{GOOD}\r\n\n{json.dumps(full | {'extra': 1}, ensure_ascii=False)}", encoding="utf-8")
    assert load_questions(path) == [{"id": "a", "question": "Q?", "answers": ["x"]}, full]
    assert [question["id"] for question in load_questions(str(path), limit=1)] == ["a"]


def test_a_question_with_commas_is_no_table(tmp_path: Path) -> None:
    question = Question(id="a", question="Is it a remark, question, or answer?", answers=["x"])
    (tmp_path / "questions.jsonl").write_text(json.dumps(question))

    assert load_questions(tmp_path / "questions.jsonl") == [question]


@pytest.mark.parametrize("limit", [0, True, "3"])
def test_a_limit_that_is_no_number_of_questions_is_refused(limit: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"limit must be a whole number of at least 1, got {limit!r}"):
        load_questions(tmp_path / "questions.jsonl", limit)


def test_questions_as_powershell_writes_them_are_read(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text(f"{GOOD}\r\n", encoding="utf-16", newline="")

    assert [question["id"] for question in load_questions(tmp_path / "questions.jsonl")] == ["a"]


@pytest.mark.parametrize("answers", ['"answers": "x"', '"answer": "x"', '"answer": ["x"]'])
def test_numbers_are_taken_as_ids_and_one_answer_as_answers(tmp_path: Path, answers: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(f'{{"id": 7, "question": "Q?", {answers}, "supporting_ids": [1, "p"]}}', encoding="utf-8")

    assert load_questions(path) == [{"id": "7", "question": "Q?", "answers": ["x"], "supporting_ids": ["1", "p"]}]


@pytest.mark.parametrize(
    ("fields", "answers"),
    [
        ({"answerable": False}, ["unanswerable"]),
        ({"answerable": False, "answer_aliases": ["y"]}, ["unanswerable"]),
        ({"answerable": True, "answer_aliases": ["y"]}, ["x", "y"]),
        ({"answerable": None}, ["x"]),
    ],
)
def test_the_answer_to_a_question_of_musiques_that_has_none_is_that_it_has_none(
    fields: dict[str, object], answers: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({"id": "2hop__1_2", "question": "Q?", "answer": "x", **fields}))

    (question,) = load_questions(path)

    assert question["answers"] == answers and not caplog.messages


@pytest.mark.parametrize(
    ("fields", "answers"),
    [
        ('"answer": 3.10', ["3.10"]),
        ('"answer": 1500', ["1500"]),
        ('"answers": ["x"], "answer": "y"', ["x", "y"]),
        ('"answers": [], "answer": "y"', ["y"]),
        ('"answers": ["x"], "answer": NaN', ["x"]),
    ],
)
def test_answers_are_read_as_they_are_written(fields: str, answers: list[str], tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text(f'{{"question": "Q?", {fields}}}')

    (question,) = load_questions(tmp_path / "questions.jsonl")

    assert question["answers"] == answers


def test_an_answer_that_is_not_a_number_is_none(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text('{"question": "Q?", "answer": NaN}')

    with pytest.raises(QuestionFileError, match="expected answers"):
        load_questions(tmp_path / "questions.jsonl")


def test_whether_a_question_has_an_answer_is_true_or_false(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text('{"question": "Q?", "answer": "x", "answerable": "false"}')

    with pytest.raises(QuestionFileError, match="line 1: .*answerable must be true or false, got 'false'"):
        load_questions(tmp_path / "questions.jsonl")


def test_fields_that_a_question_does_not_have_are_told_once_each(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "questions.jsonl"
    one = {"question": "Q?", "answer": "x", "supporting_id": ["p"], "supporting_sentences": ["Of the sample."]}
    path.write_text(f"{json.dumps(one | {'_id': 7})}\n{json.dumps(one)}\n")

    kept = {"supporting_sentences": ["Of the sample."]}
    assert load_questions(path, limit=1) == [{"id": "1", "question": "Q?", "answers": ["x"], **kept}]

    first, second = sorted(caplog.messages)
    assert first.startswith(f"{path}: left out the field '_id' of 1 line")
    assert second == f"{path}: left out the field 'supporting_id' of 2 lines; did it mean 'supporting_ids'?"


def test_fields_of_another_data_set_are_told_with_those_of_a_question(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({"question": "Q?", "answer": "x", "context": [], "type": "bridge"}))

    load_questions(path)

    (message,) = caplog.messages
    assert "left out the field 'context' of 1 line; those of a question are id, question, answers, " in message


@pytest.mark.parametrize(("number", "shown"), [(0, False), (1, True), (3, False)], ids=["none", "some", "all"])
async def test_a_report_says_over_how_many_questions_recall_is_where_not_over_all(
    number: int, shown: bool, tmp_path: Path
) -> None:
    outcomes = await outcomes_of(ANSWERS, tmp_path)
    for place, outcome in enumerate(outcomes):
        outcome["recall"] = dict.fromkeys(("2", "3", "5", "10"), 1.0) if place < number else None
    summary = summarise(outcomes)

    head, row = overview({"cirag": summary}).splitlines()

    assert summary["recall_questions"] == number
    assert ("R@k over" in head) is shown is ("| R@k over | R@2 |" in markdown_table({"cirag": summary}))
    assert not shown or row.split()[5] == "1"


def test_aliases_of_another_kind_are_refused(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text('{"question": "Q?", "answer": "x", "answer_aliases": {"y": 1}}')

    with pytest.raises(QuestionFileError, match="line 1: .*answers.1: .*valid string"):
        load_questions(tmp_path / "questions.jsonl")


@pytest.mark.parametrize("aliases", [["y", 7], [], None, "y"])
@pytest.mark.parametrize("answer", [{"answer": "x"}, {"answer": ["x"]}, {"answers": ["x"]}])
def test_musiques_aliases_of_an_answer_are_accepted_too(
    answer: dict[str, object], aliases: list[object] | str | None, tmp_path: Path
) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({"id": "a", "question": "Q?", **answer, "answer_aliases": aliases}))

    (question,) = load_questions(path)

    assert question["answers"] == ["x", *map(str, aliases or [])]


@pytest.mark.parametrize(
    ("given", "answers"), [("5", ["5"]), ("[1.5, true]", ["1.5", "yes"]), ("false", ["no"]), ("null", None)]
)
def test_numbers_yes_and_no_are_taken_as_answers_and_null_as_nothing(
    tmp_path: Path, given: str, answers: list[str] | None
) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(f'{{"id": "a", "question": "Q?", "answer": {given}, "supporting_ids": ["p"], "type": null}}')

    (question,) = load_questions(path)

    assert (question.get("answers"), "type" in question) == (answers, False)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "got no line with text"),
        (b"\n \n", "got no line with text"),
        (f"{GOOD}\n\n{{'id'".encode(), "line 3: expected a JSON object.*Invalid JSON.*got {'id'"),
        (f"[{GOOD},\n{GOOD}]".encode(), "element 2: expected an id of its own, got 'a' as on element 1"),
        (f"[{GOOD},\n{GOOD}".encode(), r"jsonl: expected a JSON object, got '\[{.*delimiter: line 2"),
        (
            b'{"question": ["A?", "B?"], "answer": ["x"]}',
            "expected columns of the same length, got question 2, answer 1",
        ),
        ('\ufeff"id","Question","answer"\r\n"a","Q?",""'.encode(), r"line 2: expected answers"),
        (f"{GOOD}\n[1]".encode(), r"line 2: .*should be a valid dictionary; got \[1\]"),
        (f"{GOOD}\n".encode() + b'{"id": "\xff"}', "line 2: expected UTF-8, got the byte 0xff"),
        (b'{"id": "a", "answers": ["x"]}', "line 1: .*question: Field required"),
        (b'{"id": [7], "question": "Q?", "answers": ["x"]}', "line 1: .*id: .*valid string"),
        (b'{"id": "a", "question": " ", "answers": ["x"]}', "line 1: .*question: .*at least 1 character"),
        (b'{"id": "a", "question": "Q?"}', "line 1: expected answers \\('unanswerable' where there is none\\), supp"),
        (b'{"id": "a", "question": "Q?", "answers": {}}', "line 1: .*answers.0: .*valid string"),
        (b'{"id": "a", "question": "Q?", "answer": ""}', "line 1: .*answer.*at least 1 character"),
        (b'{"id": "a", "question": "Q?", "answers": [], "supporting_ids": []}', "line 1: expected answers"),
        (b'{"id": "a", "question": "Q?", "answers": ["x", ["y"]]}', "line 1: .*answers.1: .*valid string"),
        (b"[1]\n" + b"[2]\n" * 21, r"(?s)line 1: .*line 20: .*got \[2\]\n\.\.\. and 2 more"),
        (f"{GOOD}\n\n{GOOD}".encode(), "line 3: expected an id of its own, got 'a' as on line 1"),
    ],
)
def test_a_bad_question_file_is_refused_with_place_and_reason(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_bytes(content)
    with pytest.raises(QuestionFileError, match=complaint) as caught:
        load_questions(path, limit=1)
    assert str(path) in str(caught.value)


def test_a_missing_question_file_or_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError, match=r"none\.jsonl: expected a file of questions, got No such file"):
        load_questions(tmp_path / "none.jsonl")
    with pytest.raises(QuestionFileError, match="expected a file of questions, or a folder .*, got another"):
        load_questions(tmp_path)


# --- running ---------------------------------------------------------------------------------------------------------
async def test_each_question_is_scored_and_kept(tmp_path: Path) -> None:
    seen: list[str] = []
    out = tmp_path / "runs" / "cirag"
    outcomes = await evaluate(FakeGraph(), QUESTIONS, out, on_result=lambda outcome: seen.append(outcome["id"]))
    first, second, third = outcomes
    assert first.pop("wall_seconds") >= 0  # type: ignore[misc]
    assert first == {
        "id": "q1",
        "type": "bridge",
        "question": "Where is Kell?",
        "answers": ["Norrland"],
        "answer": "in Norrland",
        "em": 0.0,
        "f1": pytest.approx(2 / 3),
        "acc": 1.0,
        "recall": {"2": 0.5, "3": 0.5, "5": 0.5, "10": 1.0},
        "all_at_5": 0.0,
        "supported": None,
        "granularity": "triples",
        "steps": 2,
        "usage": no_usage() | {"calls": 2, "input_tokens": 30, "output_tokens": 4, "seconds": 0.1},
        "error": None,
        "passages": ["p1", "p9", "p8", "p7", "p3", "p2"],
        "evidence": [{"passage_id": "p1"}],
        "trace": [{}, {}],
    }
    assert (second["em"], second["recall"], second["all_at_5"]) == (1.0, {"2": 0, "3": 0, "5": 1, "10": 1}, 1.0)
    assert (third["em"], third["recall"], third["all_at_5"], third["type"]) == (0.0, None, None, "")
    assert seen == ["q1", "q2", "q3"] == [line["id"] for line in lines_of(out)]
    assert read_outcomes(str(out))[1:] == [second, third]


async def test_a_question_without_answers_is_scored_by_what_was_found(tmp_path: Path) -> None:
    only_ids = Question(id="q1", question="Where is Kell?", supporting_ids=["p1"])

    outcomes = await evaluate(FakeGraph(), [only_ids], tmp_path)

    assert [outcomes[0][score] for score in ("em", "f1", "acc", "all_at_5")] == [None, None, None, 1.0]
    assert await judge(ScriptedModel.of([]), outcomes, tmp_path, name="strict") == []
    summary = summarise(outcomes)
    assert (summary["em"], summary["recall_at_5"]) == (None, 100.0)


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("Not enough information.", "Unanswerable", 1.0),
        ("unanswerable", "unanswerable", 1.0),
        ("The director of Mill Bridge is unknown.", "unanswerable", 1.0),
        ("Kell", "unanswerable", 0.0),
        ("unanswerable", "Insufficient information.", 1.0),
        ("Kell", "Insufficient information.", 0.0),
        ("unanswerable", "none", 0.0),
        ("Not enough information.", "Kell", 0.0),
    ],
)
async def test_where_there_is_no_answer_any_refusal_is_right(
    tmp_path: Path, answer: str, gold: str, score: float
) -> None:
    question = Question(id="q1", question="Who?", answers=[gold])

    (outcome,) = await evaluate(FakeGraph({"Who?": answer}), [question], tmp_path)

    assert (outcome["answer"], outcome["em"], outcome["f1"], outcome["acc"]) == (answer, score, score, score)


async def test_an_outcome_is_on_disk_before_the_next_question_is_asked(tmp_path: Path) -> None:
    on_disk: list[int] = []
    await evaluate(FakeGraph(), QUESTIONS, tmp_path, on_result=lambda _: on_disk.append(len(lines_of(tmp_path))))
    assert on_disk == [1, 2, 3]


async def test_a_failure_is_no_wrong_answer(tmp_path: Path) -> None:
    graph = FakeGraph({**ANSWERS, "Where is Kell?": RuntimeError("model is away"), "Is it old?": TimeoutError()})
    failed, answered, late = await evaluate(graph, QUESTIONS, tmp_path)
    assert (failed["error"], late["error"]) == ("RuntimeError: model is away", "TimeoutError: ")
    assert {failed[name] for name in ("answer", "em", "f1", "acc", "all_at_5", "steps")} == {None}
    assert failed["recall"] is None is failed["usage"]
    assert answered["error"] is None
    summary = summarise(read_outcomes(tmp_path))
    assert (summary["questions"], summary["failures"], summary["em"], summary["recall_at_5"]) == (3, 2, 100.0, 100.0)


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        (reply(None), "answer"),
        ({"answer": "x", "passages": [], "trace": []}, "usage"),
        (reply("x", passages=["p1"]), "passages"),
        (None, "dict"),
    ],
)
async def test_a_reply_of_another_shape_is_a_failure(tmp_path: Path, returned: object, complaint: str) -> None:
    class Odd(FakeGraph):
        async def ainvoke(self, input: Any, /, *, context: Any = None) -> Any:
            return returned

    (outcome,) = await evaluate(Odd(), QUESTIONS[:1], tmp_path)
    assert outcome["error"] is not None
    assert outcome["error"].startswith("ValidationError") and complaint in outcome["error"]
    assert outcome["em"] is None


async def test_a_cancellation_inside_the_graph_is_a_failure_too(tmp_path: Path) -> None:
    graph = FakeGraph({**ANSWERS, "Who sailed?": asyncio.CancelledError("client closed")})
    outcomes = await evaluate(graph, QUESTIONS, tmp_path)
    assert [outcome["error"] for outcome in outcomes] == [None, "CancelledError: client closed", None]


async def test_half_a_surrogate_pair_in_an_answer_does_not_stop_the_run(tmp_path: Path) -> None:
    await evaluate(FakeGraph({**ANSWERS, "Where is Kell?": "in \ud83d"}), QUESTIONS, tmp_path)
    assert [outcome["answer"] for outcome in read_outcomes(tmp_path)] == ["in ?", "H Vane", "unknown"]


async def test_granularity_may_be_missing(tmp_path: Path) -> None:
    class Plain(FakeGraph):
        async def ainvoke(self, input: Any, /, *, context: Any = None) -> Any:
            return {name: value for name, value in reply("yes").items() if name != "granularity"}

    (outcome,) = await evaluate(Plain(), QUESTIONS[2:], tmp_path)
    assert (outcome["granularity"], outcome["em"], outcome["error"]) == (None, 1.0, None)


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_as_many_questions_run_at_once_as_allowed(tmp_path: Path, concurrency: int) -> None:
    questions = [Question(id=str(n), question=f"{n}?", answers=["x"]) for n in range(9)]
    graph = FakeGraph({f"{n}?": "x" for n in range(9)}, pause=0.005)
    outcomes = await evaluate(graph, questions, tmp_path, concurrency=concurrency)
    assert graph.most_at_once == concurrency
    assert [outcome["id"] for outcome in outcomes] == [question["id"] for question in questions]


async def test_impossible_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="concurrency must be a whole number of at least 1, got 0"):
        await evaluate(FakeGraph(), QUESTIONS, tmp_path, concurrency=0)
    with pytest.raises(ValueError, match="ids that differ, got 'q1' for questions 1 and 4"):
        await evaluate(FakeGraph(), [*QUESTIONS, QUESTIONS[0]], tmp_path)
    with pytest.raises(ValueError, match="question 1: expected a dict with question and answers .*; question: Field"):
        await evaluate(FakeGraph(), [cast(Question, {"id": "a"})], tmp_path)
    with pytest.raises(TypeError, match="expected a compiled graph, got a StateGraph: call its method compile"):
        await evaluate(cast(Any, StateGraph(dict)), QUESTIONS, tmp_path)


@pytest.mark.parametrize("given", [MappingProxyType({"top_k": 3}), [("top_k", 3)], {"topk": 3}], ids=repr)
async def test_settings_that_are_none_are_refused_before_the_first_question(given: Any, tmp_path: Path) -> None:
    graph = FakeGraph()

    with pytest.raises(TypeError, match=r"expected settings, got (mappingproxy|\[)|there is no setting topk, but"):
        await evaluate(graph, QUESTIONS, tmp_path / "out", context=given)

    assert graph.asked == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("gold", [{"answers": "x"}, {"answer": "x"}, {"answers": ["x"]}])
async def test_questions_are_taken_in_the_forms_of_a_file(tmp_path: Path, gold: dict[str, object]) -> None:
    question = cast(Question, {"question": "1?", "supporting_ids": ["p"], **gold})

    (outcome,) = await evaluate(FakeGraph({"1?": "x"}), [question], str(tmp_path))

    assert (outcome["id"], outcome["em"]) == ("1", 1.0)


async def test_a_compiled_graph_is_run_with_its_context(tmp_path: Path) -> None:
    class State(TypedDict, total=False):
        question: str
        answer: str
        passages: list[Any]
        trace: list[Any]
        usage: Usage

    async def answer(state: State, runtime: Any) -> dict[str, Any]:
        return {**reply("yes", trace=[{}] * runtime.context.top_k)}

    builder = StateGraph(State, context_schema=Context)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    graph = builder.compile(checkpointer=InMemorySaver())  # as a service has it; an evaluation has no threads
    (outcome,) = await evaluate(graph, QUESTIONS[2:], tmp_path, context={"top_k": 3})
    assert (outcome["error"], outcome["em"], outcome["steps"]) == (None, 1.0, 3)


# --- taking up a run -------------------------------------------------------------------------------------------------
async def test_only_what_is_missing_or_failed_is_asked_again(tmp_path: Path) -> None:
    await evaluate(FakeGraph({**ANSWERS, "Where is Kell?": OSError("away")}), QUESTIONS[:2], tmp_path)
    graph, new = FakeGraph(), list[str]()
    outcomes = await evaluate(graph, QUESTIONS, tmp_path, on_result=lambda outcome: new.append(outcome["id"]))
    assert graph.asked == ["Where is Kell?", "Is it old?"]
    assert new == ["q1", "q3"]
    assert [outcome["id"] for outcome in outcomes] == ["q1", "q2", "q3"]
    assert [line["id"] for line in lines_of(tmp_path)] == ["q2", "q1", "q3"]
    assert all(line["error"] is None for line in lines_of(tmp_path))
    again = FakeGraph({})
    assert await evaluate(again, QUESTIONS, tmp_path) == outcomes
    assert again.asked == []


@pytest.mark.parametrize("lost", [2, 60, "é"])
async def test_a_last_line_cut_off_by_a_kill_is_asked_again(tmp_path: Path, lost: int | str) -> None:
    await evaluate(FakeGraph({**ANSWERS, "Who sailed?": "Élodie é"}), QUESTIONS[:2], tmp_path)
    path = tmp_path / "outcomes.jsonl"
    content = path.read_bytes()
    end = len(content) - lost if isinstance(lost, int) else content.rindex(lost.encode()) + 1  # in mid character
    path.write_bytes(content[:end])
    assert [outcome["id"] for outcome in read_outcomes(tmp_path)] == ["q1"]
    graph = FakeGraph()
    await evaluate(graph, QUESTIONS, tmp_path)
    assert graph.asked == ["Who sailed?", "Is it old?"]
    assert [line["id"] for line in lines_of(tmp_path)] == ["q1", "q2", "q3"]


async def test_a_whole_last_line_without_its_line_end_is_kept(tmp_path: Path) -> None:
    await evaluate(FakeGraph(), QUESTIONS[:2], tmp_path)
    path = tmp_path / "outcomes.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    graph = FakeGraph()
    await evaluate(graph, QUESTIONS, tmp_path)
    assert graph.asked == ["Is it old?"]
    assert [line["id"] for line in lines_of(tmp_path)] == ["q1", "q2", "q3"]


@pytest.mark.parametrize(
    ("damage", "problem"), [("{", "line: Invalid JSON: EOF while"), ('{"id": "q1"}', "type: Field required")]
)
async def test_damage_in_the_middle_is_not_passed_over(tmp_path: Path, damage: str, problem: str) -> None:
    await evaluate(FakeGraph(), QUESTIONS, tmp_path)
    path = tmp_path / "outcomes.jsonl"
    first, _, third, _ = path.read_text(encoding="utf-8").split("\n")
    path.write_text(f"{first}\n{damage}\n{third}\n", encoding="utf-8")
    told = (
        rf"outcomes\.jsonl, line 2: expected an outcome, got .* \({problem}.*\); once the line is deleted, its question"
    )
    with pytest.raises(OutcomesError, match=told):
        await evaluate(FakeGraph(), QUESTIONS, tmp_path)
    assert path.read_text(encoding="utf-8") == f"{first}\n{damage}\n{third}\n"
    path.write_text(f"{first}\n{third}\n", encoding="utf-8")
    await evaluate(again := FakeGraph(), QUESTIONS, tmp_path)
    assert again.asked == ["Who sailed?"]


async def test_blank_lines_hold_nothing(tmp_path: Path) -> None:
    await evaluate(FakeGraph(), QUESTIONS, tmp_path)
    path = tmp_path / "outcomes.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("\n", "\n\n \r\n"), encoding="utf-8")

    await evaluate(again := FakeGraph(), QUESTIONS, tmp_path)

    assert again.asked == [] and len(lines_of(tmp_path)) == 3


async def test_a_last_line_of_something_else_was_not_cut_off(tmp_path: Path) -> None:
    (tmp_path / "outcomes.jsonl").write_text('{"mine": 1}')

    with pytest.raises(OutcomesError, match="outcomes.jsonl, line 1: expected an outcome, got "):
        await evaluate(FakeGraph(), QUESTIONS, tmp_path)

    assert (tmp_path / "outcomes.jsonl").read_text() == '{"mine": 1}'


async def test_outcomes_and_judgements_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    (tmp_path / "outcomes.jsonl").mkdir()
    (tmp_path / "judgements.jsonl").mkdir()

    with pytest.raises(OutcomesError, match="outcomes.jsonl cannot be read: Is a directory"):
        await evaluate(FakeGraph(), QUESTIONS, tmp_path)
    with pytest.raises(OutcomesError, match="judgements.jsonl cannot be read: Is a directory"):
        await judge(ScriptedModel.of([]), [], tmp_path, name="strict")


async def test_a_cancelled_run_leaves_whole_lines_and_can_be_taken_up(tmp_path: Path) -> None:
    class Hanging(FakeGraph):
        async def ainvoke(self, input: Any, /, *, context: Any = None) -> dict[str, Any]:
            if input["question"] != "Where is Kell?":
                await asyncio.Event().wait()
            return await super().ainvoke(input, context=context)

    first_is_there = asyncio.Event()
    run = asyncio.create_task(
        evaluate(Hanging(), QUESTIONS, tmp_path, concurrency=2, on_result=lambda _: first_is_there.set())
    )
    await asyncio.wait_for(first_is_there.wait(), timeout=5)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert [line["id"] for line in lines_of(tmp_path)] == ["q1"]
    graph = FakeGraph()
    await evaluate(graph, QUESTIONS, tmp_path)
    assert graph.asked == ["Who sailed?", "Is it old?"]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Have SIGINT interrupt, as it does in a terminal; what a shell starts in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_leaves_whole_lines(tmp_path: Path) -> None:
    class Interrupted(FakeGraph):
        async def ainvoke(self, input: Any, /, *, context: Any = None) -> dict[str, Any]:
            if input["question"] == "Who sailed?":
                signal.raise_signal(signal.SIGINT)
                await asyncio.Event().wait()
            return await super().ainvoke(input, context=context)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(evaluate(Interrupted(), QUESTIONS, tmp_path, concurrency=1))
    assert [line["id"] for line in lines_of(tmp_path)] == ["q1"]


async def test_an_error_of_the_caller_stops_the_run_as_it_is(tmp_path: Path) -> None:
    def refuse(outcome: Outcome) -> None:
        raise LookupError(outcome["id"])

    with pytest.raises(LookupError, match="q1"):
        await evaluate(FakeGraph(), QUESTIONS, tmp_path, on_result=refuse)
    assert [line["id"] for line in lines_of(tmp_path)] == ["q1"]


class FullDisk(io.StringIO):
    """A file that nothing more can be written to, not even on closing it."""

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    close = flush


async def test_a_full_disk_is_told_and_the_run_can_be_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beginning(FakeGraph())  # what it says is in files, too
    with monkeypatch.context() as full:
        full.setattr(Path, "open", lambda *_, **__: FullDisk())
        with pytest.raises(OutcomesError, match="can be written to at .*, got: No space left on device"):
            await evaluate(FakeGraph(), QUESTIONS, tmp_path)
        with pytest.raises(OutcomesError, match="can be written to at .*, got: No space left on device"):
            write_report({"cirag": summarise([])}, tmp_path)

    graph = FakeGraph()
    await evaluate(graph, QUESTIONS, tmp_path)
    assert len(graph.asked) == 3


# --- one run per folder ----------------------------------------------------------------------------------------------
async def test_the_settings_of_a_run_are_written_beside_it(tmp_path: Path) -> None:
    graph = FakeGraph()
    await evaluate(graph, QUESTIONS, tmp_path, configuration=DEFAULT, context=Context(top_k=7))
    settings = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    context = settings.pop("context")
    assert settings == {**DEFAULT, **beginning(graph)}
    assert settings["libraries"].keys() >= {"python", "langgraph"}
    assert (context["top_k"], context["max_steps"]) == (7, Context().max_steps)
    assert graph.contexts == [Context(top_k=7)] * 3


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"configuration": {**DEFAULT, "model": "vllm:x"}}, "expected model 'vllm:x', got 'offline'"),
        ({"configuration": {**DEFAULT, "method": "kirag"}}, "expected method 'kirag', got 'cirag'"),
        ({"configuration": {**DEFAULT, "knowledge_base": "b"}}, "expected knowledge_base 'b', got 'kb'"),
        (
            {"configuration": {**DEFAULT, "knowledge_base_fingerprint": "7 passages"}},
            "expected knowledge_base_fingerprint '7 passages', got '8 passages'",
        ),
        ({"configuration": DEFAULT}, "expected knowledge_base_fingerprint None, got '8 passages'"),
        ({"configuration": None}, "expected method '', got 'cirag'"),
        ({"context": {"top_k": 3}}, "expected top_k 3, got 10"),
    ],
)
async def test_runs_of_two_configurations_are_not_mixed(tmp_path: Path, change: Any, complaint: str) -> None:
    await evaluate(FakeGraph(), QUESTIONS[:1], tmp_path, configuration=FINGERPRINTED)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    graph = FakeGraph()
    with pytest.raises(OutcomesError, match=f"outcomes of another run: {complaint}"):
        await evaluate(graph, QUESTIONS, tmp_path, **{"configuration": FINGERPRINTED, **change})
    assert graph.asked == []
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


async def test_the_same_knowledge_base_may_be_given_by_another_path(tmp_path: Path) -> None:
    await evaluate(FakeGraph(), QUESTIONS[:1], tmp_path, configuration=FINGERPRINTED)
    graph = FakeGraph()

    await evaluate(graph, QUESTIONS, tmp_path, configuration={**FINGERPRINTED, "knowledge_base": "moved/kb"})

    assert graph.asked == ["Who sailed?", "Is it old?"]


async def test_a_second_run_in_a_folder_is_refused_while_the_first_is_under_way(tmp_path: Path) -> None:
    second = FakeGraph()

    class AskedMeanwhile(FakeGraph):
        async def ainvoke(self, input: Any, /, *, context: Any = None) -> dict[str, Any]:
            with pytest.raises(OutcomesError, match="expected a folder for this run alone, got .* is under way"):
                await evaluate(second, QUESTIONS[:1], tmp_path)
            return await super().ainvoke(input, context=context)

    outcomes = await evaluate(AskedMeanwhile(), QUESTIONS, tmp_path)

    assert read_outcomes(tmp_path) == outcomes
    assert await evaluate(second, QUESTIONS, tmp_path) == outcomes
    assert second.asked == []


async def test_settings_that_change_no_answer_may_differ(tmp_path: Path) -> None:
    await evaluate(FakeGraph(), QUESTIONS[:1], tmp_path)
    graph = FakeGraph()
    await evaluate(graph, QUESTIONS, tmp_path, context=Context(max_concurrency=2), concurrency=2)
    assert sorted(graph.asked) == ["Is it old?", "Who sailed?"]


@pytest.mark.parametrize(("begun", "told"), [("0.0.1", "version 0.0.1"), (None, "version unknown")])
async def test_going_on_with_another_version_is_warned_of(
    begun: str | None, told: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await evaluate(FakeGraph(), QUESTIONS[:1], tmp_path)
    file = tmp_path / "run.json"
    settings = {**json.loads(file.read_text()), "version": begun}
    file.write_text(json.dumps({name: value for name, value in settings.items() if value is not None}))

    await evaluate(FakeGraph(), QUESTIONS[:1], tmp_path)
    assert not caplog.messages, "nothing is asked"
    await evaluate(FakeGraph(), QUESTIONS, tmp_path)

    (message,) = caplog.messages
    assert f"was begun with {told} of this package and goes on with version {this_version()}" in message
    assert json.loads(file.read_text())["version"] == begun_with(tmp_path)["version"] == (begun or "unknown")


async def test_outcomes_of_other_prompts_are_kept_with_a_warning(
    kb: KnowledgeBase, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def graph(more: str) -> Any:
        machine = create_native_rag(OfflineModel(), kb)
        prompt = machine.step("read_passages").prompt
        machine.change("read_passages", prompt=replace(prompt, instructions=prompt.instructions + more))
        return machine.compile()

    await evaluate(graph(""), QUESTIONS, tmp_path)
    await evaluate(graph(""), QUESTIONS, tmp_path)
    assert not caplog.messages
    await evaluate(graph(" Say please."), QUESTIONS, tmp_path)

    (message,) = caplog.messages
    assert "are of a graph with other steps or prompts, and are kept" in message


async def test_without_a_configuration_the_graph_names_the_run(kb: KnowledgeBase, tmp_path: Path) -> None:
    await evaluate(create_native_rag(OfflineModel(), kb).compile(), QUESTIONS, tmp_path)

    with pytest.raises(OutcomesError, match="expected method 'IRCoT', got 'Native RAG'"):
        await evaluate(create_ircot(OfflineModel(), kb).compile(), QUESTIONS, tmp_path)


async def test_options_tell_runs_apart(tmp_path: Path) -> None:
    await evaluate(FakeGraph(), QUESTIONS, tmp_path, configuration=Configuration(**DEFAULT, options={"prompts": 1}))

    with pytest.raises(OutcomesError, match="expected options {'prompts': 2}, got {'prompts': 1}"):
        await evaluate(FakeGraph(), QUESTIONS, tmp_path, configuration=Configuration(**DEFAULT, options={"prompts": 2}))


async def test_an_error_that_is_none_of_ours_names_the_node(tmp_path: Path) -> None:
    async def broken(state: QuestionInput) -> dict[str, Any]:
        raise KeyError("quest")

    graph = StateGraph(QuestionInput).add_node("look", broken).add_edge(START, "look").compile()

    outcomes = await evaluate(graph, QUESTIONS[:1], tmp_path)

    assert outcomes[0]["error"] == "KeyError: 'quest'; During task with name 'look'"


def test_a_folder_without_outcomes_is_not_read_as_an_empty_run(tmp_path: Path) -> None:
    with pytest.raises(OutcomesError, match=r"expected a folder with outcomes.jsonl"):
        read_outcomes(tmp_path / "misspelt")


async def test_a_report_tells_types_of_questions_apart(tmp_path: Path) -> None:
    outcomes = await evaluate(FakeGraph(), QUESTIONS, tmp_path)
    one_type = [{**outcome, "type": "bridge"} for outcome in outcomes]

    write_report({"cirag": summarise(outcomes)}, tmp_path, types={"cirag": by_type(outcomes)})

    assert "| cirag | bridge | 1 | 0.0 | 66.7 | 50.0 | 0.0 |" in (tmp_path / "report.md").read_text()
    assert json.loads((tmp_path / "report.json").read_text())["cirag"]["types"]["bridge"]["questions"] == 1
    assert by_type(cast(list[Outcome], one_type)) == {}


async def test_a_run_that_begins_anew_has_this_version(tmp_path: Path) -> None:
    await evaluate(FakeGraph(dict.fromkeys(ANSWERS, RuntimeError("away"))), QUESTIONS, tmp_path)
    file = tmp_path / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "version": "0.0.1"}))

    await evaluate(FakeGraph(), QUESTIONS, tmp_path)

    assert begun_with(tmp_path)["version"] == this_version()


@pytest.mark.parametrize("content", [None, "", "[]", "{}", "7"])
async def test_outcomes_without_their_settings_are_refused(tmp_path: Path, content: str | None) -> None:
    await evaluate(FakeGraph(), QUESTIONS[:1], tmp_path)
    (tmp_path / "run.json").unlink()
    if content is not None:
        (tmp_path / "run.json").write_text(content, encoding="utf-8")
    with pytest.raises(OutcomesError, match=r"run\.json: expected the settings"):
        await evaluate(FakeGraph(), QUESTIONS, tmp_path)


async def test_a_folder_of_other_questions_is_refused(tmp_path: Path) -> None:
    await evaluate(FakeGraph(), QUESTIONS[:2], tmp_path)
    renamed = Question(id="q1", question="Is it old?", answers=["yes"])
    with pytest.raises(OutcomesError, match=r"expected for id 'q1' 'Is it old\?', got 'Where is Kell\?'; give another"):
        await evaluate(FakeGraph(), [renamed, QUESTIONS[1]], tmp_path)


async def test_fewer_questions_are_reported_on_alone_and_the_others_stay_kept(tmp_path: Path) -> None:
    outcomes = await evaluate(FakeGraph(), QUESTIONS, tmp_path)
    graph = FakeGraph()
    assert await evaluate(graph, QUESTIONS[:1], tmp_path) == outcomes[:1]
    assert await evaluate(graph, QUESTIONS, tmp_path) == outcomes
    assert graph.asked == []


async def test_kept_answers_are_scored_anew_when_the_gold_was_corrected(tmp_path: Path) -> None:
    wrong = Question(id="q2", question="Who sailed?", answers=["nobody"], supporting_ids=["nope"])
    (before,) = await evaluate(FakeGraph(), [wrong], tmp_path)
    graph = FakeGraph()
    (after,) = await evaluate(graph, QUESTIONS[1:2], tmp_path)
    assert (before["em"], before["recall"], before["all_at_5"]) == (0.0, {"2": 0, "3": 0, "5": 0, "10": 0}, 0.0)
    assert (after["em"], after["recall"], after["all_at_5"]) == (1.0, {"2": 0, "3": 0, "5": 1, "10": 1}, 1.0)
    assert graph.asked == []
    assert lines_of(tmp_path) == [after]


# --- reports ---------------------------------------------------------------------------------------------------------
async def outcomes_of(answers: Mapping[str, object], out: Path) -> list[Outcome]:
    return await evaluate(FakeGraph(answers), QUESTIONS, out)


async def test_a_summary_counts_answered_questions(tmp_path: Path) -> None:
    outcomes = await outcomes_of(ANSWERS, tmp_path)
    for outcome, seconds in zip(outcomes, (1.0, 2.0, 6.0), strict=True):
        outcome["wall_seconds"] = seconds
    outcomes[2]["granularity"] = "passages"
    summary = summarise(outcomes)
    intervals = summary.pop("intervals")  # type: ignore[misc]
    assert summary == {
        "questions": 3,
        "failures": 0,
        "stopped": 0,
        "em": 33.3,
        "f1": 55.6,
        "acc": 66.7,
        "recall_questions": 2,  # the third names no supporting passages
        "recall_at_2": 25.0,
        "recall_at_3": 25.0,
        "recall_at_5": 75.0,
        "recall_at_10": 100.0,
        "all_at_5": 50.0,
        "calls": 2.0,
        "input_tokens": 30.0,
        "output_tokens": 4.0,
        "estimated_tokens": 0.0,
        "tokens": 34.0,
        "steps": 2.0,
        "median_seconds": 2.0,
        "mean_seconds": 3.0,
        "granularities": {"triples": 66.7, "passages": 33.3},
        "supported": None,
        "refusals": 33.3,
        "acc_judged": None,
        "judge_failures": 0,
    }
    counts = {"questions", "stopped", "recall_questions", "judge_failures"}
    measured = summary.keys() - counts - {"median_seconds", "granularities"}
    assert intervals.keys() == measured
    assert intervals["mean_seconds"] == [1.0, 6.0] and intervals["calls"] == [2.0, 2.0]


def outcome_with(em: float) -> Outcome:
    empty = dict.fromkeys(Outcome.__annotations__)
    return Outcome(**{**empty, "em": em, "f1": 1.0, "acc": em, "answer": "x", "wall_seconds": 1.0})  # type: ignore[typeddict-item]


def test_bootstrap_intervals_are_those_of_the_binomial_and_repeatable() -> None:
    outcomes = [outcome_with(float(n < 30)) for n in range(100)]
    intervals = summarise(outcomes)["intervals"]
    assert intervals["em"] is not None
    assert intervals["em"] == pytest.approx([21.0, 39.0], abs=1.0)  # 30 ± 1.96 √(30 · 70 / 100)
    assert intervals["f1"] == [100.0, 100.0]
    assert intervals["recall_at_5"] is None
    assert summarise(outcomes)["intervals"] == intervals


@pytest.mark.parametrize(
    ("answer", "percent"),
    [("not enough information", 100.0), ("unknown; perhaps Kell", 100.0), ("Unknown Pleasures", 0.0)],
)
def test_a_refusal_is_what_the_methods_take_for_one(answer: str, percent: float) -> None:
    assert summarise([{**outcome_with(0.0), "answer": answer}])["refusals"] == percent


def test_failures_have_an_interval_as_a_number_of_questions() -> None:
    outcomes = [{**outcome_with(1.0), "error": "away" if n < 30 else None} for n in range(100)]
    summary = summarise(outcomes)  # type: ignore[arg-type]
    assert summary["failures"] == 30
    assert summary["intervals"]["failures"] == pytest.approx([21.0, 39.0], abs=1.0)


MANY = [Question(id=f"{number}", question=f"Question {number}?") for number in range(30)]


async def test_a_run_ends_where_the_model_refuses_who_asks(tmp_path: Path) -> None:
    answers: dict[str, object] = {question["question"]: "Kell" for question in MANY}
    graph = FakeGraph({**answers, "Question 5?": ModelAccessError("wrong key")})

    with pytest.raises(ModelAccessError, match="wrong key"):
        await evaluate(graph, MANY, tmp_path, concurrency=1)

    assert len(graph.asked) <= 7  # the next one had begun
    assert len(lines_of(tmp_path)) >= 5
    await evaluate(again := FakeGraph(answers), MANY, tmp_path)
    assert "Question 0?" not in again.asked


async def test_a_run_ends_where_the_model_stays_out_of_reach(tmp_path: Path) -> None:
    answers: dict[str, object] = {question["question"]: ModelCallError("no connection") for question in MANY}
    graph = FakeGraph({**answers, "Question 4?": "Kell", "Question 9?": RequestRefusedError("too long")})

    with pytest.raises(ModelCallError, match="no connection"):
        await evaluate(graph, MANY, tmp_path, concurrency=1)

    assert 20 <= len(graph.asked) <= 21  # ten in a row after one that was refused for what it is


async def test_a_run_in_which_all_failed_has_no_scores(tmp_path: Path) -> None:
    failing = dict.fromkeys(ANSWERS, RuntimeError("away"))
    summary = summarise(await outcomes_of(failing, tmp_path))
    assert (summary["questions"], summary["failures"]) == (3, 3)
    assert summary["em"] is None is summary["mean_seconds"]
    assert summary["intervals"]["em"] is None and summary["granularities"] == {}
    assert "| cirag | 3 | 3 | – |" in markdown_table({"cirag": summary})


async def test_questions_that_a_budget_stopped_are_counted_where_any_were(tmp_path: Path) -> None:
    outcomes = await outcomes_of({**ANSWERS, "Is it old?": RuntimeError("away")}, tmp_path)
    whole = summarise(outcomes)
    for outcome, limit in zip(outcomes, ("deadline_s", "", "max_tokens"), strict=True):
        outcome["usage"] = Usage({**no_usage(), "stopped_by": limit})  # type: ignore[typeddict-item]
    summary = summarise(outcomes)

    assert (whole["stopped"], summary["stopped"]) == (0, 1), "one that failed is counted as such"
    assert "topped" not in overview({"a": whole}) + markdown_table({"a": whole})
    head, first, second = overview({"a": whole, "b": summary}).splitlines()
    assert head.split()[2:4] == ["failures", "stopped"] and (first.split()[3], second.split()[3]) == ("0", "1")
    assert "| Failures | Stopped | EM |" in markdown_table({"a": whole, "b": summary})


async def test_a_table_has_one_row_per_method(tmp_path: Path) -> None:
    summary = summarise(await outcomes_of(ANSWERS, tmp_path))
    head, rule, *rows = markdown_table({"a|b\n": summary, "kirag": summary}).splitlines()
    assert head.startswith(
        "| Method | Questions | Failures | EM | F1 | Acc | R@k over | R@2 | R@3 | R@5 | R@10 | All@5 |"
    )
    assert rule.count("---") == head.count("|") - 1
    assert [row.split(" | ")[0] for row in rows] == ["| a\\|b", "| kirag"]
    cells = dict(zip(head.split(" | "), rows[1].split(" | "), strict=True))
    assert summary["intervals"]["em"] == [0.0, 100.0]
    assert (cells["EM"], cells["R@10"], cells["Refusals"]) == ("33.3 (0.0–100.0)", "100.0", "33.3 (0.0–100.0)")
    for show in (markdown_table, overview):
        with pytest.raises(ValueError, match="at least one method"):
            show({})


def test_on_a_terminal_the_figures_of_each_method_stand_under_their_names() -> None:
    summary: Any = {**summarise([]), "questions": 3, "em": 33.3, "tokens": 1000.6}

    head, cirag, baseline = overview({"cirag": summary, "native_rag": summary}).splitlines()

    assert len(head) == len(cirag) == len(baseline)
    assert head.split() == ["method", "questions", "failures", "EM", "F1", "R@5", "calls", "tokens", "seconds"]
    assert cirag.split() == ["cirag", "3", "0", "33.3", "–", "–", "–", "1001", "–"]


def test_on_a_terminal_what_a_judge_said_stands_before_what_was_found() -> None:
    judged: Any = {**summarise([]), "questions": 3, "em": 33.3, "acc_judged": 66.7}

    head, *rows = overview({"cirag": judged, "native_rag": summarise([])}).splitlines()

    assert head.split()[3:6] == ["EM", "F1", "Acc†"]
    assert [row.split()[3:7] for row in rows] == [["33.3", "–", "66.7", "0"], ["–", "–", "–", "0"]]


async def test_tokens_that_a_model_did_not_tell_are_estimated(tmp_path: Path) -> None:
    outcomes = await outcomes_of(ANSWERS, tmp_path)
    for outcome in outcomes:
        outcome["usage"] = Usage({**no_usage(), "calls": 2, "estimated_tokens": 900})
    outcomes[0]["usage"] = Usage({**no_usage(), "calls": 2})
    summary = summarise(outcomes)
    assert (summary["tokens"], summary["output_tokens"]) == (600.0, 0.0)
    assert "about 600" in overview({"cirag": summary})
    head, _, row = markdown_table({"cirag": summary}).splitlines()
    assert head.endswith("| Tokens estimated |") and row.endswith("| 600 (0–900) |")


# --- a judge ---------------------------------------------------------------------------------------------------------
def verdicts(*correct: bool) -> list[str]:
    return [json.dumps({"reason": "So it is.", "correct": value}) for value in correct]


async def test_a_refusal_needs_no_judge_where_it_is_right(tmp_path: Path) -> None:
    outcomes = [
        {**outcome, "answer": answer, "answers": answers}
        for outcome, answer, answers in zip(
            await outcomes_of(ANSWERS, tmp_path),
            ("The passages do not say.", "The passages do not say.", "Kell"),
            (["Unanswerable"], ["Kell"], ["unanswerable"]),
            strict=True,
        )
    ]
    model = ScriptedModel.of(verdicts(False, False))

    judgements = await judge(model, cast(list[Outcome], outcomes), tmp_path, name="strict")

    assert [judgement["correct"] for judgement in judgements] == [True, False, False]
    assert model.prompts() == ["judge"] * 2


async def test_a_judge_sees_the_question_the_accepted_answers_and_the_one_given(tmp_path: Path) -> None:
    model = ScriptedModel.of(verdicts(True, True, False))
    outcomes = await outcomes_of(ANSWERS, tmp_path)

    judgements = await judge(model, outcomes, tmp_path, name="strict")

    assert [(judgement["id"], judgement["correct"]) for judgement in judgements] == [
        ("q1", True), ("q2", True), ("q3", False),
    ]  # fmt: skip
    assert model.prompts() == ["judge"] * 3
    request = model.received[1][1].text
    assert request == "Question: Who sailed?\nAccepted answers: Harriet Vane / H. Vane\nGiven answer: H Vane"
    summary = summarise(outcomes, judgements)
    assert (summary["acc_judged"], summary["judge_failures"]) == (66.7, 0)
    assert summary["intervals"]["acc_judged"] == [0.0, 100.0]
    table = markdown_table({"judged": summary, "not judged": summarise(outcomes)})
    assert "| Acc† | Judge failures |" in table and "| – | 0 |" in table


async def test_failures_of_the_judge_are_counted_apart_and_asked_again(tmp_path: Path) -> None:
    outcomes = await outcomes_of({**ANSWERS, "Who sailed?": RuntimeError("away")}, tmp_path)
    failing = ScriptedModel.of([*verdicts(True), OSError("the line is dead")])

    first = await judge(failing, outcomes, tmp_path, name="strict")
    summary = summarise(outcomes, first)
    assert (summary["acc_judged"], summary["judge_failures"], summary["failures"]) == (100.0, 1, 1)
    assert "the line is dead" in str(first[1]["error"])

    again = ScriptedModel.of(verdicts(False))
    second = await judge(again, outcomes, tmp_path, name="strict")
    assert [judgement["correct"] for judgement in second] == [True, False]
    assert len(again.received) == 1


async def test_judging_ends_where_the_judge_refuses_who_asks_and_a_later_run_judges_the_rest(tmp_path: Path) -> None:
    outcomes = await outcomes_of(ANSWERS, tmp_path)
    refusing = ScriptedModel.of([*verdicts(True), ModelAccessError("wrong key"), *verdicts(True)])
    kept = (tmp_path / "outcomes.jsonl").read_bytes()

    with pytest.raises(ModelAccessError, match="the judge strict could not be asked, .*: wrong key; .* next run"):
        await judge(refusing, outcomes, tmp_path, name="strict")

    assert len(refusing.received) == 2
    assert (tmp_path / "outcomes.jsonl").read_bytes() == kept
    again = ScriptedModel.of(verdicts(False, False))
    judgements = await judge(again, outcomes, tmp_path, name="strict")
    assert [judgement["correct"] for judgement in judgements] == [True, False, False]


async def test_judging_ends_where_the_judge_stays_out_of_reach(tmp_path: Path) -> None:
    questions = [Question(id=question["id"], question=question["question"], answers=["x"]) for question in MANY]
    outcomes = await evaluate(FakeGraph(dict.fromkeys([q["question"] for q in MANY], "Kell")), questions, tmp_path)
    away = ScriptedModel.of(lambda *_: ModelCallError("no connection"))

    with pytest.raises(ModelCallError, match="the judge far could not be asked, and no more .*: no connection; what"):
        await judge(away, outcomes, tmp_path, name="far")

    assert len({str(messages) for messages in away.received}) <= 11  # ten in a row, and the next one had begun
    assert len(read_outcomes(tmp_path)) == len(MANY)


async def test_a_judge_that_replies_now_and_then_is_asked_to_the_end(tmp_path: Path) -> None:
    questions = [Question(id=question["id"], question=question["question"], answers=["x"]) for question in MANY]
    outcomes = await evaluate(FakeGraph(dict.fromkeys([q["question"] for q in MANY], "Kell")), questions, tmp_path)
    replies: list[Any] = [ModelCallError("no connection")] * 9
    shaky = ScriptedModel.of(
        [*replies, *verdicts(True), *replies, RequestRefusedError("too long"), *replies, *verdicts(True)]
    )

    judgements = await judge(shaky, outcomes, tmp_path, name="shaky")

    assert sum(judgement["correct"] is None for judgement in judgements) == 28


async def test_a_judge_that_judged_nothing_gives_no_share_of_right_answers(tmp_path: Path) -> None:
    outcomes = await outcomes_of(ANSWERS, tmp_path)
    outcomes[2]["answers"] = ["unanswerable"]  # a refusal that is right, for which no judge is asked
    silent = ScriptedModel.of(lambda *_: OSError("the line is dead"))

    summary = summarise(outcomes, await judge(silent, outcomes, tmp_path, name="strict"))

    assert (summary["acc_judged"], summary["intervals"]["acc_judged"], summary["judge_failures"]) == (None, None, 2)
    head, row = overview({"cirag": summary}).splitlines()
    assert "F1  Acc†  judge failures  R@k over   R@5" in head and row.split()[5:7] == ["–", "2"]
    head, _, row = markdown_table({"cirag": summary}).splitlines()
    cells = dict(zip(head.split(" | "), row.split(" | "), strict=True))
    assert (cells["Acc†"], cells["Judge failures"]) == ("–", "2")


async def test_right_refusals_alone_are_a_share_where_no_judge_was_needed(tmp_path: Path) -> None:
    outcomes = (await outcomes_of(ANSWERS, tmp_path))[2:]
    outcomes[0]["answers"] = ["unanswerable"]

    summary = summarise(outcomes, await judge(ScriptedModel.of([]), outcomes, tmp_path, name="strict"))

    assert (summary["acc_judged"], summary["judge_failures"]) == (100.0, 0)


async def test_judgements_of_another_judge_or_of_other_answers_are_not_taken_over(tmp_path: Path) -> None:
    outcomes = await outcomes_of(ANSWERS, tmp_path)
    await judge(ScriptedModel.of(verdicts(True, True, True)), outcomes, tmp_path, name="mild")
    (tmp_path / "judgements.jsonl").open("a").write('{"id": "q1", "ju')

    strict = ScriptedModel.of(verdicts(False, False, False))
    assert [one["correct"] for one in await judge(strict, outcomes, tmp_path, name="strict")] == [False] * 3
    outcomes[0]["answer"] = "in Tharn"
    changed = ScriptedModel.of(verdicts(True))
    assert [one["correct"] for one in await judge(changed, outcomes, tmp_path, name="strict")] == [True, False, False]
    outcomes[1]["answers"] = ["H Vane"]
    corrected = ScriptedModel.of(verdicts(True))
    assert [one["correct"] for one in await judge(corrected, outcomes, tmp_path, name="strict")] == [True, True, False]


def test_the_frontier_has_the_methods_that_none_beats_with_as_few_tokens() -> None:
    told = {"a": (10, 50), "b": (20, 40), "c": (20, 60), "d": (30, 60), "e": (40, 70), "f": (5, None)}
    rows: Any = {name: {**summarise([]), "tokens": tokens, "f1": f1} for name, (tokens, f1) in told.items()}

    assert frontier(rows) == [(10, 50), (20, 60), (40, 70)]
    assert frontier({}) == []


@pytest.mark.parametrize("methods", [1, 7, 40])
def test_pictures_tell_methods_apart_and_name_them_beside_what_is_drawn(
    methods: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures: list[Any] = []
    figure_class = pytest.importorskip("matplotlib.figure").Figure
    monkeypatch.setattr(figure_class, "savefig", lambda figure, *_, **__: figures.append(figure))
    scores = {"f1": 50.0, "tokens": 1_000.0, **{f"recall_at_{k}": 80.0 for k in (2, 3, 5, 10)}}
    row: Any = {**summarise([]), **scores}

    draw_comparison({f"method/without-part-{n}": row for n in range(methods)}, str(tmp_path), "q$x_{$\udcff")

    titles = [figure.axes[0].get_title() for figure in figures]
    assert titles == ["Quality against cost: q$x_{$?, 0 questions", "Retrieval: q$x_{$?, 0 questions"]
    for figure in figures:
        figure.draw_without_rendering()
        (axes,), (legend,) = figure.axes, figure.legends
        named, drawn = legend.get_window_extent(), axes.get_window_extent()
        assert len(legend.get_texts()) == methods
        assert drawn.width > figure.bbox.width / 2
        assert drawn.x1 <= named.x0 and named.x1 <= figure.bbox.x1 and named.y0 >= 0
        lines = [line for line in axes.lines if line.get_marker() not in ("_", "None")]
        assert len({(line.get_color(), line.get_marker()) for line in lines}) == methods
    assert len({tuple(line.get_xdata()) for line in figures[1].axes[0].lines}) == methods


@pytest.mark.parametrize(
    ("scores", "drawn", "told"),
    [
        ({"f1": 50.0, "tokens": 9.0}, ["quality_by_tokens.png"], ["recall_by_depth.png is left out: no question was "]),
        (
            {f"recall_at_{k}": 80.0 for k in (2, 3, 5, 10)},
            ["recall_by_depth.png"],
            ["quality_by_tokens.png is left out: no question was answered that names accepted answers"],
        ),
        ({}, [], ["quality_by_tokens.png is left out: no ", "recall_by_depth.png is left out: no "]),
    ],
)
def test_a_picture_in_which_nothing_would_be_drawn_is_left_out(
    scores: dict[str, float], drawn: list[str], told: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("matplotlib.figure")
    for name in ("quality_by_tokens.png", "recall_by_depth.png"):
        (tmp_path / name).write_text("of an earlier report")
    row: Any = {**summarise([]), **scores}

    assert draw_comparison({"a": row, "b": summarise([])}, tmp_path) == [tmp_path / name for name in drawn]

    assert [path.name for path in tmp_path.iterdir()] == drawn
    assert len(caplog.messages) == len(told) and all(map(str.count, caplog.messages, told))


async def test_what_is_compared_later_was_said_of_these_answers_by_one_judge(tmp_path: Path) -> None:
    outcomes = await evaluate(FakeGraph(), QUESTIONS[:1], tmp_path)
    other = [{**outcome, "answer": "elsewhere"} for outcome in outcomes]
    await judge(ScriptedModel.of(verdicts(False)), cast(list[Outcome], other), tmp_path, name="a")
    await judge(ScriptedModel.of(verdicts(True)), outcomes, tmp_path, name="a")

    assert [one["correct"] for one in judgements_of(outcomes, str(tmp_path))] == [True]

    await judge(ScriptedModel.of(verdicts(False)), outcomes, tmp_path, name="b")
    with pytest.raises(OutcomesError, match="holds judgements of a, b: expected those of one judge, or its name"):
        judgements_of(outcomes, tmp_path)
    assert [[one["correct"] for one in judgements_of(outcomes, tmp_path, name)] for name in "ab"] == [[True], [False]]


async def test_judgements_are_kept_as_outcomes_are(tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    outcomes = await outcomes_of(ANSWERS, tmp_path)
    await judge(ScriptedModel.of(verdicts(True, True)), outcomes[:2], out, name="strict")
    file = out / "judgements.jsonl"
    file.write_bytes(file.read_bytes()[:-20])  # as a kill leaves it

    await judge(ScriptedModel.of(verdicts(True, True)), outcomes, out, name="strict")

    assert [json.loads(line)["id"] for line in file.read_text(encoding="utf-8").splitlines()] == ["q1", "q2", "q3"]
    assert len(await judge(ScriptedModel.of([]), outcomes, str(out), name="strict")) == 3


@pytest.mark.parametrize("own", ['{"id": "q1", "verdict": "right"}', '{"id": "q1", "verdict": "right"}\n'])
async def test_judgements_of_another_kind_are_not_written_over(own: str, tmp_path: Path) -> None:
    outcomes = await outcomes_of(ANSWERS, tmp_path)
    (tmp_path / "judgements.jsonl").write_text(own)

    with pytest.raises(OutcomesError, match="line 1: expected a judgement, got .*deleted, its answer is judged"):
        await judge(ScriptedModel.of([]), outcomes, tmp_path, name="strict")

    assert (tmp_path / "judgements.jsonl").read_text() == own


async def test_a_judge_is_refused_what_cannot_be_and_ends_with_the_error_of_the_caller(tmp_path: Path) -> None:
    def refuse(judgement: Judgement) -> None:
        raise LookupError(judgement["id"])

    outcomes = await outcomes_of(ANSWERS, tmp_path)
    with pytest.raises(ValueError, match="concurrency must be a whole number of at least 1, got 0"):
        await judge(ScriptedModel.of([]), outcomes, tmp_path, name="strict", concurrency=0)
    with pytest.raises(OutcomesError, match="expected a folder that can be written to"):
        await judge(ScriptedModel.of([]), outcomes, tmp_path / "run.json", name="strict")
    with pytest.raises(LookupError, match="q1"):
        await judge(ScriptedModel.of(verdicts(True)), outcomes, tmp_path, name="strict", on_result=refuse)


async def test_a_report_is_written_for_people_and_programs(tmp_path: Path) -> None:
    rows = {"cirag": summarise(await outcomes_of(ANSWERS, tmp_path / "run"))}
    write_report(rows, str(tmp_path / "report"))
    assert json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8")) == rows
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert text.startswith(markdown_table(rows)) and "failures are not among them" in text


# --- methods question by question ------------------------------------------------------------------------------------
def scored(scores: Sequence[float | None], recall: Sequence[float | None] = ()) -> list[Outcome]:
    recalls = [*recall, *[None] * (len(scores) - len(recall))]
    empty = dict.fromkeys(Outcome.__annotations__)
    return [
        cast(Outcome, {**empty, "id": f"q{number}", "f1": score, "recall": None if found is None else {"5": found}})
        for number, (score, found) in enumerate(zip(scores, recalls, strict=True))
    ]


def test_methods_are_compared_on_the_questions_that_have_the_scores_of_both() -> None:
    first, second = scored([0.0, 0.5, None, 1.0], [0.5, None]), scored([0.5, None, 1.0, 1.0], [1.0, 1.0])

    (name,), (one,) = zip(*compare({"a": first, "b": second[::-1]}).items(), strict=True)

    assert (name, one["to"]) == ("b", "a")
    assert one["f1"] == {"questions": 2, "points": 25.0, "interval": [0.0, 50.0]}
    assert one["recall_at_5"] == {"questions": 1, "points": 50.0, "interval": [50.0, 50.0]}


def test_an_interval_does_not_depend_on_the_order_in_which_questions_ended() -> None:
    scores = [float(number % 7) / 7 for number in range(40)]
    zeros = scored([0.0] * len(scores))

    one, other = compare({"a": zeros, "b": scored(scores), "c": scored(scores)[::-1]}).values()

    assert one["f1"] == other["f1"]
    assert comparison.interval(scores, 100, 1) == comparison.interval(scores[::-1], 100, 1)


def test_only_answers_to_the_same_questions_are_compared(caplog: pytest.LogCaptureFixture) -> None:
    first, same, corrected, other = (scored([1.0, 0.0]) for _ in range(4))
    corrected[0]["answers"], other[1]["question"] = ["Kell"], "Who else?"

    compare({"a": first, "b": same})
    assert not caplog.messages
    compare({"a": first, "b": corrected})
    assert caplog.messages == ["a and b have other gold answers to 1 question: scores differ by that, too"]
    with pytest.raises(OutcomesError, match="expected the same questions in a and b, got for id 'q1' None and 'Who"):
        compare({"a": first, "b": other})


def test_a_difference_that_each_question_shows_is_told_apart_where_intervals_overlap() -> None:
    hard = [float(number % 2) * 0.8 for number in range(60)]
    first, second = scored(hard), scored([score + 0.1 + 0.01 * (number % 3) for number, score in enumerate(hard)])
    rows = [comparison.interval([outcome["f1"] or 0.0 for outcome in of_one], 100, 1) for of_one in (first, second)]

    difference = compare({"first": first, "second": second})["second"]["f1"]

    assert rows[0] and rows[1] and rows[0][1] > rows[1][0], "these overlap"
    assert difference is not None
    low, high = difference["interval"]
    assert 10 < low < difference["points"] == 11.0 < high < 12


def test_without_a_second_method_or_scores_of_both_there_is_nothing_to_compare() -> None:
    assert compare({}) == {} == compare({"a": scored([1.0])})
    assert differences({}) == ""
    assert compare({"a": scored([1.0]), "b": scored([None])})["b"] == {"to": "a", "f1": None, "recall_at_5": None}


def test_a_report_says_what_it_was_made_with(tmp_path: Path) -> None:
    made_with = Origin(
        model="offline", knowledge_base="kb", passages="9 passages, minilm, rules, ab", questions="questions.jsonl",
        at_once=4, settings={"top_k": 3, "max_steps": None}, judge=None, versions=["0.1.0", "0.2.0"], date="2026-01-31",
    )  # fmt: skip

    write_report(dict.fromkeys(["a", "b"], summarise([])), tmp_path, origin=made_with)

    assert (
        (tmp_path / "report.md")
        .read_text(encoding="utf-8")
        .endswith(
            "\n\nMade by langgraph-rag 0.1.0, 0.2.0 on 2026-01-31: model offline, judge none, knowledge base kb (9 "
            "passages, minilm, rules, ab), questions questions.jsonl, 4 at once; top_k=3.\n"
        )
    )
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["a"]["origin"] == made_with == report["b"]["origin"]


def test_a_report_shows_how_methods_differ(tmp_path: Path) -> None:
    rows = dict.fromkeys(["a", "b|c"], summarise([]))
    comparisons = compare({"a": scored([0.5, 1.0]), "b|c": scored([0.5 - 1e-9, 0.0])})

    write_report(rows, tmp_path, comparisons=comparisons)

    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "Differences from another method in points, question by question" in text
    assert text.endswith("| b\\|c | a | -50.0 (-100.0 to +0.0) | 2 | – | 0 |\n")
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert "compared" not in report["a"] and report["b|c"]["compared"] == comparisons["b|c"]


async def test_the_effort_that_a_method_took_and_whether_answers_are_supported_are_reported(tmp_path: Path) -> None:
    class Efforts(FakeGraph):
        async def ainvoke(self, input: Any, *, context: Any = None) -> dict[str, Any]:
            found = reply("Norrland", effort="low" if "Kell" in input["question"] else "high", supported="yes")
            return found | ({"supported": "partly"} if "old" in input["question"] else {})

    summary = summarise(await evaluate(Efforts(), QUESTIONS, tmp_path))

    assert summary["efforts"] == {"high": 66.7, "low": 33.3}
    assert summary["supported"] == 66.7
    assert "high 66.7%, low 33.3%" in markdown_table({"adaptive": summary})
    assert "Effort" not in markdown_table({"other": summarise([])})
