"""Tell the custom events of the graphs in words, one line each, for terminals and logs."""

from collections.abc import Mapping
from typing import Any

Event = Mapping[str, Any]


def narrate(event: Event) -> str:
    """Return a line for an event, or nothing for one of no interest to a reader."""
    tell = _TELL.get(str(event.get("node")))
    return tell(event) if tell else ""


def _retrieve(event: Event) -> str:
    titles = ", ".join(event["titles"][:5])
    more = f" and {len(event['titles']) - 5} more" if len(event["titles"]) > 5 else ""
    return f"Step {event['step']}: {event['query']}\n  found     {titles}{more}"


def _extract_triples(event: Event) -> str:
    return f"  read      {event['triples']} triples in these passages"


def _construct(event: Event) -> str:
    return f"  weighed   {event['candidates']} of {event['triples']} triples"


def _integrate(event: Event) -> str:
    kept = "".join(f"\n  kept      {' | '.join(triple)}" for triple in event["kept"]) or "\n  kept      nothing"
    following = f"\n  next      {event['next_question']}" if event["next_question"] else ""
    return f"  thought   {event['thought']}{kept}{following}"


def _answer(event: Event) -> str:
    level = str(event["node"]).removeprefix("answer_from_")
    verdict = event["answer"] if event["sufficient"] else "not enough"
    return f"Answering from {level}: {verdict}"


_TELL = {
    "retrieve": _retrieve,
    "extract_triples": _extract_triples,
    "construct": _construct,
    "integrate": _integrate,
    "answer_from_triples": _answer,
    "answer_from_sentences": _answer,
    "answer_from_passages": _answer,
}
