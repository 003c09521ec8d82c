"""A model in this process: its replies follow the schema, whatever its weights are."""

import asyncio
import json
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest
from tiny_model import make_tiny_model

from langgraph_rag.errors import MissingExtraError, ModelCallError, ModelOutputError
from langgraph_rag.graphs.cirag import create_cirag
from langgraph_rag.llm import ask
from langgraph_rag.metering import metered
from langgraph_rag.models.loading import load_model
from langgraph_rag.models.transformers_model import TransformersModel
from langgraph_rag.prompts import answering, cirag, dualrag, ircot, kirag, mgranrag, par_rag
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.tools.knowledge_base import KnowledgeBase

MODULES = (answering, cirag, dualrag, ircot, kirag, mgranrag, par_rag)
PROMPTS = {p.name: p for module in MODULES for p in vars(module).values() if isinstance(p, Prompt)}
TRIPLES = [["Nine Tides", "directed by", "Ilse Tarrant"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="module")
def model(folder: Path) -> Any:
    return load_model(f"transformers:{folder}", max_new_tokens=400)


@pytest.mark.parametrize("name", PROMPTS)
def test_a_reply_to_every_prompt_follows_its_schema(model: Any, name: str) -> None:
    reply = PROMPTS[name].reply
    form = {"type": "json_schema", "json_schema": {"name": name, "schema": reply.model_json_schema()}}

    message = model.invoke("Go on.", response_format=form)

    assert message.response_metadata["finish_reason"] == "stop"
    assert set(json.loads(message.text)) <= set(reply.model_fields)
    reply.model_validate_json(message.text)


@pytest.mark.parametrize(
    ("fast", "given", "used"),
    [(False, {}, "float32"), (True, {}, "bfloat16"), (False, {"dtype": "float16"}, "float16")],
)
def test_weights_in_half_precision_stay_so_where_the_processor_is_fast_in_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fast: bool, given: dict[str, str], used: str
) -> None:
    shutil.copytree(folder, tmp_path / "model")
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype="bfloat16")
    model.save_pretrained(tmp_path / "model")
    monkeypatch.setattr("langgraph_rag.models.transformers_model._is_fast_in_half", lambda: fast)

    loaded = load_model(f"transformers:{tmp_path / 'model'}", device="cpu", max_new_tokens=20, **given)

    assert str(loaded._model.dtype) == f"torch.{used}"  # type: ignore[attr-defined]
    assert loaded.invoke("Go on.").text


def test_a_tokenizer_and_a_model_that_end_otherwise_both_end_a_reply(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "model")
    settings = tmp_path / "model" / "generation_config.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "eos_token_id": 5}))
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": answering.Answer.model_json_schema()}}
    model = load_model(f"transformers:{tmp_path / 'model'}", max_new_tokens=400)

    message = model.invoke("Go on.", response_format=form)

    assert message.response_metadata["finish_reason"] == "stop"
    answering.Answer.model_validate_json(message.text)


def test_what_the_schema_bars_is_barred_where_the_model_runs(model: Any) -> None:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode  # tells devices apart without having them

    leave_valid = model._grammar({"json_schema": {"schema": answering.Answer.model_json_schema()}})
    with FakeTensorMode():
        tokens, scores = (torch.zeros(1, size, device="cuda") for size in (5, model._model.config.vocab_size))

        assert leave_valid(tokens, scores).device.type == "cuda"


async def test_it_answers_through_ask_and_counts_tokens(model: Any) -> None:
    with metered() as usage:
        reply = await ask(model, answering.ANSWER_FROM_TRIPLES, question="Who?", triples=TRIPLES)

    assert isinstance(reply, answering.Answer)
    assert usage["input_tokens"] > 500
    assert 0 < usage["output_tokens"] < 400


async def test_a_chat_template_that_knows_no_system_finds_the_instructions_in_the_users_message(
    folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "model")
    template = tmp_path / "model" / "chat_template.jinja"
    refusal = "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    template.write_text(refusal + template.read_text())
    model = load_model(f"transformers:{tmp_path / 'model'}", max_new_tokens=400)

    with metered() as usage:
        await ask(model, answering.ANSWER_FROM_TRIPLES, question="Who?", triples=TRIPLES)

    assert usage["input_tokens"] > 500


async def test_a_whole_graph_runs_on_it(model: Any, sample_kb: KnowledgeBase) -> None:
    found = await create_cirag(model, sample_kb).compile().ainvoke({"question": "Who died later?"})

    assert found["usage"]["repairs"] == 0
    assert found["usage"]["calls"] >= 2


