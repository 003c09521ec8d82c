"""Extracts triples by rules, from the words between the names in a sentence.

The extractor is weak but general, and needs no model; it works on any text in plain expository English.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from langgraph_rag.normal_forms import normalise
from langgraph_rag.tools.language.clauses import clauses, statements
from langgraph_rag.tools.language.code import is_code
from langgraph_rag.tools.language.fields import field_facts, fields_of
from langgraph_rag.tools.language.life_dates import life_dates
from langgraph_rag.tools.language.spans import JOINED_WORD, NUMBER, Span, spot, spot_names
from langgraph_rag.tools.language.subjects import (
    ACTED,
    LOWER,
    UPPER,
    Subject,
    content_words,
    first_subject,
    function_words,
    opening_subject,
    parentheses,
    relative_clauses,
    same_name,
    states_facts,
)
from langgraph_rag.tools.language.topics import topic_of

_IS = r"(?:is|was|are|were|became|remains)\s+(?:an?|the|one of the)"
_NOUN = rf"{LOWER}+(?:[ -]{LOWER}+){{0,2}}"
_COPULA = re.compile(
    rf"\b{_IS}\s+"
    rf"([^,.;()]+(?:(?-i:(?:,\s{_NOUN}){{1,6}},?\s(?:and|or)\s{_NOUN}))?)",
    re.IGNORECASE,
)
_POSSESSED = re.compile(
    rf"\b(is|was|are|were|became|remains)\s+(?P<owner>{UPPER}[^\s,.;()]*(?:\s{UPPER}[^\s,.;()]*){{0,4}}?)"
    rf"(?:['’]s|(?<=s)['’])\s+(?P<noun>{LOWER}[^,.;()]+)"
)
_NOUN_PHRASE_END = re.compile(
    r"(?:\s+and)?\s+(?:who|which|that|by|in|on|at|from|for|of|to|with|based|located|situated|known|written|starring"
    r"|featuring|best|is|was|whose|where"
    r"|(?:\w+ed|born|made|built|held|led|run|set|shot|sung)(?= by| in| on| at| from| for| to|,|$))\b"
)
_OTHER_CLAUSE = re.compile(r"\w\s+(?:who|whom|which|that|when|while|where|because|if)\b")
_ACT = re.compile(rf"\s+((?:{LOWER}+\s+){{0,3}}?{LOWER}+)\s*(?:[.,;]|and\b|$)")
_ON_IT = re.compile(rf"\s+({LOWER}+)\s+it(?=\s*(?:[.,;]|$)|\s+(?:in|on|at|to|for|from|and)\b)")
_ABOUT_ACTS = frozenset("a an the his her its their has had have also then later".split())
_OWN_LIFE = frozenset("born died lived married moved resigned retired returned".split())
UNIT = r"(?:(?:kilo|centi|milli)?met(?:re|er)s?|[kcm]?m|miles?|mi|yards?|yd|feet|foot|ft|inch(?:es)?|years?)\b"
_LONG = rf"((?:{NUMBER.pattern})(?:\s|-){UNIT})(?:\s\([^()]*\))?\s(long|high|tall|wide|deep|old)\b"
_MEASURED = re.compile(rf"\b(is|was|are|were)\s(?:{LOWER}+\s){{0,2}}?{_LONG}(?:,?\sand\s(?:{LOWER}+\s)?{_LONG})?")
_DIRECTLY = re.compile(r"(?:.*(?:\band|\balso)|\W*(?:which|that|who)|.*,(?!\s+(?:which|that|who)))?\W*")
_FAR = re.compile(
    rf"((?:{NUMBER.pattern})(?:\s|-){LOWER}+)(?:\s\([^()]*\))?"
    rf"\s((?:due |to the )?(?:north|south|east|west){LOWER}*(?:-{LOWER}+)?\sof)\b"
    rf"(?:\s+(?:the|its|this)(?:\s+(?P<common>{LOWER}+))?)?"
)
_COMMON = rf"(?!\w+(?:ed|ing)\b){LOWER}+(?:-{LOWER}+)?"
_NOUN_OF_NAME = re.compile(rf"\s(?P<noun>(?:{_COMMON}\s){{1,2}})[\"“«]?(?={UPPER})")
_NOUN_OF_PHRASE = re.compile(rf"\s(?:{UPPER}[\w-]*\s){{0,3}}(?P<noun>{_COMMON}\s?)")
_IS_A = re.compile(rf"(?:\s*\([^()]*\))?\s*{_IS}\s+", re.IGNORECASE)
_NO_NOUNS = frozenset("alongside include includes inside left like near outside unlike v versus via vs won".split())
_COUNTED = re.compile(
    rf"(?: {UPPER}{LOWER}+)?(?: (?!(?:and|or|in|of|on|at|to|by|as|is|was|were|for|from|with|the)\b){LOWER}+){{1,2}}"
)
_GLOSS = re.compile(r"(?P<before>[^()]{0,40})\([^()]*\)")
_LIVED = re.compile(
    r"[^()]{0,60}?\([^()]{0,200}(?:\bborn\b|\bb\.|\bdied\b|\bd\.|née|\d{4}[^()]{0,80}[–—-][^()]{0,80}\d{4})"
)
_DEFINED = re.compile(r"\W*(?:\([^()]*\))*,?\s+(?:is|was|are|were)\s+(?:an?|the|one of)\b")
_ALIAS = re.compile(
    r"(?:[^\w()]*\([^()]*\))*(?:,?\s+(?:also|better|best|more|popularly|commonly|widely|professionally|formerly|who|is|was|and"
    r"|now|often|simply|known|credited|writing|under|by|\(|his|her|the))*,?\s*\(?\b(?:alias|known|called|nicknamed|named|or|born"
    r"|pseudonym|pen name|stage name|name)\b(?:\s(?!and\b)[a-z]+){0,6}?"
    r"\s+(?P<name>(?:[a-z]+\s){0,4}[^\W\d_a-z][^,.;()]*|[\"“][^\"”]*)"
)
_LINKERS = {"and", "or", ",", "&", "as", "well"}
_DROPPED = {"the", "a", "an", "also", "who", "which", "that", "and", "or", "but", "then", "later", "he", "she", "it",
            "they", "his", "her", "its", "their", "respectively", "subsequently"}  # fmt: skip
_LONGEST_RELATION = 8  # words
_LONGEST_SENTENCE = 5_000  # characters
_NEGATION = re.compile(r"(?:no|not|never|cannot|.*n['’]t)", re.IGNORECASE)
_MENTIONED = "mentioned in"
_GENDER = {"He": "he", "His": "he", "She": "she", "Her": "she"}
_DONE_TO_THINGS = re.compile(
    rf"(?:The|This) {LOWER}+ (?:is|was|were|has been) (?:{LOWER}+ly )?"
    r"(?:built|constructed|completed|demolished|designed|located|opened|produced|published|recorded|released|sold|written)\b"
)
_IN_PLACE = re.compile(r"\b(?:in|at|from) (?:the )?$")
_FULL_NAME = re.compile(rf"{UPPER}{LOWER}+(?: (?:{UPPER}\.?|{UPPER}{LOWER}+))*(?: {UPPER}[\w'’-]*{LOWER})")
_IN_BRACKETS = "in brackets"


def extract_triples(title: str, sentences: list[str]) -> list[list[str]]:
    """Return the facts `[head, relation, tail]` of a passage, in reading order, without repetition.

    Code states no facts. Of an overlong sentence, only the beginning is read.
    """
    found: dict[tuple[str, str, str], list[str]] = {}
    stating = [_beginning(text) for text in sentences if not is_code(text)]
    for head, relation, tail in _triples(topic_of(title), stating):
        if head and relation and tail and head.casefold() != tail.casefold():
            found.setdefault((head.casefold(), relation.casefold(), tail.casefold()), [head, relation, tail])
    return list(found.values())


def _beginning(sentence: str) -> str:
    return sentence if len(sentence) <= _LONGEST_SENTENCE else sentence[:_LONGEST_SENTENCE].rpartition(" ")[0]


def _triples(topic: str, sentences: list[str]) -> Iterator[tuple[str, str, str]]:
    of_topic, meant = _is_about(topic, sentences), topic
    before, pronoun = "", ""
    stated = [(number == 0, text) for number, whole in enumerate(sentences) for text in statements(whole)]
    for first, sentence in stated:
        if not states_facts(sentence):
            continue
        if fields := fields_of(sentence):
            yield from field_facts(topic, fields)
            continue
        if of_topic:
            subject, own = _subject(topic, sentence, first=first), _GENDER.get(sentence.partition(" ")[0], "")
            if (own and pronoun and own != pronoun) or (pronoun and _DONE_TO_THINGS.match(sentence)):
                continue  # "Her husband was Bo Ray. He died in Rome. The house was built by Jon Lee."
            pronoun, before = own if own and _names_only(topic, before) else pronoun, sentence
        else:
            subject = first_subject(sentence)
            subject = subject if subject.name else subject._replace(name=meant)
            meant = subject.name
        if (first or subject.name == topic) and not subject.noun:
            yield from life_dates(subject, sentence)
        on_it = (
            _ON_IT.match(sentence, subject.begin) if of_topic and subject.name != topic and not subject.noun else None
        )
        if on_it:  # "Karl Senn sold it in 1920" is about the thing he sold
            yield subject.name, on_it[1], topic
            yield from _said_by(Subject(topic, subject.begin), sentence)
            continue
        said = list(_said_by(subject, sentence))
        yield from said
        yield from _glosses(sentence)
        if subject.name != topic and normalise(topic) not in normalise(sentence):
            act = _act_upon_topic(sentence, subject.begin) if of_topic and not subject.noun else ""
            yield subject.name, act or (_MENTIONED if said else ""), topic


def _names_only(topic: str, sentence: str) -> bool:
    """Return whether a sentence names only the topic and places, so that the next "she" is surely the topic."""
    names = (span for span in spot_names(sentence) if not same_name(topic, span.text))
    return bool(sentence) and all(_IN_PLACE.search(sentence, 0, name.start) for name in names)


def _said_by(subject: Subject, sentence: str) -> Iterator[tuple[str, str, str]]:
    """Read the facts about the subject of a sentence, or about its relatives: `Her brother Karl built the mill`."""
    relatives, main = list(relative_clauses(subject.acting, sentence)), sentence
    for relative in relatives:
        main = _without(main, relative.start, relative.end)
    for about, end in clauses(subject, subject.name, main):
        if about.holder:
            yield about.name, about.noun, about.holder.text
        yield from _said_of(about.acting, main[:end])
    for relative in relatives:
        if relative.subject:
            yield from _said_by(relative.subject, sentence[: relative.end])


def _said_of(subject: Subject, sentence: str) -> Iterator[tuple[str, str, str]]:
    """Read the facts about the subject of a sentence without relative clauses."""
    name, position, noun, _ = subject
    for measured in _MEASURED.finditer(sentence, position):
        if _DIRECTLY.fullmatch(sentence, position, measured.start()):
            yield from _measures(subject, measured)
            sentence = _without(sentence, *measured.span())
    yield from _being(subject, sentence)
    relation, sentence = noun, _without_adjectives(sentence, position)
    for span in _tails(sentence):
        qualifies = _qualifies_a_name(span, sentence)
        if span.start < position or (qualifies and " " not in span.text):
            continue
        if far := _FAR.search(sentence, position, span.start):
            relation = _relation(sentence[position : far.start()], relation, noun)
            if not far["common"]:
                yield name, f"{noun} {far[1]} {far[2]}".strip(), span.text
                position = span.end
                continue
            position = far.end()
        relation = _relation(sentence[position : span.start], relation, noun)
        tail = _counted(sentence, span) if span.kind == "number" else span.text
        if not qualifies:
            position = span.start + len(tail) if span.kind == "number" else span.end
        if relation:
            yield name, relation, tail


def _tails(sentence: str) -> Iterator[Span]:
    """Yield what may be the tail of a fact: all spans outside brackets, except distances."""
    hidden = parentheses(sentence)
    for span in spot(sentence):
        distance = span.kind == "number" and _FAR.match(sentence, span.start)
        if not distance and not any(start <= span.start < end for start, end in hidden):
            yield span


def _without_adjectives(sentence: str, begin: int) -> str:
    """Blank the names and years between `is a` and its noun, which `_being` reads whole: `is a 1931 French film by`."""
    for span in spot(sentence):
        if _IS_A.fullmatch(sentence, begin, span.start) and _has_noun(_NOUN_OF_PHRASE.match(sentence, span.end)):
            sentence = _without(sentence, span.start, span.end)
    return sentence


def _qualifies_a_name(span: Span, sentence: str) -> bool:
    """Return whether a name tells of which kind the next one is: `French` in `by French director Roe`."""
    return span.kind == "name" and _has_noun(_NOUN_OF_NAME.match(sentence, span.end))


def _has_noun(found: re.Match[str] | None) -> bool:
    return found is not None and not (function_words() | _NO_NOUNS).intersection(found["noun"].split())


def _being(subject: Subject, sentence: str) -> Iterator[tuple[str, str, str]]:
    """Read what the subject is, or to whom it belongs."""
    name, position, noun, _ = subject
    copula, possessed = _COPULA.search(sentence, position), _POSSESSED.search(sentence, position)
    if copula and not _OTHER_CLAUSE.search(sentence, position, copula.start()):
        yield name, f"{noun} {copula[0].split()[0].lower()}".strip(), _noun_phrase(copula[1])
    if possessed and not _OTHER_CLAUSE.search(sentence, position, possessed.start()):
        yield name, f"{noun} {possessed[1]} {_noun_phrase(possessed['noun'])} of".strip(), possessed["owner"]


def _glosses(sentence: str) -> Iterator[tuple[str, str, str]]:
    """Read a full name in brackets after another name, such as the actor of a part: `Erik (Karl Hale)`."""
    for name, other in pairwise(spot_names(sentence)):
        enclosed = sentence[name.end : other.start].strip(" ") == "(" and sentence[other.end : other.end + 1] == ")"
        if enclosed and _FULL_NAME.fullmatch(other.text):
            yield name.text, _IN_BRACKETS, other.text


def _measures(subject: Subject, measured: re.Match[str]) -> Iterator[tuple[str, str, str]]:
    being, *amounts = (part for part in measured.groups() if part)
    for amount, how in zip(amounts[::2], amounts[1::2], strict=True):
        yield subject.name, f"{subject.noun} {being} {how}".strip(), amount


def _is_about(topic: str, sentences: list[str]) -> bool:
    """Return whether a text names its topic, or the topic is a name that the text need not mention."""
    words = [word for word in JOINED_WORD.findall(topic) if normalise(word) not in function_words()]
    a_name = len(words) > 1 and not any(word[0].islower() for word in words)
    telling = set(content_words(topic))
    return a_name or any(telling.intersection(content_words(sentence)) for sentence in sentences)


def _subject(topic: str, sentence: str, *, first: bool) -> Subject:
    """Return the subject of a sentence about the topic.

    The topic replaces an unnamed subject and other forms of its name; in the first sentence, also a name that the
    sentence introduces as another name of the topic.
    """
    subject = opening_subject(sentence)
    if subject.begin < len(topic) and _begins_with(topic, sentence):  # in "Dance by Night is", a name ends at "by"
        return Subject(topic, len(topic))
    opens = first and not subject.noun and _is_introduced(topic, subject, sentence)
    is_topic = not subject.name or opens or same_name(topic, subject.name)
    return subject._replace(name=topic) if is_topic and topic else subject


def _begins_with(name: str, sentence: str) -> bool:
    return sentence[: len(name)].casefold() == name.casefold() and sentence[len(name) : len(name) + 1] in {" ", ","}


def _is_introduced(topic: str, subject: Subject, sentence: str) -> bool:
    """Return whether a sentence introduces its subject as the topic: `Ida "Ink" Strand (born 1903)`, alias Ink."""
    end = subject.begin
    for name in spot(sentence):
        if name.start >= end and name.kind == "name" and not sentence[end : name.start].strip():
            end = name.end
    words, named = content_words(topic), content_words(sentence[:end])
    alias, gloss = _ALIAS.match(sentence, end), _GLOSS.match(sentence, end)
    if alias and set(words) & set(content_words(alias["name"])):
        return True
    if gloss and not ACTED.search(gloss["before"]) and normalise(topic) in normalise(gloss[0]):
        return True
    if normalise(topic) in normalise(sentence[end:]):
        return False
    whole = words[-1:] == named[-1:] and (words[:1] == named[:1] or set(words) <= set(named))
    longer = len(words) > 1 and words == named[: len(words)]  # "Senn Brewery Ltd is a brewery"
    return bool(_LIVED.match(sentence, end) and set(words) & set(named)) or (
        (whole or longer) and bool(_DEFINED.match(sentence, end))
    )


def _act_upon_topic(sentence: str, begin: int) -> str:
    """Return the act of the subject if its object may be the topic: "directed the film", not "died in Ost"."""
    act = _ACT.match(sentence, begin)
    words = [word for word in act[1].split() if word not in _ABOUT_ACTS] if act else []
    return act[1] if act and words and not function_words() & set(words) and words[0] not in _OWN_LIFE else ""


def _without(text: str, start: int, end: int) -> str:
    """Replace a part of a text by blanks, so that all positions stay the same."""
    return text[:start] + " " * (end - start) + text[end:]


def _noun_phrase(text: str) -> str:
    end = _NOUN_PHRASE_END.search(text)
    return " ".join((text[: end.start()] if end else text).split()[:12]).rstrip(",")


def _relation(between: str, previous: str, noun: str) -> str:
    """Read the relation from the text between two names; mere list punctuation repeats the previous relation.

    A relation of a noun of the subject begins with the noun.
    """
    text = re.sub(r"\([^()]*\)", " ", between)
    words = JOINED_WORD.findall(text)
    if all(word.lower() in _LINKERS for word in words):
        return previous
    if len(words) == 1 and words[0].lower() in function_words() and previous:
        content = previous.split()
        while len(content) > 1 and content[-1].lower() in function_words():
            content.pop()
        return " ".join([*content, words[0].lower()])
    kept = [word for word in words if word.lower() not in _DROPPED]
    if not previous and all(word.lower() in function_words() for word in kept):
        return ""
    return " ".join(([noun] if noun else []) + _shortened(kept))


def _shortened(words: list[str]) -> list[str]:
    """Return the last words, and the negations before them."""
    return [word for word in words[:-_LONGEST_RELATION] if _NEGATION.fullmatch(word)] + words[-_LONGEST_RELATION:]


def _counted(sentence: str, number: Span) -> str:
    """Return a number with the thing it counts: `120 passengers`."""
    counted = _COUNTED.match(sentence, number.end)
    return number.text + (counted[0] if counted else "")
