"""Finds the given items that a model refers to, although it may spell them differently."""

import difflib
import re
from collections.abc import Iterable, Sequence

from langgraph_rag.normal_forms import normalise, triple_text

# also Roman numerals, and names with marks: Philip II is not Philip I, nor C++ C#
_NUMBER = re.compile(r"(?<!\S)\S*[+#-]\S*|\d+|\b(?:x{1,3}(?:ix|iv|v?i{0,3})|ix|iv|vi{0,3}|i{1,3})\b")
_RANGE = re.compile(r"(\d+)(?:\s*[\u2013-]\s*(\d+))?")
_SIMILAR = 0.85  # difflib ratio of two items
_SIMILAR_PART = 0.8  # difflib ratio of two heads, relations or tails, which are short
_STEM = 5  # letters that forms of a word have in common, as in "directed" and "director"
_PREPOSITION = 2  # letters: in, of, by
_DENIALS = frozenset({"no", "not", "never"})
_LEADING = re.compile(r"^(?:(?:a|an|the|is|are|was|were|be|been|has|have|had)\s)+")  # articles and auxiliaries


def resolve(returned: Sequence[str], given: Sequence[str]) -> tuple[list[int], int]:
    """Match the items that a model returned with the given items.

    An item matches the given item with the same normal form, or else the most similar one, if the difflib ratio of the
    normal forms is at least 0.85 and both contain the same numbers and names with marks, such as C++.

    Returns:
        The positions in `given`, without repetition, in the order returned; and the number of items without a match.
    """
    forms = [normalise(item) for item in given]
    return _found(_meant(normalise(item), forms, range(len(forms))) for item in returned)


def resolve_triples(returned: Sequence[Sequence[str]], given: Sequence[Sequence[str]]) -> tuple[list[int], int]:
    """Match triples like `resolve`; in similar triples, each part must be similar, too.

    Otherwise "father" could match "mother" if the rest of the triple is the same. Articles and auxiliaries at the
    beginning of a part are ignored: "was born in" equals "born in". A triple also matches a longer one that contains
    its words, with the same numbers, if there is only one. Its relation may have other forms of the words ("director"
    for "drama film directed by"); with another preposition ("directed"), head and tail may be exchanged. A negated
    triple never matches one without negation.
    """
    forms = [normalise(triple_text(triple)) for triple in given]
    return _found(_triple_meant(triple, forms, given) for triple in returned)


def resolve_numbers(text: str, count: int) -> tuple[list[int], int]:
    """Match items that a text names by number, 1 to `count`, like `resolve`; 1-3 stands for three numbers."""
    ranges = ((int(first), int(last or first)) for first, last in _RANGE.findall(text))
    numbers = dict.fromkeys(number for first, last in ranges for number in range(first, last + 1))
    return _found(number - 1 if 1 <= number <= count else None for number in numbers)


def _triple_meant(triple: Sequence[str], forms: list[str], given: Sequence[Sequence[str]]) -> int | None:
    denied = _denials(triple)
    likely = [position for position, other in enumerate(given) if _denials(other) == denied]
    alike = (position for position in likely if _alike(triple, given[position]))
    meant = _meant(normalise(triple_text(triple)), forms, alike)
    if meant is not None:
        return meant
    related = [position for position in likely if _related(triple, given[position])]
    return related[0] if len(related) == 1 else None


def _denials(triple: Sequence[str]) -> frozenset[str]:
    return _DENIALS.intersection(normalise(triple_text(triple)).split())


def _found(meant: Iterable[int | None]) -> tuple[list[int], int]:
    positions = list(meant)
    known = [position for position in positions if position is not None]
    return list(dict.fromkeys(known)), len(positions) - len(known)


def _meant(form: str, forms: list[str], similar: Iterable[int]) -> int | None:
    """Return the position of the equal form, or else of the most similar one of the candidates `similar`."""
    if form in forms:
        return forms.index(form)
    numbers = sorted(_NUMBER.findall(form))
    positions = {
        forms[position]: position for position in similar if sorted(_NUMBER.findall(forms[position])) == numbers
    }
    closest = difflib.get_close_matches(form, positions, n=1, cutoff=_SIMILAR)
    return positions[closest[0]] if closest else None


def _alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether each part is similar; `get_close_matches` rejects most pairs by cheap upper bounds."""
    parts = zip(map(_core, one), map(_core, other), strict=False)
    return len(one) == len(other) and all(
        difflib.get_close_matches(like, [part], n=1, cutoff=_SIMILAR_PART) for part, like in parts
    )


def _related(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether the first triple states the same as the second in fewer words."""
    if not len(one) == len(other) == 3:
        return False
    (head, relation, tail), (other_head, other_relation, other_tail) = map(_words, one), map(_words, other)
    same_ends = head <= other_head and tail <= other_tail
    exchanged = head <= other_tail and tail <= other_head and _prepositions(relation) != _prepositions(other_relation)
    same_numbers = _numbers(head | tail) == _numbers(other_head | other_tail)
    stems = _stems(relation) <= _stems(other_relation)
    telling = relation != _prepositions(relation)  # much is "in" France
    return bool(head and tail) and telling and (same_ends or exchanged) and same_numbers and stems


def _prepositions(relation: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in relation if len(word) <= _PREPOSITION)


def _numbers(words: frozenset[str]) -> set[str]:
    return {word for word in words if _NUMBER.match(word)}


def _words(part: str) -> frozenset[str]:
    return frozenset(_core(part).split())


def _stems(words: frozenset[str]) -> set[str]:
    return {word[:_STEM] for word in words}


def _core(part: str) -> str:
    """Return the normal form of a head, relation or tail without the articles and auxiliaries before it."""
    return _LEADING.sub("", normalise(part))
