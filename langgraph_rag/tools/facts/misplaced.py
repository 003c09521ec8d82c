"""Tells from the parse whether a fact puts together what belongs to different things."""

from collections.abc import Iterator
from itertools import pairwise

from langgraph_rag.tools.facts.placed import CLAUSES, LIGHT, RANKED, SUBJECTS, Placed
from langgraph_rag.tools.facts.words import tag_of

_WHERE = frozenset("in on at near during of inside within".split())
_NAMES = frozenset("known called named became titled".split())
_TOWNS = frozenset("city town village county state province district parish island kingdom municipality".split())
_MOST_STEPS = 6


def another_is_meant(fact: Placed) -> bool:
    """Return whether a clause of the relation describes another noun than the head."""
    verb = next((at for at in fact.above if fact.role(at) in CLAUSES and fact.is_verb(at) and fact.is_told(at)), None)
    if verb is None:
        return False
    noun = fact.parsed[verb].head
    if _is_place_of_person(fact, verb, noun):
        return True
    named = fact.text(verb) in _NAMES
    if fact.words & {"located", "based", "situated"} or (fact.is_name(noun) and not named and fact.role(verb) == "acl"):
        return False  # "a film starring Bo Ray, directed by"
    comma = fact.after_comma(verb)
    for _ in range(_MOST_STEPS):
        if noun in fact.said or _is_head(fact, noun):
            return False
        over = fact.parsed[noun].head
        if fact.role(noun) == "pobj" and not named and _is_shared(fact, verb, noun, over, comma=comma):
            noun = fact.parsed[over].head
        elif fact.role(noun) in {"appos", "conj"}:
            noun = over
        else:
            return fact.role(noun) in {"pobj", "dobj", "pcomp"}
    return False


def _is_place_of_person(fact: Placed, verb: int, noun: int) -> bool:
    """Return whether the head is only where somebody is from: "a poet from Ost, who was"."""
    who = any(fact.text(at) == "who" for at in fact.below[verb])
    place = fact.role(noun) == "pobj" and fact.text(fact.parsed[noun].head) in {"from", "in", "at"}
    return who and place and fact.text(noun) == fact.head


def _is_head(fact: Placed, noun: int) -> bool:
    names = (at for at in fact.below[noun] if fact.role(at) in {"appos", "compound", "nmod"})
    return any(fact.text(at) in fact.head for at in [noun, *names])


def _is_shared(fact: Placed, verb: int, noun: int, preposition: int, *, comma: bool) -> bool:
    """Return whether what is told of a noun is told of what stands before its preposition: "species of trees that"."""
    name, over = fact.is_name(noun), fact.parsed[preposition].head
    who = any(fact.text(at) == "who" for at in fact.below[verb])
    if fact.text(preposition) in {"from", "in", "at"}:
        return name or who
    if fact.text(preposition) != "of" or comma or (name and who):
        return False
    bare = not any(fact.role(at) == "det" for at in fact.below[noun])
    return name or bare or fact.text(over) in LIGHT | RANKED | {"one"}


def a_link_is_missing(fact: Placed) -> bool:
    """Return whether the relation leaves out a word between two of its own: "is (about) standing"."""
    told = [at for at in fact.above if at in fact.said]
    if len(told) < 2:
        return False
    between = fact.above[: fact.above.index(told[-1])]
    for below, at in pairwise([fact.top, *between]):
        clause = fact.is_verb(at) and fact.role(at) in {*CLAUSES, "pcomp"} and fact.role(below) != "conj"
        if clause and at not in fact.said:
            return True
    if fact.role(between[0]) == "prep" and fact.text(between[0]) in _WHERE:
        return False  # "at the Games in Ost" is in Ost
    missing = (at for at in between if fact.role(at) == "prep" and at not in fact.said and not fact.is_told(at))
    return any(fact.parsed[at].head in fact.said for at in missing)


def a_preposition_is_of_another(fact: Placed) -> bool:
    """Return whether the end depends on another preposition than that of the relation, or stands beside the head."""
    at = fact.top
    while fact.role(at) in {"conj", "appos"} and fact.parsed[at].head != at:
        at = fact.parsed[at].head
        if fact.is_name(at) and fact.text(at) in fact.head and "known" not in fact.words:
            return True
    if fact.tokens.is_(fact.start, "num"):
        return False
    while fact.role(at) == "pobj" and fact.text(fact.parsed[at].head) == "of" and "of" not in fact.words:
        over = fact.parsed[fact.parsed[at].head].head
        if fact.text(over) not in LIGHT:
            return fact.start != at or over not in fact.said
        at = over
    if fact.role(at) == "pobj":
        text = fact.text(fact.parsed[at].head)
        return text not in fact.words and not fact.is_told(fact.parsed[at].head) and text not in _words(fact)
    direct = fact.role(at) in {"dobj", "attr", *SUBJECTS} and not fact.tokens.is_(fact.start, "date")
    return direct and any(fact.text(one) == fact.last and fact.parsed[one].tag in {"IN", "TO"} for one in fact.said)


