"""Searches for an answer: selects the facts to keep and the next question."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from langgraph_rag.normal_forms import normalise
from langgraph_rag.offline.compare import look_up
from langgraph_rag.offline.pages import Fact
from langgraph_rag.offline.question import Question, analyse
from langgraph_rag.offline.words import LIKELY, is_name, name_likeness, name_words, stems
from langgraph_rag.tools.ingest.spans import spot_names

_BEAM = 32
_LONGEST = 4
_HOP_COST = 0.15
_IDLE_COST = 0.3  # for a fact that matches no word
_BACKWARDS_COST = 0.1  # for a step from tail to head: one town is the tail of many facts
_LEAP_COST = 1.0  # for a first fact that matches the words but has no name of the question


@dataclass(frozen=True)
class Path:
    """A chain of facts from a name to `end`.

    `covered` are the stems of the question that the facts match; `score` weighs them by rarity, less a cost per fact;
    `earned` is whether the last fact matches a word that the facts before it do not.
    """

    facts: tuple[Fact, ...]
    start: str
    end: str
    covered: frozenset[str]
    score: float
    earned: bool = True


def find_paths(names: Sequence[str], words: Collection[str], facts: Sequence[Fact]) -> list[Path]:
    """Return the best paths from the names, best first."""
    wanted = frozenset(words)
    found = [wanted.intersection(stems(" ".join(fact))) for fact in facts]
    rarity = _rarity(found, words)
    order = {word: 1 / (1 + 0.1 * place) for place, word in enumerate(words)}
    beam = [Path((), name, name, frozenset(), 0.0) for name in names]
    paths: dict[tuple[str, ...], Path] = {}
    for depth in range(_LONGEST):
        grown = []
        for path in beam:
            for fact, matched in zip(facts, found, strict=True):
                grown += _extended(path, fact, matched, rarity, order if depth == 0 else {})
        if depth == 0:
            grown += [p for fact, m in zip(facts, found, strict=True) if len(m) > 1 for p in _leaps(fact, m, rarity)]
        beam = sorted(grown, key=lambda path: -path.score)[:_BEAM]
        for path in beam:
            paths.setdefault((path.end, *(part for fact in path.facts for part in fact)), path)
    return sorted(paths.values(), key=lambda path: -path.score)


def _rarity(found: Sequence[frozenset[str]], words: Iterable[str]) -> dict[str, float]:
    often = Counter(word for matched in found for word in matched)
    most = math.log(2 + len(found))
    return {word: math.log(1 + (1 + len(found)) / (1 + often[word])) / most for word in words}


def _extended(
    path: Path, fact: Fact, matched: frozenset[str], rarity: dict[str, float], order: dict[str, float]
) -> list[Path]:
    if fact in path.facts:
        return []
    extended = []
    for near_end, far_end in ((0, 2), (2, 0)):
        link = name_likeness(path.end, fact[near_end])
        if link < LIKELY or name_likeness(path.start, fact[far_end]) >= LIKELY:
            continue
        fresh = matched - path.covered - frozenset(stems(fact[near_end]))
        gain = math.fsum(rarity[word] * order.get(word, 1.0) for word in fresh)  # independent of the order of the set
        cost = _HOP_COST + (0 if fresh else _IDLE_COST) + (_BACKWARDS_COST if near_end else 0)
        score = path.score + gain + 0.3 * (link - 1) - cost
        extended.append(Path((*path.facts, fact), path.start, fact[far_end], path.covered | fresh, score, bool(fresh)))
    return extended


def _leaps(fact: Fact, matched: frozenset[str], rarity: dict[str, float]) -> list[Path]:
    score = math.fsum(rarity[word] for word in matched) - _HOP_COST - _LEAP_COST
    return [Path((fact,), "", fact[end], matched, score) for end in (0, 2)]


_PATHS_KEPT = 3
_COVERED = 0.9  # share of the words of a question that an answer matches


@dataclass(frozen=True)
class Decision:
    """The result of one integration step; without a question, the search ends."""

    thought: str
    facts: list[Fact]
    question: str


def integrate(
    text: str, candidates: Sequence[Fact], kept: Sequence[Fact], asked: Sequence[str], *, most: int = _PATHS_KEPT
) -> Decision:
    """Keep the candidates on the best paths from the names in the question, and ask about the end of the best path.

    Args:
        text: the question.
        candidates: facts found in this step, best first.
        kept: facts kept in earlier steps.
        asked: the queries so far, including that of this step.
        most: the number of paths whose candidates are kept.
    """
    question = analyse(text)
    known = [*kept, *candidates]
    if question.compares:
        sides = [look_up(question, name, known) for name in question.pair]
        useful = [fact for side in sides for fact in side.facts]
        missing = [side.missing for side in sides if side.missing]
        following = next((q for q in missing if normalise(q) not in map(normalise, asked)), "")
    else:
        question = _with_mentions(question, text, known)
        paths = find_paths(question.names, question.words, known)
        if len(asked) > 1:
            paths = [path for path in paths if path.start]
        useful = [fact for path in paths[:most] for fact in path.facts]
        useful += _identities(asked[1:], candidates)
        following = "" if _answered(question, paths) else _next_question(question, paths, asked)
    facts = [fact for fact in candidates if fact in useful]
    return Decision(_thought(facts, following), facts, following)


def _identities(asked: Sequence[str], candidates: Sequence[Fact]) -> list[Fact]:
    """Return a fact about the name in the last query, so that its passage counts as found."""
    names = [name.text for query in asked[-1:] for name in spot_names(query)]
    return [fact for fact in candidates if any(name_likeness(name, fact[0]) == 1.0 for name in names)][:1]


def leading_on(text: str, entity: str, facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts on the best paths from an entity and the names in a question."""
    question = analyse(text)
    if question.compares:
        names = dict.fromkeys([*question.pair, entity])
        return [fact for name in names for fact in look_up(question, name, facts).facts]
    question = _with_mentions(question, text, facts)
    paths = find_paths((entity, *question.names), question.words, facts)
    return [fact for path in [path for path in paths if path.start][:_PATHS_KEPT] for fact in path.facts]


