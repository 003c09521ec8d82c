"""Names, dates and noun phrases in a parse, as they are written."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from langgraph_rag.tools.language.parsing import Word, written

PRONOUNS = {"he": "he", "his": "he", "him": "he", "she": "she", "her": "she", "it": "it", "its": "it",
            "they": "they", "their": "they"}  # fmt: skip
RELATIVE = frozenset("who which that whom".split())
NOUNS = ("NN", "NNS")
NEGATIVE = frozenset("no not never neither nor none without hardly barely scarcely nobody nothing n't".split())
_VAGUE = frozenset("the this that these those such same other another any some each every all both its his her their "
                   "my your our no many several few most more".split())  # fmt: skip
_TITLES = re.compile(r"(?:(?:Prof|Dr|Gov|Sen|Mr|Mrs|Ms|Rep|Gen|Col|Capt|Lt|Sgt|Rev|Hon)\. )+(?=\w)")
_YEAR = re.compile(r"(?:1\d{3}|20\d{2})s?")
_NATION = re.compile(r"[A-Z][a-z]+(?:ian|ean|ese|ish|an|ch|sh|ek|ss|i)")
_BEFORE_NOUN = frozenset("amod compound nummod nmod quantmod npadvmod advmod case".split())
_OTHER_CLAUSES = frozenset("relcl acl advcl".split())


def is_name(word: Word) -> bool:
    """Return whether a word is a name or an identifier."""
    return word.kind in ("name", "code") or word.tag.startswith("NNP")


def is_noun(word: Word) -> bool:
    """Return whether a word is a common noun."""
    return not word.kind and word.tag in NOUNS


def is_year(word: Word) -> bool:
    """Return whether a word is a date, or a number that looks like a year."""
    return (word.kind == "date" or _YEAR.fullmatch(word.text) is not None) and not word.of("compound")


def is_nation(word: Word) -> bool:
    """Return whether a word looks like `Norwegian`."""
    return not word.kind and word.tag in ("JJ", "NNP") and _NATION.fullmatch(word.text) is not None


def is_refused(word: Word) -> bool:
    """Return whether a noun is negated."""
    return any(part.text.lower() in NEGATIVE for part in (word, *word.children))


def is_choice(word: Word) -> bool:
    """Return whether there are alternatives of which only one holds: `A or B`."""
    return has_name(word) and any(word.text.lower() in ("or", "nor", "either") for word in word.of("cc", "preconj"))


def determined(word: Word, *determiners: str) -> bool:
    """Return whether a noun has one of these determiners."""
    return any(det.text.lower() in determiners for det in word.of("det"))


def name_of(word: Word) -> str:
    """Return a name with the capitalised words before it, without titles: `Vint` of `Prof. Vint`."""
    parts = [word]
    for child in sorted(word.of("compound", "nmod", "amod"), key=lambda child: -child.place):
        joins = child.place == parts[0].place - 1 and not parts[0].gap and (child.kind or child.text[:1].isupper())
        if not word.kind and joins:
            parts.insert(0, child)
    of = next((prep for prep in word.of("prep") if prep.text == "of" and prep.place == word.place + 1), None)
    whole = of and not word.kind and word.tag.startswith("NNP") and next(iter(of.of("pobj")), None)
    if of and whole and is_name(whole) and not of.gap:  # "Bay of Baku"
        return f"{written(parts)} of {name_of(whole)}"
    return untitled(written(parts))


def untitled(name: str) -> str:
    """Return a name without titles before it: `Vint` of `Prof. Vint`."""
    titles = _TITLES.match(name)
    return name[titles.end() :] if titles else name


def short(noun: Word) -> str:
    """Return a noun with its article and the nouns before it; with all before it if it is definite."""
    roles = ("det", "compound", "amod", "nmod", "nummod") if determined(noun, "the") else ("det", "compound")
    left = [child for child in noun.of(*roles) if child.place < noun.place and not is_year(child)]
    parts = [part for child in left for part in below(child) if part.place < noun.place]  # "martial arts film"
    text = " ".join(word.text for word in in_order([*parts, noun]))
    return re.sub(r"^an? (?=(\w))", lambda article: "an " if article[1] in "aeiouAEIO" else "a ", text)


def phrase(noun: Word, *, of: bool = True) -> str:
    """Return a noun phrase: what stands before the noun, without article, and its "of"; less if that is torn apart."""
    parts = {noun}
    for child in noun.children:
        if child.role == "nummod" and child.place == noun.place + 1:  # "version 4.2"
            parts.add(child)
        elif child.place < noun.place and _is_before_noun(child):
            parts.update(part for part in below(child) if part.place < noun.place)
        elif of and child.role == "prep" and child.text.lower() == "of" and child.of("pobj"):
            inner = child.of("pobj")[0]
            parts.add(child)
            parts.update(part for part in below(inner) if not _is_apart(part, inner))
    ordered = _trimmed(parts)
    if _is_torn(ordered):
        return phrase(noun, of=False) if of else ""
    return written(ordered)


def coordinated(noun: Word) -> str:
    """Return a noun phrase with those coordinated: `actor, writer and film director`."""
    chain = [noun]
    while chain[-1].of("conj"):
        chain.append(chain[-1].of("conj")[0])
    first = phrase(noun)
    if len(chain) == 1 or not all(map(is_noun, chain)):
        return first
    ordered = _trimmed({part for part in below(noun) if not _is_loose(part, noun)})
    loose = any(part.tag in ("PRP$", "PRP", "WDT", ":", "``") for part in ordered)
    return first if loose or _is_torn(ordered) else written(ordered)


def tells(word: Word) -> bool:
    """Return whether a noun phrase says something without the text around it."""
    if not (word.kind or word.tag.startswith("NN") or word.tag == "CD"):
        return False
    if any(owner.tag in ("PRP$", "WP$") for owner in word.of("poss")):
        return False
    if any(child.text.lower() in _VAGUE for child in word.children) and not has_name(word):
        return False
    return " " in phrase(word) or word.kind != "" or word.tag == "CD"


def has_name(word: Word) -> bool:
    """Return whether there is a name or number in a noun phrase."""
    return any(is_name(part) or part.tag == "CD" for part in below(word) if not _is_loose(part, word))


def below(word: Word) -> Iterator[Word]:
    """Yield a word and all that depends on it."""
    yield word
    for child in word.children:
        yield from below(child)


def in_order(words: Iterable[Word]) -> list[Word]:
    """Return words in the order of the text, each once."""
    return sorted(dict.fromkeys(words), key=lambda word: word.place)


def _is_before_noun(child: Word) -> bool:
    owner = child.role == "poss" and child.tag not in ("PRP$", "WP$")
    return child.role in _BEFORE_NOUN or owner or (child.role == "punct" and child.text in "-–%")


def _is_apart(word: Word, top: Word) -> bool:
    """Return whether a word below a noun belongs to another clause, or stands after a comma."""
    while word is not top:
        comma = word.role == "punct" and word.tag != "HYPH"
        if word.role in _OTHER_CLAUSES or comma or (word.role == "appos" and word.place != word.head.place + 1):
            return True
        word = word.head
    return False


def _is_loose(word: Word, top: Word) -> bool:
    """Return whether a word below a noun belongs to another clause or to a preposition other than "of"."""
    while word is not top:
        other = word.role == "prep" and word.text.lower() != "of"
        after = word.role == "amod" and word.place > word.head.place  # "composer responsible for"
        if word.role in _OTHER_CLAUSES or word.role == "appos" or other or after:
            return True
        word = word.head
    return False


def _trimmed(parts: Iterable[Word]) -> list[Word]:
    """Return words in order, without articles before and marks around them."""
    ordered = in_order(parts)
    while ordered and (ordered[0].role in ("det", "predet", "punct") or ordered[0].tag in ("DT", "PDT", "PRP$")):
        ordered.pop(0)
    while ordered and ordered[-1].role in ("punct", "cc"):
        ordered.pop()
    return ordered


def _is_torn(ordered: list[Word]) -> bool:
    return any(after.place != before.place + 1 or after.gap for before, after in pairwise(ordered))
