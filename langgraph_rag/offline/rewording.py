"""Rewords a request as a plain question: "Name the author of X" -> "What is the author of X?"."""

import re

_POLITE = r"(?:please |(?:can|could|would|will) you (?:please )?)?"
_IMPERATIVE = re.compile(
    rf"(?:{_POLITE}(?:name|give|list|tell|state|find(?: out)?)(?: me| us)?|do you know|i (?:want|would like) to know)"
    r"(?:: | (?=(?:the|wh\w+|how) ))",
    re.IGNORECASE,
)
_PRELUDE = re.compile(r"^\s*(?:(?:(?:q|question)\s*:|(?:so|and|ok|okay|well|hi|hello|hey),)\s+)?", re.IGNORECASE)
_QUOTES = '"“”*'
_KIN = {
    "paternal grandfather": ("father", "father"),
    "paternal grandmother": ("father", "mother"),
    "maternal grandfather": ("mother", "father"),
    "maternal grandmother": ("mother", "mother"),
    "grandfather": ("parent", "father"),
    "grandmother": ("parent", "mother"),
    "father-in-law": ("spouse", "father"),
    "mother-in-law": ("spouse", "mother"),
    "stepfather": ("mother", "husband"),
    "stepmother": ("father", "wife"),
    "uncle": ("parent", "brother"),
    "aunt": ("parent", "sister"),
}
_KIN_OF = re.compile(rf"\b({'|'.join(_KIN)}) of\b", re.IGNORECASE)
_KIN_OWNED = re.compile(rf"['’]s ({'|'.join(_KIN)})\b", re.IGNORECASE)


def as_question(text: str) -> str:
    """Return an imperative as a question: "Name the author of X" -> "What is the author of X?".

    Relatives over two steps are expanded: "X's paternal grandfather" -> "X's father's father". Introductory words, and
    quotation marks around the question, are removed.
    """
    if text[:1] in _QUOTES and not any(mark in text.strip(_QUOTES) for mark in _QUOTES):
        text = text.strip(_QUOTES)
    text = _PRELUDE.sub("", text)
    text = _KIN_OF.sub(lambda kin: "{1} of the {0} of".format(*_KIN[kin[1].lower()]), text)
    text = _KIN_OWNED.sub(lambda kin: "'s {}'s {}".format(*_KIN[kin[1].lower()]), text)
    imperative = _IMPERATIVE.match(text)
    asked = f"{text[imperative.end() :].rstrip(' .!?')}?" if imperative else text
    return f"What is {asked}" if imperative and asked.lower().startswith("the ") else asked
