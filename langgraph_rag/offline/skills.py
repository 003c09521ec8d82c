"""The skills of the offline model: one per prompt, each composed of the same few rules."""

from collections.abc import Callable, Mapping
from typing import Any

from langgraph_rag.normal_forms import stands_in
from langgraph_rag.offline import Values, dualrag, kirag, mgranrag, par_rag
from langgraph_rag.offline.answer import conclude
from langgraph_rag.offline.conversation import restate_question
from langgraph_rag.offline.pages import Pages, pages_of, spelled_out
from langgraph_rag.offline.search import integrate
from langgraph_rag.tools.language.rule_triples import extract_triples
from langgraph_rag.tools.language.spans import spot
from langgraph_rag.tools.language.text import RULES, text_pipeline

_LEAST = {"triples": 4.0, "sentences": 3.0, "passages": 2.5}  # minimum scores; below them, more text should be read


def _find_entities(values: Values) -> dict[str, Any]:
    sentences = text_pipeline(RULES).sentences(values["text"])
    spans = [span.text for sentence in sentences for span in spot(sentence)]
    return {"entities": list(dict.fromkeys([values["title"], *spans]))}


def _extract_triples(values: Values) -> dict[str, Any]:
    return {"triples": extract_triples(values["title"], text_pipeline(RULES).sentences(values["text"]))}


def _integrate(values: Values) -> dict[str, Any]:
    history = values["history"]
    decision = integrate(
        values["question"],
        candidates=values["facts"],
        kept=[fact for step in history for fact in step["facts"]],
        asked=[*(step["query"] for step in history), values["query"]],
    )
    return {"thought": decision.thought, "facts": decision.facts, "question": decision.question or None}


def _answer_from_triples(values: Values) -> Mapping[str, Any]:
    return conclude(values["question"], Pages(spelled_out(values["triples"])), least=_LEAST["triples"]).reply


def _answer_from_texts(values: Values) -> Mapping[str, Any]:
    kind = "sentences" if "sentences" in values else "passages"
    return conclude(values["question"], pages_of(values[kind]), least=_LEAST[kind]).reply


def _judge(values: Values) -> dict[str, Any]:
    """Accept an answer if and only if it contains an accepted one."""
    held = next((answer for answer in values["accepted"] if stands_in(answer, values["given"])), None)
    return {"reason": f"It says {held}." if held else "It says none of them.", "correct": held is not None}


Skill = Callable[[Values], Mapping[str, Any]]
"""Returns the fields of a reply for the values of a prompt."""

SKILLS: dict[str, Skill] = {
    "find_entities": _find_entities,
    "extract_triples": _extract_triples,
    "integrate": _integrate,
    "answer_from_triples": _answer_from_triples,
    "answer_from_sentences": _answer_from_texts,
    "answer_from_passages": _answer_from_texts,
    "construct_chain": kirag.construct_chain,
    "construct_chain_of_sentences": kirag.construct_chain,
    "construct_chain_of_documents": kirag.construct_chain,
    "next_thought": kirag.next_thought,
    "reason": dualrag.reason,
    "think_on": dualrag.think_on,
    "identify_entities": dualrag.identify_entities,
    "summarize": dualrag.summarize,
    "answer_from_outline": dualrag.answer_from_outline,
    "decompose": mgranrag.decompose,
    "extract_evidence": mgranrag.extract_evidence,
    "plan": par_rag.plan,
    "act": par_rag.act,
    "review": par_rag.review,
    "refine": par_rag.refine,
    "answer_from_trajectories": par_rag.answer_from_trajectories,
    "restate_question": restate_question,
    "judge": _judge,
}
