"""Tells from the parse whether the end or the relation of a fact is cut off before what its meaning needs."""

import re
from itertools import pairwise

from langgraph_rag.tools.facts.phrases import ROLES
from langgraph_rag.tools.facts.placed import CLAUSES, RANKED, SUBJECTS, TYING, Placed

CONDITIONS = frozenset("when whenever if unless after before until till once wherever provided assuming".split())
_OPEN_ENDED = frozenset("ccomp xcomp acomp oprd attr dobj prt pcomp pobj agent".split())
_GENERAL = frozenset(
    "improvement way ability filter means method system process set type kind form feature option support number value "
    "result rule thing place function object element change argument word name key format variable file item list "
    "information data".split()
)
_ROLES = frozenset(map(str.lower, ROLES)) | frozenset(
    "founder co-founder cofounder leader owner spokesperson spokesman manager editor chairperson frontman "
    "representative".split()
)
_GENERIC = frozenset(  # parts of names that stand for the whole
    "Institute University Company Association Committee School College Council Church Club Society Museum Board Party "
    "Army Court Commission Match Game Tournament Championship League Act Bank Hospital Government Ministry Prize Award "
    "Cup Series".split()
)
_NEED_AS = frozenset(
    "known regarded described classified referred considered treated defined billed credited viewed seen listed".split()
)
_TWO_SIDED = frozenset(
    "equal identical different similar equivalent compatible incompatible related married same distinct comparable "
    "interchangeable synonymous unrelated adjacent".split()
)
_ONE_SIDED = frozenset("at in on for by since".split())
_ONWARD = frozenset("to until through till – - —".split())
_YEAR = re.compile(r"\s*,\s*\d{4}\b")
_DEFINES = frozenset("is was are were".split())


# --- the end of a fact ------------------------------------------------------------------------------------------------
def an_end_goes_on(fact: Placed) -> bool:
    """Return whether a clause or object of a word within the end is cut off."""
    return any(_goes_on(fact, at, one) for at in fact.inside for one in fact.below[at] if one >= fact.end)


def _goes_on(fact: Placed, at: int, one: int) -> bool:
    role, tag = fact.role(one), fact.parsed[at].tag
    if not fact.left_out(one):
        return False
    if fact.is_verb(at) and at != fact.top:
        last = fact.inside[-1]
        ends = last == at or (fact.parsed[last].head == at and fact.role(last) == "prt")
        tied = role == "prep" and fact.text(one) in TYING and not fact.is_timed(one)
        general = role == "advcl" and tag in {"VBZ", "VBP", "VBG"} and not fact.marks(one).isdisjoint(CONDITIONS)
        return ends or tied or general or role in _OPEN_ENDED
    if tag in {"IN", "TO"}:
        return role in {"pobj", "pcomp", "prep"}
    adjective = tag in {"JJ", "JJR"} and fact.role(at) in {"amod", "acl", "acomp", "relcl"}
    return (adjective or tag == "RB") and at == fact.end - 1 and role in {"prep", "xcomp", "ccomp"}


def an_end_points_away(fact: Placed) -> bool:
    """Return whether an end tells of what stands elsewhere: "the fonts listed above"."""
    return any(
        fact.text(at) in {"above", "below"} and (over := fact.parsed[at].head) in fact.inside and fact.is_verb(over)
        for at in fact.inside
    )


def an_end_is_in_pieces(fact: Placed) -> bool:
    """Return whether an end has an adverbial of the verb: "gives, lines for every pump in addition"."""
    last, at = fact.end - 1, fact.end - 2
    adds = len(fact.inside) > 2 and fact.is_noun(last) and fact.parsed[last].head == at and fact.parsed[at].tag == "IN"
    return adds and at != fact.top and not fact.is_inside(fact.parsed[at].head)


def a_common_noun_goes_on(fact: Placed) -> bool:
    """Return whether an object is a common noun with a description, or the verb of a rule goes on directly after it."""
    top, end, verb = fact.top, fact.end, fact.verb
    if not fact.is_noun(top) or fact.role(top) not in {"dobj", "pobj", "oprd"}:
        return False
    general = verb is not None and fact.is_present(verb)
    for one in fact.restricted(top, "prep", *CLAUSES):
        needed = general or fact.role(top) != "pobj" or fact.text(one) in TYING
        if fact.role(one) != "prep" or (needed and fact.is_noun(fact.object_of(one))):
            return True
    follows = verb is not None and general and end in fact.lost(verb, "prep")
    return follows and fact.is_noun(fact.object_of(end))


