"""Continue a chain of reasoning, piece by piece or sentence by sentence."""

from collections.abc import Sequence

from langgraph_rag.offline.paths import Fact, is_name
from langgraph_rag.offline.reason import conclude, integrate
from langgraph_rag.offline.words import same_name

_SAME = 0.9
_MISSING = "More has to be found out."


def continue_chain(
    text: str, chain: Sequence[Sequence[Fact]], candidates: Sequence[Sequence[Fact]]
) -> tuple[list[int], str]:
    """Return which candidates continue a chain, and what it comes to.

    Args:
        text: the question.
        chain: the facts that each piece of the chain states.
        candidates: the facts that each candidate states.
    """
    known = [fact for facts in chain for fact in facts]
    if answer := conclude(text, known).answer:
        return [], f"So the answer is {answer}."
    offered = [fact for facts in candidates for fact in facts]
    asked = [text, *(" ".join(fact) for facts in chain for fact in facts)]
    useful = integrate(text, offered, known, asked).facts
    useful = useful or _following(known, offered)
    positions = [place for place, facts in enumerate(candidates) if any(fact in useful for fact in facts)]
    answer = conclude(text, [*known, *useful]).answer
    return positions, f"So the answer is {answer}." if answer else _MISSING


def _following(known: Sequence[Fact], offered: Sequence[Fact]) -> list[Fact]:
    """Return the facts about what the known ones lead to, the last first."""
    ends = [end for fact in reversed(known) for end in (fact[2], fact[0]) if is_name(end)]
    return next((found for end in ends if (found := [f for f in offered if same_name(end, f[0]) >= _SAME])), [])


def next_sentence(text: str, thoughts: Sequence[str], told: Sequence[Fact]) -> str:
    """Return the next sentence of reasoning from the facts that passages tell.

    Args:
        text: the question.
        thoughts: the sentences so far.
        told: the facts of the passages.
    """
    said = [fact for fact in told if f"{' '.join(fact)}." in thoughts]
    if answer := conclude(text, said).answer:
        return f"So the answer is: {answer}."
    fresh = [fact for fact in told if fact not in said]
    decision = integrate(text, fresh, said, [text, *thoughts])
    if decision.facts:
        return f"{' '.join(decision.facts[0])}."
    return "So the answer is: unknown."
