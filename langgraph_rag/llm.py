"""`ask`: the only place that calls a model."""

import ast
import asyncio
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import ValidationError

from langgraph_rag.context import context
from langgraph_rag.errors import ModelCallError, ModelOutputError, RagError
from langgraph_rag.prompts.prompt import Prompt, Reply
from langgraph_rag.records import Usage, no_usage

MAX_REPAIRS = 2
_INTERNAL_TAGS = ["nostream", "langsmith:nostream"]  # keep a call out of LangGraph's `messages` stream, out of chat UIs
_REASONING = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_REASONING_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)  # some chat templates open the tag


# --- usage -----------------------------------------------------------------------------------------------------------
_meter: ContextVar[Usage | None] = ContextVar("langgraph_rag_usage", default=None)


@contextmanager
def metered() -> Iterator[Usage]:
    """Collect what every `ask` and `count_dropped` inside costs, also in tasks started inside."""
    usage = no_usage()
    token = _meter.set(usage)
    try:
        yield usage
    finally:
        _meter.reset(token)


def count_dropped(number: int) -> None:
    """Count items a model returned that match nothing it was shown."""
    if (usage := _meter.get()) is not None:
        usage["dropped"] += number


def _count_call(message: BaseMessage, *, repair: bool) -> None:
    if (usage := _meter.get()) is None:
        return
    tokens = message.usage_metadata if isinstance(message, AIMessage) else None
    usage["calls"] += 1
    usage["repairs"] += repair
    if tokens:
        usage["input_tokens"] += tokens["input_tokens"]
        usage["output_tokens"] += tokens["output_tokens"]


# --- one limit for all calls under way -------------------------------------------------------------------------------
_gates: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, asyncio.Semaphore]] = WeakKeyDictionary()


def _gate() -> asyncio.Semaphore:
    limit = context().max_concurrency
    gates = _gates.setdefault(asyncio.get_running_loop(), {})
    return gates.setdefault(limit, asyncio.Semaphore(limit))


# --- asking ----------------------------------------------------------------------------------------------------------
async def ask(llm: BaseChatModel, prompt: Prompt[Reply], **values: Any) -> Reply:
    """Ask a model one prompt and return its typed reply.

    A reply that cannot be read is answered with what was wrong, at most twice.

    Raises:
        ModelCallError: when the model could not be asked at all.
        ModelOutputError: when no reply could be read.
    """
    messages = prompt.render(**values)
    options = _schema_options(llm, prompt)
    for attempt in range(1 + MAX_REPAIRS):
        async with _gate():
            message = await _call(llm, messages, options)
        _count_call(message, repair=attempt > 0)
        text = message.text
        try:
            return read_reply(text, prompt.reply)
        except ValueError as error:
            problem = str(error)
        messages = [*messages, AIMessage(text or "(empty)"), HumanMessage(_repair_request(problem))]
    raise ModelOutputError(
        f"prompt {prompt.name!r}: {model_name(llm)} gave no usable reply in {1 + MAX_REPAIRS} attempts; "
        f"expected a JSON object with {', '.join(prompt.reply.model_fields)}; {problem}; "
        f"the last reply starts: {text[:200]!r}"
    )


async def _call(llm: BaseChatModel, messages: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
    try:
        return await llm.ainvoke(messages, config={"tags": _INTERNAL_TAGS}, **options)
    except RagError:
        raise
    except Exception as error:
        raise ModelCallError(f"{model_name(llm)} could not be asked: {type(error).__name__}: {error}") from error


def read_reply(text: str, reply: type[Reply]) -> Reply:
    """Find the reply's object in a model's text: reasoning tags, fences and surrounding prose are skipped.

    Raises:
        ValueError: saying what is wrong with the text, in words a model can act on.
    """
    problem = "it contains no JSON object"
    for found in _objects(_REASONING_END.split(_REASONING.sub("", text))[-1]):
        try:
            return reply.model_validate(found)
        except ValidationError as error:
            wrong = error.errors()[0]
            problem = f"field {'.'.join(map(str, wrong['loc']))!r}: {wrong['msg']}"
    raise ValueError(problem)


def _objects(text: str) -> Iterator[object]:
    """Yield the objects in a text: JSON wherever one starts, then the whole text as a Python literal."""
    decoder, position = json.JSONDecoder(strict=False), 0
    while (position := text.find("{", position)) >= 0:
        try:
            found, position = decoder.raw_decode(text, position)
            yield found
        except (json.JSONDecodeError, RecursionError):
            position += 1
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        try:
            yield ast.literal_eval(text[start : end + 1])
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return


def _repair_request(problem: str) -> str:
    return f"That reply cannot be used: {problem}. Reply again with the one JSON object asked for and nothing else."


def _schema_options(llm: BaseChatModel, prompt: Prompt[Reply]) -> dict[str, Any]:
    """Ask OpenAI-compatible servers for JSON by schema; all others get the form from the prompt alone."""
    openai = sys.modules.get("langchain_openai")
    if openai is None or not isinstance(llm, openai.ChatOpenAI):
        return {}
    schema = {"name": prompt.name, "schema": prompt.reply.model_json_schema()}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def model_name(llm: BaseChatModel) -> str:
    """Return the name a model goes by."""
    return str(getattr(llm, "model_name", None) or getattr(llm, "model", None) or type(llm).__name__)
