"""Outcomes of questions, and the check that the outcomes in a folder belong to this run."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from langgraph_rag.evaluation.origin import Beginning
from langgraph_rag.evaluation.questions import Question
from langgraph_rag.evaluation.run_folder import OutcomesError, read_entries, replace_file, writing
from langgraph_rag.records import Supported, Usage


class Outcome(TypedDict):
    """The outcome of one question; if it failed, it has an error, and None for unknown values.

    `em`, `f1` and `acc` are None if the question has no gold answers. `recall` is keyed by the number of passages ("2",
    "3", "5", "10"). `recall` and `all_at_5` are None if the question has no supporting passages. `passages` are the
    retrieved ids, best first. `evidence` and `trace` are those of the result.
    """

    id: str
    type: str
    question: str
    answers: list[str]
    answer: str | None
    em: float | None
    f1: float | None
    acc: float | None
    recall: dict[str, float] | None
    all_at_5: float | None
    granularity: str | None
    steps: int | None
    usage: Usage | None
    wall_seconds: float
    error: str | None
    supported: NotRequired[Supported | None]  # missing in outcomes of earlier versions
    passages: NotRequired[list[str]]  # this and the next two are missing if the question failed
    evidence: NotRequired[list[Any]]
    trace: NotRequired[list[Any]]
    effort: NotRequired[str]  # how far `adaptive` went
    calls: NotRequired[list[Any]]
    events: NotRequired[list[Any]]


class Configuration(TypedDict):
    """The names of what answers the questions; a folder holds outcomes of only one configuration.

    `knowledge_base_fingerprint` is the result of `KnowledgeBase.fingerprint`: outcomes of other passages are refused,
    those of the same passages at another path are accepted. `options` are other differences between runs, such as the
    options of the graph: names with JSON values.
    """

    method: str
    model: str
    knowledge_base: str
    knowledge_base_fingerprint: NotRequired[str]
    options: NotRequired[dict[str, Any]]


OUTCOMES = "outcomes.jsonl"
_READER, _BEGINNING = TypeAdapter(Outcome), TypeAdapter(Beginning)
_UNKNOWN = Beginning(version="unknown", libraries={}, prompts="", begun="")  # runs of earlier versions
_FINGERPRINT = "knowledge_base_fingerprint"


def read_outcomes(out: str | Path) -> list[Outcome]:
    """Read the outcomes in a folder; blank lines and an incomplete last line, as after a kill, are skipped.

    Raises:
        OutcomesError: when there is no file of outcomes, another line is not an outcome, or the file cannot be read.
    """
    if not (Path(out) / OUTCOMES).exists():
        raise OutcomesError(f"expected a folder with {OUTCOMES}, which that of one method has, got {out}")
    return _read(Path(out))


def _read(out: Path) -> list[Outcome]:
    return read_entries(out / OUTCOMES, _READER, "an outcome", "its question is asked again")


def answered_before(out: Path, questions: Sequence[Question], settings: Mapping[str, Any]) -> list[Outcome]:
    """Return the outcomes without an error in a folder, including those of questions that are not in `questions`."""
    outcomes, kept = _read(out), out / "run.json"
    found = _read_settings(kept) if outcomes or kept.exists() else {}
    if outcomes:
        _check_settings(out, found, settings)
        _check_questions(out, outcomes, questions)
    return [outcome for outcome in outcomes if outcome["error"] is None]


def begun_with(out: Path) -> Beginning:
    """Return how the run in a folder was started, as far as the folder records it."""
    return _BEGINNING.validate_python({**_UNKNOWN, **_read_settings(out / "run.json")})


def keep_settings(out: Path, settings: Mapping[str, Any], beginning: Beginning) -> None:
    """Write to a folder the settings of its outcomes and how its run was started."""
    with writing(out):
        replace_file(out / "run.json", [json.dumps({**settings, **beginning}, indent=2, ensure_ascii=False)])


def _read_settings(path: Path) -> dict[str, Any]:
    try:
        return _flat(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise OutcomesError(f"{path}: expected the settings its outcomes were made with, got {error!r}") from error


def _check_settings(out: Path, found: dict[str, Any], settings: Mapping[str, Any]) -> None:
    expected = _flat(settings)
    if _FINGERPRINT in expected and _FINGERPRINT in found:
        found["knowledge_base"] = expected["knowledge_base"]  # the path may differ
    for name in {**expected, **found}:
        if name not in _UNKNOWN and expected.get(name) != found.get(name):
            raise OutcomesError(
                f"{out} holds outcomes of another run: expected {name} {expected.get(name)!r}, "
                f"got {found.get(name)!r}; give another folder, or delete this one to start again"
            )


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings in one dict, without the one that changes no answer."""
    flat = {"answer_style": "", **settings, **settings["context"]}  # earlier versions do not have it
    return {name: value for name, value in flat.items() if name not in ("context", "max_concurrency")}


def _check_questions(out: Path, outcomes: Sequence[Outcome], questions: Sequence[Question]) -> None:
    asked = {question["id"]: question["question"] for question in questions}
    for outcome in outcomes:
        expected, found = asked.get(outcome["id"], outcome["question"]), outcome["question"]
        if expected != found:
            raise OutcomesError(
                f"{out} holds outcomes of other questions: expected for id {outcome['id']!r} {expected!r}, got "
                f"{found!r}; give another folder, or delete this one to start again"
            )
