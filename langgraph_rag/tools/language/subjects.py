"""Finds the subjects of sentences and clauses: names, their possessions, and relative clauses."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from langgraph_rag.normal_forms import normalise
from langgraph_rag.tools.language.spans import DATE, Span, spot
from langgraph_rag.tools.language.stop_words import stop_words
from langgraph_rag.tools.language.topics import opening_name

_LETTERS = [chr(code) for code in range(0x3000)]  # of all scripts that have capitals
UPPER = f"[{''.join(filter(str.isupper, _LETTERS))}]"
LOWER = f"[{''.join(filter(str.islower, _LETTERS))}]"

_DEFINITE = frozenset({"The", "This"})
_ARTICLES = _DEFINITE | {"A", "An"}
_PRONOUN = re.compile(r"(?:He|She|It|They|This|These|Who|Both)\b")
_ANY_PRONOUN = re.compile(_PRONOUN.pattern, re.IGNORECASE)
_DESCRIPTION = re.compile(rf"(?:The|This) ({LOWER}+)\b(?! (?:of|beside|behind|near|over|under|who|which|that|where)\b)")
_OWNER = re.compile(rf"(?:His|Her|Its|Their|(?:The|This) {LOWER}+['’]s) ")
_GENITIVE = re.compile(r"(?<=['’]s)|(?<=s)['’](?= )")
_IRREGULAR = (
    "became|began|bought|brought|built|came|fell|fought|found|gave|got|grew|held|kept|knew|led|left|lost|made|met|ran|rose"
    "|sang|sat|saw|sent|shot|sold|spent|spoke|stood|struck|taught|told|took|went|won|wrote"
)
VERB = rf"(?:is|are|was|were|has|have|had|can|could|will|would|may|might|did|does|{_IRREGULAR}|{LOWER}+ed)\b"
ACTED = re.compile(rf"\b{VERB}")
_ACTING = re.compile(
    rf"(?:\s*\([^()]*\))?(?:\s{{2,}},)?\s+(?:(?:{LOWER}+ly|also|later|then|never|not|first|once)\s)?(?:{VERB})"
)
_ACTS = re.compile(rf" {VERB}")
_GOES_ON = re.compile(rf" ({LOWER}+)")
_OWN = re.compile(
    rf"\s*((?:(?!(?:and|or|but|who|which|that)\b){LOWER}[\w'’-]*\s+){{0,3}}?{LOWER}[\w-]*(?=,?\s+{VERB})|{LOWER}[\w-]*)"
)
_HELD = re.compile(rf"\s*((?:{LOWER}[\w'’-]* ){{0,2}}({LOWER}[\w-]*(?<!ed)))(,)? (?:[Tt]he )?(?={UPPER}|[\"“«])")
_APPOSED = re.compile(rf", (?:the )?(?={UPPER})")
_AND = re.compile(rf",? (?:and|or|&) |, (?={UPPER})")
_MORE = re.compile(rf",? (?:and|or)\b|, (?:the\b|{UPPER})")  # "The house of Senn and that of ..."
_SHARED = re.compile(
    rf" and (?:(?:the )?{LOWER}+ of [^,]*? {VERB}|{UPPER}[^\s,]*(?: {UPPER}[^\s,]*)* {VERB})"
)  # "Senn and mother of Ida was"
_IS_MEANT = re.compile(r", (?:he|she|it|they)\b")
_LINKS = frozenset("of to on for by about against".split())
_ORDINALS = frozenset("first third last next former latter only other".split())
_IS = re.compile(r"\b(?:is|are|was|were|has|have|had)\b|[;:]")
_FRONTED = re.compile(rf",\s+|{DATE.pattern}\s+(?={UPPER})")
_LEADING = re.compile(
    "(?:And|But|So|Then|Thus|Therefore|Hence|Yet|Still|Even|Also|Only|However|Nevertheless|Meanwhile|Moreover|Thereafter"
    "|Afterwards|Now|Here|There) "
)
_NAMED = frozenset(  # nouns whose name follows "of": the village of Hale
    "village town city county state province district region island parish borough suburb municipality kingdom".split()
)
_RULED_OUT = re.compile(r"\b(?:not|nor|rather than|instead of)\s+(?:the\s+)?$")
_RELATIVE = re.compile(
    r"(?:\s*\([^()]*\))?(?P<comma>,)?\s+(?P<pronoun>who|whom|which|whose)\b(?!\s+(?:he|she|it|they)\b)"
)
_DEFINING = re.compile(r"\b(?:is|was|are|were|became)\s+(?:an?|the|one of)\b")
_WITH_NAME = re.compile(
    rf"\b(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir)\s+(?:(?!{VERB})\w[\w-]*\s+){{0,4}}?(?!{VERB})"
    rf"(?P<noun>\w[\w-]*)\s+(?P<link>of|in|on|at|by|about|from|for|to|with|over|near)\s+(?:the\s+)?$"
)
_COMMA = re.compile(r"[,;](?!\s+(?:who|whom|which|whose)\b)")
_LIST_ENDS = re.compile(r"[,.;]|\s+(?:and|or)\b|$")
_PLACED = re.compile(r"\s(?:in|on|at)\b")
_OBJECT = re.compile(rf"\s+{UPPER}")
_MOST_CLAUSES = 10  # relative clauses, which are read recursively
_SAID = r"(?:said|says|told|asked|replied|recalled|added|explained)"
_DENIED = (
    r"(?:Neither|Nor|Nobody|None|No one|If|No(?= [a-z]+ (?:of|on|in|at|from|to|by|for)\b)"
    rf"|(?:Nothing|Not|Never|Few|Little|Hardly|Rumou?rs|Had|Should)(?= (?:{LOWER}|{UPPER}{LOWER}+ {UPPER})))\b"
)
_DOUBTED = (
    r"(?:(?:said|believed|thought|claimed|alleged|rumou?red|unclear|unknown|disputed|false|an? (?:myth|legend))\b"
    r"|not (?:known|true|clear|certain)\b)[^,]*? (?:that|whether|if)\b"
)
_NOT_SAID_HERE = re.compile(
    rf"{_DENIED}|It (?:is|was|has been) (?:{LOWER}+ly |often |also )?{_DOUBTED}|[^\"“].*\?$|[\"“].*\?[\"”]$"
    rf"|.*(?:[,.?!][\"”’]?\s+{_SAID}\s+(?:{UPPER}|he|she|the)|\b{_SAID}(?::|, ?[\"“]))"
    rf"|[\"“‘]*(?:I|My)['’ ]{LOWER}|[\"“](?:We|Our) {LOWER}|[\"“][^\"”]*[^\W_],? I {LOWER}"
)


class Subject(NamedTuple):
    """A name and the start of the statement about it.

    With a `noun`, the statement is about a possession or relative, such as `wife`; `holder` is the name of that.
    """

    name: str
    begin: int
    noun: str = ""
    holder: Span | None = None

    @property
    def acting(self) -> "Subject":
        """Return the holder as the subject, or else this one."""
        return Subject(self.holder.text, self.begin) if self.holder else self


class Relative(NamedTuple):
    """A relative clause, `sentence[start:end]`; without a subject if that is unclear."""

    subject: Subject | None
    start: int
    end: int


def states_facts(sentence: str) -> bool:
    """Return whether a sentence states something itself, and is no question, denial, doubt or quotation."""
    return _NOT_SAID_HERE.match(sentence) is None and len(_RELATIVE.findall(sentence)) <= _MOST_CLAUSES


def same_name(known: str, name: str) -> bool:
    """Return whether a name is another form of a known one: "Kell" or "Emil J. Kell" of "Emil Kell".

    A longer name with another beginning or end is a different one: "Emil Kell Street", "New Ost".
    """
    words, others = content_words(known), content_words(name)
    longer = set(words) <= set(others) and words[:1] == others[:1] and words[-1:] == others[-1:]
    return bool(words and others) and (longer or set(others) <= set(words))


def content_words(text: str) -> list[str]:
    """Return the content words of a text, normalised."""
    return [word for word in normalise(text).split() if word not in function_words() and word != "s"]


def opening_subject(sentence: str) -> Subject:
    """Return the subject at the beginning of a sentence; its name is empty if it is that of an earlier sentence."""
    if owner := _OWNER.match(sentence):
        return _owner("", sentence, owner.end())
    if described := _described(sentence):
        return described
    if opening := _PRONOUN.match(sentence):
        return Subject("", opening.end())
    if opening := _DESCRIPTION.match(sentence):
        holder = _apposed(sentence, opening.end())
        return Subject("", holder.end, opening[1], holder) if holder else Subject("", opening.end())
    name = opening_name(sentence)
    return named(name, sentence) if name else _fronted(sentence)


def _fronted(sentence: str) -> Subject:
    """Return the subject after an opening phrase: "In 1920, Karl Senn left Ost", "But Senn came back"."""
    for place in _ends_of_front(sentence):
        if _ANY_PRONOUN.match(sentence, place):
            break
        name = opening_name(sentence, place)
        if name and acts(name, sentence):
            found = named(name, sentence)
            return found if found.noun else found._replace(begin=0)
    return Subject("", 0)


def _ends_of_front(sentence: str) -> Iterator[int]:
    """Yield the possible ends of an opening phrase, before the main verb."""
    if leading := _LEADING.match(sentence):
        yield leading.end()
    first, *_ = sentence.split() or [""]
    fronted = first not in _ARTICLES and (first.lower() in stop_words() or first.endswith(("ed", "ing", "ly", "rn")))
    being = _IS.search(sentence)
    last = being.end() if being else len(sentence)
    for comma in _FRONTED.finditer(sentence) if fronted else ():
        if comma.start() >= last:
            return
        yield comma.end()


def acts(name: Span, sentence: str) -> bool:
    """Return whether a verb follows a name or its possession."""
    return _ACTING.match(sentence, named(name, sentence).begin) is not None


def first_subject(sentence: str) -> Subject:
    """Return the subject at the beginning of a sentence, or else its first name."""
    opening = opening_subject(sentence)
    if opening.name or opening.begin:
        return opening
    name = next(names(sentence, 0), None)
    return named(name, sentence) if name else opening


def relative_clauses(subject: Subject, sentence: str) -> Iterator[Relative]:
    """Find the outermost relative clauses of a sentence; right after its subject, only one with `whose`.

    Other clauses there are about the subject anyway.
    """
    end = subject.begin
    opening = _RELATIVE.match(sentence, end)
    if opening and opening["pronoun"] == "whose":
        end = clause_end(sentence, opening.end())
        yield Relative(_owner(subject.name, sentence, opening.end()), opening.start(), end)
    for name in names(sentence, subject.begin):
        opening = _RELATIVE.match(sentence, name.end)
        if name.start < end or opening is None:
            continue
        if not opening["comma"] and _DEFINING.search(sentence, subject.begin, name.start):
            continue  # "is a painter from Ost who ..."
        end, ruled_out = clause_end(sentence, opening.end()), _RULED_OUT.search(sentence[: name.start][-20:])
        yield Relative(None if ruled_out else _meant(name, opening, sentence), opening.start(), end)


def _meant(name: Span, opening: re.Match[str], sentence: str) -> Subject | None:
    """Return the subject of a relative clause after a name, if it is surely the name and not the object.

    It is not in "a man of Ost who", "a book about Ost, which" and "Ost, which Karl Senn".
    """
    noun = _WITH_NAME.search(sentence, 0, name.start)
    of_noun = noun and noun["noun"] not in _NAMED and (noun["link"] != "by" or opening["pronoun"] == "which")
    if not opening["comma"] or of_noun or opening["pronoun"] == "whom":
        return None
    if opening["pronoun"] == "whose":
        return _owner(name.text, sentence, opening.end())
    return None if _OBJECT.match(sentence, opening.end()) else Subject(name.text, opening.end())


def clause_end(sentence: str, begin: int) -> int:
    """Return the end of a relative clause: a comma that is not part of it, like one in a list of names."""
    ends = {span.start: span.end for span in spot(sentence) if span.kind != "number"}
    inside = [(span.start, span.end) for span in spot(sentence)] + parentheses(sentence)
    whole = min((end - 1 for start, end in parentheses(sentence) if start < begin < end), default=len(sentence))
    inserted = sentence.startswith(",", begin)  # "who, in 1911, died in Ost"
    listed = -1
    for comma in _COMMA.finditer(sentence, sentence.find(",", begin + 1) + 1 if inserted else begin, whole):
        if any(begin < start < comma.start() < end for start, end in inside):
            continue
        goes_on = comma.start() == listed and _PLACED.match(sentence, comma.end())  # "in Ost, Brenn, in 1920"
        listed = ends.get(comma.end() + 1, -1)
        if not goes_on and (listed < 0 or not _LIST_ENDS.match(sentence, listed)):
            return comma.start()
    return whole


def parentheses(sentence: str) -> list[tuple[int, int]]:
    """Return the spans of parentheses."""
    return [match.span() for match in re.finditer(r"\([^()]*\)", sentence)]


@cache
def function_words() -> frozenset[str]:
    """Return the words without content of their own."""
    return stop_words() - {"has", "had", "have"} | {"also"}


def names(sentence: str, begin: int) -> Iterator[Span]:
    """Return the names in a sentence from a position on."""
    spans = spot(sentence)
    first = bisect_left(spans, begin, key=lambda span: span.start)
    return (spans[place] for place in range(first, len(spans)) if spans[place].kind == "name")


def named(name: Span, sentence: str) -> Subject:
    """Return a name as the subject, or with its possession: "Ida Brack's wife"."""
    genitive = _GENITIVE.match(sentence, name.end)
    return _owner(name.text, sentence, genitive.end()) if genitive else Subject(name.text, name.end)


def _owner(name: str, sentence: str, begin: int) -> Subject:
    """Read a possession or relative that begins there: "wife was born", or "wife, Orla Vint, was born"."""
    held = _HELD.match(sentence, begin)
    holder = next(names(sentence, held.end()), None) if held and held[2] not in function_words() else None
    if held and holder and holder.start == held.end() and not _AND.match(sentence, holder.end):
        follows = _GOES_ON.match(sentence, holder.end)
        verb = _ACTS.match(sentence, holder.end) or (follows and follows[1] not in function_words())
        if held[3] or " " not in held[1] or verb:  # two words may be a noun and a verb
            return Subject(name, holder.end, held[1], holder)
    own = _OWN.match(sentence, begin)
    return Subject(name, own.end(), own[1]) if own else Subject(name, begin)


def _described(sentence: str) -> Subject | None:
    """Read a name after a description or a possession: "The painter Ida Brack", "The wife of Karl Senn"."""
    article, *_ = sentence.split() or [""]
    for name in list(names(sentence, 1))[:2] if article in _ARTICLES else ():
        words = sentence[: name.start].split()[1:]
        words = words[:-1] if words[-1:] == ["the"] else words
        link = words[-1] if words and words[-1] in _LINKS else ""
        noun = words[:-1] if link else words
        verb, follows = _ACTS.match(sentence, name.end), _GOES_ON.match(sentence, name.end)
        if link and not verb and (article not in _DEFINITE or link != "of"):
            continue  # "A tributary of the Sarl" describes the topic
        if not noun or len(noun) > 3 or not noun[-1].islower() or (function_words() - _ORDINALS).intersection(noun):
            continue
        adjective = follows and not verb and " " not in name.text and follows[1] not in function_words()
        if adjective or (len(noun) > 1 and not verb) or _IS_MEANT.match(sentence, name.end):
            continue  # "The heirs of the Carolingian dynasty", "The film stars Ida Brack", "A son of Karl Senn, he"
        subject = named(name, sentence)
        if not link or (link == "of" and noun[-1] in _NAMED):
            return subject
        own = " ".join(noun)
        if subject.noun:  # "The wife of Karl Senn's brother"
            return subject._replace(noun=f"{own} of {subject.noun}")
        holder = _apposed(sentence, name.end)
        if not holder and _MORE.match(sentence, name.end):
            if _SHARED.match(sentence, name.end):
                return Subject("", len(sentence))
            continue
        return Subject(name.text, name.end, own, holder)
    return None


def _apposed(sentence: str, begin: int) -> Span | None:
    """Return the name between commas there: ", Orla Vint, was born"."""
    comma = _APPOSED.match(sentence, begin)
    name = next(names(sentence, comma.end()), None) if comma else None
    alone = comma and name and name.start == comma.end() and sentence.startswith(",", name.end)
    return name if alone and name and not _AND.match(sentence, name.end) else None
