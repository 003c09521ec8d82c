"""Models by name: what each name loads, and what is sent to a served model."""

import asyncio
import gc
import gzip
import json
import re
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from openai import DefaultAsyncHttpxClient
from pydantic import SecretStr
from servers import serving

from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.errors import (
    MissingExtraError,
    ModelAccessError,
    ModelCallError,
    ModelOutputError,
    RagError,
    RequestRefusedError,
    UnknownNameError,
    retry_on,
)
from langgraph_rag.graphs.native_rag import create_native_rag
from langgraph_rag.llm import ask
from langgraph_rag.metering import estimated_tokens, metered
from langgraph_rag.models.loading import load_model
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.prompts.answering import ANSWER_FROM_TRIPLES, Answer
from langgraph_rag.prompts.dualrag import ANSWER_FROM_OUTLINE, OutlineEntry
from langgraph_rag.tools.knowledge_base import KnowledgeBase

pytestmark = pytest.mark.filterwarnings("ignore:A test tried to use socket")  # ChatOpenAI looks for socket options

TRIPLES = [["Nine Tides", "directed by", "Ilse Tarrant"]]
QUESTION = "Who directed Nine Tides?"
TARRANT = Answer(thought="The fact says so.", answer="Ilse Tarrant")


def who(model: Any) -> Any:
    return ask(model, ANSWER_FROM_TRIPLES, question=QUESTION, triples=TRIPLES)


# --- names -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["", "ofline", "offline:", ":", ":x", "vllm:", "vllm", "openai:", "unheard-of:x"])
def test_a_name_of_no_known_form_is_refused_with_the_forms(name: str) -> None:
    with pytest.raises(
        UnknownNameError, match=f"unknown model '{name}': expected one of offline, vllm:MODEL, .*PROVIDER"
    ):
        load_model(name)


def test_a_model_in_place_of_its_name_is_refused() -> None:
    model: Any = OfflineModel()
    with pytest.raises(TypeError, match="expected a model's name, got OfflineModel"):
        load_model(model)


def test_a_provider_whose_package_is_missing_is_named_with_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "langchain_anthropic", None)

    with pytest.raises(RagError, match="pip install langchain-anthropic`"):
        load_model("anthropic:claude")


def test_a_provider_without_its_key_is_an_error_of_this_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    with pytest.raises(ModelCallError, match="model 'openai:gpt' cannot be set up: .*OPENAI_API_KEY"):
        load_model("openai:gpt")


@pytest.mark.parametrize("name", ["vllm:small", "openai:gpt-4.1"])
def test_a_wrong_option_is_an_error_of_this_package(name: str) -> None:
    with pytest.raises(ModelCallError, match=f"model '{name}' cannot be set up: temperature: "):
        load_model(name, api_key="k", temperature="hot")


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("offline", {"max_new_token": 1}, "max_new_token: Extra inputs"),
        ("transformers:/none", {"devise": "cpu"}, "devise: Extra inputs"),
        ("transformers:/none", {"max_new_tokens": 0}, "max_new_tokens: Input should be greater than 0"),
    ],
)
def test_an_option_that_there_is_not_is_told(name: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(ModelCallError, match=f"model '{name}' cannot be set up: {told}"):
        load_model(name, **options)


def test_a_key_of_the_wrong_kind_is_not_shown() -> None:
    with pytest.raises(ModelCallError, match="cannot be set up: .*api_key") as refused:
        load_model("openai:gpt-5", api_key=["sk-secret"])

    assert "sk-secret" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_folder_whose_model_nobody_knows_is_no_unknown_name(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "unheard-of"}')

    with pytest.raises(ModelCallError, match="cannot be set up"):
        load_model(f"transformers:{tmp_path}")


def test_a_name_that_is_refused_leaves_no_file_of_replies(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError):
        load_model("ofline", cache=tmp_path / "replies.db")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_for_served_models_is_named_by_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_openai", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'langgraph-rag\[openai\]'"):
        load_model("vllm:small")


def test_a_providers_model_is_made_deterministic_unless_told_otherwise() -> None:
    cold = load_model("openai:gpt-4.1", api_key="k")
    warm = load_model("openai:gpt-4.1", api_key="k", temperature=0.7)

    assert isinstance(cold, ChatOpenAI)
    assert isinstance(warm, ChatOpenAI)
    assert (cold.model_name, cold.temperature, warm.temperature) == ("gpt-4.1", 0, 0.7)


@pytest.mark.parametrize("name", ["o4-mini", "gpt-5-mini"])
def test_a_model_that_refuses_a_temperature_is_sent_none(name: str) -> None:
    model: Any = load_model(f"openai:{name}", api_key="k")

    assert "temperature" not in model._get_request_payload([HumanMessage("Who?")])


def test_a_served_model_is_looked_for_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", "http://gpu:9/v1")
    monkeypatch.setenv("VLLM_API_KEY", "secret")
    monkeypatch.setenv("VLLM_TIMEOUT", "300")

    model = load_model("vllm:org/model:8b")

    assert isinstance(model, ChatOpenAI)
    assert model.request_timeout == 300
    assert (model.model_name, model.openai_api_base) == ("org/model:8b", "http://gpu:9/v1")
    assert model._get_request_payload([HumanMessage("?")])["temperature"] == 0
    assert model.root_async_client.api_key == "secret"
    assert "secret" not in repr(model)


def test_without_environment_a_served_model_is_looked_for_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_BASE_URL", raising=False)
    monkeypatch.delenv("VLLM_API_KEY", raising=False)
    monkeypatch.delenv("VLLM_TIMEOUT", raising=False)

    model = load_model("vllm:small", max_retries=7)

    assert isinstance(model, ChatOpenAI)
    assert (model.openai_api_base, model.max_retries, model.request_timeout) == ("http://localhost:8000/v1", 7, 120)


def test_an_empty_address_or_key_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", "")
    monkeypatch.setenv("VLLM_API_KEY", "")

    model: Any = load_model("vllm:small")

    assert (model.openai_api_base, model.openai_api_key) == ("http://localhost:8000/v1", SecretStr("none"))


