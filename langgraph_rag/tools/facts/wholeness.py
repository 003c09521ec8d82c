"""Tells from the parse of a sentence which of its facts are whole: neither torn out of it, nor about something else."""

from collections.abc import Iterable

from langgraph_rag.tools.facts.misplaced import MISPLACED
from langgraph_rag.tools.facts.placed import Placed, Tree
from langgraph_rag.tools.facts.torn import TORN
from langgraph_rag.tools.facts.words import Tokens

CHECKS_NUMBER = 1
"""The number of the checks; another number has all passages read again by trained pipelines."""
_CHECKS = (*TORN, *MISPLACED)


def whole_facts(tokens: Tokens, facts: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return those of the facts of a sentence that are whole; all if it was not parsed."""
    if not tokens.parsed:
        return [*facts]
    tree = Tree(tokens)
    return [fact for fact in facts if _is_whole(tree, fact)]


def _is_whole(tree: Tree, fact: tuple[str, str, str]) -> bool:
    """Return whether a fact is whole where its end stands, at one of the places if there are several."""
    places = [Placed(tree, fact, start, end) for start, end in tree.spans(fact[2])]
    return any(map(is_whole_at, places)) if places else not tree.begins_date(fact[2])


def is_whole_at(placed: Placed) -> bool:
    """Return whether a fact is whole, given the places of its parts; true also for what stands in brackets."""
    return not placed.inside or not any(check(placed) for check in _CHECKS)
