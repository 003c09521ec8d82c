"""Extracts triples from passages with a model, several passages in one call.

CIRAG's appendix A.1 has two calls for each passage, one for its entities and one for the facts between them; here the
model is asked for both at once, and only the facts are written down.
"""

import asyncio
import hashlib
import logging
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from langchain_core.runnables import Runnable
from typing_extensions import TypedDict

from langgraph_rag.arguments import expect
from langgraph_rag.errors import BudgetReachedError, ModelOutputError, RequestRefusedError
from langgraph_rag.llm import ask
from langgraph_rag.metering import count_dropped, estimated_tokens, stopped, tokens_in
from langgraph_rag.models.bindings import ChatModel, model_name
from langgraph_rag.nodes.node import emit
from langgraph_rag.prompts.cirag import EXTRACT_FACTS, FactsOfPassages, SentencesOf, passages_text
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Fact, Record, ScoredPassage
from langgraph_rag.tools.facts.extraction import Reading, TripleExtractor
from langgraph_rag.tools.retrieve.retriever import Retriever

_P = TypeVar("_P", SentencesOf, Record)
_log = logging.getLogger(__name__)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_MOST_TOKENS = 2_000  # of the passages of one call, estimated
_MOST_PASSAGES = 8
_REPLY_SHARE = 1.25  # tokens of a reply for each token of the passages: GPT-3.5's facts of 1,890 passages of MuSiQue


def as_shown(title: str, text: str) -> SentencesOf:
    """Return a passage that is not analysed yet, with about the sentences that a model will see."""
    return SentencesOf(title=title, sentences=_SENTENCE_END.split(text))


class Cost(NamedTuple):
    """What reading passages takes, estimated from the prompts; a server may count tokens otherwise."""

    calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class ModelExtractor:
    """Extracts triples with a chat model: about eight passages in one call, several calls in parallel.

    A passage that is missing from a reply is asked for again, with fewer others. If the model cannot read several
    passages, each half of them is tried.

    Args:
        llm: the model.
        prompt: asks for the facts of several passages.

    Raises:
        TypeError: when `llm` is not a chat model.
    """

    llm: ChatModel
    prompt: Prompt[FactsOfPassages] = EXTRACT_FACTS

    def __post_init__(self) -> None:
        expect(Runnable, self.llm, "a chat model", "load_model(NAME) returns one")

    @property
    def version(self) -> str:
        """The model and the prompt, so that passages are read again after the prompt was changed."""
        return version_of(model_name(self.llm), self.prompt)

    def cost(self, passages: Iterable[SentencesOf]) -> Cost:
        """Estimate what reading passages takes; no model is called."""
        calls = sent = received = 0
        for batch in batches(passages):
            calls += 1
            sent += estimated_tokens(self.prompt.render(passages=batch))
            received += round(_REPLY_SHARE * sum(map(_tokens, batch)))
        return Cost(calls, sent, received)

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        """Yield the triples of the passages of each call as soon as they are extracted.

        A passage that the model fails at is left out and logged. A spent budget is logged once per question.

        Raises:
            BudgetReachedError: at the end, when the budget was too small for all passages.
        """
        told, spent = stopped(), None
        tasks = {asyncio.ensure_future(self._read(batch)) for batch in batches(passages)}
        try:
            while tasks:
                done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    try:
                        readings, left = task.result()
                    except BudgetReachedError as error:
                        if not told:
                            _log.warning("passages are left without triples for now: %s", error)
                        told, spent = True, error
                        continue
                    tasks |= {asyncio.ensure_future(self._read(batch)) for batch in left}
                    yield readings
        finally:  # any other error ends all calls
            for running in tasks:
                running.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if spent is not None:
            raise spent

    async def _read(self, batch: list[Record]) -> tuple[list[Reading], list[list[Record]]]:
        """Return what was read, and batches to ask for again."""
        try:
            reply = await ask(self.llm, self.prompt, passages=[*map(_sentences_of, batch)])
        except (ModelOutputError, RequestRefusedError) as error:
            if len(batch) > 1:
                return [], _halves(batch)
            _log.warning("a passage is left without triples for now: %s", error)
            return [], []
        readings = readings_of(reply, batch)
        read = {id_ for id_, _ in readings}
        missing = [record for record in batch if record["id"] not in read]
        again = _halves(missing) if len(missing) == len(batch) else [missing][: len(missing)]
        return readings, again


def readings_of(reply: FactsOfPassages, batch: list[Record]) -> list[Reading]:
    """Return the facts of those passages of a call that the reply has an entry for."""
    shown = reply.shown(batch)
    found: dict[int, list[Fact]] = {number: [] for number in range(1, len(shown) + 1)}
    told = {entry.passage for entry in reply.passages}
    for entry in reply.passages:
        number = 1 if len(batch) == len(reply.passages) == 1 else entry.passage
        if number in found:
            found[number] += [_fact(*fact) for fact in entry.facts]
        else:
            _log.info("facts of a passage %d of %d were dropped", entry.passage, len(shown))
            count_dropped(len(entry.facts))
    read = [number for number in found if number in told or len(batch) == 1]
    return [(batch[number - 1]["id"], found[number]) for number in read]


def version_of(model: str, prompt: Prompt[FactsOfPassages]) -> str:
    """Return the version of an extractor: a model with a prompt."""
    return f"{model}-{hashlib.sha256((prompt.instructions + prompt.request).encode()).hexdigest()[:8]}"


def _fact(sentence: str, *triple: str) -> Fact:
    number = sentence.strip(" .[]")
    return Fact(triple=[*triple], sentences=[int(number) - 1] if number.isdecimal() and int(number) > 0 else [])


def batches(passages: Iterable[_P]) -> Iterator[list[_P]]:
    """Yield passages as they share calls."""
    batch, tokens = list[_P](), 0
    for passage in passages:
        more = _tokens(passage)
        if batch and (tokens + more > _MOST_TOKENS or len(batch) == _MOST_PASSAGES):
            yield batch
            batch, tokens = [], 0
        batch.append(passage)
        tokens += more
    if batch:
        yield batch


def _tokens(passage: SentencesOf | Record) -> int:
    return tokens_in(passages_text([_sentences_of(passage)]))


def _halves(batch: list[Record]) -> list[list[Record]]:
    middle = (len(batch) + 1) // 2
    return [half for half in (batch[:middle], batch[middle:]) if half]


def _sentences_of(passage: SentencesOf | Record) -> SentencesOf:
    return SentencesOf(title=passage["title"], sentences=passage["sentences"])


class ExtractInput(TypedDict):
    """The passages of this step, and those that the extractor failed to read before."""

    retrieved: list[ScoredPassage]
    unreadable: list[str]


@dataclass(frozen=True)
class ExtractTriples:
    """Extract triples from the retrieved passages and store them (CIRAG, online variant, section 4.6).

    A passage that cannot be read is not tried again for the same question, as each attempt costs calls.
    """

    kb: Retriever
    extractor: TripleExtractor

    async def __call__(self, state: ExtractInput) -> dict[str, Any]:
        """Store the triples in the knowledge base, and return the passages that could not be read."""
        ids = [passage["id"] for passage in state["retrieved"] if passage["id"] not in state["unreadable"]]
        triples = await self.kb.atriples(ids, self.extractor)
        emit("extract_triples", triples=len(triples))
        return {"unreadable": [*state["unreadable"], *await self.kb.aunread(ids, self.extractor)]}
