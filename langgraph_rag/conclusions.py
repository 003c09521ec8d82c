"""The sentence that ends a chain of thought: "So the answer is ..."."""

import re

from langgraph_rag.normal_forms import normalise
from langgraph_rag.refusals import UNANSWERABLE, begins_as_refusal, is_refusal

_STATED = re.compile(
    r"(?:.*(?:[.!?,;]\s+|\b(?:so|thus|hence|therefore)\s+))?"
    r"the (?:final |correct )?answer(?: to (?:the|this|your) question)? is\b:?\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)
_ABBREVIATED = re.compile(r"\.[^\W\d_]\Z")  # the last dot of "D.C." belongs to the name
_LACKING = re.compile(r"(?:missing|incomplete|still|yet|to be)\b")  # in lower case, as these words also begin titles


def concludes(thought: str) -> bool:
    """Return whether a thought is the last one (IRCoT): it states the answer, or that it is unknown."""
    return bool(concluded(thought)) or normalise(_stated(thought)).startswith(("unknown", UNANSWERABLE))


def concluded(thought: str) -> str:
    """Return the answer that a thought states, such as "So the answer is Norway."; empty if it states none.

    A thought may mention an answer without stating it: "I have to look up what the answer is."
    """
    answer = _stated(thought)
    if _LACKING.match(answer) or begins_as_refusal(answer):
        return ""
    is_title = " ".join(answer.split()[:2]).istitle()  # "Not Fade Away"
    return "" if not is_title and is_refusal(f"The answer is {answer}") else answer


def _stated(thought: str) -> str:
    found = _STATED.match(thought)
    told = found[1] if found else ""
    answer = told.rstrip(". \n\t")
    dotted = _ABBREVIATED.search(answer) and told[len(answer) :].startswith(".")
    return f"{answer}." if dotted else answer
