"""Find which of the given items a model meant that wrote them its own way."""

import difflib
import re
from collections.abc import Iterable, Sequence

from langgraph_rag.normal_forms import normalise, triple_text

# Roman ones, too: Philip II is not Philip I
_NUMBER = re.compile(r"\d+|\b(?:x{1,3}(?:ix|iv|v?i{0,3})|ix|iv|vi{0,3}|i{1,3})\b")
_SIMILAR = 0.85  # difflib ratio of two items
_SIMILAR_PART = 0.8  # likewise, of two heads, relations or tails; names are short
_STEM = 5  # letters by which forms of a word begin alike, as in "directed" and "director"
_PREPOSITION = 2  # letters: in, of, by
_DENIALS = frozenset({"no", "not", "never"})
_LEADING = re.compile(r"^(?:(?:a|an|the|is|are|was|were|be|been|has|have|had)\s)+")  # articles and auxiliaries


def resolve(returned: Sequence[str], given: Sequence[str]) -> tuple[list[int], int]:
    """Find which given items a model meant.

    An item is meant if it is equal in normal form, else if it is the most similar one (difflib ratio of the normal
    forms at least 0.85) and has the same numbers in it.

    Returns:
        The positions in `given`, without repetition, in the order returned; and how many returned items match none.
    """
    forms = [normalise(item) for item in given]
    return _found(_meant(normalise(item), forms, range(len(forms))) for item in returned)


def resolve_triples(returned: Sequence[Sequence[str]], given: Sequence[Sequence[str]]) -> tuple[list[int], int]:
    """Find which given triples a model meant, as `resolve` does; of a similar one each part must be similar, too.

    Otherwise "father" could become "mother" and "born in" another town, because the rest of the triple is the same.
    Articles and auxiliaries before a part do not make it another one: "was born in" is "born in". A triple may be told
    in fewer words, the same numbers among them, its relation in other forms of these, "director" for "drama film
    directed by", also from the other end, where only one is meant. What denies something is never meant by what does
    not.
    """
    forms = [normalise(triple_text(triple)) for triple in given]
    return _found(_triple_meant(triple, forms, given) for triple in returned)


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
    """Return the position of the equal form, else of the closest of those that may be similar."""
    if form in forms:
        return forms.index(form)
    numbers = sorted(_NUMBER.findall(form))
    positions = {
        forms[position]: position for position in similar if sorted(_NUMBER.findall(forms[position])) == numbers
    }
    closest = difflib.get_close_matches(form, positions, n=1, cutoff=_SIMILAR)
    return positions[closest[0]] if closest else None


def _alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Tell whether each part is similar, which `get_close_matches` rules out by cheaper bounds in most cases."""
    parts = zip(map(_core, one), map(_core, other), strict=False)
    return len(one) == len(other) and all(
        difflib.get_close_matches(like, [part], n=1, cutoff=_SIMILAR_PART) for part, like in parts
    )


def _related(one: Sequence[str], other: Sequence[str]) -> bool:
    """Tell whether the first of two triples says the same in fewer words, of relations also ones that begin alike."""
    if not len(one) == len(other) == 3:
        return False
    (head, relation, tail), (other_head, other_relation, other_tail) = map(_words, one), map(_words, other)
    same_ends = (head <= other_head and tail <= other_tail) or (head <= other_tail and tail <= other_head)
    same_numbers = _numbers(head | tail) == _numbers(other_head | other_tail)
    stems = _stems(relation) <= _stems(other_relation)
    telling = any(len(word) > _PREPOSITION for word in relation)  # much is "in" France
    return bool(head and tail) and telling and same_ends and same_numbers and stems


def _numbers(words: frozenset[str]) -> set[str]:
    return {word for word in words if _NUMBER.match(word)}


def _words(part: str) -> frozenset[str]:
    return frozenset(_core(part).split())


def _stems(words: frozenset[str]) -> set[str]:
    return {word[:_STEM] for word in words}


def _core(part: str) -> str:
    """Return the normal form of a head, relation or tail without the articles and auxiliaries before it."""
    return _LEADING.sub("", normalise(part))
