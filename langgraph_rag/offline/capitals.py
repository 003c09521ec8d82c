"""Capitalises the names in a question that is written in lower case, as in the texts shown with it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from langgraph_rag.normal_forms import normalise
from langgraph_rag.tools.ingest.spans import JOINED_WORD, spot_names, stop_words


def with_capitals(text: str, shown: Any) -> str:
    """Capitalise the names in a question without capitals as in the texts of the prompt.

    A word that also occurs there in lower case ("the mill", "Kell Mill") is not a name by itself.
    """
    if _has_names(text):
        return text
    texts = [*filter(_has_names, _texts(shown))]
    common = stop_words() | {word for told in texts for word in JOINED_WORD.findall(told) if word.islower()}
    names = {name.text for told in texts for name in spot_names(told)}
    for name in sorted(names, key=lambda name: (len(name), name)):
        asked = re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE)
        if asked and not common.issuperset(normalise(name).split()):
            text = text[: asked.start()] + name + text[asked.end() :]
    return text


def _has_names(text: str) -> bool:
    return any(map(str.isupper, text[1:]))


def _texts(shown: Any) -> Iterator[str]:
    if isinstance(shown, str):
        yield shown
    elif isinstance(shown, Mapping | list | tuple):
        for part in shown.values() if isinstance(shown, Mapping) else shown:
            yield from _texts(part)
