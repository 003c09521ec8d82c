"""Extractors of facts: by rules, from the parse of a spaCy pipeline, or by a model."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import chain
from typing import Annotated, Protocol, TypeGuard, runtime_checkable

from pydantic import ConfigDict, Discriminator, Tag, TypeAdapter, ValidationError

from langgraph_rag.arguments import expect
from langgraph_rag.naming import counted
from langgraph_rag.normal_forms import first_of_each, normalise
from langgraph_rag.records import Fact, Record
from langgraph_rag.tools.facts.clauses import clauses
from langgraph_rag.tools.facts.parsing import is_identifier
from langgraph_rag.tools.facts.statements import UPPER, Topic
from langgraph_rag.tools.ingest.spans import is_code
from langgraph_rag.tools.ingest.text import (
    RULES,
    TRAINED_PIPELINE,
    facts_version,
    is_installed,
    trained_pipeline,
    trained_pipelines,
)

_log = logging.getLogger(__name__)

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

UNIT = r"(?:(?:kilo|centi|milli)?met(?:re|er)s?|[kcm]?m|miles?|mi|yards?|yd|feet|foot|ft|inch(?:es)?|years?)\b"
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
    r"|[\"“‘]*(?:I|My|We|Our)['’ ]\w"
)
_ITEM = re.compile(r"(?:[-*+•>|]|\d{1,3}[.)])\s+")
_TERM = re.compile(r"[-*•] (?P<term>`{0,2}[\w.-]+`{0,2}): (?P<article>An? )?(?P<told>\w[^:;`]{4,160}[^\s:;`.])\.$")
_TERM_LINE = re.compile(r"`{0,2}(?P<term>[\w.-]+)(?: [A-Z_]+)?(?:\([^()]*\))?`{0,2}:(?:$| (?=\w[^:]*\.$))")
_OPTION_LINE = re.compile(r"(?:-\w, )?(?P<term>--?[a-z][\w-]*)(?:[ =][A-Z_]+)?(?:, -.*)?$|.*\): (?P<argument>\w+):$")
_FRAGMENT = re.compile(r"(?:the|an?|your?|if|when|that|which|to)\b")
_SPEAKER = re.compile(r"[^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,4}: (?=\S)")


def extract_triples(title: str, sentences: list[str]) -> list[list[str]]:
    """Return the facts `[head, relation, tail]` of a passage, in reading order, without repetition."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for head, relation, tail in chain.from_iterable(facts_of_sentences(title, sentences)):
        found.setdefault((head.casefold(), relation.casefold(), tail.casefold()), [head, relation, tail])
    return list(found.values())


def facts_of_sentences(title: str, sentences: Sequence[str]) -> Iterator[list[_Triple]]:
    """Yield the facts of each sentence of a passage.

    Code states no facts. Of an overlong sentence, only the beginning is read.
    """
    read = [_beginning(sentence) for sentence in sentences]
    topic = Topic(title, read)
    for number, sentence in enumerate(read):
        stated = [] if is_code(sentence) else _fullest(list(_stated(topic, sentence, first=number == 0)))
        yield [fact for fact in stated if fact[0].casefold() != fact[2].casefold()]


def _beginning(sentence: str) -> str:
    return sentence if len(sentence) <= _LONGEST_SENTENCE else sentence[:_LONGEST_SENTENCE].rpartition(" ")[0]


def _stated(topic: Topic, sentence: str, *, first: bool) -> Iterator[_Triple]:
    """Read the facts of one sentence, or of a line of fields."""
    if term := _TERM.match(sentence):
        if is_identifier(name := term["term"].strip("`")):
            yield name, "is" if term["article"] else "means", term["told"]
        return
    if line := _TERM_LINE.match(sentence):
        topic.term = "" if topic.is_named(line["term"]) else line["term"]
    elif line := _OPTION_LINE.match(sentence):
        topic.term = line["term"] or line["argument"]
    if fields := fields_of(sentence):
        if len(fields) > 1 or not (topic.term or topic.is_row(fields[0][0])):
            yield from field_facts(topic.title, fields)
        return
    item = _ITEM.match(sentence)
    sentence = sentence[item.end() :] if item else sentence
    if item and _FRAGMENT.match(sentence):
        return  # it goes on from what stands before the list
    titled = topic.begins(sentence)
    if not titled and (label := _SPEAKER.match(sentence)):
        topic.loses()  # "Ada Renk: It was sold"
        sentence = sentence[label.end() :]
    if _NOT_STATED.match(sentence, titled):
        topic.focused = False
        return
    yield from clauses(sentence, topic, first=first, item=item is not None)


