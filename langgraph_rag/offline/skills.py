"""What the offline model can do: one skill per prompt, each a composition of the same few rules."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langgraph_rag.matching import normalise
from langgraph_rag.offline import outline, steps
from langgraph_rag.offline.chain import continue_chain, next_sentence
from langgraph_rag.offline.evidence import as_reply, find_evidence, read_sentences, split
from langgraph_rag.offline.paths import Fact
from langgraph_rag.offline.reading import Pages
from langgraph_rag.offline.reason import conclude, integrate
from langgraph_rag.tools.rule_triples import extract_triples
from langgraph_rag.tools.spans import spot
from langgraph_rag.tools.text import text_pipeline

UNANSWERABLE = "unanswerable"
_LEAST = {"triples": 4.0, "sentences": 3.0, "passages": 1.5}  # scores below which more text should be read
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


def _answer(question: str, facts: Sequence[Fact], pages: Pages, least: float) -> dict[str, Any]:
    conclusion = conclude(question, facts, pages, least=least)
    return {"thought": conclusion.thought, "answer": conclusion.answer or UNANSWERABLE}


def _answer_from_triples(values: Values) -> dict[str, Any]:
    facts = values["triples"]
    return _answer(values["question"], facts, Pages([(fact[0], [" ".join(fact)]) for fact in facts]), _LEAST["triples"])


def _answer_from_texts(values: Values) -> dict[str, Any]:
    texts = values.get("sentences") or values.get("passages") or []
    told = [(text["title"], text_pipeline().sentences(text["text"])) for text in texts]
    facts = [fact for title, sentences in told for fact in extract_triples(title, sentences)]
    return _answer(values["question"], facts, Pages(told), _LEAST["sentences" if "sentences" in values else "passages"])


def _facts_of(text: Any) -> list[Fact]:
    """Read the facts out of a triple, out of a sentence after its title, or out of a text under its title."""
    if isinstance(text, list):
        return [text]
    title, body = (text["title"], text["text"]) if isinstance(text, Mapping) else text.split(": ", 1)
    return list(extract_triples(title, text_pipeline().sentences(body)))


def _construct_chain(values: Values) -> dict[str, Any]:
    candidates, chain = values["candidates"], [_facts_of(piece) for piece in values["chain"]]
    positions, conclusion = continue_chain(values["question"], chain, [_facts_of(piece) for piece in candidates])
    taken = [candidates[position] for position in positions]
    named = [piece["title"] if isinstance(piece, Mapping) else piece for piece in taken]
    return {"chain": named, "conclusion": conclusion}


def _next_thought(values: Values) -> dict[str, Any]:
    told = [fact for text in values["passages"] for fact in _facts_of(text)]
    return {"sentence": next_sentence(values["question"], values["thoughts"], told)}


def _plan(values: Values) -> dict[str, Any]:
    planned = steps.plan(values["question"])
    return {"steps": [{"thought": "", "question": question, "action": action} for action, question in planned]}


def _act(values: Values) -> dict[str, Any]:
    return {"answer": steps.act(values["question"], values["sources"])}


def _review(values: Values) -> dict[str, Any]:
    return steps.review(values["question"], values["answer"], values["sources"])


def _refine(values: Values) -> dict[str, Any]:
    found = [(trajectory["question"], trajectory["answer"]) for trajectory in values["found"]]
    return {"question": steps.refine(values["question"], found, values["following"])}


def _answer_from_trajectories(values: Values) -> dict[str, Any]:
    thought, answer = steps.finish(values["question"], values["trajectories"])
    return {"thought": thought, "answer": answer or UNANSWERABLE}


def _reason(values: Values) -> dict[str, Any]:
    thought, needs_retrieval = outline.reason(values)
    return {"thought": thought, "needs_retrieval": needs_retrieval}


def _think_on(values: Values) -> dict[str, Any]:
    thought, goes_on = outline.think_on(values)
    return {"thought": thought, "final": not goes_on}


def _identify_entities(values: Values) -> dict[str, Any]:
    return {"entities": outline.identify(values)}


def _summarize(values: Values) -> dict[str, Any]:
    return {"summary": outline.summarise(values) or None}


def _answer_from_outline(values: Values) -> dict[str, Any]:
    conclusion = outline.answer(values)
    return {"thought": conclusion.thought, "answer": conclusion.answer or UNANSWERABLE}


def _decompose(values: Values) -> dict[str, Any]:
    subqueries = split(values["question"])
    return {"thought": f"To be found out: {' '.join(subqueries) or values['question']}", "subqueries": subqueries}


def _extract_evidence(values: Values) -> dict[str, Any]:
    known = [s for text in values["known"] for s in read_sentences(text["title"], [text["text"]])]
    read = [s for text in values["passages"] for s in read_sentences(text["title"], text["sentences"], text["first"])]
    found = find_evidence(values["questions"], known, read)
    told = "; ".join(sentence.text for sentence in read if sentence.number in found)
    return {"thought": f"These sentences help: {told}" if told else "None of them helps.", "evidence": as_reply(found)}


def _judge(values: Values) -> dict[str, Any]:
    """Accept an answer that holds an accepted one, and nothing subtler."""
    given = f" {normalise(values['given'])} "
    held = next((answer for answer in values["accepted"] if f" {normalise(answer)} " in given), None)
    return {"reason": f"It says {held}." if held else "It says none of them.", "correct": held is not None}


SKILLS: dict[str, Callable[[Values], dict[str, Any]]] = {
    "find_entities": _find_entities,
    "extract_triples": _extract_triples,
    "integrate": _integrate,
    "answer_from_triples": _answer_from_triples,
    "answer_from_sentences": _answer_from_texts,
    "answer_from_passages": _answer_from_texts,
    "construct_chain": _construct_chain,
    "construct_chain_of_sentences": _construct_chain,
    "construct_chain_of_documents": _construct_chain,
    "next_thought": _next_thought,
    "reason": _reason,
    "think_on": _think_on,
    "identify_entities": _identify_entities,
    "summarize": _summarize,
    "answer_from_outline": _answer_from_outline,
    "decompose": _decompose,
    "extract_evidence": _extract_evidence,
    "plan": _plan,
    "act": _act,
    "review": _review,
    "refine": _refine,
    "answer_from_trajectories": _answer_from_trajectories,
    "judge": _judge,
}
