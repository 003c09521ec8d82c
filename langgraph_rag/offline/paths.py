"""Finds paths of facts from the names in a question, scored by the words of the question that they match."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from langgraph_rag.offline.pages import Fact
from langgraph_rag.offline.words import LIKELY, name_likeness, stems

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
    """Return the best paths from the names, best first.

    Args:
        names: the possible starts of paths.
        words: the stems to match, in the expected order along a path.
        facts: the facts that paths consist of.
    """
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