def _with_mentions(question: Question, text: str, facts: Sequence[Fact]) -> Question:
    """Add the names of facts that occur in the question, independent of case."""
    asked = f" {normalise(text)} "
    ends = {normalise(end): end for fact in facts for end in (fact[0], fact[2])}
    found = [end for form, end in ends.items() if len(form) > 3 and f" {form} " in asked and is_name(end)]
    found = [
        name for name in found if not any(name != other and normalise(name) in normalise(other) for other in found)
    ]
    inside = name_words(" ".join(found))
    names = (*found, *(name for name in question.names if not name_words(name) <= inside))
    return question.with_names(names)


def _answered(question: Question, paths: Sequence[Path]) -> bool:
    return any(path.earned and len(path.covered) >= _COVERED * len(question.words) for path in paths[:1])


def _next_question(question: Question, paths: Sequence[Path], asked: Sequence[str]) -> str:
    """Ask for the remaining words about the end of the best path that was not asked about yet, or else about a name."""
    seen = name_words(" ".join(asked[1:]))
    for path in paths:
        for name, covered in _stations(path):
            if is_name(name) and not name_words(name) <= seen and not _named(question, name):
                return ask_about(question, name, covered)
    reached = name_words(" ".join(" ".join(fact) for path in paths for fact in path.facts))
    for name in question.names:
        if not name_words(name) <= seen | reached:
            return ask_about(question, name, frozenset())
    return ""


def _stations(path: Path) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the names on a path from its first useful fact on, nearest first, with the words matched so far."""
    covered: set[str] = set()
    near = path.start
    for fact in path.facts:
        covered |= path.covered.intersection(stems(" ".join(fact)))
        near = fact[0] if name_likeness(near, fact[2]) > name_likeness(near, fact[0]) else fact[2]
        if covered or fact is path.facts[-1]:
            yield near, frozenset(covered)


def _named(question: Question, name: str) -> bool:
    return any(name_likeness(name, other) >= LIKELY for other in question.names)


def ask_about(question: Question, name: str, covered: frozenset[str]) -> str:
    """Return a question about a name with the words that are not covered yet."""
    open_words = [spelled for word, spelled in question.words.items() if word not in covered]
    return f"What about {name}: {', '.join(open_words or question.words.values())}?"


def _thought(facts: Sequence[Fact], following: str) -> str:
    told = "; ".join(" ".join(fact) for fact in facts)
    known = f"These facts help: {told}." if facts else "None of the facts helps."
    return f"{known} More is needed." if following else f"{known} Nothing more is needed or to be found."
