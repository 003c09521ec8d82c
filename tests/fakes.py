"""An embedder that counts words, models that reply from a script, and the full contents of a knowledge base."""

import math
import re
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field

from langgraph_rag.prompts.prompt import METADATA_KEY
from langgraph_rag.tools.knowledge_base import KnowledgeBase

_DIMENSIONS = 64
_WORD = re.compile(r"\w+")


class ArithmeticEmbeddings(Embeddings):
    """Each word adds one to the dimension its checksum names, so texts that share words are near each other."""

    def __init__(self, model_name: str = "arithmetic", dimensions: int = _DIMENSIONS) -> None:
        self.model_name, self.dimensions = model_name, dimensions
        self.batches: list[list[str]] = []

    @property
    def embedded(self) -> list[str]:
        """All texts embedded so far, queries included."""
        return [text for batch in self.batches for text in batch]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.batches.append(list(texts))
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for word in _WORD.findall(text.lower()):
            vector[zlib.crc32(word.encode()) % self.dimensions] += 1.0
        length = math.hypot(*vector) or 1.0
        return [x / length for x in vector]


Reply = str | Exception
Script = Sequence[Reply] | Callable[[str, Mapping[str, Any]], Reply]


class ScriptedModel(BaseChatModel):
    """Replies from a list, or with what a function makes of the prompt's name and values; exceptions are raised."""

    script: Any = Field(default_factory=list)
    model_name: str = "scripted"
    received: list[list[BaseMessage]] = Field(default_factory=list)

    @classmethod
    def of(cls, script: Script, model_name: str = "scripted") -> "ScriptedModel":
        """Make a model of a script."""
        return cls(script=script if callable(script) else list(script), model_name=model_name)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def prompts(self) -> list[str]:
        """Return the names of the prompts asked, in order."""
        return [asked_for(messages)["prompt"] for messages in self.received]

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.received.append(messages)
        request = asked_for(messages)
        reply = self.script(request["prompt"], request["values"]) if callable(self.script) else self.script.pop(0)
        if isinstance(reply, Exception):
            raise reply
        usage = UsageMetadata(input_tokens=10, output_tokens=5, total_tokens=15)
        message = AIMessage(reply, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return self._generate(messages)


class WritingModel(ScriptedModel):
    """Writes its scripted replies a few characters at a time."""

    calls_streamed: int = 0

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        self.calls_streamed += 1
        text = self._generate(messages).generations[0].message.text
        for start in range(0, len(text), 3):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=text[start : start + 3]))
            if run_manager:
                await run_manager.on_llm_new_token(text[start : start + 3], chunk=chunk)
            yield chunk


def asked_for(messages: list[BaseMessage]) -> dict[str, Any]:
    """Return the name and the values of the prompt that messages begin with."""
    found: dict[str, Any] = next(
        message.response_metadata[METADATA_KEY] for message in messages if METADATA_KEY in message.response_metadata
    )
    return found


def vectors(kb: KnowledgeBase) -> dict[str, dict[str, list[float]]]:
    """Return every vector stored, by collection and id."""
    triples = kb._records.triples.vectors(kb._records.triples.vector_ids())
    passages = kb._vectors.passages(kb._vectors.ids())
    return {
        "passages": {id_: vector.tolist() for id_, vector in passages.items()},
        "triples": {id_: vector.tolist() for id_, vector in triples.items()},
    }


def contents(kb: KnowledgeBase) -> dict[str, Any]:
    """Return everything a knowledge base holds, without where it lies and when it came, to be compared."""
    ids = sorted(kb._records.ids())
    graph = kb.graph.networkx
    return {
        "info": {name: value for name, value in kb.info().items() if name not in ("path", "vectors")},
        "records": kb.passages(ids),
        "triples": kb.triples(ids),
        "vectors": {name: sorted(stored) for name, stored in vectors(kb).items()},
        "entities": sorted((node, data["name"]) for node, data in graph.nodes(data=True)),
        "facts": sorted((data["triple"], sorted(data["passages"])) for _, _, data in graph.edges(data=True)),
    }


def kept_and_own(opened: Callable[[Path], AbstractContextManager[KnowledgeBase]]) -> tuple[Any, Any]:
    """Return two fixtures: a knowledge base that all tests of a file read, and one for a test that changes it."""

    @pytest.fixture(scope="module")
    def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
        with opened(tmp_path_factory.mktemp("kept") / "kb") as kb:
            yield kb

    @pytest.fixture
    def own(tmp_path: Path) -> Iterator[KnowledgeBase]:
        with opened(tmp_path / "kb") as kb:
            yield kb

    return kept, own
