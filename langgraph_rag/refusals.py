"""Answers that say that there is no answer."""

import re
from itertools import product

from langgraph_rag.arguments import expect
from langgraph_rag.matching import normalise

UNANSWERABLE = "unanswerable"
_TEXTS = ("sources do", "passages do", "documents do", "sentences do", "context does", "text does", "background does")
_NOT = (" not", "n t")
_TELL = ("say", "state", "tell", "mention", "name", "specify", "indicate", "provide", "give", "contain", "answer")
_WHOLE = {
    "", "unknown", "none", "n a", "unclear", "not known", "not given", "not stated", "not specified",
    "not mentioned", "not provided", "not available",
}  # fmt: skip
_BEGINNINGS = (
    UNANSWERABLE, "not answerable", "cannot be answered", "cannot answer", "cannot be determined", "cannot determine",
    "cannot say", "can t be determined", "unable to determine", "unable to answer", "unable to find", "i don t know",
    "not enough information", "insufficient information", "no information", "there is not enough", "there is no",
    "no answer", "not stated in", "not specified in", "not mentioned in", "not provided in",
    "not given in", "not found in", "the question is unanswerable", "the question cannot be", "this question cannot be",
    "the answer is unknown", "the answer is not", "the answer cannot be", "it is unknown", "it is not known",
    "it is not stated", "it is not mentioned", "it is not specified", "it cannot be determined",
    *(f"the {texts}{negation} {tell}" for texts, negation, tell in product(_TEXTS, _NOT, _TELL)),
)  # fmt: skip
_BUT = re.compile(r"\s*unknown\s*[;:,.(\u2013\u2014-]", re.IGNORECASE)  # and then what comes closest
_ONE_CLAUSE = r"(?:(?![,;:]|\b(?:whose|but|and (?:its|his|her|their|it|he|she|they))\b).)+"  # no "Ada, whose age"
_NOT_TOLD = r"(?:unknown|not (?:known|given|stated|specified|mentioned|provided))"
_IN_THE_TEXTS = r"(?: in the (?:sources|passages|documents|sentences|context|text|background))?"
_SENTENCE = re.compile(rf"{_ONE_CLAUSE}\b(?:is|are|was|were) {_NOT_TOLD}{_IN_THE_TEXTS}(?:\.?\s*|;.*)", re.DOTALL)


def is_refusal(answer: str) -> bool:
    """Tell whether an answer says that there is none: "unanswerable", "unknown", "not enough information", ...

    It is CIRAG's sufficiency indicator (section 3.4), negated.

    Raises:
        TypeError: when it is no string.
    """
    expect(str, answer, "an answer as a string", 'result["answer"] is one')
    form = normalise(answer)
    begins = any(f"{form} ".startswith(f"{refusal} ") for refusal in _BEGINNINGS)
    return form in _WHOLE or begins or _BUT.match(answer) is not None


def states_refusal(sentence: str) -> bool:
    """Tell whether an answer that is a sentence says that there is none: "The director of Mill Bridge is unknown".

    Only the end of such a sentence tells; nothing can be streamed before.
    """
    return is_refusal(sentence) or _SENTENCE.fullmatch(sentence) is not None


def may_become_refusal(beginning: str) -> bool:
    """Tell whether an answer that begins so may turn out to be a refusal."""
    form = normalise(beginning)
    return is_refusal(beginning) or any(refusal.startswith(form) for refusal in (*_WHOLE, *_BEGINNINGS))
