"""The offline model: an ordinary LangChain chat model to everyone who holds it."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from langgraph_rag.errors import RagError
from langgraph_rag.offline.paths import Fact
from langgraph_rag.offline.reason import conclude, integrate
from langgraph_rag.prompts.prompt import METADATA_KEY
from langgraph_rag.tools.rule_triples import extract_triples
from langgraph_rag.tools.spans import spot
from langgraph_rag.tools.text import text_pipeline

UNANSWERABLE = "unanswerable"
_TOKEN = re.compile(r"\w+|[^\w\s]")
Values = Mapping[str, Any]


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
        if asked is None or asked["prompt"] not in _SKILLS:
            raise RagError(
                f"the offline model answers only the prompts of this package ({', '.join(_SKILLS)}), not free text: "
                "use another model for that"
            )
        text = json.dumps(_SKILLS[asked["prompt"]](asked["values"]), ensure_ascii=False)
        sent, got = sum(len(_TOKEN.findall(message.text)) for message in messages), len(_TOKEN.findall(text))
        usage = {"input_tokens": sent, "output_tokens": got, "total_tokens": sent + got}
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text, usage_metadata=usage))])


def _find_entities(values: Values) -> dict[str, Any]:
    sentences = text_pipeline().sentences(values["text"])
    spans = [span.text for sentence in sentences for span in spot(sentence)]
    return {"entities": list(dict.fromkeys([values["title"], *spans]))}


def _extract_triples(values: Values) -> dict[str, Any]:
    return {"triples": extract_triples(values["title"], text_pipeline().sentences(values["text"]))}


def _integrate(values: Values) -> dict[str, Any]:
    history = values["history"]
    decision = integrate(
        values["question"],
        candidates=values["facts"],
        kept=[fact for step in history for fact in step["facts"]],
        asked=[*(step["query"] for step in history), values["query"]],
    )
    return {"thought": decision.thought, "facts": decision.facts, "question": decision.question or None}


def _answer(question: str, facts: Sequence[Fact]) -> dict[str, Any]:
    conclusion = conclude(question, facts)
    return {"thought": conclusion.thought, "answer": conclusion.answer or UNANSWERABLE}


def _answer_from_triples(values: Values) -> dict[str, Any]:
    return _answer(values["question"], values["triples"])


def _answer_from_texts(values: Values) -> dict[str, Any]:
    texts = values.get("sentences") or values.get("passages") or []
    read = (extract_triples(text["title"], text_pipeline().sentences(text["text"])) for text in texts)
    return _answer(values["question"], [fact for facts in read for fact in facts])


_SKILLS: dict[str, Callable[[Values], dict[str, Any]]] = {
    "find_entities": _find_entities,
    "extract_triples": _extract_triples,
    "integrate": _integrate,
    "answer_from_triples": _answer_from_triples,
    "answer_from_sentences": _answer_from_texts,
    "answer_from_passages": _answer_from_texts,
}
