"""Whether the clause of a verb is stated: not negated, reported, doubted, conditional or ordered."""

from langgraph_rag.tools.facts.noun_phrases import NEGATIVE
from langgraph_rag.tools.language.parsing import Word

_MODALS = frozenset("may might could should would must shall ought 'd need".split())
_UNSURE = frozenset(
    "reportedly allegedly supposedly apparently perhaps possibly probably purportedly presumably maybe seemingly "
    "reputedly ostensibly likely unlikely rumored rumoured if unless whether falsely wrongly almost nearly".split()
)
_REPORTED = frozenset(
    "said believed thought reported rumoured rumored alleged claimed supposed presumed assumed considered denied "
    "doubted disputed expected planned proposed suggested hoped feared asked refused meant intended scheduled "
    "speculated suspected".split()
)
_TELL = frozenset("say says said claim claims claimed believe believes report reports reported write wrote".split())
_CONDITIONS = frozenset("if unless whether long".split())  # "as long as"
_TIMES = frozenset("when once until whenever".split())
_PRESENT = ("VBZ", "VBP", "VB")
_COUNTS = frozenset("census data statistics".split())


def is_verb(word: Word) -> bool:
    """Return whether a word is a verb."""
    return word.tag.startswith(("VB", "MD"))


def asserted(verb: Word) -> bool:
    """Return whether the clause of a verb, and all around it, is stated."""
    lowers = {child.text.lower() for child in verb.children}
    auxiliaries = {child.text.lower() for child in verb.of("aux")}
    if verb.of("neg", "mark") or "to" in auxiliaries or lowers & (_MODALS | _UNSURE) or _none(verb):
        return False
    if verb.text.lower() in _REPORTED and (verb.of("auxpass") or verb.tag == "VBN"):
        return False
    if any(_takes_back(clause, verb) for clause in verb.of("advcl", "parataxis", "ccomp")):
        return False
    return not any(map(_sets_apart, verb.of("prep"))) and asserted_around(verb)


def asserted_around(word: Word) -> bool:
    """Return whether what a word is part of is stated."""
    head = word.head
    if head is word:
        return word.tag != "VB" or bool(word.of("nsubj", "nsubjpass"))
    if word.role in ("ccomp", "xcomp", "pcomp", "csubj", "parataxis"):
        return False
    if word.role in ("advcl", "acl"):
        participle = word.tag == "VBN" or (word.tag == "VBG" and word.role == "acl")
        participle = participle and not word.of("mark", "aux") and not any(w.tag == "WRB" for w in word.of("advmod"))
        return participle and (asserted(head) if is_verb(head) else asserted_around(head))
    if word.role == "conj" and word.tag.startswith("VB"):
        return is_verb(head) and _is_alike(word, head) and asserted(head)
    return asserted(head) if is_verb(head) else asserted_around(head)


def _is_alike(verb: Word, first: Word) -> bool:
    """Return whether a verb can be coordinated with another one: not "allow" with "creating"."""
    if verb.of("nsubj", "nsubjpass", "aux", "auxpass"):
        return True
    if verb.tag == "VBG":
        return first.tag in ("VBG", "VBN")
    return not (first.role == "acl" and verb.tag in ("VBZ", "VBP"))


def _none(verb: Word) -> bool:
    adverbs = {child.text.lower() for child in verb.of("advmod", "nsubj", "nsubjpass", "preconj")}
    return bool(adverbs & NEGATIVE)


def _takes_back(clause: Word, verb: Word) -> bool:
    """Return whether a clause makes that of the verb a condition's or somebody else's."""
    if clause.role != "advcl":
        return clause.text.lower() in _TELL
    marks = {child.text.lower() for child in clause.children}
    return bool(marks & _CONDITIONS or (marks & _TIMES and verb.tag in _PRESENT))


def _sets_apart(prep: Word) -> bool:
    """Return whether a preposition tells that something is not so, or only somebody's word."""
    if prep.text.lower() == "according":
        sources = (place.text.lower() for to in prep.of("prep") for place in to.of("pobj"))
        return not any(source in _COUNTS for source in sources)
    return prep.text.lower() in ("unlike", "without", "contrary")
