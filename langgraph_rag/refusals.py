"""Answers that say that there is no answer."""

from langgraph_rag.matching import normalise

_WHOLE = {"", "unknown"}
_BEGINNINGS = (
    "unanswerable", "not answerable", "cannot be answered", "cannot answer", "cannot be determined",
    "i don t know", "not enough information", "insufficient information", "no answer",
)  # fmt: skip


def is_refusal(answer: str) -> bool:
    """Tell whether an answer says that there is none (CIRAG's sufficiency indicator, section 3.4, negated)."""
    form = normalise(answer)
    return form in _WHOLE or any(f"{form} ".startswith(f"{refusal} ") for refusal in _BEGINNINGS)


def may_become_refusal(beginning: str) -> bool:
    """Tell whether an answer that begins so may turn out to be a refusal."""
    form = normalise(beginning)
    return is_refusal(beginning) or any(refusal.startswith(form) for refusal in (*_WHOLE, *_BEGINNINGS))
