"""Reads the facts that a passage states, sentence by sentence, and those of lines with fields and terms."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from langgraph_rag.normal_forms import normalise
from langgraph_rag.tools.facts.clauses import clauses
from langgraph_rag.tools.facts.misplaced import MISPLACED
from langgraph_rag.tools.facts.parsing import is_identifier
from langgraph_rag.tools.facts.placed import Placed, Tree
from langgraph_rag.tools.facts.statements import UPPER, Topic
from langgraph_rag.tools.facts.torn import TORN
from langgraph_rag.tools.facts.words import Tokens, tag_of
from langgraph_rag.tools.ingest.spans import is_code

NUMBER = 28
"""The number of the rules; another number has all passages read again."""
CHECKS_NUMBER = 1
"""The number of the checks by a parse; another number has all passages read again by trained pipelines."""
_CHECKS = (*TORN, *MISPLACED)

_NO_FIELDS = frozenset(
    "chapter appendix example examples note notes section figure table see usage syntax warning tip hint "
    "important caution todo where page part for false true none yes no syntax".split()
)
_NO_LABEL = re.compile(r"(?:For|It|This|These|They|There|In|If|See|I\.e|E\.g)\b")
_NAMED = re.compile(r"[^\W\d_a-z]|\w-\w|\d")  # a name of its own
_LABELLED = re.compile(rf"({UPPER}[^:;.!?]{{0,60}}): (\w[^:;.!?]{{0,40}}): ([^:;!?]{{1,80}}[^:;.!?])")
_FIELD = re.compile(rf"(?P<name>{UPPER}[^:;.!?]{{0,40}}): (?P<value>[^:;!?]{{1,80}}[^:;.!?])")
_IN_ROW = re.compile(  # also "- Stock: 5; Opens: 9:30; Maker: Acme Inc.; 2023: 7"
    rf"(?P<name>(?:{UPPER}|\d)[^:;.!?]{{0,40}}): "
    r"(?P<value>(?:[^:;!?]|(?<=\d):(?=\d)){0,80}[^:;.!?]|(?:[^\s:;!?]+ ){0,2}[^\s:;!?]+\.)"
)


def fields_of(line: str) -> list[tuple[str, str]]:
    """Return the fields of a line such as `- Product: HX-200; Price: 400`; none if it is a sentence.

    In a line such as `- Mill: owner: Ada Renk`, the first field has no name; its value is the subject. A row may have
    cells that are no fields, after one that is.
    """
    row = line.removeprefix("- ")
    if labelled := _LABELLED.fullmatch(row):
        return [("", labelled[1]), (labelled[2], labelled[3])]
    parts = [(_FIELD if row == line else _IN_ROW).fullmatch(part) for part in row.split("; ")]
    fields = [(part["name"], part["value"]) for part in parts if part]
    if len(fields) == 1 < len(parts):
        return []  # of a row whose other cells are none
    whole = len(fields) == len(parts) or (row != line and len(parts) > 1 and parts[0])
    return fields if whole else []


def field_facts(topic: str, fields: list[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Read a single field as a fact about the topic; the value of the first of several is the subject of the others."""
    subject = topic if len(fields) == 1 else fields[0][1]
    if subject != topic and (len(subject.split()) > 8 or _NO_LABEL.match(subject)):
        return
    for name, value in fields:
        plain = len(fields) > 1 or (
            len(name.split()) <= 3 and not set("(){}\\$") & set(name) and not _NAMED.search(name[1:])
        )
        if plain and name.lower().split(" ")[0] not in _NO_FIELDS and not value.startswith(("see ", "See ")):
            yield subject, name.lower(), value


_Triple = tuple[str, str, str]
_LONGEST_SENTENCE = 5_000  # characters
_SAID = r"(?:said|says|told|asked|replied|recalled|added|explained|claims|claimed|wrote)"
_NOT_STATED = re.compile(
    r"(?:Neither|Nor|Nobody|None|No one|If|Unless|Nothing|Never|Few|Little|Hardly|Rumou?rs|Had|Should|Suppose|Assume)\b"
    r"|It (?:is|was|has been|remains) (?:an? (?:legend|myth|rumou?r|claim|lie)|(?!an?\b|the\b)\w+(?: \w+){0,2})"
    r" (?:that|whether|if)\b|There (?:is|are|was|were)\b"
    r"|[^\"“].*\?$|[\"“].*\?[\"”]$"
    rf"|.*(?:[,.?!][\"”’]?\s+{_SAID}\s+(?:[A-Z]|he|she|the)|\b{_SAID}(?::|, ?[\"“]))"
    r"|.*\b(?:[Aa]ccording to|[Aa]llegedly|[Rr]eportedly|[Ss]upposedly|[Rr]umou?red|[Pp]urportedly"
    r"|[Aa]llegations?|untrue|no evidence)\b"
    r"|[^,;:]{3,60} (?:say|claim|believe|think|allege|argue|suspect|assume|suggest|speculate|insist|doubt|deny)"
    r" (?:that )?(?:[A-Z]|he\b|she\b|it\b|they\b)"
    r"|[\"“‘]*(?:I|My|We|Our)['’ ]\w"
)
_ITEM = re.compile(r"(?:[-*+•>|]|\d{1,3}[.)])\s+")
_TERM = re.compile(r"[-*•] (?P<term>`{0,2}[\w.-]+`{0,2}): (?P<article>An? )?(?P<told>\w[^:;`]{4,160}[^\s:;`.])\.$")
_TERM_LINE = re.compile(r"`{0,2}(?P<term>[\w.-]+)(?: [A-Z_]+)?(?:\([^()]*\))?`{0,2}:(?:$| (?=\w[^:]*\.$))")
_OPTION_LINE = re.compile(r"(?:-\w, )?(?P<term>--?[a-z][\w-]*)(?:[ =][A-Z_]+)?(?:, -.*)?$|.*\): (?P<argument>\w+):$")
_FRAGMENT = re.compile(r"(?:the|an?|your?|if|when|that|which|to)\b")
_SPEAKER = re.compile(r"[^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,4}: (?=\S)")


