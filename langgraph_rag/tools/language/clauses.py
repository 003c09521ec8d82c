"""Splits a sentence where the subject changes: "Karl Senn died in 1920; Ada Renk left Ost"."""

import re
from collections.abc import Iterator

from langgraph_rag.tools.language.spans import spot, within
from langgraph_rag.tools.language.subjects import (
    LOWER,
    UPPER,
    VERB,
    Subject,
    acts,
    clause_end,
    named,
    names,
    parentheses,
    same_name,
)

_REMARK = re.compile(
    r"(?:Yes|No|However|Moreover|(?:Unlike|Like|Instead of|In contrast to|Contrary to|Rather than|Besides|Despite)\b"
    r" [^,]*(?:,\s(?:who|which|whose)\b[^,]*)?),\s+"
)
_WHILE = "while|whereas|when|after|before|because|although|though|until|since|once"
_OPENING_CLAUSE = re.compile(rf"(?:{_WHILE})\s+(?:the\s+)?(?=[^\W\d_])", re.IGNORECASE)
_CLAUSE = re.compile(
    rf"(?:(?P<stop>[;:])|,?\s(?:and|but)|(?<!named)(?<!called),?\s(?P<while>{_WHILE})"
    r"|\s(?P<that>that|whether|if|how|why))\s+"
    rf"(?P<own>(?:the|his|her|its|their)\s+{LOWER}+\s+{VERB})?"
    rf"(?(own)|(?:[Tt]he\s+)?(?:(?P<pronoun>he|she|it|they)\b|(?={UPPER})|(?(stop)|(?!))))"
)
_MOST_SUBJECTS = 50
_MOST_OPENINGS = 10  # remarks and clauses before the main statement; the search for each scans the rest of the sentence
_VERB = re.compile(rf"\b{VERB}")
_SOME_VERB = re.compile(rf"\b(?:{VERB}|{LOWER}{{2,}}s\b)")
_NOW = re.compile(rf"\s+{LOWER}{{2,}}s\b")
_IN_RELATIVE = re.compile(r"\b(?:who|which)$")
_SOMEBODY = re.compile(rf"\b(?!(?:in|at|to|from|of|the)\b)\w+\s+{UPPER}")
_PERSONS = dict(pair.split("-") for pair in "he-he his-he she-she her-she it-it its-it they-they their-they".split())
_MEANT_ALIKE = {
    "he": frozenset("father brother son husband grandfather uncle nephew".split()),
    "she": frozenset("mother sister daughter wife grandmother aunt niece".split()),
}


def statements(sentence: str) -> list[str]:
    """Return the statements of a sentence without opening remarks: "When Karl Senn died, the mill burned" has two."""
    stated: list[str] = []
    for _ in range(_MOST_OPENINGS):
        if remark := _REMARK.match(sentence):
            sentence = _capitalised(sentence[remark.end() :])
            continue
        opening = _OPENING_CLAUSE.match(sentence)
        name = next(names(sentence, opening.end()), None) if opening else None
        if not opening or not name or name.start != opening.end() or not acts(name, sentence):
            break
        end = clause_end(sentence, opening.end())
        stated.append(sentence[opening.end() : end])
        sentence = _capitalised(sentence[end:].lstrip(", "))
    return [*stated, sentence]


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def clauses(subject: Subject, owner: str, sentence: str) -> Iterator[tuple[Subject, int]]:
    """Yield each subject of a sentence with the end of its statement; statements with an unclear subject are skipped.

    It stops after 50 subjects, as an index or a list of scores may be one sentence.
    """
    now: Subject | None = subject
    told = 0
    spans, asides = [(span.start, span.end) for span in spot(sentence)], parentheses(sentence)
    for opening in _CLAUSE.finditer(sentence, subject.begin):
        if within(opening.start(), spans) or within(opening.start(), asides):
            continue
        other = _other(opening, now, subject, owner, sentence)
        if other == now:
            continue
        if now:
            yield now, opening.start()
            told += 1
        if opening["that"] or told == _MOST_SUBJECTS:
            return
        now = other
    if now:
        yield now, len(sentence)


def _other(opening: re.Match[str], now: Subject | None, subject: Subject, owner: str, sentence: str) -> Subject | None:
    """Return the subject of a clause; a clause without a new one keeps the current subject."""
    if opening["pronoun"]:
        return now if opening["that"] else _meant(opening, now, subject, owner, sentence)
    name = next(names(sentence, opening.end()), None)
    named_next = name and name.start == opening.end()
    if opening["own"] or (opening["stop"] and not named_next):
        return (
            Subject(owner, opening.start("own") if opening["own"] else opening.end()) if subject.noun and now else now
        )
    if not name or not named_next:
        return now
    and_only = not (opening["stop"] or opening["while"] or opening["that"])
    if not acts(name, sentence) and (and_only or not _NOW.match(sentence, name.end)):
        return now
    verb = _SOME_VERB if opening[0].startswith(",") else _VERB
    if and_only and now and not verb.search(sentence, now.begin, opening.start()):
        return now  # "Karl Senn and Ida Brack left Ost"
    found = named(name, sentence)
    known = [known for known in (owner, now.name if now else "") if same_name(known, found.name)]
    found = found._replace(name=known[0]) if known else found
    return now if now and (found.name, found.noun) == (now.name, now.noun) else found


def _meant(opening: re.Match[str], now: Subject | None, subject: Subject, owner: str, sentence: str) -> Subject | None:
    """Return the referent of a pronoun, if it is clear: in "Her husband left, and she died" it is not the husband."""
    pronoun, first = opening["pronoun"], _PERSONS.get(sentence.split()[0].lower(), "")
    if pronoun == "they" or (now and now != subject and now.name == owner):
        return now
    if now != subject or _IN_RELATIVE.search(sentence, 0, subject.begin) or (first and first != pronoun):
        return None
    if not subject.noun:
        return now if first or not _SOMEBODY.search(sentence, subject.begin, opening.start()) else None
    alike = subject.noun.split()[-1] in _MEANT_ALIKE.get(pronoun, ())
    return None if alike or (subject.holder and not first) else Subject(owner, opening.end())
