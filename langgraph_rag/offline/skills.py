"""The skills of the offline model: one per prompt, each composed of the same few rules."""

from collections.abc import Callable, Mapping
from typing import Any

from langgraph_rag.normal_forms import stands_in
from langgraph_rag.offline import Values, adaptive, cirag, dualrag, kirag, mgranrag, par_rag
from langgraph_rag.offline.answer import answer_from_texts, answer_from_triples
from langgraph_rag.offline.conversation import restate_question


def _judge(values: Values) -> dict[str, Any]:
    """Accept an answer if and only if it contains an accepted one."""
    held = next((answer for answer in values["accepted"] if stands_in(answer, values["given"])), None)
    return {"reason": f"It says {held}." if held else "It says none of them.", "correct": held is not None}


Skill = Callable[[Values], Mapping[str, Any]]
"""Returns the fields of a reply for the values of a prompt."""

SKILLS: dict[str, Skill] = {
    "answer_or_look_up": adaptive.answer_or_look_up,
    "extract_facts": cirag.extract_facts,
    "integrate": cirag.integrate,
    "integrate_as_published": cirag.integrate,
    "integrate_with_sentences": cirag.integrate,
    "answer_from_triples": answer_from_triples,
    "answer_from_sentences": answer_from_texts,
    "answer_from_passages": answer_from_texts,
    "answer_from_chain": answer_from_texts,
    "construct_chain": kirag.construct_chain,
    "construct_chain_of_sentences": kirag.construct_chain,
    "construct_chain_of_documents": kirag.construct_chain,
    "next_thought": kirag.next_thought,
    "reason": dualrag.reason,
    "think_on": dualrag.think_on,
    "identify_entities": dualrag.identify_entities,
    "reason_and_look_up": dualrag.reason_and_look_up,
    "take_notes": dualrag.take_notes,
    "summarize": dualrag.summarize,
    "answer_from_outline": dualrag.answer_from_outline,
    "decompose": mgranrag.decompose,
    "extract_and_go_on": mgranrag.extract_evidence,
    "extract_evidence": mgranrag.extract_evidence,
    "plan": par_rag.plan,
    "act": par_rag.act,
    "review": par_rag.review,
    "refine": par_rag.refine,
    "plan_in_order": par_rag.plan_in_order,
    "plan_anew": par_rag.plan_in_order,
    "act_in_order": par_rag.act,
    "answer_from_trajectories": par_rag.answer_from_trajectories,
    "restate_question": restate_question,
    "judge": _judge,
}