def _words(fact: Placed) -> set[str]:
    return {fact.text(at) for at in fact.inside}


def a_name_before_is_lost(fact: Placed) -> bool:
    """Return whether the preposition belongs to a name that is not in the fact: across the Kell "from Ost"."""
    at = fact.parsed[fact.top].head
    if fact.role(fact.top) != "pobj" or fact.text(at) not in {"to", "from"} or fact.tokens.is_(fact.start, "date"):
        return False
    over = fact.parsed[at].head
    return over == at - 1 and fact.is_name(over) and not fact.is_told(over) and not fact.is_inside(over)


def a_date_is_of_another(fact: Placed) -> bool:
    """Return whether what lasts is limited to an agent or place that the fact leaves out: published by Bo Ray since."""
    if not fact.tokens.is_(fact.start, "date") or fact.last not in {"since", "until", "till"}:
        return False
    between = (
        one
        for at in fact.above
        if fact.is_verb(at)
        for one in fact.below[at]
        if at < one < fact.start and fact.left_out(one)
    )
    return any(fact.role(one) in {"agent", "prep"} and not fact.is_timed(one) for one in between)


def a_subject_is_limited(fact: Placed) -> bool:
    """Return whether the head is only some of what the fact is about: Ost's first "Kell Fair"."""
    names = (at for at in _subjects(fact) if fact.is_name(at) and fact.text(at) in fact.head)
    return any(_limits(fact, at, one) for at in names for one in fact.below[at] if fact.text(one) not in fact.head)


def _subjects(fact: Placed) -> Iterator[int]:
    return (at for at in (fact.below[fact.verb] if fact.verb is not None else ()) if fact.role(at) in SUBJECTS)


def _limits(fact: Placed, name: int, one: int) -> bool:
    if not fact.left_out(one):
        return False
    if one > name:
        return fact.role(one) == "acl" and not fact.after_comma(one)
    owned = fact.role(one) == "poss" and fact.parsed[one].tag != "PRP$"
    return owned or (fact.role(one) == "amod" and fact.is_choice(one))


def a_head_is_no_name(fact: Placed) -> bool:
    """Return whether the sentence is no statement about the head: "Returns stored data", "Files read by the mill"."""
    verb, first = fact.verb, fact.text(0)
    if first == fact.head and tag_of(first) == "pres":
        return True
    if verb is None or fact.parsed[verb].tag != "VBN":
        return False
    if fact.role(verb) == "ROOT":
        helped = any(fact.role(at) in {"aux", "auxpass"} for at in fact.below[verb])
        return not helped and any(fact.role(at) == "nsubj" and fact.text(at) == fact.head for at in fact.below[verb])
    noun = fact.parsed[verb].head
    whole = fact.role(verb) == "acl" and fact.role(noun) in {"ROOT", *SUBJECTS} and not fact.after_comma(verb)
    return whole and fact.text(noun) == fact.head


def a_subject_is_another(fact: Placed) -> bool:
    """Return whether the head only belongs to the subject: "Caches of Tull are", "The Tull driver uses Tull"."""
    nouns = (at for at in _subjects(fact) if fact.is_noun(at) and not fact.is_told(at))
    for noun in nouns:
        if any(_is_whole_head(fact, at) for at in fact.inside):
            return True
        if fact.text(noun) not in _TOWNS and any(_is_whole_head(fact, at) for at in _belonging(fact, noun)):
            return True
    return False


def _is_whole_head(fact: Placed, at: int) -> bool:
    return fact.is_name(at) and fact.text(at) == fact.head


def _belonging(fact: Placed, noun: int) -> list[int]:
    """Return what follows a noun with a preposition or in its clause, and what is coordinated with that."""
    row = [at for one in fact.below[noun] if fact.role(one) == "prep" for at in fact.below[one]]
    clauses = [at for one in fact.below[noun] if fact.role(one) in CLAUSES for at in [one, *fact.below[one]]]
    parts = [at for one in clauses for at in fact.below[one]]
    row += [*parts, *(at for one in parts for at in fact.below[one])]
    for one in row:  # which grows
        row += [at for at in fact.below[one] if fact.role(at) in {"conj", "appos"}]
    return row


def a_clause_is_taken_for_a_noun(fact: Placed) -> bool:
    """Return whether the end is a clause of its own: "Interactive, terminals, support labels"."""
    acts = fact.role(fact.top) == "ROOT" and fact.parsed[fact.top].tag in {"VBZ", "VBP", "VBD"}
    return acts and bool(fact.said) and not any(map(fact.is_verb, fact.said))


MISPLACED = (
    another_is_meant,
    a_link_is_missing,
    a_preposition_is_of_another,
    a_name_before_is_lost,
    a_date_is_of_another,
    a_subject_is_limited,
    a_head_is_no_name,
    a_subject_is_another,
    a_clause_is_taken_for_a_noun,
)
"""The ways in which the parts of a fact may belong to different things."""
