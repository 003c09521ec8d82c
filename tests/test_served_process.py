"""A real language model served by another process over HTTP, called like vLLM."""

import asyncio
from collections.abc import Iterator
from multiprocessing import Pipe
from typing import Any

import pytest
from processes import start
from serve_tiny_model import serve
from tiny_model import make_tiny_model

from langgraph_rag.llm import ask
from langgraph_rag.metering import metered
from langgraph_rag.methods import METHODS
from langgraph_rag.models.loading import load_model
from langgraph_rag.prompts.answering import ANSWER_FROM_TRIPLES, Answer
from langgraph_rag.tools.knowledge_base import KnowledgeBase

pytestmark = [
    pytest.mark.filterwarnings("ignore:A test tried to use socket"),
    pytest.mark.usefixtures("localhost"),
]
LATER = {"question": "Who died later, Ilse Tarrant or Tobin Grell?"}
TRIPLES = [["Nine Tides", "directed by", "Ilse Tarrant"]]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = make_tiny_model(tmp_path_factory.mktemp("model") / "tiny", context=16_384)
    receiving, sending = Pipe(duplex=False)
    process = start(serve, folder, sending)
    sending.close()
    yield f"http://127.0.0.1:{receiving.recv()}/v1"
    process.kill()
    process.join()


@pytest.fixture
def model(url: str) -> Any:
    return load_model("vllm:tiny", base_url=url)


@pytest.mark.parametrize("method", ["cirag", "kirag", "dualrag", "mgranrag", "par_rag"])
async def test_every_method_runs_on_it(method: str, model: Any, sample_kb: KnowledgeBase) -> None:
    graph = METHODS[method].create(model, sample_kb).compile()

    usage = (await graph.ainvoke(LATER, context={"max_steps": 1}))["usage"]

    assert usage["repairs"] == 0
    assert usage["input_tokens"] > 1000
    assert 0 < usage["output_tokens"] < usage["input_tokens"]


def test_questions_on_several_loops_and_threads_are_answered(model: Any) -> None:
    for _ in range(2):
        reply = asyncio.run(ask(model, ANSWER_FROM_TRIPLES, question="Who?", triples=TRIPLES))
        assert isinstance(reply, Answer)


async def test_usage_comes_with_a_stream_too(model: Any) -> None:
    parts = [part async for part in model.astream("Hello!")]

    assert sum(part.usage_metadata["output_tokens"] for part in parts if part.usage_metadata) > 0


async def test_its_context_is_noticed_and_the_prompt_shortened(model: Any) -> None:
    with metered() as usage:
        await ask(model, ANSWER_FROM_TRIPLES, question="Who?", triples=TRIPLES * 1600)

    assert usage["left_out"] > 0
    assert usage["repairs"] == 0