def a_noun_is_torn(fact: Placed) -> bool:
    """Return whether a noun of the end leaves out what it is tied to."""
    top = fact.top
    if fact.is_name(top) and fact.role(top) == "dobj" and any(fact.text(at) in {"a", "an"} for at in fact.below[top]):
        return any(fact.restricted(top, *CLAUSES))  # "returns a QuerySet that"
    return any(
        _ties(fact, at, one) for at in fact.inside if fact.is_noun(at) for one in fact.restricted(at, "prep", *CLAUSES)
    )


def _ties(fact: Placed, noun: int, one: int) -> bool:
    defines = fact.role(fact.top) in {"attr", "appos"} or fact.relation in _DEFINES
    short = len(fact.inside) == 1
    if fact.role(one) == "prep":
        return _ties_preposition(fact, noun, one, defines=defines, short=short)
    general = fact.text(fact.top) in _GENERAL or fact.text(fact.top).removesuffix("s") in _GENERAL
    if general or (short and (not defines or (fact.role(one) == "relcl" and not fact.is_person(noun)))):
        return True
    before = [at for at in fact.below[noun] if at < noun]
    named = any(map(fact.is_name, before))  # "the Ost label"
    return not defines and not named and any(fact.text(at) == "the" for at in before)


def _ties_preposition(fact: Placed, noun: int, one: int, *, defines: bool, short: bool) -> bool:
    text, told = fact.text(one), fact.object_of(one)
    if text == "of":
        return True
    if fact.tokens.is_(told, "date", "num") or (text == "about" and defines):
        return False
    person = defines and text == "for" and fact.is_person(noun)
    if text in {"for", "to"} and (fact.is_name(told) or person):
        return False
    near = text == "on" or (short and text in {"in", "with", "onto"})
    return text in TYING or (near and not defines and fact.is_noun(told))


def a_role_is_torn(fact: Placed) -> bool:
    """Return whether it is not told of what somebody is head or founder."""
    if len(fact.inside) > 1 or fact.text(fact.top) not in _ROLES:
        return False
    both = [fact.top, *(at for at in fact.below[fact.top] if fact.role(at) == "conj")]
    return any(True for at in both for _ in fact.lost(at, "prep"))


def a_person_is_unnamed(fact: Placed) -> bool:
    """Return whether the name is lost after what somebody is: "by the composer" Bo Ray."""
    top = fact.top
    counted = any(fact.role(at) == "nummod" for at in fact.below[top])
    if not fact.is_noun(top) or fact.role(top) != "pobj" or not fact.is_person(top) or counted:
        return False
    row = [at for at in fact.below[top] if at >= fact.end and fact.role(at) in {"conj", "appos"}]
    row += [at for one in row for at in fact.below[one] if fact.role(at) in {"conj", "appos"}]
    return any(map(fact.is_name, row))


def a_number_is_torn(fact: Placed) -> bool:
    """Return whether the end of a time, a unit, or what is counted is lost: "from May" to June, "2 sq". miles."""
    tokens, end, top = fact.tokens, fact.end, fact.top
    if fact.last == "from" and tokens[end].text in _ONWARD and tokens.is_(end + 1, "date"):
        return True
    if tokens.is_(end - 1, "date"):
        spans = not fact.words.isdisjoint({"from", "period", "between", "season"})
        whole = any(mark in tokens[end - 1].text for mark in (" to ", " until ", "–", "-"))
        return spans and not whole and tokens[end].text in _ONWARD
    if not tokens.is_(fact.start, "num"):
        return False
    if tokens[end].text == "." and tokens[end].start == tokens[end - 1].end and tokens[end + 1].text[:1].islower():
        return True
    counted = fact.parsed[top].head
    return fact.role(top) == "nummod" and counted == fact.start - 1 and not fact.is_told(counted)


def a_name_is_torn(fact: Placed) -> bool:
    """Return whether a part of a name or date is lost: Neil "Napoleon" Jones, New Year's Eve 1965, May 5, 1960."""
    tokens, start, end = fact.tokens, fact.start, fact.end
    sentence, begins, ends = tokens.sentence, tokens[start].start, tokens[end - 1].end
    if tokens.is_(end - 1, "date") and _YEAR.match(sentence, ends):
        return True
    if not fact.is_name(start):
        return False
    quoted = sentence[max(begins - 2, 0) : begins] in {'" ', "” "}
    if quoted and sentence[begins - 3 : begins - 2] not in {"", " "}:
        return True
    dated = tokens.is_(end, "date") and tokens[end].start == ends + 1 and tokens[end].text.isdigit()
    return dated or _stands_for_longer(fact)


