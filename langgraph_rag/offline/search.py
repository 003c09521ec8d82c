"""Searches for an answer: selects the facts to keep and the next question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from langgraph_rag.normal_forms import normalise
from langgraph_rag.offline.compare import look_up
from langgraph_rag.offline.pages import Fact
from langgraph_rag.offline.paths import Path, find_paths
from langgraph_rag.offline.question import Question, analyse
from langgraph_rag.offline.words import LIKELY, is_name, name_likeness, name_words, stems
from langgraph_rag.tools.ingest.spans import spot_names

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