@pytest.mark.parametrize("given", ["soon", "0", "-5", "nan", "inf"])
def test_a_time_limit_that_is_none_is_refused(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_TIMEOUT", given)

    with pytest.raises(ModelCallError, match=rf"VLLM_TIMEOUT: expected the seconds .* got '{given}'"):
        load_model("vllm:small")


# --- the offline model -----------------------------------------------------------------------------------------------
async def test_the_offline_model_answers_the_packages_prompts() -> None:
    model = load_model("offline")
    died = [["Ilse Tarrant", "died", "9 June 1984"], ["Tobin Grell", "died", "18 April 1983"]]

    reply = await ask(model, ANSWER_FROM_TRIPLES, question="Who died later, Ilse Tarrant or Tobin Grell?", triples=died)

    assert isinstance(model, OfflineModel)
    assert reply.answer == "Ilse Tarrant"


async def test_the_offline_model_goes_no_hop_too_far_where_it_is_told_to_name_something() -> None:
    known = [["Norra", "has president", "Ada Renk"], ["Ada Renk", "was born in", "Tarn"]]

    reply = await ask(
        load_model("offline"), ANSWER_FROM_TRIPLES, question="Name the president of Norra.", triples=known
    )

    assert reply.answer == "Ada Renk"


async def test_the_offline_model_says_that_it_does_not_take_free_text() -> None:
    message = "the offline model answers only the prompts of this package .*not free text: use another model"

    with pytest.raises(RagError, match=message):
        load_model("offline").invoke("Hello!")
    with pytest.raises(RagError, match=message):
        await load_model("offline").ainvoke("Hello!")


# --- a served model --------------------------------------------------------------------------------------------------
class Handler(BaseHTTPRequestHandler):
    server: "Server"

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.server.keys.append(self.headers["Authorization"])
        self.server.headers.append(self.headers)
        self.server.sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.server.waits_for.wait()
        reply: Any = (self.server.status, {}, completion(self.server.reply))
        if self.server.refusal and "response_format" in self.server.sent[-1]:
            reply = (400, {}, {"error": {"message": self.server.refusal}})
        elif self.server.roles_refused & {message["role"] for message in self.server.sent[-1]["messages"]}:
            reply = (400, {}, {"error": {"message": "System role not supported"}})
        elif self.server.first:
            reply = self.server.first.pop(0)
        status, headers, body = reply
        if isinstance(body, Iterator):
            self.write(status, headers, body)
            return
        content = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        usual = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        for name, value in {**usual, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def write(self, status: int, headers: dict[str, str], parts: Iterator[bytes]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(ConnectionError):
            self.wfile.writelines(parts)

    def log_message(self, *_: object) -> None: ...


class Server(ThreadingHTTPServer):
    """An OpenAI-compatible server: keeps what it is sent and replies with what it is told to."""

    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.reply = 200, TARRANT.model_dump_json()
        self.first: list[tuple[int, dict[str, str], Any]] = []  # replies before that one
        self.refusal = ""  # of requests with a response_format
        self.roles_refused: set[str] = set()
        self.waits_for = threading.Event()
        self.waits_for.set()
        self.keys: list[str] = []
        self.headers: list[Any] = []
        self.sent: list[dict[str, Any]] = []

    def model(self, **options: Any) -> Any:
        url = f"http://127.0.0.1:{self.server_port}/v1"
        return load_model("vllm:small", **{"base_url": url, "max_retries": 0, **options})

    def shutdown(self) -> None:
        self.waits_for.set()  # a reply that is held back would wait for ever
        super().shutdown()


def completion(text: str, finish_reason: str = "stop") -> dict[str, Any]:
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "small",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 111, "completion_tokens": 22, "total_tokens": 133},
    }


def stream(*events: dict[str, Any] | str, name: str = "text/event-stream") -> tuple[int, dict[str, str], str]:
    """Return a reply that is written piece by piece: texts are what the model writes."""
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "small"}
    chunks = [
        {**head, "choices": [{"index": 0, "delta": {"role": "assistant", "content": event}}]}
        if isinstance(event, str)
        else event
        for event in events
    ]
    lines = [f"data: {line}\n\n" for line in [*map(json.dumps, chunks), "[DONE]"]]
    return 200, {"Content-Type": name}, "".join(lines)


