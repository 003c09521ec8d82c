"""Graphs in several processes: each request gets its result or an error, and no call waits for ever."""

import asyncio
import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import SAMPLE
from typer.testing import CliRunner

from langgraph_rag.cli import app
from langgraph_rag.errors import EmbeddingsMismatchError, ModelAccessError, ProcessEndedError
from langgraph_rag.evaluation import Question, evaluate, read_outcomes
from langgraph_rag.evaluation.processes import Ask, RemoteGraph, worker_processes
from langgraph_rag.records import no_usage

MINUTE = 60.0
QUESTIONS = [Question(id=f"q{number}", question=f"{number}?", answers=[str(number)]) for number in range(4)]


class UnreadableError(Exception):
    """An error that cannot be read again from a pickle, as are some of the clients of model servers."""

    def __init__(self, *, status: int) -> None:
        super().__init__(f"status {status}")
        self.add_note("During task with name 'answer'")


class DoneIn:
    """A graph of one step, which is done in a process."""

    def __init__(self, step: Callable[[str], Any]) -> None:
        self.step = step

    async def ainvoke(self, given: Any, /, *, context: Any = None) -> Any:
        question = given["question"]
        if question == "wait":
            await asyncio.sleep(MINUTE)
        answer = self.step(question)
        return {"answer": answer, "passages": [], "trace": [], "usage": no_usage(), "context": context}


def refuse(_: str) -> str:
    raise ModelAccessError("a wrong key")


def fail(_: str) -> str:
    raise UnreadableError(status=418)


def end(question: str) -> str:
    if question == "2?":
        os.kill(os.getpid(), signal.SIGTERM)
    return question.rstrip("?")


def known_here_alone() -> object:
    """Return something of a module that this process alone has."""
    module = sys.modules["nowhere_else"] = ModuleType("nowhere_else")
    exec("class Known: pass", vars(module))  # noqa: S102
    return module.Known()


GRAPHS: dict[str, Callable[[str], Any]] = {
    "process": lambda _: os.getpid(),
    "threads": lambda _: os.environ["OMP_NUM_THREADS"],
    "refuse": refuse,
    "fail": fail,
    "end": end,
    "unwritten": lambda _: lambda: None,
    "unknown": lambda _: known_here_alone(),
    "unread": lambda _: UnreadableError(status=418),
}


@contextmanager
def opened() -> Iterator[Callable[[str], DoneIn]]:
    yield lambda name: DoneIn(GRAPHS[name])


@contextmanager
def unfit() -> Iterator[Callable[[str], DoneIn]]:
    raise EmbeddingsMismatchError("another embedder")
    yield


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Start two processes, as where there are six cores."""
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("OMP_NUM_THREADS", raising=False)
        patched.setattr(os, "cpu_count", lambda: 6)
        with worker_processes(2, opened) as ask:
            assert "OMP_NUM_THREADS" not in os.environ
            patched.undo()
            yield ask


async def answer_of(ask: Ask, name: str, question: str = "Who?") -> Any:
    return (await ask(name, {"question": question}, None))["answer"]


async def test_what_is_asked_at_once_is_done_in_all_processes(ask: Ask) -> None:
    found = await asyncio.gather(*[answer_of(ask, "process") for _ in range(4)])

    assert len(set(found)) == 2
    assert os.getpid() not in found


async def test_a_context_goes_with_a_question(ask: Ask) -> None:
    assert (await ask("process", {"question": "Who?"}, {"top_k": 3}))["context"] == {"top_k": 3}


async def test_processes_share_the_cores(ask: Ask) -> None:
    assert await answer_of(ask, "threads") == "3"


async def test_an_error_is_raised_as_it_was(ask: Ask) -> None:
    with pytest.raises(ModelAccessError, match="a wrong key"):
        await answer_of(ask, "refuse")


async def test_an_error_of_a_kind_that_cannot_be_read_is_told(ask: Ask) -> None:
    with pytest.raises(RuntimeError, match=r"^UnreadableError: status 418\nDuring task with name 'answer'$"):
        await answer_of(ask, "fail")


@pytest.mark.parametrize(
    ("name", "complaint"), [("unwritten", "pickle"), ("unread", "UnreadableError"), ("unknown", "nowhere_else")]
)
async def test_what_cannot_be_handed_back_fails_alone(name: str, complaint: str, ask: Ask) -> None:
    with pytest.raises(Exception, match=complaint):
        await answer_of(ask, name)
    assert await answer_of(ask, "process")


async def test_who_leaves_is_not_waited_for(ask: Ask) -> None:
    async with asyncio.timeout(MINUTE / 2):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(answer_of(ask, "process", "wait"), 0.05)
        assert await answer_of(ask, "process")


async def test_what_processes_cannot_open_is_raised() -> None:
    before = multiprocessing.active_children()
    with pytest.raises(EmbeddingsMismatchError, match="another embedder"), worker_processes(1, unfit):
        pytest.fail("opened")
    assert set(multiprocessing.active_children()) <= set(before)


async def test_a_run_ends_with_a_process_and_goes_on_from_there(tmp_path: Path) -> None:
    async with asyncio.timeout(MINUTE / 2):
        with worker_processes(1, opened) as ask:
            graph = RemoteGraph("end", None, ask)
            with pytest.raises(ProcessEndedError, match="exit code"):
                await evaluate(graph, QUESTIONS, tmp_path)
            with pytest.raises(ProcessEndedError):  # also what is asked later
                await answer_of(ask, "process")

    assert [outcome["answer"] for outcome in read_outcomes(tmp_path)] == ["0", "1"]


async def test_what_is_under_way_is_called_off_at_the_end_and_threads_that_are_named_stay_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    async with asyncio.timeout(MINUTE / 2):
        with worker_processes(1, opened) as ask:
            waits = asyncio.ensure_future(answer_of(ask, "process", "wait"))
            assert await answer_of(ask, "threads") == "7"
        with pytest.raises(ProcessEndedError):
            await waits
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_eval_by_several_processes_finds_what_one_finds(sample_folder: Path, tmp_path: Path) -> None:
    common = f"--kb {sample_folder} --questions {SAMPLE / 'questions.jsonl'} --limit 3 --method cirag,mgranrag/graph"

    for name, number in (("one", "1"), ("two", "2")):
        command = ["eval", *common.split(), "--out", str(tmp_path / name), "--processes", number]
        CliRunner().invoke(app, command, catch_exceptions=False)

    for method in ("cirag", "mgranrag/graph"):
        one, two = ({o["id"]: o for o in read_outcomes(tmp_path / name / method)} for name in ("one", "two"))
        assert len(one) == 3
        for id_, outcome in one.items():
            same = ("answer", "passages", "evidence", "trace", "error")
            assert {name: two[id_].get(name) for name in same} == {name: outcome.get(name) for name in same}
    prompts = [json.loads((tmp_path / name / "cirag/run.json").read_text())["prompts"] for name in ("one", "two")]
    assert prompts[0] and prompts[0] == prompts[1]
