"""How a reply ended, as far as its provider reports: complete, cut off, filtered, or withheld."""

import re

from langchain_core.messages import BaseMessage

# how providers report an unfinished reply; some do in each chunk of a stream
_CUT_OFF = re.compile(r"(length)+|model_length|max_(output_)?tokens|model_context_window_exceeded", re.IGNORECASE)
_FILTERED = re.compile(r"filter|safety|recitation|blocklist|prohibited", re.IGNORECASE)
_FAILED = re.compile(r"error|abort(ed)?|cancel(l?ed)?", re.IGNORECASE)  # of OpenRouter, of vLLM and SGLang

# where they report how a reply ended, and the ordinary values
_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "reason", "block_reason")
_ORDINARY = re.compile(r"(stop)+|end_turn|stop_sequence|eos(_token)?", re.IGNORECASE)


def is_whole(message: BaseMessage) -> bool:
    """Return whether a reply is complete: not cut off, filtered or failed, as far as its provider reports."""
    filtered = any(map(_FILTERED.search, _reasons(message)))
    failed = any(map(_FAILED.fullmatch, _told(message).values()))
    return not (was_cut_off(message) or filtered or failed)


def was_cut_off(message: BaseMessage) -> bool:
    """Return whether a provider reports that a reply reached the maximum length."""
    return any(map(_CUT_OFF.fullmatch, _told(message).values()))


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
