"""Extractors of facts: by rules, from the parse of a spaCy pipeline, or by a model."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Annotated, Protocol, TypeGuard, runtime_checkable

from pydantic import ConfigDict, Discriminator, Tag, TypeAdapter, ValidationError

from langgraph_rag.arguments import expect
from langgraph_rag.naming import counted
from langgraph_rag.normal_forms import first_of_each
from langgraph_rag.records import Fact, Record
from langgraph_rag.tools.facts.reading import NUMBER, extract_triples
from langgraph_rag.tools.ingest.text import (
    RULES,
    TRAINED_PIPELINE,
    facts_version,
    is_installed,
    trained_pipeline,
    trained_pipelines,
)

_log = logging.getLogger(__name__)

_VERSION = re.compile(r"parse-\d+(?:\.\d+)? of (\S+) \S+")
_Reading = tuple[str, Sequence[Sequence[str] | Fact]]
_BATCH = 64  # passages parsed together


class ParseExtractor:
    """Reads facts by the rules, and keeps those that the parse of a trained spaCy pipeline bears out as whole.

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
    version = f"{NAME}-{NUMBER}"

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
