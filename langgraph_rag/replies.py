"""Reading what a model replied: the object asked for, whatever stands around it, or what is wrong in its place."""

import ast
import json
import re
from collections.abc import Iterator

from langchain_core.messages import BaseMessage
from pydantic import ValidationError

from langgraph_rag.prompts.prompt import Reply
from langgraph_rag.reasoning import without_reasoning

MAX_REPLY_CHARS = 200_000  # far more than any prompt asks for, and less than spaCy takes at once

# how providers say that a reply was not finished, some in each piece of a stream
_CUT_OFF = re.compile(r"(length)+|model_length|max_(output_)?tokens|model_context_window_exceeded", re.IGNORECASE)


def read_reply(text: str, reply: type[Reply]) -> Reply:
    """Find the reply's object in a model's text: reasoning tags, fences and surrounding prose are skipped.

    Raises:
        ValueError: saying what is wrong with the text, in words a model can act on.
    """
    problem, text = "it contains no JSON object", without_reasoning(text)
    if len(text) > MAX_REPLY_CHARS:
        raise ValueError(f"it has {len(text)} characters, of at most {MAX_REPLY_CHARS}")
    for found in _objects(text):
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


def repair_request(problem: str) -> str:
    """Return what to tell a model whose reply could not be read."""
    return f"That reply cannot be used: {problem}. Reply again with the one JSON object asked for and nothing else."


def was_cut_off(message: BaseMessage) -> bool:
    """Tell whether a provider says of a reply that it was not finished for its length."""
    told = message.response_metadata
    details = told.get("incomplete_details")  # of OpenAI's Responses API
    reasons = [*told.values(), *(details.values() if isinstance(details, dict) else ())]
    return any(_CUT_OFF.fullmatch(str(reason)) for reason in reasons)
