"""Parses model replies: finds the requested JSON object, or describes what is wrong with the reply."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from json_repair import repair_json
from pydantic import ValidationError

from langgraph_rag.models.reasoning import without_reasoning
from langgraph_rag.prompts.prompt import Reply

MAX_REPLY_CHARS = 200_000  # far more than any prompt asks for, and less than spaCy takes at once
_MAX_BRACES = 1000  # that begin no object; the error of each takes time proportional to the text
_ITEM_END, _OBJECT_END = re.compile(r'[\]"](?=\s*,)'), re.compile(r"\}(?=\s*,)")
_MOST_PARTS = 3  # of a list item that is itself a list
_MAX_MENDED_CHARS = 5_000  # mending takes quadratic time


def read_reply(text: str, reply: type[Reply], *, whole: bool = True) -> Reply:
    """Find the JSON object of a reply in a model's text; reasoning, code fences and surrounding prose are skipped.

    Lines such as "Answer: Kell" are read as an object, but only if the text is `whole`: the last line of a text that
    was cut off may be incomplete. A closed object is always complete.

    Raises:
        ValueError: when there is no valid object; the message tells a model what to correct.
    """
    text = without_reasoning(text)
    problem = "its JSON object is not complete" if "{" in text else "it contains no JSON object"
    if len(text) > MAX_REPLY_CHARS:
        raise ValueError(f"it has {len(text)} characters, of at most {MAX_REPLY_CHARS}")
    written = [name for name in reply.unsaid if re.search(rf'"{name}"\s*:', text)]
    for found in _objects(text) if "{" in text else _labelled(text, reply) if whole else ():
        found = _unwrapped(found, reply)
        if outside := next((name for name in written if name not in found), ""):  # the object was closed too early
            problem = f"field {outside!r}: it stands outside the object"
            continue
        try:
            return reply.model_validate(found)
        except ValidationError as error:
            wrong = error.errors()[0]
            problem = wrong["msg"].removeprefix("Value error, ")
            if wrong["loc"]:
                problem = f"field {'.'.join(map(str, wrong['loc']))!r}: {problem}"
    raise ValueError(problem)


def read_part(text: str, reply: type[Reply]) -> Reply | None:
    """Read a reply whose list was cut off: return the complete items, or None if there are none."""
    text = without_reasoning(text)
    start, ends = text.find("{"), [found.end() for found in _ITEM_END.finditer(text)]
    objects = [found.end() for found in _OBJECT_END.finditer(text)]
    for end in (*ends[: -_MOST_PARTS - 1 : -1], *objects[-1:]):
        with suppress(ValueError, RecursionError):
            return reply.model_validate(json.loads(f"{text[start:end]}]}}", strict=False))
    return None


def _unwrapped(found: dict[str, Any], reply: type[Reply]) -> dict[str, Any]:
    """Return the object with the reply's fields: `found`, or the only object inside it, as in `{"result": {...}}`."""
    required = {name for name, field in reply.model_fields.items() if field.is_required()}
    while not required <= found.keys():
        within = [value for value in found.values() if isinstance(value, dict)]
        if len(within) != 1:
            break
        found = within[0]
    return found


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects in a text: every valid JSON object, then the repaired form of the whole text.

    A text that was cut off is not completed, because the missing part may be important.
    """
    decoder, position, failed = json.JSONDecoder(strict=False, parse_float=str), 0, 0  # "3.10" is no 3.1
    while failed < _MAX_BRACES and (position := text.find("{", position)) >= 0:
        try:
            found, position = decoder.raw_decode(text, position)
            yield found
        except (ValueError, RecursionError):  # a plain ValueError is a number with too many digits
            position, failed = position + 1, failed + 1
    meant = text[text.find("{") : text.rfind("}") + 1]
    if 0 < len(meant) <= _MAX_MENDED_CHARS and meant.count("{") == meant.count("}"):
        with suppress(ValueError):  # nested too deeply
            found = repair_json(meant, return_objects=True, skip_json_loads=True)
            if isinstance(found, dict):
                yield found


def _labelled(text: str, reply: type[Reply]) -> Iterator[dict[str, Any]]:
    """Yield an object from lines such as "Answer: Kell", if the last line of the text has this form."""
    label = rf"\W*({'|'.join(reply.model_fields)})\W*?:[\s*]*(.+)"
    found = [re.fullmatch(label, line, re.IGNORECASE) for line in text.strip().splitlines()]
    if found and found[-1]:
        yield {line[1].lower(): line[2].strip(" *") for line in found if line}


def repair_request(problem: str) -> str:
    """Return the message that asks a model to repair its reply."""
    return f"That reply cannot be used: {problem}. Reply again with the one JSON object asked for and nothing else."
