"""What models that think aloud write before their reply."""

import re

_REASONING = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)  # some chat templates open the tag


def without_reasoning(text: str) -> str:
    """Return a text, also one that is still being written, without the reasoning in it."""
    return _END.split(_REASONING.sub("", text))[-1]
