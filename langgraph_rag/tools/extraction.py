"""What reads triples out of passages: the contract, and the extractor that needs no model."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from langgraph_rag.records import Passage
from langgraph_rag.tools.rule_triples import extract_triples
from langgraph_rag.tools.text import text_pipeline

_LONGEST_TRIPLE = 60  # words


class TripleExtractor(Protocol):
    """Reads triples out of passages.

    `version` names everything the result depends on (model, prompt): triples are stored under it.
    """

    @property
    def version(self) -> str:
        """Return what the stored triples are kept under."""

    def extract(self, passages: Sequence[Passage]) -> AsyncIterator[list[tuple[str, list[list[str]]]]]:
        """Yield readings (passage id, triples) as they are done, each passage once; one that fails is left out."""


class RuleExtractor:
    """The default extractor: sentence patterns, no model."""

    version = "rules-1"

    async def extract(self, passages: Sequence[Passage]) -> AsyncIterator[list[tuple[str, list[list[str]]]]]:
        """Yield all readings at once."""
        yield await asyncio.to_thread(self._read, passages)

    def _read(self, passages: Sequence[Passage]) -> list[tuple[str, list[list[str]]]]:
        analyses = text_pipeline().analyse([passage["text"] for passage in passages])
        return [
            (passage["id"], extract_triples(passage["title"], analysis["sentences"]))
            for passage, analysis in zip(passages, analyses, strict=True)
        ]


def valid_triples(triples: Sequence[Sequence[str]]) -> list[list[str]]:
    """Keep the triples of three non-empty parts and at most 60 words, each once."""
    kept: dict[tuple[str, ...], None] = {}
    for triple in triples:
        parts = tuple(part.strip() for part in triple)
        if len(parts) == 3 and all(parts) and len(" ".join(parts).split()) <= _LONGEST_TRIPLE:
            kept[parts] = None
    return [list(parts) for parts in kept]


def supporting_sentences(triple: Sequence[str], title: str, sentences: Sequence[str]) -> list[int]:
    """Find the sentences that state a triple.

    The sentence that covers the words of head and tail, the title counting as a mention; among several the one with
    most of the relation's words, then the first. Where no single sentence covers both, the pair that covers most.

    Returns:
        One or two positions in `sentences`, ascending; none where there are no sentences.
    """
    if not sentences:
        return []
    head, relation, tail = (set(_words(part)) for part in triple)
    needed, in_title = head | tail, set(_words(title))
    words = [set(_words(sentence)) for sentence in sentences]
    covered = [len(needed & (found | in_title)) + len(tail & found) for found in words]
    best = max(range(len(words)), key=lambda i: (covered[i], len(relation & words[i]), -i))
    missing = needed - words[best] - in_title
    if not missing:
        return [best]
    helper = max(range(len(words)), key=lambda i: (len(missing & words[i]), -i))
    return sorted({best, helper}) if missing & words[helper] else [best]


def _words(text: str) -> list[str]:
    return [word for word in "".join(c if c.isalnum() else " " for c in text.casefold()).split()]
