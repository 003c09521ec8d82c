"""Continue a chain of reasoning, piece by piece or sentence by sentence."""

from collections.abc import Sequence

from langgraph_rag.offline.paths import Fact, is_name
from langgraph_rag.offline.reason import conclude, integrate
from langgraph_rag.offline.words import name_words, same_name

_SAME = 0.9
CONCLUSION = "So the answer is"
_MISSING = "More has to be found out."


def continue_chain(
    text: str, chain: Sequence[Sequence[Fact]], candidates: Sequence[Sequence[Fact]]
) -> tuple[list[int], str]:
    """Return which candidates continue a chain, the next one first, and what it comes to.

    Args:
        text: the question.
        chain: the facts that each piece of the chain states.
        candidates: the facts that each candidate states.
    """
    known = [fact for facts in chain for fact in facts]
    if answer := conclude(text, known).answer:
        return [], f"So the answer is {answer}."
    offered = [fact for facts in candidates for fact in facts]
    asked = [text, *(" ".join(fact) for fact in known)]
    useful = [fact for fact in integrate(text, offered, known, asked).facts if _leads_on(fact, asked)]
    following = list(dict.fromkeys(map(tuple, [*_following(known, offered), *useful])))
    positions = [place for fact in following for place, facts in enumerate(candidates) if fact in map(tuple, facts)]
    answer = conclude(text, [*known, *following]).answer
    return list(dict.fromkeys(positions)), f"So the answer is {answer}." if answer else _MISSING


def _leads_on(fact: Fact, told: Sequence[str]) -> bool:
    """Tell whether a fact names something that neither the question nor the chain does."""
    known = name_words(" ".join(told))
    return any(not name_words(end) <= known for end in (fact[0], fact[2]))


def _following(known: Sequence[Fact], offered: Sequence[Fact]) -> list[Fact]:
    """Return the first fact about what the known ones lead to, the last first, and have not told of yet."""
    told = [fact[0] for fact in known]
    ends = [end for fact in reversed(known) for end in (fact[2], fact[0]) if is_name(end)]
    fresh = [end for end in ends if not any(same_name(end, other) >= _SAME for other in told)]
    return next((found[:1] for end in fresh if (found := [f for f in offered if same_name(end, f[0]) >= _SAME])), [])


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
