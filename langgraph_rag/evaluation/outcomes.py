"""What came of each question, kept in a folder so that a run can be stopped at any moment and taken up again."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NotRequired, TypeVar

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from langgraph_rag.errors import RagError
from langgraph_rag.evaluation.questions import Question
from langgraph_rag.records import Usage
from langgraph_rag.tasks import gather
from langgraph_rag.tools.write_lock import LOCK

Item = TypeVar("Item")
Entry = TypeVar("Entry", bound=Mapping[str, Any])


class Outcome(TypedDict):
    """What came of one question; one that failed has an error, and None for all that was not found out.

    `em`, `f1` and `acc` are None where the question names no answers. `recall` is keyed by the number of passages ("2",
    "3", "5", "10"); it and `all_at_5` are None where the question names no supporting passages. `passages` are the ids
    that were found, best first.
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
    passages: NotRequired[list[str]]  # what failed has none


class Configuration(TypedDict):
    """What answers the questions, in names: a folder holds outcomes of one configuration only.

    `knowledge_base_fingerprint` is what `KnowledgeBase.fingerprint` returns: outcomes of other passages are refused,
    those of the same by another path are not.
    """

    method: str
    model: str
    knowledge_base: str
    knowledge_base_fingerprint: NotRequired[str]


class OutcomesError(RagError):
    """A folder of outcomes is damaged, cannot be written to, or belongs to another run."""


OUTCOMES = "outcomes.jsonl"
_READER = TypeAdapter(Outcome)
_FINGERPRINT = "knowledge_base_fingerprint"


def read_outcomes(out: Path) -> list[Outcome]:
    """Read the outcomes in a folder, none where there is no file; a last line cut off by a kill is left out.

    Raises:
        OutcomesError: when any other line is not an outcome.
    """
    path, outcomes = out / OUTCOMES, []
    lines = path.read_bytes().split(b"\n") if path.exists() else [b""]
    for number, line in enumerate(lines, start=1):
        try:
            outcomes.append(_READER.validate_json(line))
        except ValidationError as error:
            if number < len(lines):
                raise OutcomesError(f"{path}, line {number}: expected an outcome, got {line[:200]!r}") from error
    return outcomes


def answered_before(out: Path, questions: Sequence[Question], settings: Mapping[str, Any]) -> list[Outcome]:
    """Return the answered outcomes that a folder holds, also of questions that are not among these.

    Raises:
        OutcomesError: when the folder is damaged or holds outcomes of another run.
    """
    outcomes = read_outcomes(out)
    if outcomes:
        _check_settings(out / "run.json", settings)
        _check_questions(out, outcomes, questions)
    return [outcome for outcome in outcomes if outcome["error"] is None]


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Tell a folder that cannot be written to, such as on a full disk.

    Raises:
        OutcomesError: in place of the system's error.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise OutcomesError(f"expected a folder that can be written to at {out}, got: {reason}") from error


@contextmanager
def alone(out: Path) -> Iterator[None]:
    """Make a folder where it is missing, and keep other runs out of it: each would undo what another one keeps.

    Raises:
        OutcomesError: when another run has the folder, or it cannot be written to.
    """
    lock = FileLock(out / LOCK, blocking=False, thread_local=False)
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout as error:
            raise OutcomesError(
                f"expected a folder for this run alone, got {out}, where another one is under way: wait for that, or "
                "give another folder"
            ) from error
    try:
        yield
    finally:
        lock.release()


def keep_settings(out: Path, settings: Mapping[str, Any]) -> None:
    """Write down in a folder what its outcomes are made with.

    Raises:
        OutcomesError: when the folder cannot be written to.
    """
    with writing(out):
        _replace(out / "run.json", [json.dumps(settings, indent=2, ensure_ascii=False)])


@contextmanager
def keeping(path: Path, entries: Iterable[Mapping[str, Any]]) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Make a file hold what there is so far, a line of JSON each, and open it for adding more, written out at once.

    Raises:
        OutcomesError: when its folder cannot be written to.
    """
    with writing(path.parent):
        _replace(path, [json.dumps(entry, ensure_ascii=False) for entry in entries])
        # Models can reply with half a surrogate pair, which is not UTF-8.
        file = path.open("a", encoding="utf-8", errors="replace", newline="\n")

    def keep(entry: Mapping[str, Any]) -> None:
        with writing(path.parent):
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            file.flush()

    try:
        yield keep
    finally:
        with suppress(OSError):  # which writing told
            file.close()


async def settle(
    items: Iterable[Item],
    work: Callable[[Item], Awaitable[Entry]],
    gate: asyncio.Semaphore,
    keep: Callable[[Entry], None],
    on_result: Callable[[Entry], None] | None,
) -> list[Entry]:
    """Do the work of each item, so many at once as the gate lets in; keep what comes of it before telling of it."""

    async def settled(item: Item) -> Entry:
        async with gate:
            entry = await work(item)
        keep(entry)
        if on_result is not None:
            on_result(entry)
        return entry

    return await gather(map(settled, items))


def _replace(path: Path, lines: Iterable[str]) -> None:
    """Write beside the file, then move: at no moment is it missing or half written."""
    beside = path.with_name(path.name + ".new")
    beside.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
    beside.replace(path)


def _check_settings(path: Path, settings: Mapping[str, Any]) -> None:
    try:
        found = _flat(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise OutcomesError(f"{path}: expected the settings its outcomes were made with, got {error!r}") from error
    expected = _flat(settings)
    if _FINGERPRINT in expected and _FINGERPRINT in found:
        found["knowledge_base"] = expected["knowledge_base"]  # by whatever path
    for name in {**expected, **found}:
        if expected.get(name) != found.get(name):
            raise OutcomesError(
                f"{path.parent} holds outcomes of another run: expected {name} {expected.get(name)!r}, "
                f"got {found.get(name)!r}; give another folder, or delete this one to start again"
            )


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Put all settings side by side, without the one that changes no answer."""
    flat = {**settings, **settings["context"]}
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