@pytest.fixture
def server(localhost: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Serve; who is sent away by it does not wait long before asking again."""
    monkeypatch.setattr("langgraph_rag.models.sending._FIRST_PAUSE", 0.1)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.1)
    with serving(Server()) as server:
        yield server


async def test_a_served_model_is_asked_by_schema_and_sent_nothing_but_the_text(server: Server) -> None:
    assert await who(server.model(api_key="secret")) == TARRANT

    instructions, request = ANSWER_FROM_TRIPLES.render(question=QUESTION, triples=TRIPLES)
    (body,) = server.sent
    assert body == {
        "model": "small",
        "temperature": 0,
        "stream": False,
        "max_completion_tokens": 2048,
        "messages": [
            {"role": "system", "content": instructions.text},
            {"role": "user", "content": request.text},
        ],
        "chat_template_kwargs": {"enable_thinking": False},
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer_from_triples", "schema": Answer.model_json_schema()},
        },
    }
    assert server.keys == ["Bearer secret"]


async def test_the_servers_own_count_of_tokens_is_what_is_counted(server: Server) -> None:
    with metered() as usage:
        await who(server.model())
        await who(server.model())

    assert (usage["calls"], usage["input_tokens"], usage["output_tokens"]) == (2, 222, 44)


async def test_a_served_models_bad_replies_go_back_to_it(server: Server) -> None:
    server.reply = "I would say: Ilse Tarrant."

    with pytest.raises(ModelOutputError, match="small gave no usable reply in 3 attempts"):
        await who(server.model())

    roles = [[message["role"] for message in body["messages"]] for body in server.sent]
    assert roles[2] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert all("response_format" in body for body in server.sent)


def test_one_served_model_works_from_several_event_loops(server: Server) -> None:
    model = server.model()

    assert [asyncio.run(who(model)) for _ in range(2)] == [TARRANT, TARRANT]
    assert [run_in_background(who(model)) for _ in range(2)] == [TARRANT, TARRANT]


def test_a_users_own_model_works_from_several_event_loops_and_stays_as_it_was(server: Server) -> None:
    url = f"http://127.0.0.1:{server.server_port}/v1"
    own = ChatOpenAI(model="small", base_url=url, api_key=SecretStr("k"), default_headers={"X-Team": "maps"})
    client = own.root_async_client

    for _ in range(2):
        assert asyncio.run(who(own)) == TARRANT
        assert run_in_background(who(own)) == TARRANT
    assert asyncio.run(own.ainvoke("Hello!")).text == TARRANT.model_dump_json()
    assert own.root_async_client is client
    assert server.headers[0]["X-Team"] == "maps"


async def test_a_change_of_a_model_takes_effect(server: Server) -> None:
    model = server.model()

    for seed in (1, 1, 2):
        model.seed = seed
        await who(model)

    assert [body["seed"] for body in server.sent] == [1, 1, 2]


async def test_many_questions_at_once_are_each_asked(server: Server) -> None:
    model = server.model()

    for _ in range(2):
        assert await asyncio.gather(*(who(model) for _ in range(20))) == [TARRANT] * 20
    assert len(server.sent) == 40


@pytest.mark.parametrize("own_client", [lambda: None, DefaultAsyncHttpxClient])
async def test_a_model_that_was_asked_is_not_kept(server: Server, own_client: Callable[[], Any]) -> None:
    model = server.model(http_async_client=own_client())
    await who(model)
    kept = weakref.ref(model)

    del model
    gc.collect()
    assert kept() is None


# --- models of other kinds, and what LangChain wraps around them -----------------------------------------------------
def azure(server: Server) -> AzureChatOpenAI:
    return AzureChatOpenAI(
        azure_endpoint=f"http://127.0.0.1:{server.server_port}",
        azure_deployment="small",
        api_version="2024-10-21",
        api_key=SecretStr("k"),
        max_retries=0,
    )


def with_retries(server: Server) -> Any:
    return server.model().bind(seed=1).with_retry(stop_after_attempt=1)


def with_fallbacks(server: Server) -> Any:
    return server.model().with_fallbacks([server.model().bind(seed=1)])


@pytest.mark.parametrize("model_of", [azure, with_retries, with_fallbacks])
def test_kindred_and_wrapped_models_work_from_several_event_loops(
    server: Server, model_of: Callable[[Server], Any]
) -> None:
    model = model_of(server)

    for _ in range(2):
        assert run_in_background(who(model)) == TARRANT
        assert asyncio.run(who(model)) == TARRANT
    assert len(server.sent) == 4


@pytest.mark.parametrize(("model_of", "asked"), [(azure, True), (with_retries, True), (with_fallbacks, False)])
async def test_kindred_and_wrapped_models_are_asked_by_schema_unless_there_are_several(
    server: Server, model_of: Callable[[Server], Any], asked: bool
) -> None:
    assert await who(model_of(server)) == TARRANT

    assert with_schema(server) == [asked]


async def test_options_that_are_bound_to_a_model_stand(server: Server) -> None:
    model = server.model()
    form = {"type": "json_object"}

    await who(model.bind(seed=1, extra_body={"top_k": 1}).bind(seed=2))
    await who(model.bind(response_format=form))

    first, second = server.sent
    assert (first["seed"], first["top_k"], first["response_format"]["type"]) == (2, 1, "json_schema")
    assert "chat_template_kwargs" not in first
    assert second["response_format"] == form
    assert second["chat_template_kwargs"] == {"enable_thinking": False}


async def test_an_error_names_the_model_that_is_wrapped_and_hides_the_keys_of_all(server: Server) -> None:
    first, second = (server.model(api_key=key) for key in ("sk-SECRET-1", "sk-SECRET-2"))
    server.first = [(401, {}, {"error": {"message": "Incorrect API keys: sk-SECRET-1, sk-SECRET-2"}})] * 2

    with pytest.raises(ModelCallError) as raised:
        await who(first.with_fallbacks([second]).with_retry(stop_after_attempt=1))

    assert str(raised.value).startswith("small could not be asked: ")
    assert f"(server: http://127.0.0.1:{server.server_port}/v1)" in str(raised.value)
    assert "SECRET" not in str(raised.value)


async def test_a_stream_of_a_bound_model_that_breaks_off_is_asked_for_again(server: Server) -> None:
    server.first = [FAILED, WHOLE]

    reply = await who(server.model(max_retries=1, streaming=True).bind(seed=1))

    assert reply.answer == "Ilse Tarrant"
    assert len(server.sent) == 2


async def test_what_is_changed_about_a_model_after_its_first_call_holds_for_the_next(server: Server) -> None:
    model = server.model()
    await who(model)

    model.temperature, model.model_name, model.max_tokens = 0.9, "large", 77
    await who(model)

    sent = [(body["temperature"], body["model"], body.get("max_completion_tokens")) for body in server.sent]
    assert sent == [(0.0, "small", 2048), (0.9, "large", 77)]


async def test_a_model_with_a_client_of_its_owners_keeps_it(server: Server) -> None:
    asked = []

    async def note(request: Any) -> None:
        asked.append(request)

    async with DefaultAsyncHttpxClient(event_hooks={"request": [note]}) as client:
        await who(server.model(http_async_client=client))

    assert len(asked) == 1


# --- servers that know no JSON schema ---------------------------------------------------------------------------------
REFUSAL = "response_format json_schema is not supported"
LLAMA_CPP_PYTHON = """1 validation error:
  {'loc': ('body', 'response_format', 'type'), 'msg': "Input should be 'text' or 'json_object'"}
"""


def with_schema(server: Server) -> list[bool]:
    return ["response_format" in body for body in server.sent]


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_server_that_refuses_a_schema_is_asked_without_from_then_on(
    server: Server, streaming: bool, caplog: pytest.LogCaptureFixture
) -> None:
    server.refusal = REFUSAL
    if streaming:
        server.first = [stream(TARRANT.model_dump_json())] * 3
    model = server.model(streaming=streaming)

    with metered() as usage:
        assert [await who(model) for _ in range(3)] == [TARRANT] * 3

    assert with_schema(server) == [True, False, False, False]
    assert usage["calls"] == 3
    assert [record.message for record in caplog.records if "response_format" in record.message] == [
        f"http://127.0.0.1:{server.server_port}/v1 refuses response_format: "
        "its replies are no longer asked for by JSON schema"
    ]


@pytest.mark.parametrize(
    "told",
    [
        {"error": REFUSAL},
        {"error": {"message": "Unsupported value", "param": "response_format"}},
        {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]},
        {"error": {"message": "Failed to initialize samplers: failed to parse grammar"}},
        {"error": {"message": 'Grammar error: Unimplemented keys: ["maxItems"]'}},
        {"error": {"message": 'response_format type must be one of "text" or "json_object"'}},
        {"detail": "JSON schema conversion failed"},
        {"error": {"message": LLAMA_CPP_PYTHON, "type": "internal_server_error", "param": None, "code": None}},
    ],
    ids=["error", "param", "detail", "sampler", "grammar", "type", "conversion", "llama-cpp-python"],
)
@pytest.mark.parametrize("status", [400, 422, 500])
async def test_servers_may_refuse_a_schema_in_many_ways(server: Server, status: int, told: Any) -> None:
    server.first = [(status, {}, told)]

    assert await who(server.model()) == TARRANT
    assert with_schema(server) == [True, False]


@pytest.mark.parametrize("status", [400, 422, 501])
@pytest.mark.parametrize(
    "told",
    [
        'Invalid JSON payload received. Unknown name "maxItems"',
        "'additionalProperties' is not supported",
        "Bad request",
        "keyword 'pattern' cannot be compiled",
        "strict mode requires all properties",
        "Schließt nicht ab: $defs",
    ],
)
async def test_a_refusal_in_other_words_is_decided_by_one_try_without_the_schema(
    server: Server, status: int, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    server.first = [(status, {}, {"error": {"message": told}})]
    model = server.model()

    assert [await who(model) for _ in range(3)] == [TARRANT] * 3
    assert with_schema(server) == [True, False, False, False]
    assert sum("refuses response_format" in record.message for record in caplog.records) == 1


@pytest.mark.parametrize(
    "told",
    [
        "No endpoints found that can handle the requested parameters.",
        "openai does not support the following parameters: response_format",
        "This model does not support structured outputs",
    ],
)
@pytest.mark.parametrize("status", [403, 404, 405, 415, 424])
async def test_a_gateway_may_refuse_a_schema_as_what_nobody_has_or_may(server: Server, status: int, told: str) -> None:
    server.first = [(status, {}, {"error": {"message": told}})]

    assert await who(server.model()) == TARRANT
    assert with_schema(server) == [True, False]


@pytest.mark.parametrize(
    "told",
    [
        "The model returned an unsupported stream option",
        "System role not supported with constrained decoding",
        "max_tokens is too large for strict mode",
    ],
)
async def test_a_refusal_that_sounds_like_one_of_something_else_is_decided_by_a_try_without_the_schema_last(
    server: Server, told: str
) -> None:
    server.refusal = told

    assert await who(server.model(max_tokens=4096)) == TARRANT
    assert with_schema(server)[0]
    assert not with_schema(server)[-1]


async def test_an_internal_error_without_a_word_of_a_schema_tells_about_it_only_the_second_time(server: Server) -> None:
    broken: tuple[int, dict[str, str], Any] = (500, {}, {"error": {"message": "Internal server error"}})
    well: tuple[int, dict[str, str], Any] = (200, {}, completion(TARRANT.model_dump_json()))
    model = server.model()

    server.first = [broken, well, well, broken, well, broken, well]
    assert [await who(model) for _ in range(5)] == [TARRANT] * 5
    assert with_schema(server) == [True, False, True, True, False, True, False, False]


async def test_a_server_that_is_really_broken_is_asked_twice_and_then_it_is_an_error(server: Server) -> None:
    server.status = 500
    server.reply = "worker died"
    model = server.model()

    for _ in range(2):
        with pytest.raises(ModelCallError, match="500"):
            await who(model)
    server.status, server.reply = 200, TARRANT.model_dump_json()
    assert await who(model) == TARRANT
    assert with_schema(server) == [True, False, True, False, True]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (503, "overloaded"),
        (502, "response_format: bad gateway"),
        (404, "the model does not exist"),
        (400, "invalid model name"),
        (400, "Invalid model: small"),
        (400, "Model Not Exist"),
        (400, "The requested model 'small' is not supported by any provider you have enabled."),
        (400, "API key not valid. Please pass a valid API key."),
        (403, "Your plan does not include this model"),
        (400, "the prompt triggered the content management policy"),
        (401, "no key"),
    ],
)
async def test_other_errors_are_not_asked_about_again(server: Server, status: int, told: str) -> None:
    server.first = [(status, {}, {"error": {"message": told}})] * 2

    with pytest.raises(ModelCallError, match=told):
        await who(server.model())
    assert with_schema(server) == [True]


async def test_questions_side_by_side_learn_together_that_a_schema_is_refused(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.refusal = REFUSAL
    model = server.model()

    assert await asyncio.gather(*(who(model) for _ in range(20))) == [TARRANT] * 20
    assert await asyncio.gather(*(who(model) for _ in range(20))) == [TARRANT] * 20

    assert sum(with_schema(server)) <= 20
    assert len([record for record in caplog.records if "response_format" in record.message]) == 1


@pytest.mark.parametrize(
    "told", ["Failed to generate JSON.", "Generated JSON does not match the expected schema. Error: jsonschema: ''"]
)
@pytest.mark.parametrize("code", ["json_validate_failed", "tool_use_failed", "output_parse_failed"])
async def test_a_reply_that_misses_its_schema_is_asked_for_without_this_once(
    server: Server, told: str, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    server.first = [(400, {}, {"error": {"message": told, "code": code}})]
    model = server.model()

    assert [await who(model) for _ in range(2)] == [TARRANT] * 2
    assert with_schema(server) == [True, False, True]
    assert not caplog.records


async def test_what_is_refused_without_a_schema_too_was_not_refused_for_it(server: Server) -> None:
    model = server.model()
    server.first = [(400, {}, {"error": {"message": "no swearing, in {'response_format': ...}"}})] * 2

    with pytest.raises(RequestRefusedError, match="no swearing"):
        await who(model)
    assert await who(model) == TARRANT
    assert with_schema(server) == [True, False, True]


# --- models that know no system ---------------------------------------------------------------------------------------
def roles(server: Server) -> list[list[str]]:
    return [[message["role"] for message in body["messages"]] for body in server.sent]


@pytest.mark.parametrize(
    "told",
    [
        "System role not supported",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "Only user and assistant roles are supported!",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "Developer instruction is not enabled for models/gemma-3-27b-it",
    ],
)
async def test_a_model_that_knows_no_system_finds_the_instructions_in_the_users_message(
    server: Server, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    server.first = [(400, {}, {"error": {"message": told}})]
    model = server.model()

    assert [await who(model) for _ in range(2)] == [TARRANT] * 2

    assert roles(server) == [["system", "user"], ["user"], ["user"]]
    (instructions, request), (both,) = (body["messages"] for body in server.sent[:2])
    assert both["content"] == f"{instructions['content']}\n\n{request['content']}"
    assert with_schema(server) == [True, True, True]
    assert [record.message for record in caplog.records if "system" in record.message] == [
        f"http://127.0.0.1:{server.server_port}/v1 refuses system messages: instructions now stand in the user's"
    ]


async def test_a_reply_of_a_model_that_knows_no_system_is_repaired(server: Server) -> None:
    server.first = [
        (400, {}, {"error": {"message": "System role not supported"}}),
        (200, {}, completion("Ilse Tarrant, I think")),
    ]

    assert await who(server.model()) == TARRANT
    assert roles(server) == [["system", "user"], ["user"], ["user", "assistant", "user"]]


async def test_neither_a_system_nor_a_schema_may_be_known(server: Server) -> None:
    server.refusal = REFUSAL
    server.roles_refused = {"system"}
    model = server.model()

    assert [await who(model) for _ in range(2)] == [TARRANT] * 2
    assert not with_schema(server)[-1]
    assert roles(server)[-1] == ["user"]


async def test_a_model_that_names_another_form_is_not_asked_by_schema(server: Server) -> None:
    form = {"type": "text"}

    assert await who(server.model(extra_body={"response_format": form})) == TARRANT
    assert server.sent[0]["response_format"] == form


# --- servers that do not stream --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "told",
    [
        (400, {}, {"error": {"message": "stream is not supported"}}),
        (200, {}, completion(TARRANT.model_dump_json())),
        (200, {"Content-Type": "text/event-stream"}, ""),
    ],
    ids=["refused", "whole", "empty"],
)
async def test_a_server_that_does_not_stream_is_asked_for_whole_replies_from_then_on(
    server: Server, told: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server.first = [told]
    model = server.model(streaming=True)

    assert [await who(model) for _ in range(2)] == [TARRANT] * 2

    assert [body.get("stream", False) for body in server.sent] == [True, False, False]
    assert [record.message for record in caplog.records if "stream" in record.message] == [
        f"http://127.0.0.1:{server.server_port}/v1 does not stream: its replies are no longer asked for piece by piece"
    ]


async def test_a_server_that_speaks_of_what_is_upstream_of_it_still_streams(server: Server) -> None:
    server.first = [(400, {}, {"error": {"message": "upstream error: reset"}})] * 2
    model = server.model(streaming=True)

    with pytest.raises(RequestRefusedError):
        await who(model)

    assert await who(model) == TARRANT
    assert [body["stream"] for body in server.sent[:2]] == [True, True]


# --- servers that know no options of a chat template ------------------------------------------------------------------
def templated(server: Server) -> list[bool]:
    return ["chat_template_kwargs" in body for body in server.sent]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (400, {"error": {"message": "property 'chat_template_kwargs' is unsupported"}}),
        (400, {"error": {"message": "Unrecognized request argument supplied: chat_template_kwargs"}}),
        (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "chat_template_kwargs"], "msg": "Not known"}]}),
    ],
    ids=["Groq", "OpenAI", "Mistral"],
)
async def test_a_server_that_refuses_options_of_the_chat_template_is_sent_none_from_then_on(
    server: Server, status: int, told: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server.first = [(status, {}, told)]
    model = server.model(extra_body={"top_k": 1, "chat_template_kwargs": {"enable_thinking": False}})

    assert [await who(model) for _ in range(2)] == [TARRANT] * 2

    assert templated(server) == [True, False, False]
    assert [body["top_k"] for body in server.sent] == [1, 1, 1]
    assert with_schema(server) == [True, True, True]
    assert [record.message for record in caplog.records] == [
        f"http://127.0.0.1:{server.server_port}/v1 refuses chat_template_kwargs: "
        "its chat template is no longer told anything"
    ]


async def test_neither_a_schema_nor_options_of_the_chat_template_may_be_known(server: Server) -> None:
    server.refusal = REFUSAL
    server.first = [(400, {}, {"error": {"message": "property 'chat_template_kwargs' is unsupported"}})]
    model = server.model().bind(extra_body={"chat_template_kwargs": {"enable_thinking": False}})

    assert [await who(model) for _ in range(2)] == [TARRANT] * 2

    assert (with_schema(server), templated(server)) == ([True, False, False, False], [True, True, False, False])


async def test_what_is_refused_without_options_of_the_chat_template_too_was_not_refused_for_them(
    server: Server,
) -> None:
    server.first = [(400, {}, {"error": {"message": "no swearing, in {'chat_template_kwargs': ...}"}})] * 2
    model = server.model()

    with pytest.raises(RequestRefusedError, match="no swearing"):
        await who(model)
    assert await who(model) == TARRANT
    assert templated(server) == [True, False, True]


async def test_a_refusal_of_options_that_were_not_sent_is_told_at_once(server: Server) -> None:
    url = f"http://127.0.0.1:{server.server_port}/v1"
    own = ChatOpenAI(model="small", base_url=url, api_key=SecretStr("k"), max_retries=0)
    server.first = [(400, {}, {"error": {"message": "no swearing, in {'chat_template_kwargs': ...}"}})]

    with pytest.raises(RequestRefusedError, match="no swearing"):
        await who(own)
    assert len(server.sent) == 1


# --- prompts that are too long ---------------------------------------------------------------------------------------
VLLM_OVERFLOW = {
    "error": {
        "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens. "
        "Please reduce the length of the messages.",
        "type": "BadRequestError",
        "param": None,
        "code": 400,
    }
}
EIGHT = [[f"Film {number}", "directed by", "Ilse Tarrant"] for number in range(8)]


def shown(server: Server) -> list[int]:
    return [str(body["messages"][1]["content"]).count("directed by") for body in server.sent]


@pytest.mark.parametrize("too_long", [(400, {}, VLLM_OVERFLOW), (200, {}, completion('{"thought": "It', "length"))])
async def test_a_prompt_that_is_too_long_is_asked_again_with_less(server: Server, too_long: Any) -> None:
    server.first = [too_long, too_long]

    with metered() as usage:
        reply = await ask(server.model(), ANSWER_FROM_TRIPLES, question=QUESTION, triples=EIGHT)

    assert reply.answer == TARRANT.answer
    assert reply.shown(EIGHT) == EIGHT[:2]
    assert shown(server) == [8, 4, 2]
    assert (usage["left_out"], usage["calls"], usage["repairs"], usage["estimated_tokens"]) == (6, 3, 0, 0)


async def test_less_of_the_only_item_counts_as_left_out(server: Server) -> None:
    server.first = [(400, {}, VLLM_OVERFLOW)]
    outline = [OutlineEntry(entity="Kell", fragments=["An island.", "Ilse Tarrant lives there."], read=[])]

    with metered() as usage:
        await ask(server.model(), ANSWER_FROM_OUTLINE, question=QUESTION, outline=outline, thoughts=[])

    assert usage["left_out"] == 1
    assert "An island." not in str(server.sent[-1]["messages"])


TOLD = VLLM_OVERFLOW["error"]["message"]


TOO_LONG = [
    (400, "Input is too long for requested model."),
    (400, "Prompt too long"),
    (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    (422, "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000"),
    (400, "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000."),
    (400, "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model"),
    (400, "Please reduce the length of the messages or completion."),
    (400, "Request too large for model `x`: Limit 6000, Requested 8000, please reduce your message size"),
    (400, "Prompt length 5000 is greater than max_seq_len 4096"),
    (400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"),
    (400, "Input length 5000 exceeds maximum allowed token size 4096"),
    (400, "Invalid request: Your request exceeded model token limit: 8192"),
    (400, "Prompt exceeds max length"),
    (400, "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576"),
    (400, "The prompt is 5000 tokens long, but the maximum supported sequence length is just 4096!"),
    (400, "litellm.ContextWindowExceededError: it is larger than allowed"),
    (500, "Requested tokens (600) exceed context window of 512"),
    (400, "Input length (5000 tokens) exceeds the maximum allowed length (4096 tokens). Use a shorter input."),
    (400, "Prompt length (5000) exceeds maximum input length (4096)."),
    (400, "Request prompt has 5000 tokens in total, larger than the model input length limit 4096."),
    (413, "Request Entity Too Large"),
]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (400, {"error": TOLD}),
        (400, {"detail": TOLD}),
        (400, TOLD),
        (400, {"error": {"message": "Too much", "code": "context_length_exceeded"}}),
        *((status, {"error": {"message": message}}) for status, message in TOO_LONG),
    ],
)
async def test_servers_may_say_in_many_ways_that_a_prompt_is_too_long(server: Server, status: int, told: Any) -> None:
    server.first = [(status, {}, told)]

    await ask(server.model(), ANSWER_FROM_TRIPLES, question=QUESTION, triples=EIGHT)

    assert shown(server) == [8, 4]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (429, "Too many tokens, please wait before trying again."),
        (429, "Request too large: too many tokens per minute"),
        (503, "Too many tokens per day"),
    ],
)
async def test_limits_of_a_rate_say_nothing_about_the_prompt(server: Server, status: int, told: str) -> None:
    server.first = [(status, {}, {"error": {"message": told}})]

    with pytest.raises(ModelCallError, match=re.escape(told)):
        await ask(server.model(), ANSWER_FROM_TRIPLES, question=QUESTION, triples=EIGHT)
    assert shown(server) == [8]


@pytest.mark.parametrize(
    "told",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 2048 output tokens and your prompt "
        "contains at least 2049 input tokens, for a total of at least 4097 tokens. Please reduce the length of the "
        "input prompt or the number of requested output tokens. (parameter=input_tokens, value=2049)",
        "max_completion_tokens=2048 cannot be greater than max_model_len=max_total_tokens=1024. Please request fewer "
        "output tokens. (parameter=max_completion_tokens, value=2048)",
        "'max_tokens' or 'max_completion_tokens' is too large: 2048. This model's maximum context length is 4096 "
        "tokens and your request has 3000 input tokens (2048 > 4096 - 3000).",
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (2952 in the messages, "
        "2048 in the completion). Please reduce the length of the messages or completion.",
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length",
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of "
        "4900 tokens: 2852 tokens from the input messages and 2048 tokens for the completion.",
        "max_tokens is too large: 2048. This model supports at most 1024 completion tokens",
    ],
)
async def test_a_prompt_that_fits_with_a_shorter_reply_stays_whole(server: Server, told: str) -> None:
    server.first = [(400, {}, {"error": {"message": told}})]

    with metered() as usage:
        await ask(server.model(max_tokens=2048), ANSWER_FROM_TRIPLES, question=QUESTION, triples=EIGHT)

    assert shown(server) == [8, 8]
    assert [body["max_completion_tokens"] for body in server.sent] == [2048, 512]
    assert (usage["left_out"], usage["calls"]) == (0, 1)


async def test_a_prompt_that_does_not_fit_with_a_short_reply_either_loses_something(server: Server) -> None:
    told = "maximum context length is 4096 tokens. However, you requested 2048 output tokens"
    server.first = [(400, {}, {"error": {"message": told}})] * 2

    await ask(server.model(max_tokens=2048), ANSWER_FROM_TRIPLES, question=QUESTION, triples=EIGHT)

    assert shown(server) == [8, 8, 4]


async def test_a_prompt_that_stays_too_long_is_an_error_of_the_call(server: Server) -> None:
    server.first = [(400, {}, VLLM_OVERFLOW)] * 9

    with pytest.raises(ModelCallError, match="small could not be asked: .*maximum context length is 4096"):
        await ask(server.model(), ANSWER_FROM_TRIPLES, question=QUESTION, triples=EIGHT * 4)
    assert shown(server) == [32, 16, 8, 4]


async def test_a_stream_whose_every_piece_says_that_it_was_cut_off_is_asked_for_again_with_less(server: Server) -> None:
    cut_off = [
        {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": "length"}]} for piece in ("{", '"th')
    ]
    server.first = [stream(*cut_off), stream(TARRANT.model_dump_json())]

    reply = await ask(server.model(streaming=True), ANSWER_FROM_TRIPLES, question=QUESTION, triples=EIGHT)

    assert reply.answer == TARRANT.answer
    assert shown(server) == [8, 4]


async def test_a_reply_that_is_cut_off_without_anything_to_leave_out_is_asked_for_again(server: Server) -> None:
    server.first = [(200, {}, completion('{"thought": "It goes on' + " and on" * 1_000, "length"))]

    assert await who(server.model()) == TARRANT

    *_, cut_off, problem = server.sent[1]["messages"]
    assert cut_off["content"] == "(cut off)"
    assert "it was cut off for its length and its JSON object is" in problem["content"]


async def test_a_reply_that_stays_cut_off_is_an_error_of_the_output(server: Server) -> None:
    server.first = [(200, {}, completion('{"thought": "It goes on and on', "length"))] * 3

    with pytest.raises(ModelOutputError, match="in 3 attempts; .*it was cut off for its length and its JSON object is"):
        await who(server.model())
    assert len(server.sent) == 3


# --- servers in trouble ----------------------------------------------------------------------------------------------
MALFORMED = [
    "<html>Gateway</html>",
    "",
    "[]",
    {"choices": []},
    {"choices": [{"message": None}]},
    {"choices": None},
    {"error": {"message": "later"}},
]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_busy_server_is_asked_again_when_it_says(server: Server, status: int) -> None:
    server.first = [(status, {"Retry-After": "0.05"}, {"error": {"message": "later"}})] * 2

    assert await who(server.model(max_retries=2)) == TARRANT
    assert len(server.sent) == 3


@pytest.mark.parametrize("malformed", MALFORMED)
async def test_a_reply_that_is_no_completion_is_asked_for_again(server: Server, malformed: object) -> None:
    server.first = [(200, {}, malformed)] * 2

    assert await who(server.model(max_retries=2)) == TARRANT
    assert len(server.sent) == 3


@pytest.mark.parametrize(
    "usage",
    [
        [1],
        {"prompt_tokens": -5, "completion_tokens": 0, "total_tokens": -5},
        {"prompt_tokens": "many", "completion_tokens": None, "total_tokens": -1},
        {"prompt_tokens": 5, "completion_tokens": "few", "total_tokens": 6},
    ],
)
async def test_a_reply_whose_tokens_were_counted_wrongly_counts_by_estimate(server: Server, usage: object) -> None:
    server.first = [(200, {}, {**completion(json.dumps({"thought": "", "answer": "Orla"})), "usage": usage})]

    with metered() as cost:
        assert (await who(server.model())).answer == "Orla"
    assert (len(server.sent), cost["input_tokens"]) == (1, 0)
    assert cost["estimated_tokens"] > 0


async def test_a_reply_that_is_no_utf_8_is_asked_for_again(server: Server) -> None:
    server.first = [(200, {}, json.dumps(completion("Orla")).encode().replace(b"Orla", b"\xff\xfe"))]

    assert await who(server.model(max_retries=1)) == TARRANT
    assert len(server.sent) == 2


async def test_a_compressed_reply_is_read(server: Server) -> None:
    packed = gzip.compress(json.dumps(completion(TARRANT.model_dump_json())).encode())
    server.first = [(200, {"Content-Encoding": "gzip"}, packed)]

    assert await who(server.model()) == TARRANT


async def test_a_compressed_reply_may_be_too_long(server: Server) -> None:
    packed = gzip.compress(json.dumps(completion("long " * 2_000_000)).encode())
    server.first = [(200, {"Content-Encoding": "gzip"}, packed)]

    with pytest.raises(ModelCallError, match="got more than 8,388,608 bytes"):
        await who(server.model())


async def test_a_message_without_a_role_is_the_assistants(server: Server) -> None:
    nameless = completion(TARRANT.model_dump_json())
    del nameless["choices"][0]["message"]["role"]
    server.first = [(200, {}, nameless)]

    assert await who(server.model()) == TARRANT
    assert len(server.sent) == 1


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("malformed", MALFORMED)
async def test_what_came_instead_of_a_completion_is_told(server: Server, malformed: object, streaming: bool) -> None:
    server.first = [(200, {}, malformed)] * 2

    came = malformed if isinstance(malformed, str) else json.dumps(malformed)
    with pytest.raises(ModelCallError, match=rf"small could not be asked: .*choices, got \W*{re.escape(came)}"):
        await who(server.model(max_retries=1, streaming=streaming))
    assert len(server.sent) == 2


@pytest.mark.parametrize("name", ["text/event-stream", "application/json"])
async def test_a_stream_is_read_whatever_its_server_calls_it(server: Server, name: str) -> None:
    server.first = [stream(TARRANT.model_dump_json(), name=name)]

    assert await who(server.model(streaming=True)) == TARRANT


@pytest.mark.parametrize(
    ("status", "schemas"), [(400, [True, False]), (401, [True]), (404, [True]), (500, [True, False])]
)
async def test_a_refusal_by_the_server_is_an_error_that_names_model_and_status(
    server: Server, status: int, schemas: list[bool]
) -> None:
    server.status = status

    with pytest.raises(ModelCallError, match=f"small could not be asked: .*{status}"):
        await who(server.model())
    assert with_schema(server) == schemas


@pytest.mark.parametrize("body", [{"error": "no such thing"}, {"detail": "no such thing"}, "no such thing"], ids=str)
async def test_the_reply_of_a_server_that_refuses_is_shown_whatever_its_form(server: Server, body: Any) -> None:
    server.first = [(404, {}, body)]

    with pytest.raises(ModelCallError, match="no such thing"):
        await who(server.model())


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (424, "Request failed during generation: Server error: CUDA out of memory"),
        (400, "The model has crashed without additional information. (Exit code: 1)"),
        (400, 'Failed to load model "small". Error: out of memory'),
        (498, "Flex tier capacity exceeded"),
    ],
)
async def test_a_server_that_blames_the_request_for_its_own_failure_may_be_asked_again(
    server: Server, status: int, told: str
) -> None:
    server.first = [(status, {}, {"error": told})] * 2

    with pytest.raises(ModelCallError, match=re.escape(told)) as raised:
        await who(server.model())
    assert retry_on(raised.value)
    server.first = []
    assert await who(server.model()) == TARRANT


@pytest.mark.parametrize(
    ("status", "told"), [(400, "API key not valid. Please pass a valid API key."), (400, "Model Not Exist")]
)
async def test_a_wrong_key_or_name_is_one_whatever_its_status(server: Server, status: int, told: str) -> None:
    server.first = [(status, {}, [{"error": {"code": status, "message": told, "status": "INVALID_ARGUMENT"}}])]

    with pytest.raises(ModelAccessError, match=told):
        await who(server.model())


@pytest.mark.parametrize(("status", "refused"), [(400, True), (413, True), (422, True), (401, False), (429, False)])
async def test_a_refusal_of_what_was_sent_is_told_from_all_others(server: Server, status: int, refused: bool) -> None:
    server.status = status

    with pytest.raises(ModelCallError) as raised:
        await who(server.model())
    assert isinstance(raised.value, RequestRefusedError) == refused


async def test_a_reply_is_taken_whatever_role_it_is_given(server: Server) -> None:
    reply = completion(TARRANT.model_dump_json())
    reply["choices"][0]["message"]["role"] = "model"
    server.first = [(200, {}, reply)]

    assert await who(server.model()) == TARRANT


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_a_reply_that_a_server_takes_for_reasoning_is_read(server: Server, name: str) -> None:
    reply = completion("")
    reply["choices"][0]["message"] = {"role": "assistant", "content": None, name: TARRANT.model_dump_json()}
    server.first = [(200, {}, reply)]

    with metered() as usage:
        assert await who(server.model()) == TARRANT
    assert (usage["calls"], usage["input_tokens"]) == (1, 111)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_a_streamed_reply_that_a_server_takes_for_reasoning_is_asked_for_whole(
    server: Server, kb: KnowledgeBase, name: str
) -> None:
    pieces = [{"choices": [{"index": 0, "delta": {name: text}}]} for text in ('{"thought": "", ', '"answer": "Ilse"}')]
    whole = completion("")
    whole["choices"][0]["message"] = {"role": "assistant", "content": None, name: '{"thought": "", "answer": "Ilse"}'}
    server.first = [
        stream(*pieces, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        (200, {}, whole),
    ]
    graph: Any = create_native_rag(server.model(), kb).compile()

    async for _, part in graph.astream({"question": QUESTION}, stream_mode=["messages", "values"]):
        result = part

    assert (result["answer"], result["usage"]["repairs"]) == ("Ilse", 0)
    assert [body.get("stream", False) for body in server.sent] == [True, False]


async def test_a_draft_in_the_reasoning_is_no_reply(server: Server) -> None:
    reply = completion("")
    reply["choices"][0]["message"]["reasoning"] = f"Maybe {TARRANT.model_dump_json()}, but I must check."
    server.first = [(200, {}, reply)] * 3

    with pytest.raises(ModelOutputError, match="in 3 attempts; .*it contains no JSON object"):
        await who(server.model())


@pytest.mark.parametrize("reason", ["error", "abort"])
async def test_lines_of_a_reply_that_failed_are_no_answer(server: Server, reason: str) -> None:
    server.first = [(200, {}, completion("Thought: he was born in\nAnswer: An", reason))] * 3

    with pytest.raises(ModelOutputError, match=f"in 3 attempts; .*finish reason '{reason}'"):
        await who(server.model())


@pytest.mark.parametrize("where", ["beside", "in the choice"])
async def test_an_error_of_the_server_behind_a_gateway_is_retried_and_told(server: Server, where: str) -> None:
    reply: dict[str, Any] = completion("")
    (reply if where == "beside" else reply["choices"][0])["error"] = {"message": "Upstream died"}
    server.first = [(200, {}, reply)] * 2

    with pytest.raises(ModelCallError, match="Upstream died"):
        await who(server.model(max_retries=1))
    assert len(server.sent) == 2


async def test_the_status_that_a_gateway_passes_on_counts(server: Server) -> None:
    for code in (401, "401"):
        server.first = [(200, {}, {"error": {"message": "No auth credentials found", "code": code}})]
        with pytest.raises(ModelAccessError, match="No auth credentials found"):
            await who(server.model())
    assert len(server.sent) == 2


@pytest.mark.parametrize("code", [200, 460])
async def test_a_code_of_a_gateway_that_is_no_status_of_an_error_is_retried(server: Server, code: int) -> None:
    server.first = [(200, {}, {"error": {"message": "Upstream died", "code": code}})]

    assert await who(server.model(max_retries=1)) == TARRANT
    assert len(server.sent) == 2


async def test_a_model_that_a_gateway_does_not_know_is_no_bad_request(server: Server) -> None:
    server.first = [(400, {}, {"error": {"message": "Invalid model name passed in model=small"}})]

    with pytest.raises(ModelAccessError, match="Invalid model name"):
        await who(server.model())


@pytest.mark.parametrize("address", ["localhost:8000/v1", '"http://localhost:8000/v1"'])
def test_an_address_without_its_scheme_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", address)

    with pytest.raises(ModelCallError, match="VLLM_BASE_URL: expected an address that begins with http:// or https://"):
        load_model("vllm:small")


async def test_a_whole_object_in_reasoning_that_was_cut_off_is_no_reply(server: Server) -> None:
    reply = completion("", "length")
    reply["choices"][0]["message"]["reasoning"] = TARRANT.model_dump_json()
    server.first = [(200, {}, reply)] * 3

    with pytest.raises(ModelOutputError, match="in 3 attempts; .*it was cut off for its length"):
        await who(server.model())


async def test_a_reply_that_calls_a_tool_is_not_looked_for_in_its_reasoning(server: Server) -> None:
    reply = completion("")
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    reply["choices"][0]["message"] |= {"tool_calls": [call], "reasoning": TARRANT.model_dump_json()}
    server.first = [(200, {}, reply)] * 3

    with pytest.raises(ModelOutputError, match="in 3 attempts; .*it calls the tool 'search'"):
        await who(server.model())


async def test_reasoning_that_was_cut_off_is_no_reply(server: Server) -> None:
    reply = completion("", "length")
    reply["choices"][0]["message"]["reasoning"] = f"Maybe {TARRANT.model_dump_json()}, but"
    server.first = [(200, {}, reply)] * 3

    with pytest.raises(ModelOutputError, match="in 3 attempts; .*it was cut off for its length"):
        await who(server.model())


async def test_a_server_that_never_replies_is_given_up(server: Server) -> None:
    server.waits_for.clear()

    with pytest.raises(ModelCallError, match="small could not be asked: .*[Tt]ime"):
        await who(server.model(timeout=0.2))


async def test_a_server_that_is_gone_is_an_error_at_once(localhost: None) -> None:
    with serving(Server()) as gone:
        model = gone.model(timeout=5)

    with pytest.raises(
        ModelCallError,
        match=rf"small could not be asked: .*[Cc]onnection.* \(server: http://127.0.0.1:{gone.server_port}/v1\)",
    ):
        await who(model)


async def test_a_served_models_replies_can_be_kept(server: Server, tmp_path: Path) -> None:
    for _ in range(2):
        assert await who(server.model(cache=tmp_path / "replies.db")) == TARRANT

    assert len(server.sent) == 1


async def test_a_server_that_repeats_the_key_does_not_show_it_to_readers_of_the_error(server: Server) -> None:
    server.first = [(401, {}, {"error": {"message": "Incorrect API key provided: sk-SECRET-123456"}})]

    with pytest.raises(ModelCallError, match=r"401.*Incorrect API key provided: \(key\)") as raised:
        await who(server.model(api_key="sk-SECRET-123456"))
    assert "SECRET" not in str(raised.value)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
async def test_a_key_with_a_line_end_is_not_shown(server: Server, end: str) -> None:
    with pytest.raises(ModelCallError, match=r"\(key\)") as raised:
        await who(server.model(api_key=f"correct-horse-battery{end}"))
    assert "horse" not in str(raised.value)


def test_the_key_from_the_environment_has_no_line_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "secret\r\n")
    model: Any = load_model("vllm:small")

    assert model.root_async_client.api_key == "secret"


async def test_nor_is_a_password_in_the_address_shown(server: Server) -> None:
    server.first = [(401, {}, {"error": {"message": "Incorrect API key: Basic dXNlcjpTRUNSRVQxMjM0"}})]

    with pytest.raises(ModelCallError, match=r"Incorrect API key: \(key\)") as raised:
        await who(server.model())
    assert "dXNlcj" not in str(raised.value)
    with pytest.raises(ModelCallError) as raised:
        await who(server.model(base_url="user:SECRET@127.0.0.1:1/v1"))
    assert "SECRET" not in str(raised.value)


# --- streams that break off ------------------------------------------------------------------------------------------
BEGUN = '{"thought": "", "answer": "Ilse T'
DROPPED_AT_ONCE = (200, {"Content-Type": "text/event-stream", "Content-Length": "9999", "Connection": "close"}, "")
DROPPED = (*DROPPED_AT_ONCE[:2], stream(BEGUN)[2].removesuffix("data: [DONE]\n\n"))
FAILED = stream(BEGUN, {"error": {"message": "the engine is dead"}})
WHOLE = stream('{"thought": "", "answer": "Ilse ', 'Tarrant"}')


@pytest.mark.parametrize("broken", [DROPPED, DROPPED_AT_ONCE, FAILED])
async def test_a_stream_that_breaks_off_is_asked_for_again(server: Server, broken: Any, kb: KnowledgeBase) -> None:
    server.first = [broken, WHOLE]
    graph: Any = create_native_rag(server.model(max_retries=1), kb).compile()
    said: dict[str | None, str] = {}

    async for mode, part in graph.astream({"question": QUESTION}, stream_mode=["messages", "values"]):
        if mode == "messages":
            said[part[0].id] = said.get(part[0].id, "") + part[0].text
        else:
            result = part

    assert (result["answer"], result["usage"]["calls"], len(server.sent)) == ("Ilse Tarrant", 1, 2)
    assert result["usage"]["estimated_tokens"] > 0  # the prompt was read twice
    assert list(said.values())[-1] == "Ilse Tarrant"


async def test_the_prompt_of_a_broken_stream_counts_again(server: Server) -> None:
    model, counts = server.model(max_retries=1, streaming=True), []
    for replies in ([WHOLE], [FAILED, WHOLE]):
        server.first = [*replies]
        with metered() as usage:
            await who(model)
        counts.append(usage["estimated_tokens"])

    prompt = estimated_tokens(ANSWER_FROM_TRIPLES.render(question=QUESTION, triples=TRIPLES))
    assert counts[1] - counts[0] == prompt > 0


async def test_a_count_that_is_repeated_in_a_stream_counts_once(server: Server, kb: KnowledgeBase) -> None:
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "small"}
    pieces = ['{"thought": "", ', '"answer": ', '"Ilse Tarrant"}']
    counted = [
        {
            **head,
            "choices": [{"index": 0, "delta": {"content": piece}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 5 * n, "total_tokens": 100 + 5 * n},
        }
        for n, piece in enumerate(pieces, start=1)
    ]
    server.first = [stream(*counted, {**counted[-1], "choices": []})]
    graph: Any = create_native_rag(server.model(), kb).compile()

    async for _, part in graph.astream({"question": QUESTION}, stream_mode=["messages", "values"]):
        result = part

    assert (result["answer"], result["usage"]["input_tokens"]) == ("Ilse Tarrant", 100)
    assert result["usage"]["output_tokens"] == 15


async def test_a_stream_that_ends_without_saying_so_broke_off(server: Server) -> None:
    cut = stream("Thought: It is hers.\nAnswer: Ilse Tar")[2].removesuffix("data: [DONE]\n\n")
    server.first = [(200, {"Content-Type": "text/event-stream"}, cut), WHOLE]

    assert (await who(server.model(max_retries=1, streaming=True))).answer == "Ilse Tarrant"
    assert len(server.sent) == 2


async def test_a_stream_may_end_with_its_reason_alone(server: Server) -> None:
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    whole = stream('{"thought": "", "answer": "Ilse Tarrant"}', last)[2].removesuffix("data: [DONE]\n\n")
    server.first = [(200, {"Content-Type": "text/event-stream"}, whole)]

    assert (await who(server.model(max_retries=1, streaming=True))).answer == "Ilse Tarrant"
    assert len(server.sent) == 1


async def test_a_stream_with_comments_may_take_longer_than_the_time_limit(server: Server) -> None:
    status, headers, whole = stream(TARRANT.model_dump_json(), *[" "] * 4)

    def slowly() -> Iterator[bytes]:
        for event in whole.removesuffix("\n\n").split("\n\n"):
            for piece in (event, ": still there"):
                yield f"{piece}\n\n".encode()
                time.sleep(0.2)

    server.first = [(status, headers, slowly())]

    assert await who(server.model(streaming=True, timeout=1.0)) == TARRANT
    assert len(server.sent) == 1


async def test_the_reason_at_the_end_of_a_stream_may_be_cut_in_two(server: Server) -> None:
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    status, headers, whole = stream(TARRANT.model_dump_json(), last)
    begin, reason, end = whole.removesuffix("data: [DONE]\n\n").partition("finish_")

    def in_two() -> Iterator[bytes]:
        yield f"{begin}{reason}".encode()
        time.sleep(0.1)
        yield end.encode()

    server.first = [(status, headers, in_two())]

    assert await who(server.model(streaming=True)) == TARRANT
    assert len(server.sent) == 1


async def test_a_stream_is_asked_for_as_often_as_any_other_reply(server: Server) -> None:
    server.first = [FAILED] * 9

    with pytest.raises(ModelCallError, match="small could not be asked: .*the engine is dead"):
        await who(server.model(max_retries=2, streaming=True))
    assert len(server.sent) == 3


async def test_a_deadline_ends_streams_that_never_pause(server: Server, kb: KnowledgeBase) -> None:
    """Where a piece is there whenever the next is awaited, a cancellation must still arrive."""
    started, seconds = time.monotonic(), 30.0

    def without_end() -> Iterator[bytes]:
        piece = stream("word ")[2].removesuffix("data: [DONE]\n\n").encode()
        while time.monotonic() < started + seconds:
            yield piece

    server.first = [(200, {"Content-Type": "text/event-stream"}, without_end()) for _ in range(8)]
    graph: Any = create_native_rag(server.model(), kb).compile()

    async def asked() -> Any:
        async for _, state in graph.astream(
            {"question": QUESTION}, stream_mode=["messages", "values"], context={"deadline_s": 1.0}
        ):
            found = state
        return found

    for found in await asyncio.gather(*(asked() for _ in server.first)):
        assert found["usage"]["stopped_by"] == "deadline_s"
    assert time.monotonic() < started + seconds / 2


async def test_a_deadline_ends_the_wait_for_a_stream_and_the_log_names_the_server(
    server: Server, kb: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    server.first = [FAILED] * 9
    graph: Any = create_native_rag(server.model(max_retries=9, streaming=True), kb).compile()

    found = await graph.ainvoke({"question": QUESTION}, context={"deadline_s": 1.0})

    assert found["usage"]["stopped_by"] == "deadline_s"
    assert len(server.sent) < 5
    assert [record.message for record in caplog.records if "deadline" in record.message] == [
        "a call of small was given up at the question's deadline_s=1.0: no reply had come "
        f"(server: http://127.0.0.1:{server.server_port}/v1)"
    ]


async def test_a_prompt_that_a_stream_calls_too_long_is_asked_again_with_less(server: Server) -> None:
    server.first = [stream(VLLM_OVERFLOW), WHOLE]

    await ask(server.model(streaming=True, max_retries=3), ANSWER_FROM_TRIPLES, question=QUESTION, triples=EIGHT)

    assert shown(server) == [8, 4]