def _stands_for_longer(fact: Placed) -> bool:
    """Return whether an end is a part of a name: "the Institute", "the Battle" for Ost."""
    name = fact.tokens.text(fact.start, fact.end)
    if fact.tokens[fact.start - 1].text != "the" or not name.isalpha():
        return False
    tied = (one for one in fact.below[fact.top] if one == fact.end and fact.text(one) in {"for", "of", "on"})
    return name in _GENERIC or any(fact.is_name(fact.object_of(one)) for one in tied)


def a_shared_noun_is_lost(fact: Placed) -> bool:
    """Return whether the noun of a name stands after another: "Norse" and Danish cinema."""
    other, noun = fact.end + 1, fact.end + 2
    alone = fact.end == fact.start + 1 and fact.is_name(fact.start) and fact.tokens.is_(fact.end, "and")
    return (
        alone
        and fact.is_name(other)
        and noun < len(fact.parsed)
        and fact.is_noun(noun)
        and (fact.parsed[other].head == noun)
    )


def a_list_is_mixed(fact: Placed) -> bool:
    """Return whether names with a comma go on: "for Low Water, Duck" on High Water."""
    commas = any(fact.tokens.is_(at, "comma") for at in range(fact.start, fact.end))
    if not commas or not fact.is_name(fact.start) or fact.last in {"in", "at", "near", "of", "by"}:
        return False
    following = (one for one in fact.below[fact.inside[-1]] if one >= fact.end and fact.role(one) == "prep")
    return any(fact.text(one) in {"on", "of", "for", "as"} for one in following)


def a_pair_is_torn(fact: Placed) -> bool:
    """Return whether only one of two is in the fact: "between A" and B."""
    joins = fact.last in {"between", "among"} and not any(map(lambda at: fact.tokens.is_(at, "and"), fact.inside))
    return joins and any(one >= fact.end and fact.role(one) == "conj" for at in fact.inside for one in fact.below[at])


# --- what something is the most, the first or the same of -------------------------------------------------------------
def a_choice_is_torn(fact: Placed) -> bool:
    """Return whether it is not told among what something is the largest, the first, or one."""
    some = fact.text(fact.start) == "one" and fact.text(fact.start + 1) == "of"
    most = some or any(map(fact.is_most, fact.inside))
    if most or any(fact.text(at) in RANKED for at in fact.inside):
        for at in {*fact.inside, *fact.above[:1]}:
            for one in fact.restricted(at, "prep", "advcl", *CLAUSES):
                near = most and (at in fact.inside or one <= fact.end + 1)
                if near or (at in fact.inside and fact.role(one) != "advcl" and not fact.is_timed(one)):
                    return True
    ranked = (
        at for at in fact.said if fact.is_noun(at) and any(fact.is_choice(one) for one in fact.below[at] if one < at)
    )
    return any(_restricts(fact, at, one) for at in ranked for one in fact.below[at] if one > at)


def _restricts(fact: Placed, noun: int, one: int) -> bool:
    clause = fact.role(one) in CLAUSES or (fact.role(one) == "prep" and one < fact.start)
    return clause and not fact.after_comma(one) and fact.left_out(one)


def a_turn_is_lost(fact: Placed) -> bool:
    """Return whether something was the last or largest only until or since then."""
    verb = fact.verb
    if verb is None or not any(map(fact.is_choice, [*fact.said, *fact.inside])):
        return False
    below = (one for at in (verb, fact.top) for one in fact.below[at] if one > verb)
    times = (one for one in below if fact.role(one) in {"advcl", "prep"} and fact.left_out(one))
    return any(not fact.marks(one).isdisjoint({"before", "until", "till", "since"}) for one in times)


def a_degree_is_lost(fact: Placed) -> bool:
    """Return whether "most" before a word of the fact is lost: most "capable"."""
    words = (at for at in [*fact.inside, *fact.said] if not fact.is_verb(at))
    before = (one for at in words for one in fact.below[at] if one < at)
    return any(fact.is_most(one) and one not in fact.said and not fact.is_inside(one) for one in before)


def a_side_is_lost(fact: Placed) -> bool:
    """Return whether it is not told with what something is compared: "are considered equal at"."""
    if any(one in _TWO_SIDED and then in _ONE_SIDED for one, then in pairwise(fact.relation.split())):
        return True
    if fact.verb is not None and fact.role(fact.top) == "dobj":
        against = (one for one in fact.below[fact.verb] if fact.role(one) == "prep" and fact.text(one) == "against")
        if any(map(fact.left_out, against)):
            return True
    return any(
        fact.text(one) == "than" and fact.left_out(one) for at in [*fact.inside, *fact.said] for one in fact.below[at]
    )


