"""The offline model as a LangChain chat model: a skill for each prompt, composed of the same few rules."""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import ConfigDict

from langgraph_rag.errors import RequestRefusedError
from langgraph_rag.normal_forms import normalise, stands_in
from langgraph_rag.offline import Values, adaptive, cirag, dualrag, kirag, mgranrag, par_rag
from langgraph_rag.offline.answer import answer_from_texts, answer_from_triples
from langgraph_rag.offline.conversation import restate_question
from langgraph_rag.prompts.prompt import METADATA_KEY
from langgraph_rag.tools.ingest.spans import JOINED_WORD, spot_names, stop_words


def with_capitals(text: str, shown: Any) -> str:
    """Capitalise the names in a question without capitals as in the texts of the prompt.

    A word that also occurs there in lower case ("the mill", "Kell Mill") is not a name by itself.
    """
    if _has_names(text):
        return text
    texts = [*filter(_has_names, _texts(shown))]
    common = stop_words() | {word for told in texts for word in JOINED_WORD.findall(told) if word.islower()}
    names = {name.text for told in texts for name in spot_names(told)}
    for name in sorted(names, key=lambda name: (len(name), name)):
        asked = re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE)
        if asked and not common.issuperset(normalise(name).split()):
            text = text[: asked.start()] + name + text[asked.end() :]
    return text


def _has_names(text: str) -> bool:
    return any(map(str.isupper, text[1:]))


def _texts(shown: Any) -> Iterator[str]:
    if isinstance(shown, str):
        yield shown
    elif isinstance(shown, Mapping | list | tuple):
        for part in shown.values() if isinstance(shown, Mapping) else shown:
            yield from _texts(part)


_POLITE = r"(?:please |(?:can|could|would|will) you (?:please )?)?"
_IMPERATIVE = re.compile(
    rf"(?:{_POLITE}(?:name|give|list|tell|state|find(?: out)?)(?: me| us)?|do you know|i (?:want|would like) to know)"
    r"(?:: | (?=(?:the|wh\w+|how) ))",
    re.IGNORECASE,
)
_PRELUDE = re.compile(r"^\s*(?:(?:(?:q|question)\s*:|(?:so|and|ok|okay|well|hi|hello|hey),)\s+)?", re.IGNORECASE)
_QUOTES = '"“”*'
_KIN = {
    "paternal grandfather": ("father", "father"),
    "paternal grandmother": ("father", "mother"),
    "maternal grandfather": ("mother", "father"),
    "maternal grandmother": ("mother", "mother"),
    "grandfather": ("parent", "father"),
    "grandmother": ("parent", "mother"),
    "father-in-law": ("spouse", "father"),
    "mother-in-law": ("spouse", "mother"),
    "stepfather": ("mother", "husband"),
    "stepmother": ("father", "wife"),
    "uncle": ("parent", "brother"),
    "aunt": ("parent", "sister"),
}
_KIN_OF = re.compile(rf"\b({'|'.join(_KIN)}) of\b", re.IGNORECASE)
_KIN_OWNED = re.compile(rf"['’]s ({'|'.join(_KIN)})\b", re.IGNORECASE)


def as_question(text: str) -> str:
    """Return an imperative as a question: "Name the author of X" -> "What is the author of X?".

    Relatives over two steps are expanded: "X's paternal grandfather" -> "X's father's father". Introductory words, and
    quotation marks around the question, are removed.
    """
    if text[:1] in _QUOTES and not any(mark in text.strip(_QUOTES) for mark in _QUOTES):
        text = text.strip(_QUOTES)
    text = _PRELUDE.sub("", text)
    text = _KIN_OF.sub(lambda kin: "{1} of the {0} of".format(*_KIN[kin[1].lower()]), text)
    text = _KIN_OWNED.sub(lambda kin: "'s {}'s {}".format(*_KIN[kin[1].lower()]), text)
    imperative = _IMPERATIVE.match(text)
    asked = f"{text[imperative.end() :].rstrip(' .!?')}?" if imperative else text
    return f"What is {asked}" if imperative and asked.lower().startswith("the ") else asked


def _judge(values: Values) -> dict[str, Any]:
    """Accept an answer if and only if it contains an accepted one."""
    held = next((answer for answer in values["accepted"] if stands_in(answer, values["given"])), None)
    return {"reason": f"It says {held}." if held else "It says none of them.", "correct": held is not None}


Skill = Callable[[Values], Mapping[str, Any]]
"""Returns the fields of a reply for the values of a prompt."""

SKILLS: dict[str, Skill] = {
    "answer_or_look_up": adaptive.answer_or_look_up,
    "extract_facts": cirag.extract_facts,
    "integrate": cirag.integrate,
    "integrate_as_published": cirag.integrate,
    "integrate_with_sentences": cirag.integrate,
    "answer_from_triples": answer_from_triples,
    "answer_from_sentences": answer_from_texts,
    "answer_from_passages": answer_from_texts,
    "answer_from_chain": answer_from_texts,
    "construct_chain": kirag.construct_chain,
    "construct_chain_of_sentences": kirag.construct_chain,
    "construct_chain_of_documents": kirag.construct_chain,
    "next_thought": kirag.next_thought,
    "reason": dualrag.reason,
    "think_on": dualrag.think_on,
    "identify_entities": dualrag.identify_entities,
    "reason_and_look_up": dualrag.reason_and_look_up,
    "take_notes": dualrag.take_notes,
    "summarize": dualrag.summarize,
    "answer_from_outline": dualrag.answer_from_outline,
    "decompose": mgranrag.decompose,
    "extract_and_go_on": mgranrag.extract_evidence,
    "extract_evidence": mgranrag.extract_evidence,
    "plan": par_rag.plan,
    "act": par_rag.act,
    "review": par_rag.review,
    "refine": par_rag.refine,
    "plan_in_order": par_rag.plan_in_order,
    "plan_anew": par_rag.plan_in_order,
    "act_in_order": par_rag.act,
    "answer_from_trajectories": par_rag.answer_from_trajectories,
    "restate_question": restate_question,
    "judge": _judge,
}


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
