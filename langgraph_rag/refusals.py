"""Answers that say that there is no answer."""

import re

from langgraph_rag.matching import normalise

UNANSWERABLE = "unanswerable"
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
)  # fmt: skip
_BUT = re.compile(r"\s*unknown\s*[;:,.(\u2013\u2014-]", re.IGNORECASE)  # and then what comes closest


def is_refusal(answer: str) -> bool:
    """Tell whether an answer says that there is none: "unanswerable", "unknown", "not enough information", ...

    It is CIRAG's sufficiency indicator (section 3.4), negated.
    """
    form = normalise(answer)
    begins = any(f"{form} ".startswith(f"{refusal} ") for refusal in _BEGINNINGS)
    return form in _WHOLE or begins or _BUT.match(answer) is not None


def may_become_refusal(beginning: str) -> bool:
    """Tell whether an answer that begins so may turn out to be a refusal."""
    form = normalise(beginning)
    return is_refusal(beginning) or any(refusal.startswith(form) for refusal in (*_WHOLE, *_BEGINNINGS))