def _fullest(facts: list[_Triple]) -> list[_Triple]:
    """Leave out a fact of a sentence that another one says as well: "is, film" beside "is film directed by, Bo Ray"."""
    said = [(normalise(head), normalise(f"{relation} {tail}"), normalise(tail)) for head, relation, tail in facts]

    def repeats(place: int) -> bool:
        head, text, tail = said[place]
        for other, (its_head, its_text, its_tail) in enumerate(said):
            if other == place or its_head != head:
                continue
            common = facts[place][2].islower()
            if (common and its_text.startswith(f"{text} ")) or (its_text == text and other < place):
                return True
            if its_tail == tail and text != its_text and set(text.split()) < set(its_text.split()):
                return True
        return False

    return [fact for place, fact in enumerate(facts) if not repeats(place)]


_VERSION = re.compile(r"parse-\d+ of (\S+) \S+")
_Reading = tuple[str, Sequence[Sequence[str] | Fact]]
_BATCH = 64  # passages parsed together


class ParseExtractor:
    """Reads facts from the parse of each sentence by a trained spaCy pipeline.

    Args:
        pipeline: the name of an installed pipeline for English; by default the first that is installed.

    Raises:
        KnowledgeBaseError: when it is not installed, or none is.
    """

    def __init__(self, pipeline: str | None = None) -> None:
        self.pipeline = pipeline or next(iter(trained_pipelines()), TRAINED_PIPELINE)
        self.version = facts_version(self.pipeline)

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[_Reading]]:
        """Yield the readings of some passages at a time."""
        for start in range(0, len(passages), _BATCH):
            yield await asyncio.to_thread(self.read_now, passages[start : start + _BATCH])

    def read_now(self, passages: Sequence[Record]) -> list[_Reading]:
        """Read passages in this thread; those that were just analysed by this pipeline are not parsed again."""
        new = [passage for passage in passages if passage.get("read_by") != self.version]
        facts = trained_pipeline(self.pipeline).facts([(passage["title"], passage["sentences"]) for passage in new])
        read = {passage["id"]: found for passage, found in zip(new, facts, strict=True)}
        return [(passage["id"], read.get(passage["id"], passage.get("facts", []))) for passage in passages]


def pipeline_of(version: str) -> str:
    """Return the pipeline of a version of a `ParseExtractor`; "" for versions of others."""
    found = _VERSION.fullmatch(version)
    return found[1] if found else ""


_LONGEST_TRIPLE = 60  # words

Reading = tuple[str, Sequence[Sequence[str] | Fact]]
"""The id of a passage and the triples `[head, relation, tail]` found in it, or facts, which also name sentences."""
_Found = Annotated[
    Annotated[Fact, Tag("fact")] | Annotated[tuple[str, str, str], Tag("triple")],
    Discriminator(lambda given: "fact" if isinstance(given, dict) else "triple"),
]
_READINGS = TypeAdapter(
    list[tuple[str, list[_Found]]],
    config=ConfigDict(coerce_numbers_to_str=True),  # such as years
)


@runtime_checkable
class TripleExtractor(Protocol):
    """Extracts triples from passages.

    `version` names everything that the result depends on (model, prompt); triples are stored under it.
    """

    @property
    def version(self) -> str:
        """Return the name under which the triples are stored."""

    def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        """Yield each passage's reading when it is done; a passage that fails is left out, and `add` tries it again."""


def expect_extractor(given: object) -> None:
    """Check that an argument is an extractor.

    Raises:
        TypeError: when it is not.
    """
    expect(TripleExtractor, given, "an extractor of triples", "ModelExtractor(llm) is one")
    version = getattr(given, "version", None)
    expect(str, version, "a version of the extractor as text", "make it an attribute or a property")