# --- the relation of a fact -------------------------------------------------------------------------------------------
def a_relation_is_torn(fact: Placed) -> bool:
    """Return whether a word of the relation leaves out what it is tied to."""
    return any(
        _tears(fact, at, one)
        for at in fact.said
        for one in fact.below[at]
        if one > at and one not in fact.said and fact.left_out(one)
    )


def _tears(fact: Placed, at: int, one: int) -> bool:
    role, before = fact.role(one), one < fact.start
    if fact.is_verb(at):
        moved = role == "prep" and fact.text(one) in {"to", "into"} and not fact.is_timed(one)
        general = fact.is_noun(fact.top) or fact.is_present(at) or fact.role(at) in {"xcomp", "pcomp"}
        if moved and general and fact.role(fact.top) == "dobj" and fact.parsed[fact.top].head == at:
            return True  # "moved the mill" to Ost
        return at == fact.verb and before and role in {"dobj", "oprd", "acomp", "attr", "xcomp", "ccomp", "prt"}
    if fact.role(at) in SUBJECTS or not (fact.is_noun(at) or fact.parsed[at].tag.startswith("JJ")):
        return False
    if fact.last == "by" or (fact.last in {"at", "for", "with"} and fact.is_person(at)):
        return False
    if role != "prep":
        return role in CLAUSES and before and not fact.after_comma(one)
    if before and fact.role(at) == "attr" and fact.tokens.is_(fact.start, "date") and not fact.is_timed(one):
        return True  # "was coach" at Ost "in 1986"
    text = fact.text(one)
    tied = text in {"to", "of", "between", "as"} or (before and text in TYING)
    return tied and not fact.tokens.is_(fact.object_of(one), "date", "num")


def a_name_for_it_is_lost(fact: Placed) -> bool:
    """Return whether it is not told as what something is known or used."""
    verb = fact.verb
    used = verb is not None and fact.role(fact.top) == "dobj" and not fact.is_name(fact.start) and fact.is_present(verb)
    if verb is not None and used and any(fact.text(one) == "as" for one in fact.lost(verb, "prep")):
        return True
    needing = (at for at in fact.said if fact.text(at) in _NEED_AS and "as" not in fact.words)
    return any(
        fact.role(one) == "prep" and fact.text(one) == "as" and fact.left_out(one)
        for at in needing
        for one in fact.below[at]
    )


def a_condition_is_lost(fact: Placed) -> bool:
    """Return whether a statement holds only under a condition, or generally only at a time, that the fact lacks."""
    verb = fact.verb
    if verb is None:
        return False
    if any(_is_condition(fact, one) for one in fact.below[verb]):
        return True
    if not fact.is_present(verb):
        return False
    between = [*fact.above[: fact.above.index(verb)], *fact.inside]
    clauses = [one for one in fact.below[verb] if fact.role(one) == "advcl" and fact.left_out(one)]
    clauses += [one for at in between for one in fact.lost(at, "advcl")]
    if any(not fact.marks(one).isdisjoint(CONDITIONS) for one in clauses):
        return True
    adverbials = (one for one in fact.below[verb] if fact.role(one) == "prep" and fact.left_out(one))
    return any(_is_limit(fact, one) for one in adverbials)


def _is_condition(fact: Placed, one: int) -> bool:
    below = {fact.text(at) for at in fact.below[one] if at < one}
    if fact.text(one) == "long":
        return "as" in below  # "as long as"
    return fact.role(one) == "advcl" and not below.isdisjoint({"only", "if", "unless"}) and fact.left_out(one)


def _is_limit(fact: Placed, preposition: int) -> bool:
    text, told = fact.text(preposition), fact.object_of(preposition)
    if text in {"in", "under"}:
        return fact.text(told) in {"mode", "modes", "case", "cases"}
    return text in {"after", "before", "until", "without", "upon"} and not fact.tokens.is_(told, "date")


TORN = (
    an_end_goes_on,
    an_end_points_away,
    an_end_is_in_pieces,
    a_common_noun_goes_on,
    a_noun_is_torn,
    a_role_is_torn,
    a_person_is_unnamed,
    a_number_is_torn,
    a_name_is_torn,
    a_shared_noun_is_lost,
    a_list_is_mixed,
    a_pair_is_torn,
    a_choice_is_torn,
    a_turn_is_lost,
    a_degree_is_lost,
    a_side_is_lost,
    a_relation_is_torn,
    a_name_for_it_is_lost,
    a_condition_is_lost,
)
"""The ways in which a fact may be torn."""
