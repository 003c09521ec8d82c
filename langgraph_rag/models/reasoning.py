"""Removes the reasoning that some models write before their reply."""

import json
import re

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