class RuleExtractor:
    """The default extractor: sentence patterns without a model."""

    NAME = RULES
    version = f"{NAME}-24"

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        """Yield all readings at once."""
        yield await asyncio.to_thread(self.read_now, passages)

    def read_now(self, passages: Sequence[Record]) -> list[Reading]:
        """Read passages in this thread."""
        return [(passage["id"], extract_triples(passage["title"], passage["sentences"])) for passage in passages]


_RULES = re.compile(rf"{RuleExtractor.NAME}-\d+")  # of any version


class PlaceholderExtractor:
    """Stands for an extractor that is not available now, such as a model; it reads no passages."""

    def __init__(self, version: str) -> None:
        self.version = version

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        """Yield nothing."""
        _log.warning(
            "%d passages stay without triples: %s, which is to read them, was not given", len(passages), self.version
        )
        return
        yield []


def needs_no_model(extractor: TripleExtractor) -> TypeGuard[RuleExtractor | ParseExtractor]:
    """Return whether an extractor reads in this thread, at once; a subclass may read differently."""
    return type(extractor) in (RuleExtractor, ParseExtractor)


def extractor_with(pipeline: str) -> TripleExtractor:
    """Return the extractor that goes with a text pipeline: its parse, or the rules."""
    return RuleExtractor() if pipeline == RULES else ParseExtractor(pipeline)


def last_extractor(version: str) -> TripleExtractor:
    """Return the last extractor of a knowledge base; a placeholder if it is a model, or a pipeline that is gone."""
    if _RULES.fullmatch(version):
        return RuleExtractor()
    pipeline = pipeline_of(version)
    return ParseExtractor(pipeline) if pipeline and is_installed(pipeline) else PlaceholderExtractor(version)


def valid_facts(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts with three non-empty parts and at most 60 words, each triple once."""
    trimmed = [Fact(triple=[*map(str.strip, fact["triple"])], sentences=fact["sentences"]) for fact in facts]
    return [*first_of_each(filter(_is_valid, trimmed), _parts).values()]


def _parts(fact: Fact) -> tuple[str, ...]:
    return tuple(fact["triple"])


def _is_valid(fact: Fact) -> bool:
    triple = fact["triple"]
    return len(triple) == 3 and all(map(str.strip, triple)) and len(" ".join(triple).split()) <= _LONGEST_TRIPLE


def valid_readings(extractor: str, readings: object, ids: Iterable[str]) -> list[tuple[str, list[Fact]]]:
    """Return the facts that an extractor read in passages, with valid triples only; a number in a triple becomes text.

    Raises:
        TypeError: when it is not a list of readings of these passages, each at most once.
    """
    expected = f"extractor {extractor!r}: expected a list of (id of a passage, [[head, relation, tail], ...])"
    try:
        read = _READINGS.validate_python(readings)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise TypeError(
            f"{expected}, got {repr(wrong['input'])[:80]} in it{_passage_at(wrong['loc'], readings)}: {wrong['msg']}"
        ) from error
    left = set(ids)
    for id_, _ in read:
        if id_ not in left:
            raise TypeError(
                f"{expected}, got the id {id_!r}, which is none of the passages given to it, or came before"
            )
        left.remove(id_)
    facts = [(id_, [*map(_as_fact, found)]) for id_, found in read]
    if invalid := [(id_, fact["triple"]) for id_, found in facts for fact in found if not _is_valid(fact)]:
        id_, triple = invalid[0]
        _log.warning(
            "extractor %r: %s left out, such as %.80r of passage %r: expected text in each part, at most %d words",
            extractor,
            counted(len(invalid), "triple"),
            triple,
            id_,
            _LONGEST_TRIPLE,
        )
    return [(id_, valid_facts(found)) for id_, found in facts]


def _as_fact(found: Fact | Sequence[str]) -> Fact:
    return found if isinstance(found, dict) else Fact(triple=[*found], sentences=[])


def _passage_at(place: tuple[int | str, ...], readings: object) -> str:
    """Return the passage, in words, of a place in readings that is not valid."""
    reading = readings[place[0]] if isinstance(readings, list) and place and isinstance(place[0], int) else None
    return f" for passage {reading[0]!r}" if isinstance(reading, list | tuple) and reading else ""
