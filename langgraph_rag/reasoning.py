"""What models that think aloud write before their reply."""

import re

_REASONING = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<(/?)(?:think|thinking|reasoning)>", re.IGNORECASE)
_LONGEST_TAG = len("</reasoning>")
_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)  # some chat templates open the tag


def without_reasoning(text: str) -> str:
    """Return a text, also one that was cut off, without the reasoning in it."""
    return _END.split(_REASONING.sub("", text))[-1]


class UnfinishedReply:
    """A reply that is still being written: each piece is read once, however long the reply gets.

    `text` is what it has after the last end of reasoning; while the model is `reasoning`, that goes on.
    """

    def __init__(self) -> None:
        self.text, self.reasoning = "", False

    def add(self, piece: str) -> None:
        """Add what was written since; a tag may have begun before."""
        unread = max(0, len(self.text) - _LONGEST_TAG)
        self.text += piece
        while tag := _TAG.search(self.text, unread):
            self.reasoning = not tag[1]
            if self.reasoning:
                unread = tag.end()
            else:
                self.text, unread = self.text[tag.end() :], 0
