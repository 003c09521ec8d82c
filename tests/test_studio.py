"""`langgraph dev` serves what `langgraph.json` names: schemas, streamed steps, answers, no blocking calls."""

import asyncio
import json
import os
import re
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_socket
from fakes import ArithmeticEmbeddings
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_sdk import get_client

from langgraph_rag import KnowledgeBase
from langgraph_rag.errors import KnowledgeBaseError, UnknownNameError
from langgraph_rag.methods import METHODS

REPOSITORY = Path(__file__).parent.parent
QUESTION = "Did Nessa Palliver and Sunniva Lockhaven go to the same school?"
SERVED = [*METHODS, "par_rag_approve_plan"]
PATIENCE = 120  # seconds for the server to come up


def leftovers() -> list[Path]:
    return sorted(REPOSITORY.glob(".langgraph_api/**/*"))


LEFT_BY_OTHERS = leftovers()

pytestmark = pytest.mark.usefixtures("localhost")


@pytest.fixture(scope="module")
def place(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hold a working directory as a user has it: the configuration and a knowledge base."""
    place = tmp_path_factory.mktemp("studio")
    shutil.copy(REPOSITORY / "langgraph.json", place)
    shutil.copytree(sample_folder, place / "kb")
    return place


@pytest.fixture(scope="module")
def url(place: Path) -> Iterator[str]:
    """Start the server, and kill it and all its children at the end."""
    pytest_socket.enable_socket()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    quiet = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"}
    command = ["-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", str(port)]
    with (place / "log.txt").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, *command],
            cwd=place,
            env={**os.environ, **quiet, "LANGGRAPH_RAG_KB": "kb", "LANGGRAPH_RAG_MODEL": "offline"},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            wait_for(f"{url}/ok", server, place / "log.txt")
            yield url
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def wait_for(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"the server did not come up:\n{log.read_text()[-3000:]}")


@pytest.fixture
def client(url: str) -> Any:
    return get_client(url=url, api_key=None)


async def stream(client: Any, question: str, thread: str | None = None, **options: Any) -> list[Any]:
    modes = ["updates", "custom", "values"]
    run = client.runs.stream(thread, "cirag", input={"question": question}, stream_mode=modes, **options)
    return [part async for part in run]


def test_the_embedder_is_the_one_that_the_environment_names(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.close()
    monkeypatch.setenv("LANGGRAPH_RAG_KB", str(kb.path))
    monkeypatch.setenv("LANGGRAPH_RAG_EMBEDDINGS", "openai:small")
    monkeypatch.setattr(
        "langgraph_rag.tools.ingest.embeddings.load_embeddings", {"openai:small": embeddings}.__getitem__
    )

    studio = runpy.run_module("langgraph_rag.studio")

    (base,) = studio["_bases"].values()
    assert base.embeddings is embeddings
    base.close()


def test_the_embedder_is_loaded_before_the_first_question(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.close()
    monkeypatch.setenv("LANGGRAPH_RAG_KB", str(kb.path))
    monkeypatch.setattr("langgraph_rag.tools.ingest.embeddings.load_embeddings", lambda _: embeddings)

    embeddings.batches.clear()

    (base,) = runpy.run_module("langgraph_rag.studio")["_bases"].values()
    base.close()

    assert "warm up" in embeddings.embedded


@pytest.fixture
def several(tmp_path: Path, embeddings: ArithmeticEmbeddings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    folders = [tmp_path / "mills", tmp_path / "towns"]
    for folder, builder in zip(folders, ("Ada Renk", "Karl Senn"), strict=True):
        with KnowledgeBase.open(folder, embeddings) as base:
            base.add([{"title": "Ferrow Mill", "text": f"Ferrow Mill was built by {builder}."}], progress=False)
    monkeypatch.setenv("LANGGRAPH_RAG_KB", os.pathsep.join(map(str, folders)))
    monkeypatch.setattr("langgraph_rag.tools.ingest.embeddings.load_embeddings", lambda _: embeddings)
    studio = runpy.run_module("langgraph_rag.studio")
    yield studio
    for base in studio["_bases"].values():
        base.close()


@pytest.mark.parametrize(
    ("context", "answer"),
    [(None, "Ada Renk"), ({"top_k": 3}, "Ada Renk"), ({"knowledge_base": "towns", "top_k": 3}, "Karl Senn")],
)
def test_of_several_knowledge_bases_the_run_names_the_one_to_ask(
    context: dict[str, Any] | None, answer: str, several: Any
) -> None:
    asked = {"question": "Who built Ferrow Mill?"}
    said = {"messages": [HumanMessage("Who built Ferrow Mill?")]}

    assert several["native_rag"].invoke(asked, context=context)["answer"] == answer
    assert several["cirag_chat"].invoke(said, context=context)["messages"][-1].text == answer


def test_a_thread_that_asks_another_knowledge_base_counts_only_its_last_question(several: Any) -> None:
    graph = several["native_rag"].copy({"checkpointer": InMemorySaver()})
    thread: Any = {"configurable": {"thread_id": "1"}}
    asked = {"question": "Who built Ferrow Mill?"}

    first = graph.invoke(asked, thread)
    second = graph.invoke(asked, thread, context={"knowledge_base": "towns"})

    assert (first["answer"], second["answer"]) == ("Ada Renk", "Karl Senn")
    assert second["usage"]["calls"] == first["usage"]["calls"] and len(second["trace"]) == len(first["trace"])


def test_a_knowledge_base_that_is_not_there_is_told(several: Any) -> None:
    names = several["native_rag"].get_context_jsonschema()["properties"]["knowledge_base"]

    assert names["enum"] == ["mills", "towns"]
    with pytest.raises(UnknownNameError, match="mills, towns"):
        several["native_rag"].invoke({"question": "Who built Ferrow Mill?"}, context={"knowledge_base": "rivers"})


def test_knowledge_bases_of_one_name_are_refused(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.close()
    monkeypatch.setenv("LANGGRAPH_RAG_KB", f"{kb.path}{os.pathsep}{kb.path}")
    monkeypatch.setattr("langgraph_rag.tools.ingest.embeddings.load_embeddings", lambda _: embeddings)

    with pytest.raises(KnowledgeBaseError, match="names that differ in LANGGRAPH_RAG_KB"):
        runpy.run_module("langgraph_rag.studio")


def test_a_mistyped_folder_is_told_and_not_made(
    tmp_path: Path, embeddings: ArithmeticEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGGRAPH_RAG_KB", str(tmp_path / "typo"))
    monkeypatch.setattr("langgraph_rag.tools.ingest.embeddings.load_embeddings", lambda _: embeddings)

    with pytest.raises(KnowledgeBaseError, match="there is no knowledge base in .*typo: make one with `langgraph-rag"):
        runpy.run_module("langgraph_rag.studio")

    assert list(tmp_path.iterdir()) == []


def test_the_container_file_that_langgraph_writes_installs_what_embeds_and_no_shell_reads_the_versions(
    tmp_path: Path,
) -> None:
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    command = ["-m", "langgraph_cli", "dockerfile", str(tmp_path / "Dockerfile"), "-c", "langgraph.json"]
    quiet = {**os.environ, "LANGGRAPH_CLI_NO_ANALYTICS": "1"}

    subprocess.run([sys.executable, *command], cwd=REPOSITORY, env=quiet, check=True, capture_output=True)

    lines = (tmp_path / "Dockerfile").read_text().splitlines()
    (installed,) = (line for line in lines if line.startswith("RUN") and "torch" in line)
    wanted = {re.split("[<>=~]", one)[0] for extra in ("minilm", "openai") for one in extras[extra]}
    assert wanted <= {re.split("[<>=~]", one)[0] for one in installed.split()}
    assert not set("<>") & set(installed)  # they would redirect


def test_all_graphs_are_of_one_module() -> None:
    """A file would be executed anew for each graph in it, with a knowledge base and an embedder for each."""
    graphs = json.loads((REPOSITORY / "langgraph.json").read_text())["graphs"]

    assert {name: graph["path"] for name, graph in graphs.items()} == {
        name: f"langgraph_rag.studio:{name}" for name in graphs
    }


async def test_the_schemas_a_user_interface_needs_are_there(client: Any) -> None:
    assistants = await client.assistants.search(limit=100)
    (assistant,) = [found for found in assistants if found["graph_id"] == "cirag"]

    schemas = await client.assistants.get_schemas(assistant["assistant_id"])

    assert {found["graph_id"] for found in assistants} == {name + how for name in SERVED for how in ("", "_chat")}
    assert set(schemas["input_schema"]["properties"]) == {"question"}
    assert {"answer", "supported", "evidence", "passages", "trace", "usage"} <= set(
        schemas["output_schema"]["properties"]
    )
    assert {"top_k", "max_steps", "search"} <= set(schemas["context_schema"]["properties"])


@pytest.mark.parametrize("name", sorted(METHODS))
async def test_each_graph_shows_readable_steps_and_settings_with_descriptions_and_limits(
    name: str, client: Any
) -> None:
    assistants = await client.assistants.search(graph_id=name)
    graph = await client.assistants.get_graph(assistants[0]["assistant_id"])
    settings = (await client.assistants.get_schemas(assistants[0]["assistant_id"]))["context_schema"]["properties"]

    nodes = {node["id"] for node in graph["nodes"]} - {"__start__", "__end__"}
    assert {"receive_question", "conclude"} <= nodes
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", node) for node in nodes)
    assert all(setting["description"] for setting in settings.values())
    assert settings["top_k"]["minimum"] == 1
    assert settings["search"]["enum"] == ["dense", "bm25", "hybrid", "graph"]


async def test_each_graph_answers_with_settings_events_and_tokens(client: Any) -> None:
    await asyncio.gather(*(answers_with_settings_events_and_tokens(name, client) for name in METHODS))


async def answers_with_settings_events_and_tokens(name: str, client: Any) -> None:
    modes = ["custom", "messages-tuple", "values"]
    run = client.runs.stream(
        None, name, input={"question": QUESTION}, stream_mode=modes, context={"top_k": 6, "max_steps": 3}
    )

    parts = [part async for part in run]

    events = [part.data for part in parts if part.event == "custom"]
    assert [part.data for part in parts if part.event == "error"] == [], name
    assert (events[0]["node"], events[-1]["node"]) == ("receive_question", "conclude"), name
    written = "".join(part.data[0]["content"] for part in parts if part.event == "messages")
    assert written == parts[-1].data["answer"], name


async def test_each_graph_talks_in_messages(client: Any) -> None:
    await asyncio.gather(*(talks_in_messages(name, client) for name in METHODS))


async def talks_in_messages(name: str, client: Any) -> None:
    thread = (await client.threads.create())["thread_id"]
    for question in ("Who died later, Ilse Tarrant or Tobin Grell?", QUESTION):
        asked = {"messages": [{"type": "human", "content": question}]}
        await client.runs.wait(thread, f"{name}_chat", input=asked)

    messages = (await client.threads.get_state(thread))["values"]["messages"]

    assert [message["type"] for message in messages] == ["human", "ai"] * 2, name
    assert all(message["content"] for message in messages), name
    assert {"supported", "evidence", "passages", "usage"} <= set(messages[-1]["additional_kwargs"]), name


async def test_a_plan_waits_to_be_approved_or_edited(client: Any) -> None:
    thread, graph = (await client.threads.create())["thread_id"], "par_rag_approve_plan"
    waiting = await client.runs.wait(thread, graph, input={"question": QUESTION})
    plan = waiting["__interrupt__"][0]["value"]["plan"]

    result = await client.runs.wait(thread, graph, command={"resume": ["Who directed Nine Tides?"]})

    assert len(plan) > 1
    assert [step["question"] for step in result["plan"]] == ["Who directed Nine Tides?"]
    assert result["trajectories"][0]["answer"].startswith("Ilse Tarrant")


async def test_each_graph_is_a_tool_of_the_model_context_protocol(url: str) -> None:
    tools = {tool["description"]: tool for tool in mcp(url, "tools/list")["tools"]}
    (cirag,) = [tool for tool in tools.values() if tool["name"] == "CIRAG"]

    result = mcp(url, "tools/call", name="CIRAG", arguments={"question": QUESTION})

    assert len(tools) == 2 * len(SERVED)
    assert all("from the documents" in description for description in tools)
    assert list(cirag["inputSchema"]["properties"]) == ["question"]
    assert "'answer': 'yes'" in result["content"][0]["text"]


async def test_a_plan_cannot_wait_where_nobody_can_be_asked(url: str, client: Any) -> None:
    called = mcp(url, "tools/call", name="PAR_RAG_approve_plan", arguments={"question": QUESTION})
    run = await client.runs.wait(None, "par_rag_approve_plan", input={"question": QUESTION}, raise_error=False)

    assert called["isError"]
    assert "on LangGraph's server, which brings its own, run it on a thread" in run["__error__"]["message"]


def mcp(url: str, method: str, **params: Any) -> Any:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/mcp", body, headers), timeout=PATIENCE) as reply:
        return json.load(reply)["result"]


async def test_a_question_is_answered_step_by_step(client: Any) -> None:
    parts = await stream(client, QUESTION, context={"max_steps": 2})

    nodes = [node for part in parts if part.event == "updates" for node in part.data]
    events = [part.data for part in parts if part.event == "custom"]
    assert [part.data for part in parts if part.event == "error"] == []
    assert nodes[:4] == ["receive_question", "retrieve", "construct", "integrate"]
    assert nodes[-1] == "conclude"
    assert {"retrieve", "integrate", "conclude"} <= {event["node"] for event in events} <= set(nodes)
    assert {event["v"] for event in events} == {1}
    assert parts[-1].data["answer"] == "yes"


async def test_the_context_reaches_the_run(client: Any) -> None:
    far = "Into which strait does the river that runs through the birthplace of Corwen Ashlade flow?"

    parts = await stream(client, far, context={"max_steps": 1, "top_k": 3})

    assert len(parts[-1].data["trace"]) == 1
    assert [len(part.data["passages"]) for part in parts if part.event == "custom" and "passages" in part.data] == [3]


async def test_a_thread_takes_two_questions_and_keeps_them_apart(client: Any) -> None:
    thread = (await client.threads.create())["thread_id"]

    await stream(client, "Who died later, Ilse Tarrant or Tobin Grell?", thread)
    again = await stream(client, QUESTION, thread)

    alone = await stream(client, QUESTION)
    assert again[-1].data["evidence"] == alone[-1].data["evidence"] != []
    assert (await client.threads.get_state(thread))["values"]["answer"] == "yes"


async def test_a_bad_question_is_an_error_of_the_run_that_says_what_is_wrong(client: Any) -> None:
    parts = await stream(client, "  ")

    assert (parts[-1].event, parts[-1].data["error"]) == ("error", "QuestionError")
    assert parts[-1].data["message"] == "expected a question as a non-empty string, got '  '"


async def test_nothing_blocks_the_server(client: Any, place: Path) -> None:
    await stream(client, QUESTION)

    log = (place / "log.txt").read_text()
    assert "Starting background run" in log
    assert "Blocking" not in log


async def test_the_server_writes_where_it_was_started_and_not_into_the_repository(client: Any, place: Path) -> None:
    await stream(client, QUESTION)

    assert (place / ".langgraph_api").is_dir()
    assert leftovers() == LEFT_BY_OTHERS
