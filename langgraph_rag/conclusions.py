"""The sentence that ends a chain of thought: "So the answer is ..."."""

import re

from langgraph_rag.refusals import is_refusal, states_refusal

_MARK = re.compile(r"\banswer is\b", re.IGNORECASE)
_STATED = re.compile(
    r"(?:.*(?:[.!?,;]\s+|\b(?:so|thus|hence|therefore)\s+))?the (?:final |correct )?answer is\b:?\s*"
    r"(.*\w(?:(?<=\.[^\W\d_])\.)?.*?)[.\s]*",  # the dot of "D.C." ends no sentence alone
    re.IGNORECASE | re.DOTALL,
)
_LACKING = re.compile(r"(?:missing|still|yet|to be)\b")  # in small letters: these words begin titles, too


def concludes(thought: str) -> bool:
    """Tell whether a thought is the last one (IRCoT; KiRAG, section 3.2), whatever it says of the answer."""
    return _MARK.search(thought) is not None


def concluded(thought: str) -> str:
    """Return the answer that a thought states, as prompts ask for it ("So the answer is Norway."), else nothing.

    Thoughts speak of an answer that they do not have, too: "I have to look up what the answer is."
    """
    stated = _STATED.fullmatch(thought)
    if not stated or _LACKING.match(stated[1]) or is_refusal(stated[1]):
        return ""
    is_title = " ".join(stated[1].split()[:2]).istitle()  # "Not Fade Away"
    return "" if not is_title and states_refusal(f"The answer is {stated[1]}") else stated[1]
