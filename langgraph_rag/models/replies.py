"""Reads model replies: how one ended, what stands in it beside the reasoning, and the JSON object that it holds."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from json_repair import repair_json
from langchain_core.messages import BaseMessage
from pydantic import ValidationError

from langgraph_rag.prompts.prompt import Reply

MAX_REPLY_CHARS = 200_000  # far more than any prompt asks for, and less than spaCy takes at once
_MAX_BRACES = 1000  # that begin no object; the error of each takes time proportional to the text
_ITEM_END, _OBJECT_END = re.compile(r'[\]"](?=\s*,)'), re.compile(r"\}(?=\s*,)")
_MOST_PARTS = 3  # of a list item that is itself a list
_MAX_MENDED_CHARS = 5_000  # mending takes quadratic time

_MARKS = [  # the beginning and the end of reasoning
    *((f"<{tag}>", f"</{tag}>") for tag in ("think", "thinking", "thought", "reasoning")),
    (r"(?-i:\[THINK\])", r"(?-i:\[/THINK\])"),  # of Magistral; in lower case it could be prose
    (r"<\|channel\|>analysis", r"<\|channel\|>final[^{]{0,30}?<\|message\|>"),  # of gpt-oss
    (r"\Aanalysis(?=[A-Z])", r"assistantfinal"),  # the same without its special tokens
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # of Cohere's models
    ("◁think▷", "◁/think▷"),  # of Kimi's
    ("<seed:think>", "</seed:think>"),
]
_LONGEST_MARK = len("<|channel|>final<|message|>") + 30
_BEGINNINGS, _ENDS = map("|".join, zip(*_MARKS, strict=True))
_REPLIED = re.compile(r"\s*(?:```\w*\s*)?\{")  # in an object, marks are text: "the model writes <think>"
_FRONT = re.compile(r"(?:```\w*\s*)?")  # that may stand before an object
_LONGEST_FRONT = 100
_MARK = re.compile(rf"{_BEGINNINGS}|({_ENDS})", re.IGNORECASE)
_END = re.compile(_ENDS, re.IGNORECASE)  # some chat templates begin the reasoning

# how providers report an unfinished reply; some do in each chunk of a stream
_CUT_OFF = re.compile(r"(length)+|model_length|max_(output_)?tokens|model_context_window_exceeded", re.IGNORECASE)
_FILTERED = re.compile(r"filter|safety|recitation|blocklist|prohibited", re.IGNORECASE)
_FAILED = re.compile(r"error|abort(ed)?|cancel(l?ed)?", re.IGNORECASE)  # of OpenRouter, of vLLM and SGLang

# where they report how a reply ended, and the ordinary values
_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "reason", "block_reason")
_ORDINARY = re.compile(r"(stop)+|end_turn|stop_sequence|eos(_token)?", re.IGNORECASE)


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


def without_reasoning(text: str) -> str:
    """Return a text, which may be cut off, without the reasoning before its JSON object."""
    kept: list[str] = []
    front, begin, unread = "", 0, _end_of_object(text, 0)
    while mark := _MARK.search(text, unread):
        if mark[1]:
            kept, front, begin = [], "", mark.end()
        else:
            end = _END.search(text, mark.end())
            kept.append(text[begin : mark.start()])
            front = (front + kept[-1]).lstrip()[:_LONGEST_FRONT]
            begin = end.end() if end else len(text)
        unread = _end_of_object(text, begin) if _FRONT.fullmatch(front) else begin
    return "".join([*kept, text[begin:]])


def _end_of_object(text: str, begin: int) -> int:
    """Return where the JSON object at the beginning of a text ends; the end of the text if the object is broken."""
    if not (begun := _REPLIED.match(text, begin)):
        return begin
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, begun.end() - 1)[1]
    except (ValueError, RecursionError):
        return len(text)


class UnfinishedReply:
    """A reply that is still being streamed; each chunk is scanned once, however long the reply gets.

    `text` is the part after the reasoning; `reasoning` is true as long as the reasoning has not ended.
    """

    def __init__(self) -> None:
        self.text, self.reasoning = "", False

    def add(self, piece: str) -> None:
        """Add a chunk; a mark may have begun in an earlier one."""
        unread = max(0, len(self.text) - _LONGEST_MARK)
        self.text += piece
        while (mark := _MARK.search(self.text, unread)) and not _REPLIED.match(self.text):
            self.reasoning = not mark[1]
            if self.reasoning:
                unread = mark.end()
            else:
                self.text, unread = self.text[mark.end() :], 0


def is_whole(message: BaseMessage) -> bool:
    """Return whether a reply is complete: not cut off, filtered or failed, as far as its provider reports."""
    filtered = any(map(_FILTERED.search, _reasons(message)))
    failed = any(map(_FAILED.fullmatch, _told(message).values()))
    return not (was_cut_off(message) or filtered or failed)


def was_cut_off(message: BaseMessage) -> bool:
    """Return whether a provider reports that a reply reached the maximum length."""
    return any(map(_CUT_OFF.fullmatch, _told(message).values()))


def ended_empty(message: BaseMessage) -> bool:
    """Return whether a reply ended in the ordinary way without a word."""
    return not message.content and bool(_reasons(message)) and not withheld(message)


def withheld(message: BaseMessage) -> list[str]:
    """Return why a reply did not end normally: called tools, the finish reason, and the text of a refusal."""
    blocks = [block for block in message.content if isinstance(block, dict)]
    refusals = [said["refusal"] for said in (message.additional_kwargs, *blocks) if said.get("refusal")]
    called = [call["name"] for call in getattr(message, "tool_calls", None) or ()]
    return [
        *(f"it calls the tool {name!r}" for name in called),
        *(f"finish reason {reason!r}" for reason in _reasons(message) if not _ORDINARY.fullmatch(reason)),
        *(f"refusal {str(refusal)[:200]!r}" for refusal in refusals),
    ]


def _reasons(message: BaseMessage) -> list[str]:
    told = _told(message)
    return [told[key] for key in _REASONS if key in told]


def _told(message: BaseMessage) -> dict[str, str]:
    """Return the metadata of a response as texts, with nested details at the top level, and without what is empty."""
    told = message.response_metadata
    within = (told.get("incomplete_details"), told.get("prompt_feedback"))  # of OpenAI's Responses API, of Gemini
    details = [details for details in within if isinstance(details, dict)]
    return {key: _text(value) for some in (told, *details) for key, value in some.items() if value}


def _text(value: object) -> str:
    return str(getattr(value, "value", value))  # of an enumeration