@dataclass
class Line:
    """A sentence or line, and what of it is read: without the mark of an item and the speaker."""

    whole: str
    text: str
    item: bool
    titled: int  # where the name of the topic ends, if it begins the text
    speaker: bool

    @cached_property
    def tokens(self) -> Tokens:
        """The tokens of the text."""
        return Tokens(self.text)


def extract_triples(title: str, sentences: Sequence[str]) -> list[list[str]]:
    """Return the facts `[head, relation, tail]` of a passage, in reading order, without repetition."""
    return triples_of(*lines_of(title, sentences))


def triples_of(topic: Topic, lines: Sequence[Line]) -> list[list[str]]:
    """Return the facts of lines in reading order, without repetition."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for head, relation, tail in chain.from_iterable(_facts_of_lines(topic, lines)):
        found.setdefault((head.casefold(), relation.casefold(), tail.casefold()), [head, relation, tail])
    return list(found.values())


def facts_of_sentences(title: str, sentences: Sequence[str]) -> Iterator[list[_Triple]]:
    """Yield the facts of each sentence of a passage.

    Code states no facts. Of an overlong sentence, only the beginning is read.
    """
    return _facts_of_lines(*lines_of(title, sentences))


def lines_of(title: str, sentences: Sequence[str]) -> tuple[Topic, list[Line]]:
    """Return what a passage is about, and its sentences as lines to read."""
    read = [_beginning(sentence) for sentence in sentences]
    topic = Topic(title, read)
    return topic, [_line(topic, sentence) for sentence in read]


def _line(topic: Topic, sentence: str) -> Line:
    item = _ITEM.match(sentence)
    text = sentence[item.end() :] if item else sentence
    titled = topic.begins(text)
    label = None if titled or is_code(sentence) else _SPEAKER.match(text)
    text = text[label.end() :] if label else text
    if topic.is_identifier and tag_of(text.split(" ", 1)[0].lower()) == "pres":
        text = text[0].lower() + text[1:]  # so that the verb is no part of a name
    return Line(sentence, text, item is not None, titled, label is not None)


def _facts_of_lines(topic: Topic, lines: Sequence[Line]) -> Iterator[list[_Triple]]:
    for number, line in enumerate(lines):
        stated = [] if is_code(line.whole) else _fullest(list(_stated(topic, line, first=number == 0)))
        told = [fact for fact in stated if fact[0].casefold() != fact[2].casefold()]
        yield whole_facts(line.tokens, told) if told else told


def _beginning(sentence: str) -> str:
    return sentence if len(sentence) <= _LONGEST_SENTENCE else sentence[:_LONGEST_SENTENCE].rpartition(" ")[0]


def _stated(topic: Topic, line: Line, *, first: bool) -> Iterator[_Triple]:
    """Read the facts of one sentence, or of a line of fields."""
    sentence = line.whole
    if term := _TERM.match(sentence):
        if is_identifier(name := term["term"].strip("`")):
            yield name, "is" if term["article"] else "means", term["told"]
        return
    if named := _TERM_LINE.match(sentence):
        topic.term = "" if topic.is_named(named["term"]) else named["term"]
    elif option := _OPTION_LINE.match(sentence):
        topic.term = option["term"] or option["argument"]
    if fields := fields_of(sentence):
        if len(fields) > 1 or not (topic.term or topic.is_row(fields[0][0])):
            yield from field_facts(topic.title, fields)
        return
    if line.item and _FRAGMENT.match(line.text):
        return  # it goes on from what stands before the list
    if line.speaker:
        topic.loses()  # "Ada Renk: It was sold"
    if _NOT_STATED.match(line.text, line.titled):
        topic.focused = False
        return
    yield from clauses(line.tokens, topic, first=first, item=line.item)


def _fullest(facts: list[_Triple]) -> list[_Triple]:
    """Leave out a fact of a sentence that another one says as well: "is, film" beside "is film directed by, Bo Ray"."""
    said = [(normalise(head), normalise(f"{relation} {tail}"), normalise(tail)) for head, relation, tail in facts]

    def repeats(place: int) -> bool:
        head, text, tail = said[place]
        for other, (its_head, its_text, its_tail) in enumerate(said):
            if other == place or its_head != head:
                continue
            common = facts[place][2].islower() and facts[place][2][0].isalnum()  # unlike "$5 million"
            if (common and its_text.startswith(f"{text} ")) or (its_text == text and other < place):
                return True
            if its_tail == tail and text != its_text and set(text.split()) < set(its_text.split()):
                return True
        return False

    return [fact for place, fact in enumerate(facts) if not repeats(place)]


def whole_facts(tokens: Tokens, facts: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return those of the facts of a sentence that are whole; all if it was not parsed."""
    if not tokens.parsed:
        return [*facts]
    tree = Tree(tokens)
    return [fact for fact in facts if _is_whole(tree, fact)]


def _is_whole(tree: Tree, fact: tuple[str, str, str]) -> bool:
    """Return whether a fact is whole where its end stands, at one of the places if there are several."""
    places = [Placed(tree, fact, start, end) for start, end in tree.spans(fact[2])]
    return any(map(_is_whole_at, places)) if places else not tree.begins_date(fact[2])


def _is_whole_at(placed: Placed) -> bool:
    """Return whether a fact is whole, given the places of its parts; true also for what stands in brackets."""
    return not placed.inside or not any(check(placed) for check in _CHECKS)
