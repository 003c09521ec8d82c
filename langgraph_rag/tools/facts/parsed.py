"""The extractor of facts that needs a trained spaCy pipeline, and no other model."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence

from langgraph_rag.records import Fact, Record
from langgraph_rag.tools.language.text import TRAINED_PIPELINE, facts_version, trained_pipeline, trained_pipelines

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
