"""Recorded replies of a strong model, replayed over HTTP: it understands the prompts as intended."""

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty_server import FaultyServer
from record import QUESTIONS, ask, record, sample_questions, steady_knowledge_base
from recorded import FOLDER, Exchange, RecordedServer, Recording, read, write
from servers import serving

from langgraph_rag.errors import ModelCallError
from langgraph_rag.evaluation.metrics import exact_match
from langgraph_rag.prompts import cirag
from langgraph_rag.tools.knowledge_base import KnowledgeBase

pytestmark = [
    pytest.mark.filterwarnings("ignore:A test tried to use socket"),
    pytest.mark.usefixtures("localhost"),
]
FILES = sorted(FOLDER.glob("*.json"))


@pytest.fixture(scope="module")
def base() -> Iterator[KnowledgeBase]:
    with steady_knowledge_base() as kb:
        yield kb


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_recorded_conversation_still_leads_to_its_answer(file: Path, base: KnowledgeBase) -> None:
    recording = read(file)
    assert recording["answer"], "this recording is not complete: `make record` goes on with it"
    with serving(RecordedServer(file, recording)) as server:
        try:
            found = ask(base, server, 60)
        except ModelCallError:
            pytest.fail("\n".join(server.problems))

    assert found["answer"] == recording["answer"]
    assert exact_match(found["answer"], sample_questions()[recording["id"]]["answers"]) == 1
    assert found["usage"]["repairs"] == 0, "the model did not understand the form of a prompt"


def test_each_method_has_its_recordings() -> None:
    expected = {f"{method}-{id_}" for method, ids in QUESTIONS.items() for id_ in ids.split(",")}
    assert {file.stem for file in FILES} == expected


# --- the recorder itself ---------------------------------------------------------------------------------------------
@pytest.fixture
def upstream() -> Iterator[FaultyServer]:
    with serving(FaultyServer(0.0)) as server:
        yield server


def new(method: str) -> Recording:
    question = sample_questions()["q01"]["question"]
    return Recording(method=method, id="q01", question=question, model="m", answer="", exchanges=[])


def url(server: FaultyServer) -> str:
    return f"http://127.0.0.1:{server.server_port}/v1"


@pytest.mark.parametrize("method", QUESTIONS)
def test_what_was_recorded_is_replayed_without_the_server(
    method: str, base: KnowledgeBase, upstream: FaultyServer, tmp_path: Path
) -> None:
    file = tmp_path / "recording.json"
    done = record(base, file, new(method), url(upstream), "k", 60)

    with serving(RecordedServer(file, read(file))) as server:
        found = ask(base, server, 60)

    assert found["answer"] == done["answer"] == read(file)["answer"]
    assert (server.problems, len(server.used)) == ([], len(done["exchanges"]))


def test_a_stopped_recording_goes_on_and_asks_nothing_twice(
    base: KnowledgeBase, upstream: FaultyServer, tmp_path: Path
) -> None:
    file = tmp_path / "recording.json"
    whole = record(base, file, new("cirag"), url(upstream), "k", 60)
    nobody = [{"role": "user", "content": "nobody asks this any more"}]
    stale = Exchange(**{**whole["exchanges"][0], "messages": nobody})
    write(file, Recording(**{**whole, "answer": "", "exchanges": [stale, whole["exchanges"][0]]}))
    with serving(RecordedServer(file, read(file))) as server, pytest.raises(ModelCallError):
        ask(base, server, 60)

    again = record(base, file, new("cirag"), url(upstream), "k", 60)

    assert again["exchanges"][0] == whole["exchanges"][0]
    assert stale not in again["exchanges"]
    assert again["answer"]


def test_a_changed_prompt_is_named_with_what_changed(
    base: KnowledgeBase, upstream: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "recording.json"
    record(base, file, new("cirag"), url(upstream), "k", 60)
    changed = cirag.INTEGRATE.instructions.replace(".", "!", 1)
    monkeypatch.setitem(vars(cirag.INTEGRATE), "instructions", changed)

    with serving(RecordedServer(file, read(file))) as server, pytest.raises(ModelCallError):
        ask(base, server, 60)

    (problem,) = server.problems
    assert problem.startswith("cirag on q01: the prompt 'integrate' has changed: record it anew with `make record`")
    assert f"+{changed.splitlines()[0]}" in problem


def test_the_script_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    script = str(Path(__file__).with_name("record.py"))
    monkeypatch.setattr(sys, "argv", [script])
    for name in ("VLLM_BASE_URL", "MODEL"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(SystemExit) as exit_:
        runpy.run_path(script, run_name="__main__")

    assert exit_.value.code == 2
    assert "set VLLM_BASE_URL to the server's address" in capsys.readouterr().err
