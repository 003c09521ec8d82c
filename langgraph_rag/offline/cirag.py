"""Reads the facts of passages, and collects those that lead to an answer."""

from typing import Any

from langgraph_rag.offline import Values, search
from langgraph_rag.tools.language import rule_triples
from langgraph_rag.tools.language.spans import spot
from langgraph_rag.tools.language.text import RULES, text_pipeline


def find_entities(values: Values) -> dict[str, Any]:
    """Return the title, and the names, dates and numbers of a passage."""
    sentences = text_pipeline(RULES).sentences(values["text"])
    spans = [span.text for sentence in sentences for span in spot(sentence)]
    return {"entities": list(dict.fromkeys([values["title"], *spans]))}


def extract_triples(values: Values) -> dict[str, Any]:
    """Return the triples that the sentences of a passage state."""
    return {"triples": rule_triples.extract_triples(values["title"], text_pipeline(RULES).sentences(values["text"]))}


def integrate(values: Values) -> dict[str, Any]:
    """Return the facts to keep, and the next question."""
    history = values["history"]
    decision = search.integrate(
        values["question"],
        candidates=values["facts"],
        kept=[fact for step in history for fact in step["facts"]],
        asked=[*(step["query"] for step in history), values["query"]],
    )
    return {"thought": decision.thought, "facts": decision.facts, "question": decision.question or None}
