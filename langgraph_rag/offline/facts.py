"""Judge facts by a question: which name a fact is about, which words of the question it answers to."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from langgraph_rag.offline.words import name_words, same_name, stems
from langgraph_rag.tools.spans import DATE, NUMBER

Fact = Sequence[str]


@dataclass(frozen=True)
class Judged:
    """A fact seen from one of its names.

    `name` is the question's (or chain's) name it is about, `other` its far side; `link` says how surely (0 to 1);
    `words` are the stems of the question it answers to, `weight` their rarity among the facts.
    """

    fact: Fact
    position: int
    name: str
    other: str
    link: float
    words: frozenset[str]
    weight: float

    @property
    def score(self) -> float:
        """Return how much the fact is worth to the question."""
        return self.link * 2 + self.weight


def judge(facts: Sequence[Fact], names: Sequence[str], words: Sequence[str]) -> list[Judged]:
    """Judge each fact from the name that fits it best; facts come back in the order given."""
    wanted = frozenset(words)
    found = [wanted.intersection(stems(" ".join(fact))) for fact in facts]
    often = Counter(word for matched in found for word in matched)
    judged = []
    for position, (fact, matched) in enumerate(zip(facts, found, strict=True)):
        link, name, other = max(
            [(same_name(name, fact[end]), name, fact[2 - end]) for name in names for end in (0, 2)],
            default=(0.0, "", fact[2]),
            key=lambda candidate: candidate[0],
        )
        weight = sum(math.log(1 + len(facts) / often[word]) for word in matched) / math.log(1 + len(facts) or 2)
        judged.append(Judged(fact, position, name, other if link else fact[2], link, matched, weight))
    return judged


def is_date(text: str) -> bool:
    """Tell whether a text is a date and nothing else."""
    return DATE.fullmatch(text.strip()) is not None


def is_name(text: str) -> bool:
    """Tell whether a text looks like the name of something: capitalised, no date, no number, no description."""
    text = text.strip()
    return bool(text) and text[0].isupper() and not is_date(text) and not NUMBER.fullmatch(text) and bool(name_words(text))


def mentions(text: str, name: str) -> bool:
    """Tell whether a name stands in a text."""
    return name_words(name) <= name_words(text)
