"""What the offline model can do: one skill per prompt, each a composition of the same few rules."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langgraph_rag.offline.paths import Fact
from langgraph_rag.offline.reason import conclude, integrate
from langgraph_rag.tools.rule_triples import extract_triples
from langgraph_rag.tools.spans import spot
from langgraph_rag.tools.text import text_pipeline

UNANSWERABLE = "unanswerable"
Values = Mapping[str, Any]


def _find_entities(values: Values) -> dict[str, Any]:
    sentences = text_pipeline().sentences(values["text"])
    spans = [span.text for sentence in sentences for span in spot(sentence)]
    return {"entities": list(dict.fromkeys([values["title"], *spans]))}


def _extract_triples(values: Values) -> dict[str, Any]:
    return {"triples": extract_triples(values["title"], text_pipeline().sentences(values["text"]))}


def _integrate(values: Values) -> dict[str, Any]:
    history = values["history"]
    decision = integrate(
        values["question"],
        candidates=values["facts"],
        kept=[fact for step in history for fact in step["facts"]],
        asked=[*(step["query"] for step in history), values["query"]],
    )
    return {"thought": decision.thought, "facts": decision.facts, "question": decision.question or None}


def _answer(question: str, facts: Sequence[Fact]) -> dict[str, Any]:
    conclusion = conclude(question, facts)
    return {"thought": conclusion.thought, "answer": conclusion.answer or UNANSWERABLE}


def _answer_from_triples(values: Values) -> dict[str, Any]:
    return _answer(values["question"], values["triples"])


def _answer_from_texts(values: Values) -> dict[str, Any]:
    texts = values.get("sentences") or values.get("passages") or []
    read = (extract_triples(text["title"], text_pipeline().sentences(text["text"])) for text in texts)
    return _answer(values["question"], [fact for facts in read for fact in facts])


SKILLS: dict[str, Callable[[Values], dict[str, Any]]] = {
    "find_entities": _find_entities,
    "extract_triples": _extract_triples,
    "integrate": _integrate,
    "answer_from_triples": _answer_from_triples,
    "answer_from_sentences": _answer_from_texts,
    "answer_from_passages": _answer_from_texts,
}
