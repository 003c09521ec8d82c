"""Reason over facts: what to keep, what to ask next, what to answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from langgraph_rag.matching import normalise
from langgraph_rag.offline.compare import compare, look_up
from langgraph_rag.offline.facts import Fact, Judged, is_date, is_name, judge, mentions
from langgraph_rag.offline.question import Question, analyse
from langgraph_rag.offline.words import number_of, same_name, stems
from langgraph_rag.tools.spans import DATE, NUMBER

_LINKED = 0.7
_KEPT_PER_STEP = 5
_SURE_ENOUGH = 0.9


@dataclass(frozen=True)
class Decision:
    """What one round of integration comes to; no question means the search ends."""

    thought: str
    facts: list[Fact]
    question: str


def integrate(text: str, candidates: Sequence[Fact], kept: Sequence[Fact], asked: Sequence[str]) -> Decision:
    """Keep the candidates that lead from the question's names towards its answer; ask for the next link.

    Args:
        text: the question.
        candidates: facts found in this step, best first.
        kept: facts kept in earlier steps.
        asked: queries so far, this step's included.
    """
    question = analyse(text)
    if question.pair and question.asks in {"which of two", "yes or no"}:
        return _integrate_pair(question, candidates, kept, asked)
    bridges = _bridges(question, kept)
    judged = judge(candidates, [*question.names, *bridges], question.words)
    useful = sorted((j for j in judged if _useful(question, j)), key=lambda j: (-j.score, j.position))[:_KEPT_PER_STEP]
    facts = [j.fact for j in useful]
    following = _next_question(question, [*kept, *facts], asked)
    return Decision(_thought(facts, following), facts, following)


def _integrate_pair(
    question: Question, candidates: Sequence[Fact], kept: Sequence[Fact], asked: Sequence[str]
) -> Decision:
    sides = [look_up(question, name, [*kept, *candidates]) for name in question.pair or ()]
    used = [fact for side in sides for fact in side.facts]
    facts = [fact for fact in candidates if fact in used]
    unasked = [side.missing for side in sides if side.missing and normalise(side.missing) not in map(normalise, asked)]
    following = unasked[0] if unasked else ""
    return Decision(_thought(facts, following), facts, following)


def _useful(question: Question, judged: Judged) -> bool:
    if judged.link >= _LINKED:
        return bool(judged.words) or judged.link == 1.0
    return len(judged.words) >= max(2, (len(question.words) + 1) // 2)


def _bridges(question: Question, facts: Sequence[Fact]) -> list[str]:
    """Return the names that facts lead to from the question, in the order they were found."""
    ends = (end for fact in facts for end in (fact[2], fact[0]))
    return list(dict.fromkeys(e for e in ends if is_name(e) and not any(same_name(e, n) >= _LINKED for n in question.names)))


def _next_question(question: Question, facts: Sequence[Fact], asked: Sequence[str]) -> str:
    """Ask for what is open about the newest name not asked about yet; about the question's own names last."""
    covered = {word for fact in facts for word in stems(" ".join(fact))}
    open_words = [word for word in question.words if word not in covered] or list(question.words)
    seen = " ".join(asked[1:])
    for name in [*_bridges(question, facts), *question.names]:
        if not mentions(seen, name) and not (name in question.names and any(mentions(" ".join(f), name) for f in facts)):
            return f"{name} {' '.join(open_words)}".strip()
    return ""


def _thought(facts: Sequence[Fact], following: str) -> str:
    told = "; ".join(" ".join(fact) for fact in facts)
    known = f"These facts help: {told}." if facts else "None of the facts helps."
    return f"{known} Still to find: {following}" if following else f"{known} Nothing more to look for."


@dataclass(frozen=True)
class Conclusion:
    """An answer with its reason; no answer where the facts do not give one."""

    thought: str
    answer: str


def conclude(text: str, facts: Sequence[Fact]) -> Conclusion:
    """Answer a question from facts, or say that they do not answer it."""
    question = analyse(text)
    if question.pair and question.asks in {"which of two", "yes or no"}:
        sides = [look_up(question, name, facts) for name in question.pair]
        if answer := compare(question, sides):
            told = " and ".join(" ".join(fact) for side in sides for fact in side.facts)
            return Conclusion(f"{told}. So: {answer}.", answer)
        return Conclusion("The two cannot be compared from these facts.", "")
    best = max(_candidates(question, facts), key=lambda candidate: candidate[0], default=None)
    if best is None or best[0] < _SURE_ENOUGH:
        return Conclusion("The facts do not answer the question.", "")
    score, answer, fact = best
    return Conclusion(f"{' '.join(fact)}.", answer)


def _candidates(question: Question, facts: Sequence[Fact]) -> list[tuple[float, str, Fact]]:
    """Return possible answers with their scores: of the right kind, and as near to the question as their fact is."""
    bridges = _bridges(question, facts)
    reached = judge(facts, question.names, question.words)
    chained = {name: 0.0 for name in bridges}
    for judged in reached:
        if judged.link >= _LINKED and judged.other in chained:
            chained[judged.other] = max(chained[judged.other], judged.link + judged.weight)
    found = []
    for judged in reached:
        for end in (2, 0):
            answer = _as_answer(question, judged.fact[end])
            if not answer or any(same_name(answer, name) >= _LINKED for name in question.names):
                continue
            near = max([same_name(name, judged.fact[2 - end]) for name in question.names], default=0.0)
            far = max([same_name(n, judged.fact[2 - end]) * min(w, 1.5) for n, w in chained.items()], default=0.0)
            score = max(near, far) + judged.weight + _kind_bonus(question, answer, judged.fact, facts)
            found.append((score - 0.02 * (end == 0) - 0.001 * judged.position, answer, judged.fact))
    return found


def _as_answer(question: Question, text: str) -> str:
    """Return a text as an answer of the kind asked for, or nothing where it is of another kind."""
    if question.asks == "when":
        found = DATE.search(text)
        return found[0] if found else ""
    if question.asks == "how many":
        number = NUMBER.search(text)
        return number[0] if number and number_of(number[0]) is not None and not is_date(text) else ""
    if question.asks in {"who", "where"}:
        return text if is_name(text) else ""
    return "" if is_date(text) and question.noun not in {"year", "date"} else text


def _kind_bonus(question: Question, answer: str, fact: Fact, facts: Sequence[Fact]) -> float:
    if question.asks == "who":
        return 0.2 if len(answer.split()) > 1 else 0.0
    if not question.noun:
        return 0.0
    described = any(same_name(answer, f[0]) >= 0.9 and question.noun in stems(f[2]) for f in facts if f[1] in {"is", "was"})
    return 0.8 if described or question.noun in stems(answer) else 0.4 if question.noun in stems(fact[1]) else 0.0


