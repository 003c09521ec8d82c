"""The offline model: an ordinary LangChain chat model to everyone who holds it."""

import json
import re
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from langgraph_rag.errors import RagError
from langgraph_rag.offline.skills import SKILLS
from langgraph_rag.prompts.prompt import METADATA_KEY

_TOKEN = re.compile(r"\w+|[^\w\s]")


class OfflineModel(BaseChatModel):
    """Answers the package's own prompts by rules, the same way every time; it knows nothing but what it is shown.

    Token counts are the words and signs of the texts.
    """

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
            raise RagError(
                f"the offline model answers only the prompts of this package ({', '.join(SKILLS)}), not free text: "
                "use another model for that"
            )
        text = json.dumps(SKILLS[asked["prompt"]](asked["values"]), ensure_ascii=False)
        sent, got = sum(len(_TOKEN.findall(message.text)) for message in messages), len(_TOKEN.findall(text))
        usage = {"input_tokens": sent, "output_tokens": got, "total_tokens": sent + got}
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text, usage_metadata=usage))])
