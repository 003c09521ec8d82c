"""Reads the facts of passages, and collects those that lead to an answer."""

from typing import Any

from langgraph_rag.offline import Values, search
from langgraph_rag.records import Fact, Record
from langgraph_rag.tools.facts.reading import extract_triples
from langgraph_rag.tools.facts.stated import stated


def extract_facts(values: Values) -> dict[str, Any]:
    """Return the facts that the sentences of each passage state."""
    numbered = enumerate(values["passages"], start=1)
    return {"passages": [{"passage": number, "facts": _facts(**passage)} for number, passage in numbered]}


def _facts(title: str, sentences: list[str]) -> list[list[str]]:
    passage = Record(id="", title=title, text="", hash="", sentences=sentences, phrases=[])
    read = [Fact(triple=triple, sentences=[]) for triple in extract_triples(title, sentences)]
    return [[str(1 + fact["sentences"][0]), *fact["triple"]] for fact in stated(read, passage)]


def integrate(values: Values) -> dict[str, Any]:
    """Return the facts to keep, and the next question."""
    history = values["history"]
    decision = search.integrate(
        values["question"],
        candidates=[fact[:3] for fact in values["facts"]],  # a sentence may follow
        kept=[fact for step in history for fact in step["facts"]],
        asked=[*(step["query"] for step in history), values["query"]],
    )
    return {"thought": decision.thought, "facts": decision.facts, "question": decision.question or None}
