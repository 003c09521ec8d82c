"""Extracts triples from passages with a model: first entities, then facts between them (CIRAG, appendix A.1)."""

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import Runnable
from typing_extensions import TypedDict

from langgraph_rag.arguments import expect
from langgraph_rag.errors import BudgetReachedError, ModelOutputError, RequestRefusedError
from langgraph_rag.llm import ask
from langgraph_rag.metering import stopped
from langgraph_rag.models.bindings import ChatModel, model_name
from langgraph_rag.nodes.node import emit
from langgraph_rag.prompts.cirag import EXTRACT_TRIPLES, FIND_ENTITIES, Entities, Triples
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Record, ScoredPassage
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.language.extraction import Reading, TripleExtractor

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ModelExtractor:
    """Extracts triples with a chat model: two calls per passage, several passages in parallel.

    Args:
        llm: the model.
        finding: the prompt of the first call, which finds the entities of a passage.
        extracting: the prompt of the second call, which finds the facts between these entities.

    Raises:
        TypeError: when `llm` is not a chat model.
    """

    llm: ChatModel
    finding: Prompt[Entities] = FIND_ENTITIES
    extracting: Prompt[Triples] = EXTRACT_TRIPLES

    def __post_init__(self) -> None:
        expect(Runnable, self.llm, "a chat model", "load_model(NAME) returns one")

    @property
    def version(self) -> str:
        """The model and the prompts, so that passages are read again after a prompt was changed."""
        prompts = "".join(prompt.instructions + prompt.request for prompt in (self.finding, self.extracting))
        return f"{model_name(self.llm)}-{hashlib.sha256(prompts.encode()).hexdigest()[:8]}"

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        """Yield the triples of each passage as soon as they are extracted.

        A passage that the model fails at is left out and logged. A spent budget is logged once per question.

        Raises:
            BudgetReachedError: at the end, when the budget was too small for all passages.
        """
        told, spent = stopped(), None
        tasks = [asyncio.ensure_future(self._read(passage)) for passage in passages]
        try:
            for task in asyncio.as_completed(tasks):
                try:
                    yield [await task]
                except (ModelOutputError, RequestRefusedError) as error:
                    _log.warning("a passage is left without triples for now: %s", error)
                except BudgetReachedError as error:
                    if not told:
                        _log.warning("passages are left without triples for now: %s", error)
                    told, spent = True, error
        finally:  # any other error ends all calls
            for running in tasks:
                running.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if spent is not None:
            raise spent

    async def _read(self, passage: Record) -> Reading:
        title, text = passage["title"], passage["text"]
        found = await ask(self.llm, self.finding, title=title, text=text)
        reply = await ask(self.llm, self.extracting, title=title, text=text, entities=found.entities)
        return passage["id"], [triple for triple in reply.triples if len(triple) == 3]


class ExtractInput(TypedDict):
    """The passages of this step, and those that the extractor failed to read before."""

    retrieved: list[ScoredPassage]
    unreadable: list[str]


@dataclass(frozen=True)
class ExtractTriples:
    """Extract triples from the retrieved passages and store them (CIRAG, online variant, section 4.6).

    A passage that cannot be read is not tried again for the same question, as each attempt costs calls.
    """

    kb: KnowledgeBase
    extractor: TripleExtractor

    async def __call__(self, state: ExtractInput) -> dict[str, Any]:
        """Store the triples in the knowledge base, and return the passages that could not be read."""
        ids = [passage["id"] for passage in state["retrieved"] if passage["id"] not in state["unreadable"]]
        triples = await self.kb.atriples(ids, self.extractor)
        emit("extract_triples", triples=len(triples))
        return {"unreadable": [*state["unreadable"], *await self.kb.aunread(ids, self.extractor)]}
