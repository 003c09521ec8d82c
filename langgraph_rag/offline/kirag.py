"""Continues a reasoning chain, piece by piece (KiRAG) or sentence by sentence (IRCoT)."""

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_rag.offline import Values
from langgraph_rag.offline.answer import CONCLUSION, LEAST, conclude
from langgraph_rag.offline.pages import Fact, Line, Pages, lines_of, pages_of, spelled_out
from langgraph_rag.offline.search import integrate
from langgraph_rag.offline.words import SURE, is_name, name_likeness, name_words

_MISSING = "What is missing:"


def construct_chain(values: Values) -> dict[str, Any]:
    """Return the candidates that continue a chain, the next one first, and the conclusion."""
    question, candidates = values["question"], values["candidates"]
    chain = [line for piece in values["chain"] for line in _read(piece)]
    if answer := conclude(question, Pages(chain), least=LEAST["triples"]).answer:
        return {"chain": [], "conclusion": f"{CONCLUSION} {answer}."}
    offered = [_read(piece) for piece in candidates]
    known, fresh = Pages(chain).facts, Pages([line for lines in offered for line in lines]).facts
    asked = [question, *(" ".join(fact) for fact in known)]
    useful = [fact for fact in integrate(question, fresh, known, asked).facts if _leads_on(fact, asked)]
    following = [*_following(known, fresh), *useful]
    stating = (lines for fact in following for lines in offered if any(fact in line.facts for line in lines))
    positions = list(dict.fromkeys(offered.index(lines) for lines in stating))
    taken = Pages([*chain, *(line for position in positions for line in offered[position])])
    answer = conclude(question, taken, least=LEAST["triples"]).answer
    pieces = [candidates[position] for position in positions]
    return {
        "chain": [piece["title"] if isinstance(piece, Mapping) else piece for piece in pieces],
        "conclusion": f"{CONCLUSION} {answer}." if answer else f"{_MISSING} {question}",
    }


def next_thought(values: Values) -> dict[str, Any]:
    """Return the next sentence of reasoning from passages."""
    told = pages_of(values["passages"]).facts
    return {"sentence": next_sentence(values["question"], values["thoughts"], told)}


def next_sentence(text: str, thoughts: Sequence[str], told: Sequence[Fact]) -> str:
    """Return the next sentence of reasoning from facts."""
    said = [fact for fact in told if f"{' '.join(fact)}." in thoughts]
    if answer := conclude(text, Pages(spelled_out(said)), least=LEAST["triples"]).answer:
        return f"{CONCLUSION}: {answer}."
    decision = integrate(text, [fact for fact in told if fact not in said], said, [text, *thoughts])
    return f"{' '.join(decision.facts[0])}." if decision.facts else f"{CONCLUSION}: unknown."


def _read(piece: Any) -> tuple[Line, ...]:
    """Parse a triple, a sentence after its title, or a text with its title."""
    if isinstance(piece, list):
        return tuple(spelled_out([piece]))
    return lines_of(*((piece["title"], piece["text"]) if isinstance(piece, Mapping) else piece.split(": ", 1)))


def _leads_on(fact: Fact, told: Sequence[str]) -> bool:
    """Return whether a fact has a name that is neither in the question nor in the chain."""
    known = name_words(" ".join(told))
    return any(not name_words(end) <= known for end in (fact[0], fact[2]))


def _following(known: Sequence[Fact], offered: Sequence[Fact]) -> list[Fact]:
    """Return the first fact about a name that known facts lead to but do not describe, from the last known fact on."""
    told = [fact[0] for fact in known]
    ends = [end for fact in reversed(known) for end in (fact[2], fact[0]) if is_name(end)]
    fresh = [end for end in ends if not any(name_likeness(end, other) >= SURE for other in told)]
    return next((found[:1] for end in fresh if (found := [f for f in offered if name_likeness(end, f[0]) >= SURE])), [])
