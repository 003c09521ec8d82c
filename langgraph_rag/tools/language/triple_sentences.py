"""Finds the sentences of a passage that state its triples."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from langgraph_rag.normal_forms import words_of
from langgraph_rag.records import Record


def stating_sentences(triples: Sequence[Sequence[str]], passage: Record) -> list[list[int]]:
    """Find the sentences of a passage that state each triple.

    This is the sentence that has the words of head and tail, or those that are not in the title. Of several, it is the
    one with most words of the relation, then the first. If no sentence has all, it is the pair that has most.

    Returns:
        For each triple one or two positions, ascending; none if the passage has no sentences.
    """
    sentences, title = [set(words_of(sentence)) for sentence in passage["sentences"]], set(words_of(passage["title"]))
    places: defaultdict[str, int] = defaultdict(int)
    for position, words in enumerate(sentences):
        for word in words:
            places[word] |= 1 << position
    return [_supporting(triple, title, sentences, places) for triple in triples]


def _supporting(
    triple: Sequence[str], title: set[str], sentences: Sequence[set[str]], places: Mapping[str, int]
) -> list[int]:
    """Find the sentences that state a triple; `places` has a bit for each sentence that contains a word."""
    if not sentences:
        return []
    head, relation, tail = (set(words_of(part)) for part in triple)
    mentioned = (head | tail) - title

    def most(words: Iterable[str], among: int) -> int:
        return _in_most([places[word] for word in words if word in places], among)

    everywhere = (1 << len(sentences)) - 1
    best = _first(most(relation, most([*mentioned, *(mentioned & tail)], everywhere)))
    missing = mentioned - sentences[best]
    helper = _first(most(missing, everywhere))
    return sorted({best, helper}) if missing & sentences[helper] else [best]


def _in_most(sets: Iterable[int], among: int) -> int:
    """Return the numbers in `among` that are in most of the sets; a set of numbers is the bits of an integer.

    The occurrences of all numbers are counted at once, in binary digits. A long passage has as many triples as
    sentences, too many to check each pair.
    """
    digits: list[int] = []
    for carried in sets:
        for place, digit in enumerate(digits):
            digits[place], carried = digit ^ carried, digit & carried
        if carried:
            digits.append(carried)
    for digit in reversed(digits):
        among = among & digit or among
    return among


def _first(positions: int) -> int:
    return (positions & -positions).bit_length() - 1
