"""A chat model that takes its time and answers CIRAG's prompts as a model plausibly would, without computing."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult

from langgraph_rag.prompts.prompt import METADATA_KEY

_KEPT = 3


class ScriptedModel(BaseChatModel):
    """Keeps three facts, asks one question further, refuses to answer from triples and answers from sentences."""

    model_name: str = "scripted"
    seconds: float

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        asked = next(m.response_metadata[METADATA_KEY] for m in messages if METADATA_KEY in m.response_metadata)
        usage = UsageMetadata(input_tokens=1_000, output_tokens=100, total_tokens=1_100)
        message = AIMessage(json.dumps(_reply(asked["prompt"], asked["values"])), usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        await asyncio.sleep(self.seconds)
        return self._generate(messages)


def _reply(prompt: str, values: Mapping[str, Any]) -> dict[str, Any]:
    if prompt == "integrate":
        facts = values["facts"][:_KEPT]
        question = None if values["history"] else f"What is known about {facts[0][2]}?"
        return {"thought": "These facts help; one more is needed to be sure.", "facts": facts, "question": question}
    answer = "unanswerable" if prompt == "answer_from_triples" else "the first of the two"
    return {"thought": "The evidence names both; it must be weighed.", "answer": answer}