async def test_without_a_schema_it_writes_what_it_likes(model: Any) -> None:
    assert (await model.ainvoke("Hello!")).usage_metadata["output_tokens"] > 0


def test_a_word_to_stop_at_ends_a_reply_and_is_left_out(model: Any) -> None:
    whole = model.invoke("Hello!").text
    word = whole[3:5]

    stopped = model.invoke("Hello!", stop=["never written", word])

    assert stopped.text == whole[: whole.index(word)]
    assert stopped.response_metadata["finish_reason"] == "stop"


def test_a_cache_tells_models_and_their_settings_apart(folder: Path, tmp_path: Path) -> None:
    other, cache = shutil.copytree(folder, tmp_path / "other"), tmp_path / "replies.db"
    for path, tokens in ((folder, 3), (other, 3), (folder, 5), (folder, 3)):
        load_model(f"transformers:{path}", max_new_tokens=tokens, cache=cache).invoke("Hello!")

    with sqlite3.connect(cache) as file:
        assert file.execute("SELECT count(*) FROM replies").fetchone() == (3,)


async def test_a_prompt_beyond_its_context_is_shortened_or_refused(tmp_path: Path) -> None:
    small = load_model(f"transformers:{make_tiny_model(tmp_path, context=2600)}")

    with metered() as usage:
        await ask(small, answering.ANSWER_FROM_TRIPLES, question="Who?", triples=TRIPLES * 128)
    assert usage["left_out"] >= 64

    with pytest.raises(ModelCallError, match="maximum context length is 2600 tokens, the prompt has"):
        await ask(small, answering.ANSWER_FROM_TRIPLES, question="Who? " * 2000, triples=TRIPLES)


async def test_a_reply_that_does_not_fit_is_no_reply(folder: Path) -> None:
    hasty = load_model(f"transformers:{folder}", max_new_tokens=3)

    with pytest.raises(ModelOutputError, match="it was cut off for its length"):
        await ask(hasty, answering.ANSWER_FROM_TRIPLES, question="Who?", triples=TRIPLES)


@pytest.fixture
def talker(folder: Path) -> TransformersModel:
    """Never end a reply; only a limit on its tokens does."""
    model = TransformersModel(model_name=str(folder), max_new_tokens=100_000)
    model._model.generation_config.sequence_bias = None
    model._model.generation_config.suppress_tokens = [model._tokenizer.eos_token_id]
    return model


async def given_up(*calls: "asyncio.Task[Any]") -> None:
    for call in calls:
        call.cancel()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {asyncio.CancelledError}


async def test_a_call_that_is_given_up_stops_and_lets_the_next_one_in(talker: TransformersModel) -> None:
    endless = asyncio.create_task(talker.ainvoke("Hello!"))
    await asyncio.sleep(0.2)

    await given_up(endless)
    talker.max_new_tokens = 1
    async with asyncio.timeout(60):
        await talker.ainvoke("Hello!")


async def test_a_call_that_is_given_up_while_it_waits_is_never_made(
    talker: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, generate = list[int](), talker._model.generate

    def counted(**given: Any) -> Any:
        asked.append(1)
        return generate(**given)

    monkeypatch.setattr(talker._model, "generate", counted)
    under_way, *waiting = [asyncio.create_task(talker.ainvoke("Hello!")) for _ in range(4)]
    while not asked:
        await asyncio.sleep(0.01)

    await given_up(*waiting)
    talker.max_new_tokens = 1
    await given_up(under_way)
    await talker.ainvoke("Hello!")

    assert len(asked) == 2


async def test_calls_that_wait_leave_the_event_loop_its_threads(talker: TransformersModel) -> None:
    calls = [asyncio.create_task(talker.ainvoke("Hello!")) for _ in range(40)]
    await asyncio.sleep(0.2)

    async with asyncio.timeout(60):
        await asyncio.to_thread(lambda: None)
    await given_up(*calls)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ModelCallError, match=f"model 'transformers:{tmp_path}' cannot be set up"):
        load_model(f"transformers:{tmp_path}")
    monkeypatch.setitem(sys.modules, "llguidance", None)
    monkeypatch.setitem(sys.modules, "llguidance.hf", None)
    with pytest.raises(MissingExtraError, match=r"langgraph-rag\[transformers\]"):
        load_model(f"transformers:{tmp_path}")


@pytest.mark.parametrize("path", ["/nope/x", "./nope", "~/nope", "{tmp_path}"])
def test_a_path_without_a_model_is_told_from_a_name(path: str, tmp_path: Path) -> None:
    with pytest.raises(ModelCallError, match=r"cannot be set up: expected a model's folder, .* at .*: there is none"):
        load_model(f"transformers:{path.format(tmp_path=tmp_path)}")
