"""The offline model as a LangChain chat model."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import ConfigDict

from langgraph_rag.errors import RequestRefusedError
from langgraph_rag.offline.capitals import with_capitals
from langgraph_rag.offline.rewording import as_question
from langgraph_rag.offline.skills import SKILLS
from langgraph_rag.prompts.prompt import METADATA_KEY

_PIECE = re.compile(r"\s*\S+\s*\Z|\s*\S+")
_TOKEN = re.compile(r"\w+|[^\w\s]")


class OfflineModel(BaseChatModel):
    """Answers the prompts of this package by deterministic rules, only from the texts in them.

    Token counts are the numbers of words and punctuation marks.
    """

    model_config = ConfigDict(extra="forbid")

    model_name: str = "offline"

    @property
    def _llm_type(self) -> str:
        return "langgraph-rag-offline"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        asked = next((m.response_metadata[METADATA_KEY] for m in messages if METADATA_KEY in m.response_metadata), None)
        if asked is None or asked["prompt"] not in SKILLS:
            told = "free text" if asked is None else f"the prompt {asked['prompt']}, for which it has no skill"
            raise RequestRefusedError(
                f"the offline model answers only the prompts of this package ({', '.join(SKILLS)}), not {told}: use "
                "another model for that"
            )
        values = asked["values"]
        if "question" in values:
            values = {**values, "question": as_question(with_capitals(values["question"], values))}
        if "questions" in values:
            values = {**values, "questions": [with_capitals(question, values) for question in values["questions"]]}
        text = json.dumps(SKILLS[asked["prompt"]](values), ensure_ascii=False)
        sent, got = sum(len(_TOKEN.findall(message.text)) for message in messages), len(_TOKEN.findall(text))
        usage = {"input_tokens": sent, "output_tokens": got, "total_tokens": sent + got}
        message = AIMessage(text, usage_metadata=usage, response_metadata={"model_name": self.model_name})
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        """Yield the complete reply word by word."""
        message = cast(AIMessage, (await self._agenerate(messages)).generations[0].message)
        for piece in _PIECE.findall(message.text):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=piece))
            if run_manager:
                await run_manager.on_llm_new_token(piece, chunk=chunk)
            yield chunk
        told = AIMessageChunk(
            content="", usage_metadata=message.usage_metadata, response_metadata=message.response_metadata
        )
        yield ChatGenerationChunk(message=told)
